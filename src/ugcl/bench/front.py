"""Summary of `ugcl bench peers`: medians, the front of accuracy against seconds, a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import fmean, median, stdev
from typing import Any

Row = dict[str, Any]

HEADER = (
    *("graph", "threads", "method", "library", "columns", "CPU seconds", "seconds"),
    *("peak, MB", "accuracy", "front"),
)


def front(points: Sequence[tuple[float, float]]) -> list[int]:
    """Return the indices of the points (seconds, accuracy) that no other one beats.

    A point beats another one if it is at least as fast and as accurate, and better in one of both.
    The result is in order of seconds.
    """
    order = sorted(range(len(points)), key=lambda i: (points[i][0], -points[i][1]))
    kept: list[int] = []
    for i in order:
        if not kept or points[i][1] > points[kept[-1]][1] or points[i] == points[kept[-1]]:
            kept.append(i)
    return kept


def summarise(rows: Sequence[Row]) -> list[Row]:
    """Return one row for each graph, number of threads and method, over its repetitions.

    Graphs and threads stay in their order, methods are ordered by CPU seconds; those without a
    result, whose `reason` says why, come last. Seconds, memory and accuracy are medians, except
    `accuracy`: the mean and the standard deviation over repetitions (None with one) of the mean
    over splits. `front` says whether a method is on the front of its graph and threads.
    """
    groups: dict[tuple[str, int], dict[str, list[Row]]] = {}
    for row in rows:
        group = groups.setdefault((row["graph"], row["threads"]), {})
        group.setdefault(row["method"], []).append(row)
    summary: list[Row] = []
    for by_method in groups.values():
        merged = [_merged(repetitions) for repetitions in by_method.values()]
        measured = sorted((m for m in merged if not m["reason"]), key=lambda m: m["cpu_seconds"])
        best = front([(m["cpu_seconds"], m["accuracy"][0]) for m in measured])
        summary += [{**m, "front": i in best} for i, m in enumerate(measured)]
        summary += [{**m, "front": False} for m in merged if m["reason"]]
    return summary


def _merged(repetitions: list[Row]) -> Row:
    last = repetitions[-1]
    fixed = {name: last[name] for name in ("graph", "threads", "method", "package", "version")}
    measured = [row for row in repetitions if not row["reason"]]
    if len(measured) < len(repetitions):
        return {**fixed, "repeats": len(measured), "reason": last["reason"]}
    means = [fmean(row["accuracy"]) for row in measured]
    peaks = [row["peak_bytes"] for row in measured if row["peak_bytes"] is not None]
    return {
        **fixed,
        "repeats": len(measured),
        "reason": None,
        "width": last["width"],
        "cpu_seconds": median(row["cpu_seconds"] for row in measured),
        "seconds": median(row["seconds"] for row in measured),
        "peak_bytes": median(peaks) if peaks else None,
        "accuracy": (fmean(means), stdev(means) if len(means) > 1 else None),
    }


def peer_table(summary: Sequence[Row]) -> Iterator[tuple[str, ...]]:
    """Yield the header and a row of cells for each row of the summary."""
    yield HEADER
    for row in summary:
        first = row["graph"], str(row["threads"]), row["method"], _library(row)
        if row["reason"]:
            yield *first, "-", "-", "-", "-", "-", row["reason"]
            continue
        mean, deviation = row["accuracy"]
        peak = row["peak_bytes"]
        yield (
            *first,
            f"{row['width']:,}",
            _seconds(row["cpu_seconds"]),
            _seconds(row["seconds"]),
            "-" if peak is None else f"{peak / 1e6:,.0f}",
            f"{mean:.1f}" if deviation is None else f"{mean:.1f} ± {deviation:.1f}",
            "yes" if row["front"] else "",
        )


def _library(row: Row) -> str:
    return f"{row['package']} {row['version']}".strip()


def _seconds(value: float) -> str:
    return f"{value:,.0f}" if value >= 99.5 else f"{value:.2g}"
