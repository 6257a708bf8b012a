"""Inputs that a fuzzer found, and a few random ones; `tools/fuzz.py` tries many more."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzz import Judge, mutated
from fuzz_targets import Target, file_targets

FOUND = sorted((Path(__file__).parent / "fuzz").iterdir())


@pytest.fixture(scope="module")
def targets(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Target]]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ugcl.data.planetoid.NUM_VALIDATION", 2)
        yield file_targets(tmp_path_factory.mktemp("fuzz"))


@pytest.mark.parametrize("file", FOUND, ids=lambda file: file.name)
def test_inputs_that_were_found(file: Path, targets: list[Target]) -> None:
    name = file.name.rpartition(".")[0]
    target = next(each for each in targets if each.name.replace("/", "-") == name)
    kind, said = Judge(target).verdict(file.read_bytes())
    target.path.write_bytes(target.seed)
    assert kind == "", said
    assert said


@given(st.integers(0, 2**32))
def test_mutated_files(targets: list[Target], seed: int) -> None:
    rng = random.Random(seed)
    target = rng.choice(targets)
    kind, said = Judge(target).verdict(mutated(target.seed, rng))
    target.path.write_bytes(target.seed)
    assert kind == "", said
