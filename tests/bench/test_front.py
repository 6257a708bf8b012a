from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ugcl.bench.front import front, peer_table, summarise

values = st.integers(0, 5).map(float)
"""Few values, so that ties are common."""


def beats(one: tuple[float, float], other: tuple[float, float]) -> bool:
    return one != other and one[0] <= other[0] and one[1] >= other[1]


@given(st.lists(st.tuples(values, values), max_size=12))
def test_front_has_exactly_the_points_that_none_beats(points: list[tuple[float, float]]) -> None:
    found = front(points)
    unbeaten = {i for i, point in enumerate(points) if not any(beats(o, point) for o in points)}
    assert set(found) == unbeaten
    assert len(found) == len(unbeaten)
    assert [points[i][0] for i in found] == sorted(points[i][0] for i in found)


@given(st.lists(st.tuples(values, values), min_size=1, max_size=12), st.randoms())
def test_front_does_not_depend_on_the_order(points: list[tuple[float, float]], random: Any) -> None:
    shuffled = random.sample(points, len(points))
    assert sorted(points[i] for i in front(points)) == sorted(shuffled[i] for i in front(shuffled))


def row(method: str, seconds: float, accuracy: float, **fields: Any) -> dict[str, Any]:
    return {
        "graph": "cora",
        "threads": 1,
        "method": method,
        "package": "lib",
        "version": "1.0",
        "reason": None,
        "width": 8,
        "cpu_seconds": seconds,
        "seconds": 2 * seconds,
        "peak_bytes": 1e6,
        "accuracy": [accuracy - 1, accuracy + 1],
        **fields,
    }


def test_summary_takes_medians_and_marks_the_front() -> None:
    rows = [row("good", seconds, accuracy) for seconds, accuracy in ((9, 78), (2, 80), (3, 82))]
    rows += [row("beaten", 4, 70), row("fast", 1, 60)]
    rows += [row("good", 1, 99, threads=2)]
    fast, good, beaten, other = summarise(rows)
    assert [r["method"] for r in (fast, good, beaten, other)] == ["fast", "good", "beaten", "good"]
    assert [r["front"] for r in (fast, good, beaten, other)] == [True, True, False, True]
    assert (good["cpu_seconds"], good["repeats"]) == (3, 3)
    assert good["accuracy"] == (80, pytest.approx(2))
    assert fast["accuracy"] == (60, None)


def test_methods_without_a_result_come_last_with_the_reason() -> None:
    stopped = {"graph": "cora", "threads": 1, "method": "slow", "package": "lib", "version": ""}
    stopped["reason"] = "stopped after 600 CPU seconds"
    header, first, last = peer_table(summarise([stopped, row("fast", 1, 60, peak_bytes=None)]))
    assert len(header) == len(first) == len(last)
    assert first == ("cora", "1", "fast", "lib 1.0", "8", "1", "2", "-", "60.0", "yes")
    assert last[2:5] == ("slow", "lib", "-")
    assert last[-1] == "stopped after 600 CPU seconds"


def test_a_method_that_failed_once_has_no_result() -> None:
    rows = [row("some", 1, 60), row("some", 1, 60, reason="memory ran out")]
    (merged,) = summarise(rows)
    assert (merged["reason"], merged["repeats"], merged["front"]) == ("memory ran out", 1, False)
