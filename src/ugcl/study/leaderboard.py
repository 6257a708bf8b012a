"""The leaderboard: all scored cells of studies as one static page, sortable in the browser."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from ugcl._utils.errors import UGCLError
from ugcl.report import render_asset
from ugcl.study.entries import best_control_gain
from ugcl.study.runner import Record, Results
from ugcl.study.summary import mean_and_deviation

ABOUT = (
    "Gains are over random splits, paired by node, with 95 % intervals. Seconds are CPU time of "
    "training and embedding with one thread of the machine that computed the row; memory is the "
    "peak of the whole process in training and scoring."
)


VERSION = ("fingerprint", "task_version", "method_version", "method_sha256", "preset_values")
"""Fields of a record that say which data, code and preset it is of; the last ones count."""


class Column(NamedTuple):
    """A column of the page."""

    title: str
    number: bool = False


class Shown(NamedTuple):
    """A cell of the page: its text, the value that it is sorted by, and its style."""

    text: str
    value: float | str = ""
    style: str = "number"


COLUMNS = (
    *(Column(title) for title in ("method", "data set", "protocol", "preset", "settings")),
    *(Column(title, True) for title in ("accuracy", "one split", "gain", "best control")),
    *(Column(title, True) for title in ("seeds", "splits", "CPU seconds", "memory, MB")),
)


def leaderboard_rows(records: Iterable[Record]) -> list[dict[str, Any]]:
    """Return one row for each method, data set, protocol and settings, over the seeds."""
    newest: dict[tuple[str, ...], dict[str, list[tuple[Record, dict[str, Any]]]]] = {}
    for record in {record["key"]: record for record in records}.values():
        if record.get("task") != "accuracy" or "result" not in record:
            continue
        settings = ", ".join(f"{name} {value}" for name, value in record["settings"].items())
        first = record["method"], Path(record["graph"]).name
        version = json.dumps({name: record.get(name) for name in VERSION}, sort_keys=True)
        for protocol, score in record["result"]["scores"].items():
            key = (*first, protocol, record["preset"], settings, str(score.get("splits") or ""))
            versions = newest.setdefault(key, {})
            group = versions.pop(version, [])  # the version of the last record comes last
            versions[version] = [*group, (record, score)]
    return [_row(key, list(versions.values())[-1]) for key, versions in newest.items()]


def _row(key: tuple[str, ...], group: Sequence[tuple[Record, dict[str, Any]]]) -> dict[str, Any]:
    scores = [score for _, score in group]
    peaks = [record["peak_bytes"] for record, _ in group if record.get("peak_bytes")]
    many = [score["accuracy_mean"] for score in scores if "accuracy_mean" in score]
    results = [record["result"] for record, _ in group]
    return {
        **dict(zip(("method", "data set", "protocol", "preset", "settings"), key, strict=False)),
        "accuracy": mean_and_deviation(many) if many else None,
        "one split": mean_and_deviation([score["accuracy"] for score in scores]),
        "gain": best_control_gain(scores),
        "seeds": len(group),
        "splits": int(key[-1]) if key[-1] else None,
        "seconds": fmean(each.get("run_cpu_seconds", each["training_seconds"]) for each in results),
        "memory": max(peaks) / 1e6 if peaks else None,
    }


def write_leaderboard(paths: Sequence[Path], out: Path, command: str = "") -> list[dict[str, Any]]:
    """Write the page from files of cells, and return its rows.

    Args:
        paths: `cells.jsonl` of studies.
        out: the HTML file.
        command: the command that makes the page, shown on it.
    """
    for path in paths:
        if not path.is_file():
            raise UGCLError(f"there is no file {path}: pass the cells.jsonl of a study")
    rows = leaderboard_rows(
        record for path in paths for record in Results.open(path).records.values()
    )
    if not rows:
        raise UGCLError(f"{paths[0]} has no scored method: run a study such as classification")
    filters = {
        name: sorted({row[name] for row in rows}) for name in ("data set", "protocol", "method")
    }
    render_asset(
        "leaderboard.html",
        out,
        columns=COLUMNS,
        rows=[_shown(row) for row in rows],
        filters=filters,
        chosen={"protocol": "honest"} if "honest" in filters["protocol"] else {},
        source=", ".join(path.name for path in paths),
        command=command,
        about=ABOUT,
    )
    return rows


def _shown(row: dict[str, Any]) -> list[Shown]:
    names = ("method", "data set", "protocol", "preset", "settings")
    gain = row["gain"]
    shown = [Shown(row[name], row[name], "") for name in names]
    shown += [_pair(row["accuracy"]), _pair(row["one split"])]
    if gain is None:
        shown += [Shown("-"), Shown("-")]
    else:
        low, high = gain["ci95"]
        style = "better" if low > 0 else "worse" if high < 0 else ""
        text = f"{gain['mean']:+.1f} [{low:+.1f}, {high:+.1f}]"
        shown.append(Shown(text, gain["mean"], f"number {style}".strip()))
        shown.append(Shown(f"{gain['control_mean']:.1f} ({gain['control']})", gain["control_mean"]))
    shown += [_plain(row["seeds"], 0), _plain(row["splits"], 0)]
    return [*shown, _plain(row["seconds"], 1), _plain(row["memory"], 0)]


def _pair(pair: tuple[float, float | None] | None) -> Shown:
    if pair is None:
        return Shown("-")
    mean, deviation = pair
    return Shown(f"{mean:.1f}" if deviation is None else f"{mean:.1f} ± {deviation:.1f}", mean)


def _plain(value: float | None, digits: int) -> Shown:
    return Shown("-") if value is None else Shown(f"{value:,.{digits}f}", value)
