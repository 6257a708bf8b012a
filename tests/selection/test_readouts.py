from __future__ import annotations

import numpy as np
import pytest

import reference
from conftest import make_graph
from ugcl.selection import (
    Readouts,
)


@pytest.mark.parametrize("sparse", [True, False])
def test_readouts_equal_the_formula(sparse: bool) -> None:
    graph = make_graph(60, sparse=sparse)
    features = graph.features.toarray() if sparse else graph.features
    unit = features / np.linalg.norm(features, axis=1, keepdims=True)
    a = reference.normalised_adjacency(graph.adjacency.toarray(), 2.0)
    readouts = Readouts(graph, max_n=4)
    hidden = readouts.encode(np.asarray(unit, dtype=np.float32))
    np.testing.assert_allclose(hidden, a @ unit, atol=1e-6)
    np.testing.assert_allclose(readouts.encoded, a @ unit, atol=1e-6)
    some = np.array([7, 3, 50])
    for n, (rows, few) in enumerate(
        zip(readouts.for_each_n(hidden), readouts.for_each_n(hidden, some), strict=True)
    ):
        expected = (a @ unit + np.linalg.matrix_power(a, n) @ a @ unit) / 2
        np.testing.assert_allclose(rows, expected, atol=1e-6)
        np.testing.assert_array_equal(few, rows[some])
