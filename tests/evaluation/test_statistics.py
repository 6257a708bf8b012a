from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from ugcl import UGCLError
from ugcl.evaluation import Outcomes
from ugcl.evaluation.statistics import Estimate, half_width, standard_error


def outcomes(
    rng: np.random.Generator, splits: int, nodes: int, share: float = 0.8, chance: float = 0.7
) -> Outcomes:
    tested = rng.random((splits, nodes)) < share
    return Outcomes(tested, tested & (rng.random((splits, nodes)) < chance))


def slow_estimate(values: list[list[float | None]]) -> tuple[float, float, float]:
    """Mean and the two standard errors, node by node and split by split."""

    def mean(numbers: list[float]) -> float:
        return sum(numbers) / len(numbers)

    def error(numbers: list[float]) -> float:
        centre = mean(numbers)
        squares = sum((x - centre) ** 2 for x in numbers) / (len(numbers) - 1)
        return (squares / len(numbers)) ** 0.5

    by_split = [mean([x for x in row if x is not None]) for row in values]
    columns = [[x for x in column if x is not None] for column in zip(*values, strict=True)]
    by_node = [mean(column) for column in columns if column]
    return mean(by_split), error(by_split), error(by_node)


@given(seed=st.integers(0, 10_000), splits=st.integers(2, 6), nodes=st.integers(5, 12))
def test_estimates_equal_the_formula(seed: int, splits: int, nodes: int) -> None:
    rng = np.random.default_rng(seed)
    first = outcomes(rng, splits, nodes)
    tested = first.tested | (np.arange(nodes) == 0)  # no split without a test node
    first = Outcomes(tested, first.correct)
    second = Outcomes(tested, tested & (rng.random(tested.shape) < 0.5))
    for estimate, table in (
        (first.accuracy(), first.correct.astype(float)),
        (first.gain_over(second), first.correct.astype(float) - second.correct),
    ):
        values = [
            [100 * x if seen else None for x, seen in zip(row, mask, strict=True)]
            for row, mask in zip(table.tolist(), tested.tolist(), strict=True)
        ]
        expected = slow_estimate(values)
        found = (estimate.mean, estimate.error_splits, estimate.error_nodes)
        np.testing.assert_allclose(found, expected, atol=1e-9)
        assert estimate.low <= estimate.mean <= estimate.high


def test_gathering_puts_outcomes_at_their_nodes() -> None:
    found = Outcomes.gather(
        4, [np.array([1, 3]), np.array([0])], [np.array([True, False]), np.array([True])]
    )
    assert found.tested.tolist() == [[False, True, False, True], [True, False, False, False]]
    assert found.correct.tolist() == [[False, True, False, False], [True, False, False, False]]


def test_a_difference_is_antisymmetric_and_zero_to_itself() -> None:
    rng = np.random.default_rng(0)
    first = outcomes(rng, 5, 50)
    second = Outcomes(first.tested, first.tested & (rng.random(first.tested.shape) < 0.5))
    there, back = first.gain_over(second), second.gain_over(first)
    assert there.mean == pytest.approx(-back.mean)
    assert (there.low, there.high) == pytest.approx((-back.high, -back.low))
    itself = first.gain_over(first)
    assert (itself.mean, itself.low, itself.high, itself.clear) == (0, 0, 0, False)


def test_pairing_sees_what_single_scores_cannot() -> None:
    """A few hard nodes gained, everything else the same: clear although both scores are wide."""
    rng = np.random.default_rng(0)
    hard = rng.random(2000) < 0.3
    tested = rng.random((20, 2000)) < 0.8
    worse = Outcomes(tested, tested & ~hard)
    better = Outcomes(tested, tested & (~hard | (np.arange(2000) % 15 == 0)))
    gain = better.gain_over(worse)
    assert gain.clear
    assert gain.low > 0
    assert better.accuracy().low < worse.accuracy().high


def test_refuses_other_splits() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(UGCLError, match="the same splits for both"):
        outcomes(rng, 3, 20).gain_over(outcomes(rng, 3, 20))


def test_one_split_has_the_error_of_its_test_nodes() -> None:
    correct = np.arange(100)[None] % 4 != 0
    estimate = Outcomes(np.ones_like(correct), correct).accuracy()
    assert estimate.mean == 75
    assert estimate.error_splits == 0
    assert estimate.error_nodes == pytest.approx(100 * np.sqrt(0.75 * 0.25 / 99))


