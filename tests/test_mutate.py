from __future__ import annotations

import os
from pathlib import Path

import pytest

import mutate

SOURCE = '''
"""Not changed."""

LIMIT = 0.5

class Mean:
    @property
    def centre(self) -> int | None:
        return sum(self.rows) / (self.size - 1)

def clip(x: float, low: float = 0) -> float:
    """Not changed."""
    if x < low and not x:
        raise ValueError(f"{x} is below {low + 1}")
    x += 1
    return x
'''


def changes() -> set[str]:
    return {str(mutant) for mutant in mutate.mutants("scope/own", SOURCE)}


def test_operators_constants_and_comparisons_of_functions_change_one_at_a_time() -> None:
    mean = "scope/own Mean.centre: return sum(self.rows) / (self.size - 1) -> return "
    condition = "scope/own clip: x < low and (not x) -> "
    assert changes() == {
        mean + "sum(self.rows) * (self.size - 1)",
        mean + "mean(self.rows) / (self.size - 1)",
        mean + "sum(self.rows) / (self.size + 1)",
        mean + "sum(self.rows) / (self.size - 0)",
        mean + "sum(self.rows) / (self.size - 2)",
        "scope/own clip: 0 -> 1",
        condition + "not (x < low and (not x))",
        condition + "x < low or not x",
        condition + "x <= low and (not x)",
        condition + "x >= low and (not x)",
        condition + "x < low and (not not x)",
        "scope/own clip: x += 1 -> pass",
        "scope/own clip: x += 1 -> x -= 1",
        "scope/own clip: x += 1 -> x += 0",
        "scope/own clip: x += 1 -> x += 2",
    }


def test_every_mutant_is_a_module_of_its_own() -> None:
    mutants = list(mutate.mutants("scope/own", SOURCE))
    assert len({mutant.source for mutant in mutants} | {SOURCE}) == len(mutants) + 1
    for mutant in mutants:
        compile(mutant.source, "own.py", "exec")


def test_all_justified_survivors_are_still_mutants() -> None:
    every = {str(mutant) for module in mutate.modules([]) for mutant in mutate.mutants_of(module)}
    assert mutate.accepted() <= every


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the tool needs fork")
def test_a_wrong_formula_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mutate, "BUILD", tmp_path)
    monkeypatch.setattr(mutate, "RESULTS", tmp_path / "results.jsonl")
    monkeypatch.setattr(mutate, "SECONDS", tmp_path / "seconds.json")
    monkeypatch.chdir(mutate.ROOT)
    mutate.RESULTS.touch()
    some = mutate.mutants_of("losses/margin")
    assert mutate.run_module(some, 60) == {"killed": len(some)}
    results = mutate.RESULTS.read_text("utf-8")
    assert mutate.run_module(some, 60) == {"killed": len(some)}
    assert mutate.RESULTS.read_text("utf-8") == results
