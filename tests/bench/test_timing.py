from __future__ import annotations

import pytest

from ugcl.bench.timing import exponent, medians


def test_medians_take_turns() -> None:
    calls: list[str] = []
    result = medians(
        {name: lambda name=name: calls.append(name) for name in "ab"}, warm_up=1, budget=1e-9
    )
    assert calls == list("ab") * 6
    assert set(result) == {"a", "b"}


def test_exponents() -> None:
    assert exponent([1, 2, 4], [3, 12, 48]) == pytest.approx(2)
    assert exponent([1, 2, 4], [5, 5, 5]) == pytest.approx(0)
