from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from conftest import make_graph
from ugcl._utils import rows
from ugcl._utils.rows import PrefixSums, find, has_weights, induced, is_mapped, others, take_rows


@pytest.mark.parametrize("step", [1, 4, 64])
@pytest.mark.parametrize("size", [0, 1, 63, 64, 1000])
def test_prefix_sums_have_the_bits_of_a_cumulative_sum(
    step: int, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows, "MAX_SUMS", size if step == 1 else 0)
    monkeypatch.setattr(rows, "STEP", step)
    monkeypatch.setattr(rows, "PIECE", 128)
    rng = np.random.default_rng(0)
    values = rng.random(size, dtype=np.float32) + np.float32(0.01)
    expected = np.concatenate([[0.0], np.cumsum(values, dtype=np.float64)])
    sums, every = PrefixSums(values), np.arange(size + 1)
    np.testing.assert_array_equal(sums.at(every), expected)
    targets = np.concatenate([expected, rng.random(50) * expected[-1]])
    found = np.searchsorted(expected, targets, side="right") - 1
    np.testing.assert_array_equal(sums.search(targets), found)


@given(st.sets(st.integers(0, 50)))
def test_others_are_the_numbers_that_are_left(excluded: set[int]) -> None:
    left = np.setdiff1d(np.arange(60), list(excluded))
    some = np.array(sorted(excluded), dtype=np.int64)
    np.testing.assert_array_equal(others(some, np.arange(left.size)), left)


def test_rows_and_subgraphs_are_those_of_scipy() -> None:
    adjacency = make_graph(50).adjacency
    nodes = np.sort(np.random.default_rng(0).choice(50, 20, replace=False))
    np.testing.assert_array_equal(take_rows(adjacency, nodes).toarray(), adjacency[nodes].toarray())
    expected = adjacency[nodes][:, nodes].toarray()
    np.testing.assert_array_equal(induced(adjacency, nodes).toarray(), expected)
    half = np.arange(6, dtype=np.float16).reshape(3, 2)
    assert take_rows(half, np.array([2])).dtype == np.float32


def test_places_in_an_empty_array_are_not_found() -> None:
    assert not find(np.empty(0, dtype=np.int64), np.arange(3))[1].any()


def test_one_number_for_all_values_are_no_weights() -> None:
    adjacency = make_graph(10).adjacency
    assert not has_weights(adjacency)
    parts = np.broadcast_to(np.float32(2), adjacency.nnz), adjacency.indices, adjacency.indptr
    assert has_weights(sp.csr_array(parts, shape=adjacency.shape))
    assert not is_mapped(adjacency.indices)
