from __future__ import annotations

import pytest

from ugcl.study.summary import combined_difference, mean_and_deviation


def test_seeds_share_splits_and_nodes() -> None:
    """The same result from two seeds is no surer than from one; their spread comes on top."""
    one = {"mean": 1.0, "error_splits": 0.3, "error_nodes": 0.4, "by_split": [0.0] * 20}
    alone, twice = combined_difference([one]), combined_difference([one, one])
    assert alone == twice
    assert alone["mean"] == 1.0
    assert alone["ci95"][1] - 1.0 == pytest.approx(0.5 * 1.97, abs=0.02)
    wide = combined_difference([one, one | {"mean": 3.0}])
    assert wide["mean"] == 2.0
    assert wide["ci95"][0] < 0


def test_deviation_is_that_of_a_sample() -> None:
    assert mean_and_deviation([1.0, 2.0, 3.0]) == (2.0, 1.0)
    assert mean_and_deviation([1.0]) == (1.0, None)
