from __future__ import annotations

import numpy as np
import pytest

from conftest import make_graph
from ugcl import Graph
from ugcl.engine import diagnose_collapse


def spread(size: int = 400, width: int = 32) -> np.ndarray:
    return np.random.default_rng(0).normal(size=(size, width)).astype(np.float32)


@pytest.fixture
def adjacency() -> object:
    return make_graph(400).adjacency


def test_a_spread_embedding_has_not_collapsed(adjacency: object) -> None:
    found = diagnose_collapse(spread(), adjacency)
    assert not found.collapsed
    assert 25 < found.effective_rank <= 32
    assert found.uniformity < -3
    assert found.alignment == pytest.approx(2, abs=0.2)


def test_all_nodes_alike_have_collapsed(adjacency: object) -> None:
    same = np.ones((400, 32), dtype=np.float32)
    for embeddings in (same, same + 1e-3 * spread(), np.zeros_like(same)):
        assert diagnose_collapse(embeddings, adjacency).collapsed


def test_one_direction_has_collapsed(adjacency: object) -> None:
    line = spread(width=1) * np.ones((1, 32), dtype=np.float32)
    found = diagnose_collapse(line, adjacency)
    assert found.collapsed
    assert found.effective_rank == pytest.approx(1, abs=0.01)


def test_effective_rank_counts_equal_directions() -> None:
    """Four points along each of 8 axes, both ways: 8 equal singular values."""
    axes = np.vstack([np.eye(8), -np.eye(8)]).repeat(4, axis=0).astype(np.float32)
    found = diagnose_collapse(axes, make_graph(64).adjacency)
    assert found.effective_rank == pytest.approx(8)


def test_works_without_edges() -> None:
    graph = Graph.from_edges([], np.eye(5))
    assert diagnose_collapse(spread(5, 4), graph.adjacency).alignment is None


@pytest.mark.parametrize("shape", [(40, 12), (12, 40), (30, 30)])
def test_effective_rank_is_that_of_the_singular_values(shape: tuple[int, int]) -> None:
    rows = np.random.default_rng(0).normal(size=shape) * np.logspace(0, -4, shape[1])
    values = np.linalg.svd(rows - rows.mean(axis=0), compute_uv=False)
    fraction = values[values > 1e-9] / values.sum()
    expected = np.exp(-(fraction * np.log(fraction)).sum())
    found = diagnose_collapse(rows, make_graph(shape[0]).adjacency)
    assert found.effective_rank == pytest.approx(expected, abs=0.006)
