from __future__ import annotations

import numpy as np
import pytest

import reference
from ugcl.scope import Power
from ugcl.views import FullGraph
from view_helpers import dense, dense_features, graph_of, random_hidden


@pytest.mark.parametrize("sparse", [True, False])
def test_the_graph_is_the_only_view_with_its_features_and_edges(sparse: bool) -> None:
    graph = graph_of(sparse)
    views = FullGraph(2.0).bind(graph.adjacency, graph.features)
    sample = views.sample(np.random.default_rng(0))
    (view,) = sample.views
    connected = graph.adjacency.toarray().astype(float)
    expected = reference.normalised_adjacency(connected, 2.0)
    weight = random_hidden(12)
    rows = dense_features(graph) @ weight.numpy()
    np.testing.assert_allclose(dense(view.adjacency), expected, atol=1e-6)
    np.testing.assert_allclose(view.convolve(weight), expected @ rows, atol=1e-4)
    np.testing.assert_allclose(view.linear(weight), rows, atol=1e-5)
    np.testing.assert_allclose(
        view.contexts(Power(1))(random_hidden(30)), expected @ random_hidden(30).numpy(), atol=1e-5
    )
    assert sample.edges is not None
    edges = list(zip(*(ends.tolist() for ends in sample.edges), strict=True))
    assert edges == [(i, j) for i in range(30) for j in range(i + 1, 30) if connected[i, j]]
    assert sample.corrupted == ()
    assert views.sample(np.random.default_rng(7)) is sample