def test_a_sum_of_parts_widens_the_interval() -> None:
    assert half_width([(0.0, 3), (0.0, 5)]) == 0
    assert half_width([(1.0, 10**6)]) == pytest.approx(1.96, abs=1e-3)
    assert half_width([(1.0, float("inf"))]) == pytest.approx(1.96, abs=1e-3)
    assert half_width([(1.0, 4)]) == pytest.approx(2.776, abs=1e-3)  # Student's t, 4 degrees
    assert half_width([(3.0, 10**6), (4.0, 10**6)]) == pytest.approx(5 * 1.96, abs=1e-2)


def test_intervals_hold_what_they_promise() -> None:
    """Many worlds with a known answer: node effects that all splits share, and split effects.

    The intervals cover it about as often as they say; those that take splits for independent
    experiments do not.
    """
    rng = np.random.default_rng(1)
    truth, nodes, splits, worlds = 0.1, 300, 20, 400
    draws = truth + 0.25 * rng.normal(size=10**6) + 0.02 * rng.normal(size=10**6)
    answer = 100 * float((np.clip(0.5 + draws, 0, 1) - 0.5).mean())
    covered = naive = 0
    for _ in range(worlds):
        gain = truth + 0.25 * rng.normal(size=nodes)  # what each node gains in truth
        shift = 0.02 * rng.normal(size=(splits, 1))  # what each training set adds
        tested = rng.random((splits, nodes)) < 0.8
        chance = rng.random((splits, nodes))
        level = np.clip(0.5 + gain + shift, 0, 1)
        better = Outcomes(tested, tested & (chance < level))
        worse = Outcomes(tested, tested & (chance < 0.5))
        estimate = better.gain_over(worse)
        covered += estimate.low <= answer <= estimate.high
        naive += abs(estimate.mean - answer) <= 2.09 * estimate.error_splits
    assert covered / worlds >= 0.92
    assert naive / worlds < 0.75


@given(seed=st.integers(0, 1000), sizes=st.tuples(st.integers(2, 9), st.integers(2, 9)))
def test_the_degrees_of_freedom_are_those_of_welchs_test(seed: int, sizes: tuple[int, int]) -> None:
    rng = np.random.default_rng(seed)
    one, two = (rng.normal(scale=1 + size, size=size) for size in sizes)
    interval = stats.ttest_ind(one, two, equal_var=False).confidence_interval(0.95)
    found = half_width([(standard_error(each), each.size - 1) for each in (one, two)])
    assert found == pytest.approx((interval.high - interval.low) / 2)


def test_a_part_without_degrees_of_freedom_counts_as_one() -> None:
    assert (
        half_width([(2.0, 0)]) == half_width([(2.0, 1)]) == pytest.approx(2 * stats.t.ppf(0.975, 1))
    )


def test_the_interval_of_one_split_is_students() -> None:
    correct = np.arange(12)[None] % 4 != 0
    estimate = Outcomes(np.ones_like(correct), correct).accuracy()
    expected = stats.t.interval(0.95, 11, 75, stats.sem(100.0 * correct[0]))
    assert (estimate.low, estimate.high) == pytest.approx(expected)


def test_the_interval_of_many_splits_counts_splits_and_nodes() -> None:
    found = outcomes(np.random.default_rng(0), 3, 8, share=1.1).accuracy()
    expected = half_width([(found.error_splits, 2), (found.error_nodes, 7)])
    assert found.error_splits > 0
    assert (found.high - found.mean, found.mean - found.low) == pytest.approx((expected, expected))
    assert found.mean == pytest.approx(sum(found.by_split) / 3)


@pytest.mark.parametrize(
    ("low", "high", "clear"),
    [(0.1, 1, True), (-1, -0.1, True), (-1, 1, False), (0, 1, False), (-1, 0, False)],
)
def test_a_gain_is_clear_if_its_interval_leaves_out_zero(
    low: float, high: float, clear: bool
) -> None:
    assert Estimate((low + high) / 2, low, high, 0, 0, ()).clear is clear


@given(numbers=st.lists(st.floats(-100, 100), min_size=8, max_size=8))
def test_an_estimate_is_written_to_four_decimals(numbers: list[float]) -> None:
    written = Estimate(*numbers[:5], tuple(numbers[5:])).to_json()
    flat = [written["mean"], *written["ci95"], written["error_splits"], written["error_nodes"]]
    for number, value in zip(numbers, [*flat, *written["by_split"]], strict=True):
        assert value == float(f"{number:.4f}")
