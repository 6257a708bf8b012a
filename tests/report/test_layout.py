from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from ugcl.report.layout import layout
from ugcl.report.nearest import nearest_of_all, principal_components


@pytest.mark.parametrize("sparse", [False, True])
def test_neighbours_of_all_are_the_formula(sparse: bool) -> None:
    rows = np.random.default_rng(0).normal(size=(50, 6)).astype(np.float32)
    numbers, cosines = nearest_of_all(sp.csr_array(rows) if sparse else rows, 4)
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    all_pairs = unit @ unit.T
    np.fill_diagonal(all_pairs, -2)
    np.testing.assert_array_equal(numbers, np.argsort(-all_pairs, axis=1)[:, :4])
    np.testing.assert_allclose(cosines, -np.sort(-all_pairs, axis=1)[:, :4], atol=1e-6)


def test_blocks_of_maxima_do_not_lose_neighbours() -> None:
    rows = np.random.default_rng(0).normal(size=(1000, 6)).astype(np.float32)
    done: list[tuple[int, int]] = []
    numbers, cosines = nearest_of_all(rows, 4, progress=lambda *step: done.append(step))
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    all_pairs = unit @ unit.T
    np.fill_diagonal(all_pairs, -2)
    np.testing.assert_array_equal(numbers, np.argsort(-all_pairs, axis=1)[:, :4])
    np.testing.assert_allclose(cosines, -np.sort(-all_pairs, axis=1)[:, :4], atol=1e-6)
    assert done[-1] == (1000, 1000)


@pytest.mark.parametrize("installed", [False, True])
@pytest.mark.parametrize("sparse", [False, True])
def test_candidates_in_components_contain_the_neighbours(
    monkeypatch: pytest.MonkeyPatch, sparse: bool, installed: bool
) -> None:
    if not installed:
        monkeypatch.setattr("ugcl.report.nearest.find_spec", lambda _name: None)
    rows = np.random.default_rng(0).normal(size=(600, 12)).astype(np.float32)
    rows[300:] = rows[:300]  # equal rows, of which a node must not be its own neighbour
    stored = sp.csr_array(rows) if sparse else rows
    exact, cosines = nearest_of_all(stored, 8)
    components = principal_components(stored, 0)
    found, near = nearest_of_all(stored, 8, components=components, threads=2)
    again, _ = nearest_of_all(stored, 8, components=components, threads=2)
    np.testing.assert_array_equal(found, again)
    assert (found != np.arange(600)[:, None]).all()
    shared = np.mean([len(set(a) & set(b)) / 8 for a, b in zip(found, exact, strict=True)])
    assert shared > 0.85
    assert (np.diff(near, axis=1) <= 0).all()
    assert (near <= cosines + 1e-5).all()


@pytest.mark.parametrize("count", [1, 2, 5, 30])
def test_maps_of_any_size_are_in_the_square_and_the_same_again(count: int) -> None:
    rows = np.random.default_rng(1).normal(size=(count, 5)).astype(np.float32)
    one, again = layout(rows), layout(rows)
    assert one.shape == (count, 2)
    assert one.min() >= 0
    assert one.max() <= 1
    np.testing.assert_array_equal(one, again)


@pytest.mark.parametrize("large", [False, True])
def test_the_map_keeps_groups_together(large: bool) -> None:
    rng = np.random.default_rng(0)
    centres = np.repeat(rng.normal(size=(3, 10)), 40, axis=0)
    rows = (centres + 0.1 * rng.normal(size=(120, 10))).astype(np.float32)
    done: list[tuple[int, int]] = []
    positions = layout(
        rows,
        neighbours=nearest_of_all(rows, 15)[0] if large else None,
        progress=lambda *step: done.append(step),
    )
    assert done[-1][0] == done[-1][1]
    distance = np.linalg.norm(positions[:, None] - positions[None], axis=2)
    np.fill_diagonal(distance, np.inf)
    assert (distance.argmin(axis=1) // 40 == np.arange(120) // 40).all()
