from __future__ import annotations

from ugcl._utils.progress import reporting_to, steps


def test_loops_are_reported_to_the_innermost_listener() -> None:
    seen: list[tuple[str, int, int]] = []
    assert list(steps("counting", "abc", 3)) == ["a", "b", "c"]
    with reporting_to(lambda *step: seen.append(step)):
        assert list(steps("counting", iter("abc"), 3)) == ["a", "b", "c"]
        with reporting_to(None):
            assert list(steps("silent", "ab", 2)) == ["a", "b"]
    assert seen == [("counting", i, 3) for i in range(4)]


def test_a_loop_that_ends_early_is_complete() -> None:
    seen: list[tuple[str, int, int]] = []
    with reporting_to(lambda *step: seen.append(step)):
        for item in steps("looking", range(10), 10):
            if item == 3:
                break
    assert seen[-1] == ("looking", 10, 10)
