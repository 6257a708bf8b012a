from __future__ import annotations

import re
import subprocess
import sys
from itertools import combinations
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import ugcl
from ugcl._utils.random import Purpose, numpy_generator, seed_of, seeded_torch, torch_generator

PURPOSES = get_args(Purpose)
keys = st.tuples(st.sampled_from(PURPOSES), st.lists(st.integers(0, 2**65), max_size=3).map(tuple))

UNKEYED = re.compile(
    r"default_rng\(|manual_seed\((?!seed_of\()|Generator\(\)|SeedSequence\(|np\.random\.seed"
    r"|random_state=(?!seed_of\()|RandomState\((?!seed_of\()"
)
"""Random numbers that are not keyed by a purpose."""


def numbers(purpose: Purpose, *seeds: int) -> tuple[list[int], list[float], int]:
    """The first numbers of a key's streams."""
    integers = numpy_generator(purpose, *seeds).integers(2**63, size=4).tolist()
    uniform = torch.rand(4, generator=torch_generator(purpose, *seeds)).tolist()
    return integers, uniform, seed_of(purpose, *seeds)


@given(one=keys, other=keys)
def test_equal_keys_repeat_and_distinct_keys_differ(
    one: tuple[Purpose, tuple[int, ...]], other: tuple[Purpose, tuple[int, ...]]
) -> None:
    a, b = (numbers(purpose, *seeds) for purpose, seeds in (one, other))
    assert a == numbers(one[0], *one[1])
    for first, second in zip(a, b, strict=True):
        assert (first == second) == (one == other)


def test_the_keys_of_all_purposes_are_distinct() -> None:
    for seeds in ((), (0,), (3, 1)):
        firsts = [numbers(purpose, *seeds) for purpose in PURPOSES]
        for one, other in combinations(firsts, 2):
            assert not any(a == b for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize(
    ("one", "other"), [((3,), (3, 0)), ((3, 1), (3 + 2**32,)), ((1, 11), (11, 1)), ((), (0,))]
)
def test_seeds_are_not_concatenated(one: tuple[int, ...], other: tuple[int, ...]) -> None:
    for a, b in zip(numbers("views", *one), numbers("views", *other), strict=True):
        assert a != b


def test_keys_are_stable() -> None:
    assert seed_of("split", 0) == 2229648302
    assert seed_of("views", np.int64(3), 2**63) == 1926167367
    code = "from ugcl._utils.random import seed_of; print(seed_of('split', 0))"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout
    assert int(printed) == seed_of("split", 0)


@given(seed=st.integers(0, 100), purpose=st.sampled_from(PURPOSES))
def test_streams_share_no_numbers_with_bare_generators(seed: int, purpose: Purpose) -> None:
    bare = np.random.default_rng(seed).integers(2**63, size=1000)
    assert not np.isin(numpy_generator(purpose, seed).integers(2**63, size=1000), bare).any()


def test_seeded_torch_restores_the_global_generator() -> None:
    state = torch.get_rng_state()
    with seeded_torch("dropout", 1, 2):
        inside = torch.rand(4)
    assert torch.equal(torch.get_rng_state(), state)
    assert torch.equal(inside, torch.rand(4, generator=torch_generator("dropout", 1, 2)))


def test_refuses() -> None:
    with pytest.raises(ValueError, match="did you mean 'split'"):
        numpy_generator("splits", 0)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"^expected non-negative integer$"):
        numpy_generator("split", 0, -1)
    with pytest.raises(TypeError):
        numpy_generator("split", 1.0)  # type: ignore[arg-type]


def test_importing_the_module_does_not_import_torch() -> None:
    code = "import sys, ugcl._utils.random; print('torch' in sys.modules)"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout
    assert printed.strip() == "False"


def test_the_package_has_no_other_random_numbers() -> None:
    package = Path(ugcl.__file__).parent
    unkeyed = [
        f"{path.relative_to(package)}:{number}: {line.strip()}"
        for path in sorted(package.rglob("*.py"))
        if path != package / "_utils/random.py"
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if UNKEYED.search(line)
    ]
    assert not unkeyed
