"""Print the tables of docs/results/README.md from the result files beside it.

python scripts/results_tables.py docs/results
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean
from typing import Any

from ugcl.data import DATASETS
from ugcl.evaluation import CONTROLS
from ugcl.methods import METHODS


def results(folder: Path) -> dict[str, dict[str, Any]]:
    """The studies in the folder, by data set, in the catalogue's order."""
    return {
        name: json.loads((folder / f"{name}.json").read_text("utf-8"))
        for name in DATASETS
        if (folder / f"{name}.json").is_file()
    }


def one_split(studies: dict[str, dict[str, Any]]) -> Iterator[str]:
    """A line for each data set and variant: accuracy on the one split, by both probes."""
    heads = ("data set", "settings", "authors' probe", "published", "honest probe", *CONTROLS)
    yield f"| {' | '.join(heads)} |"
    yield "|" + "---|" * len(heads)
    for name, study in studies.items():
        for variant in variants(study):
            honest, paper = (row_of(study, variant, probe) for probe in ("honest", "paper"))
            cells = [
                name,
                f"`{variant}`",
                figure(paper["accuracy"]),
                figure(study["published"]),
                figure(honest["accuracy"]),
                *(f"{honest['controls'][c][0]:.1f}" for c in CONTROLS),
            ]
            yield f"| {' | '.join(cells)} |"


def many_splits(studies: dict[str, dict[str, Any]]) -> Iterator[str]:
    """A line for each data set and variant: the honest probe over many splits, and the gain."""
    heads = ("data set", "settings", "UGCL", *CONTROLS, "gain over the best")
    yield f"| {' | '.join(heads)} |"
    yield "|" + "---|" * len(heads)
    for name, study in studies.items():
        for variant in variants(study):
            row = row_of(study, variant, "honest")
            means = {control: mean for control, (mean, _) in row["controls_mean"].items()}
            best = row["differences"][max(means, key=lambda control: means[control])]
            clear = best["ci95"][0] > 0 or best["ci95"][1] < 0
            gain = f"{best['mean']:+.1f} [{best['ci95'][0]:+.1f}, {best['ci95'][1]:+.1f}]"
            cells = [
                name,
                f"`{variant}`",
                figure(row["accuracy_mean"]),
                *(f"{means[control]:.1f}" for control in CONTROLS),
                f"**{gain}**" if clear else gain,
            ]
            yield f"| {' | '.join(cells)} |"


def choices(folder: Path) -> Iterator[str]:
    """A line for each data set and setting that was compared on validation nodes.

    Settings are shown where they differ from those of `fast` for a graph without its own.
    """
    yield "| data set | settings | seeds | validation | seconds |"
    yield "|---|---|---|---|---|"
    base = METHODS["ugcl"].presets["fast"].base
    for name in DATASETS:
        file = folder / "choices" / f"{name}.json"
        compared = json.loads(file.read_text("utf-8"))["validation"] if file.is_file() else {}
        for held in sorted(compared.values(), key=lambda held: -held["mean"]):
            settings = held["settings"]
            changes = [f"{n}={settings[n]}" for n in base if n == "scope" or settings[n] != base[n]]
            seconds = f"{fmean(held['seconds']):.0f}"
            seeds, mean = str(len(held["scores"])), f"{held['mean']:.2f}"
            yield f"| {name} | `{', '.join(changes)}` | {seeds} | {mean} | {seconds} |"


def variants(study: dict[str, Any]) -> list[str]:
    """The variants of a study, in the order they were run."""
    return list(dict.fromkeys(row["variant"] for row in study["summary"]))


def row_of(study: dict[str, Any], variant: str, protocol: str) -> dict[str, Any]:
    """The line of a study's summary."""
    return next(
        row for row in study["summary"] if (row["variant"], row["protocol"]) == (variant, protocol)
    )


def figure(pair: tuple[float, float | None] | None) -> str:
    """A mean and its deviation."""
    if pair is None:
        return "-"
    return f"{pair[0]:.1f}" if pair[1] is None else f"{pair[0]:.1f} ± {pair[1]:.1f}"


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    found = results(Path(sys.argv[1]))
    print(*one_split(found), "", *many_splits(found), "", *choices(Path(sys.argv[1])), sep="\n")
