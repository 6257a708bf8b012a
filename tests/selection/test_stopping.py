from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ugcl.selection.stopping import has_fallen, is_clear, standard_errors


def scores_of(*levels: float, noise: float = 0.01) -> np.ndarray:
    rng = np.random.default_rng(0)
    return np.array(levels) + noise * rng.normal(size=(6, len(levels)))


def test_the_score_has_fallen_after_two_n_that_are_clearly_worse() -> None:
    assert has_fallen(scores_of(0.1, 0.5, 0.4, 0.4))
    assert not has_fallen(scores_of(0.1, 0.5, 0.4))  # only one
    assert not has_fallen(scores_of(0.1, 0.5, 0.4, 0.5))
    assert not has_fallen(scores_of(0.1, 0.5, 0.4, 0.6))
    assert not has_fallen(scores_of(0.1, 0.5, 0.49, 0.49, noise=0.2))  # within noise
    assert not has_fallen(scores_of(0.1, 0.5, 0.4, 0.4)[:1])  # one repetition has no noise


def test_a_clear_choice_exceeds_zero_and_its_neighbours() -> None:
    assert is_clear(scores_of(0.1, 0.5, 0.4, 0.4))
    assert is_clear(scores_of(0.5, 0.4, 0.3))
    assert not is_clear(scores_of(0.49, 0.5, 0.4, 0.4, noise=0.02))
    assert not is_clear(scores_of(0.1, 0.5, 0.495, 0.4))
    assert not is_clear(scores_of(-0.5, -0.1, -0.2))
    assert not is_clear(scores_of(0.1, 0.2, 0.5))  # the last n
    assert not is_clear(scores_of(0.5))


matrices = st.integers(0, 2**32 - 1).map(
    lambda seed: np.random.default_rng(seed).normal(size=(4, 6)).cumsum(axis=1)
)


@given(matrices, st.floats(-100, 100), st.floats(0.1, 10))
def test_falling_does_not_depend_on_level_and_unit(
    scores: np.ndarray, level: float, unit: float
) -> None:
    shared = level * np.arange(1, 5)[:, None]  # of a repetition: pairing removes it
    assert has_fallen(scores) == has_fallen(unit * scores + shared)


@given(matrices)
def test_rising_scores_have_not_fallen(scores: np.ndarray) -> None:
    assert not has_fallen(np.sort(scores, axis=1))


@given(matrices)
def test_a_clear_choice_that_falls_stays_with_fewer_n(scores: np.ndarray) -> None:
    best = int(scores.mean(axis=0).argmax())
    if best < scores.shape[1] - 1:
        assert is_clear(scores) == is_clear(scores[:, : best + 2])


def test_standard_errors_are_those_of_the_mean() -> None:
    values = np.array([[1.0, 2.0], [3.0, 2.0], [5.0, 2.0]])
    np.testing.assert_allclose(standard_errors(values), [2 / np.sqrt(3), 0])
