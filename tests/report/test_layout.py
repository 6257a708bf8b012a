from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from ugcl.report.layout import layout
from ugcl.report.nearest import nearest_of_all


@pytest.mark.parametrize("sparse", [False, True])
def test_neighbours_of_all_are_the_formula(sparse: bool) -> None:
    rows = np.random.default_rng(0).normal(size=(50, 6)).astype(np.float32)
    numbers, cosines = nearest_of_all(sp.csr_array(rows) if sparse else rows, 4)
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    all_pairs = unit @ unit.T
    np.fill_diagonal(all_pairs, -2)
    np.testing.assert_array_equal(numbers, np.argsort(-all_pairs, axis=1)[:, :4])
    np.testing.assert_allclose(cosines, -np.sort(-all_pairs, axis=1)[:, :4], atol=1e-6)


@pytest.mark.parametrize("count", [1, 2, 5, 30])
def test_maps_of_any_size_are_in_the_square_and_the_same_again(count: int) -> None:
    rows = np.random.default_rng(1).normal(size=(count, 5)).astype(np.float32)
    one, again = layout(rows), layout(rows)
    assert one.shape == (count, 2)
    assert one.min() >= 0
    assert one.max() <= 1
    np.testing.assert_array_equal(one, again)


def test_the_map_keeps_groups_together() -> None:
    rng = np.random.default_rng(0)
    centres = np.repeat(rng.normal(size=(3, 10)), 40, axis=0)
    positions = layout((centres + 0.1 * rng.normal(size=(120, 10))).astype(np.float32))
    distance = np.linalg.norm(positions[:, None] - positions[None], axis=2)
    np.fill_diagonal(distance, np.inf)
    assert (distance.argmin(axis=1) // 40 == np.arange(120) // 40).all()
