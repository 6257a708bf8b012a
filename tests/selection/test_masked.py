from __future__ import annotations

import numpy as np
import pytest

from ugcl import Graph, load_graph
from ugcl.data import sbm_graph
from ugcl.selection import (
    Readouts,
    masked,
)
from ugcl.selection.masked import MaskedSplit, masked_features, r_squared, sample_split
from ugcl.selection.stopping import has_fallen, one_standard_error_rule


def sbm(homophily: float, degree: float, nodes: int = 1500, signal: float = 3.0) -> Graph:
    return sbm_graph(
        nodes=nodes, degree=degree, homophily=homophily, features=32, signal=signal, classes=4
    )


def test_prediction_is_that_of_ridge_regression_at_the_best_penalty() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(50, 4)).astype(np.float32)
    hidden = (rows @ rng.normal(size=(4, 3)) + rng.normal(size=(50, 3))).astype(np.float32)
    learn, judge = np.arange(30), np.arange(30, 50)
    mean, offset = rows[learn].mean(0), hidden[learn].mean(0)
    x, y = rows[learn] - mean, hidden[learn] - offset
    errors = []
    for penalty in (1e-4, 1e-3, 1e-2, 1e-1):
        shift = penalty * np.trace(x.T @ x) * np.eye(4)
        guess = (rows[judge] - mean) @ np.linalg.solve(x.T @ x + shift, x.T @ y) + offset
        errors.append(((hidden[judge] - guess) ** 2).sum())
    expected = 1 - min(errors) / ((hidden[judge] - offset) ** 2).sum()
    split = MaskedSplit(np.ones(4, dtype=bool), hidden - offset, np.arange(50), 30)
    assert r_squared(rows, split) == pytest.approx(expected, abs=1e-4)


def test_halves_share_neither_columns_nor_nodes() -> None:
    readouts = Readouts(sbm(0.8, 8, 400))
    split = sample_split(readouts, 0, 0)
    assert 0 < split.visible.sum() < split.visible.size
    assert split.targets.shape == (400, 32 - split.visible.sum())
    assert sorted(split.nodes) == list(range(400))
    assert split.num_train == 40
    two = Readouts(Graph(readouts.graph.adjacency, readouts.graph.features[:, :2]))
    assert sample_split(two, 0, 0).visible.sum() == 1


def slow_scores(readouts: Readouts, repeats: int) -> np.ndarray:
    """Score one repetition after the other at every n."""
    scores = []
    for repeat in range(repeats):
        split = sample_split(readouts, 0, repeat)
        hidden = readouts.encode(readouts.graph.features[:, split.visible])
        rows = readouts.for_each_n(hidden, split.nodes)
        scores.append([r_squared(at_n, split) for at_n in rows])
    return np.array(scores)


@pytest.mark.parametrize(
    ("homophily", "signal", "repeats"), [(0.1, 8.0, 4), (0.8, 3.0, 8), (0.25, 0.0, 8)]
)
def test_scores_before_the_stop_are_those_of_every_repetition(
    homophily: float, signal: float, repeats: int
) -> None:
    readouts = Readouts(sbm(homophily, 8, signal=signal), max_n=8)
    stopped = masked_features(readouts)
    every = slow_scores(readouts, 12)
    assert len(stopped) == repeats
    np.testing.assert_allclose(stopped, every[:repeats, : stopped.shape[1]], atol=1e-6)
    np.testing.assert_allclose(masked_features(readouts, stop=False), every, atol=1e-6)
    last = stopped.shape[1] - 1
    rounds = range(masked.ROUND, len(stopped) + 1, masked.ROUND)
    assert last == readouts.max_n or any(has_fallen(stopped[:count]) for count in rounds)
    if stopped.mean(axis=0).max() > 0.001:
        assert one_standard_error_rule(stopped) == one_standard_error_rule(every)


@pytest.mark.slow
def test_choice_hardly_depends_on_the_seed() -> None:
    readouts = Readouts(load_graph("citeseer"))
    chosen = [one_standard_error_rule(masked_features(readouts, seed))[1] for seed in range(3)]
    assert all(4 <= n <= 12 for n in chosen)
