"""Records and cells of the tables that `make_tables.py` prints."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from statistics import fmean, stdev

from collect import RESULTS, Record, find_record, read_records
from ugcl.data import DATASETS
from ugcl.evaluation import CONTROLS
from ugcl.methods import METHODS

Rows = Iterator[Iterable[str]]
"""The rows of a table, its header first."""


@cache
def load(name: str) -> list[Record]:
    """Return `results/NAME.jsonl`: data sets in catalogue order, methods in registry order.

    Synthetic graphs come last, by name.
    """
    graphs, methods = list(DATASETS), list(METHODS)

    def order(record: Record) -> tuple[int, str, int]:
        graph, method = record.get("graph", ""), record.get("method")
        return (
            graphs.index(graph) if graph in graphs else len(graphs),
            graph,
            methods.index(method) if method in methods else 0,
        )

    return sorted(read_records(RESULTS / f"{name}.jsonl"), key=order)


def variants(study: Record) -> list[str]:
    """Return the variants of a study in the order in which they ran."""
    return list(dict.fromkeys(row["variant"] for row in study["summary"]))


def summary(study: Record, variant: str, protocol: str) -> Record:
    """Return a row of a study's summary."""
    row = find_record(study["summary"], variant=variant, protocol=protocol)
    assert row is not None, (study["name"], variant, protocol)
    return row


def scored_controls() -> list[str]:
    """Return the controls that some study has scored."""
    scored = {
        name for study in load("accuracy") for row in study["summary"] for name in row["controls"]
    }
    return [control for control in CONTROLS if control in scored]


def mean_of_control(scores: dict[str, list[float]], control: str) -> str:
    """Format the mean score of a control, if there is one."""
    return f"{scores[control][0]:.1f}" if control in scores else "-"


def best(row: Record) -> str:
    """Return the name of the control with the highest mean over many splits."""
    means: dict[str, list[float]] = row["controls_mean"]
    return max(means, key=lambda control: means[control][0])


def best_control(row: Record) -> str:
    """Format the mean and the name of the best control."""
    return f"{row['controls_mean'][best(row)][0]:.1f} ({best(row)})"


def gain_over_control(row: Record) -> str:
    """Format the gain over the best control."""
    return interval(row["differences"][best(row)])


def interval(difference: Record, digits: int = 1) -> str:
    """Format a difference and its 95 % confidence interval, bold if that excludes zero."""
    mean, low, high = (f"{v:+.{digits}f}" for v in (difference["mean"], *difference["ci95"]))
    return _bold_if_significant(f"{mean} [{low}, {high}]", difference)


def short_gain(difference: Record) -> str:
    """Format a difference, bold if its 95 % confidence interval excludes zero."""
    return _bold_if_significant(f"{difference['mean']:+.1f}", difference)


def _bold_if_significant(text: str, difference: Record) -> str:
    low, high = difference["ci95"]
    return f"**{text}**" if low > 0 or high < 0 else text


def mean_std(pair: tuple[float, float | None] | None) -> str:
    """Format a mean and its standard deviation, either of which may be missing."""
    if pair is None:
        return "-"
    return f"{pair[0]:.1f}" if pair[1] is None else f"{pair[0]:.1f} ± {pair[1]:.1f}"


def mean_of(values: list[float]) -> str:
    """Format the mean and the standard deviation of values."""
    return mean_std((fmean(values), stdev(values) if len(values) > 1 else None))
