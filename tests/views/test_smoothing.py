from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from conftest import make_graph
from ugcl._utils.linalg import dense_rows
from ugcl.scope import normalised_adjacency
from ugcl.views import fast_smooth_features, smooth_features


@given(
    powers=st.sets(st.integers(0, 7), min_size=1).map(sorted),
    density=st.sampled_from([0.01, 0.1, 1.0]),
    seed=st.integers(0, 20),
)
def test_equals_powers_of_the_adjacency(powers: list[int], density: float, seed: int) -> None:
    adjacency = normalised_adjacency(make_graph(40, seed=seed).adjacency)
    rng = np.random.default_rng(seed)
    dense = (rng.random((40, 30)) * (rng.random((40, 30)) < density)).astype(np.float32)
    dense.flags.writeable = False  # as the arrays of a graph are
    for features in (dense, sp.csr_array(dense)):
        found = list(fast_smooth_features(adjacency, features, powers))
        assert [k for k, _ in found] == powers
        for k, rows in found:  # all of them still unchanged
            expected = np.linalg.matrix_power(adjacency.toarray().astype(float), k) @ dense
            assert rows.dtype == np.float32
            np.testing.assert_allclose(dense_rows(rows), expected, atol=1e-5)


@pytest.mark.parametrize("density", [0.002, 0.05])
def test_products_stay_sparse_as_long_as_those_of_smooth_features(density: float) -> None:
    adjacency = normalised_adjacency(make_graph(300).adjacency)
    features = sp.random_array((300, 50), density=density, rng=np.random.default_rng(0))
    features = sp.csr_array(features.astype(np.float32))
    pairs = (
        each(adjacency, features, [0, 1, 2, 4]) for each in (fast_smooth_features, smooth_features)
    )
    for (_, one), (_, other) in zip(*pairs, strict=True):
        assert sp.issparse(one) == sp.issparse(other)
