"""Print the tables of docs/scope/README.md from the result files.

python tools/scope_tables.py docs

`results/scopes/NAME.json` is what `ugcl study NAME --scopes 20` wrote, `survey/NAME.json` there
what `ugcl scope NAME --deep --json` printed, `scope/paper_table.json` what tools/paper_scopes.py
wrote.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean
from typing import Any

from ugcl.data import DATASETS

RULES = {
    "masked-features": "masked features (`auto`)",
    "trained masked-features": "the same, trained",
    "held-out-links": "held-out links",
    "denoising": "denoising",
    "pseudo-labels": "pseudo-labels",
    "trained pseudo-labels": "the same, trained",
    "agreement": "agreement",
    "paper": "paper's rule",
    "train-labels": "training labels",
}
"""The rules and the heads of their columns."""


def load(folder: Path) -> dict[str, tuple[dict[str, Any], dict[str, Any]]]:
    """Scores at every n and the survey, by graph: data sets first, in the catalogue's order."""
    names = {path.stem for path in folder.glob("*.json")}
    ordered = [name for name in DATASETS if name in names]
    return {
        name: (_read(folder / f"{name}.json"), _read(folder / "survey" / f"{name}.json"))
        for name in (*ordered, *sorted(names - set(ordered)))
    }


def regrets(found: dict[str, tuple[dict[str, Any], dict[str, Any]]]) -> Iterator[str]:
    """A line for each graph: what `auto` chose and what that cost."""
    heads = ("graph", "seeds", "best n", "accuracy", "n = 0", "`auto`", "accuracy", "regret")
    yield f"| {' | '.join(heads)} |"
    yield "|" + "---|" * len(heads)
    for name, (study, survey) in found.items():
        n = survey["rules"]["masked-features"]["n"]
        best, none, chosen = (_row(study, each) for each in (study["oracle"], 0, n))
        low, high = chosen["regret"]["ci95"]
        yield (
            f"| {name} | {study['seeds']} | {study['oracle']} | {best['accuracy'][0]:.1f} "
            f"| {none['accuracy'][0]:.1f} | {n} | {chosen['accuracy'][0]:.1f} "
            f"| {chosen['regret']['mean']:.2f} [{low:.2f}, {high:.2f}] |"
        )


def rules(found: dict[str, tuple[dict[str, Any], dict[str, Any]]]) -> Iterator[str]:
    """A line for each graph: the n of every rule and its regret; then means."""
    yield f"| graph | {' | '.join(RULES.values())} |"
    yield "|" + "---|" * (len(RULES) + 1)
    for name, (study, survey) in found.items():
        chosen = {rule: survey["rules"][rule]["n"] for rule in RULES}
        cells = ["-" if n is None else f"{n}: {_regret(study, n):.2f}" for n in chosen.values()]
        yield f"| {name} | {' | '.join(cells)} |"
    for title, wanted in (("mean, data sets", True), ("mean, synthetic", False)):
        group = [pair for name, pair in found.items() if (name in DATASETS) == wanted]
        if group:
            chosen = {rule: [(s, v["rules"][rule]["n"]) for s, v in group] for rule in RULES}
            means = [
                fmean(_regret(study, n) for study, n in choices if n is not None)
                for choices in chosen.values()
            ]
            yield f"| **{title}** | {' | '.join(f'**{mean:.2f}**' for mean in means)} |"


def paper_table(found: dict[str, Any]) -> Iterator[str]:
    """Two lines for each data set of the paper's table: its bounds and ours."""
    scopes = range(1, 11)
    yield f"| graph | d | | {' | '.join(f'n = {n}' for n in scopes)} | selected |"
    yield "|" + "---|" * 14
    for name, row in found["rows"].items():
        published = row["published"]
        ours = " | ".join(f"{bound:.2f}" for bound in row["lower_bound"])
        theirs = " | ".join(f"{bound:.2f}" for bound in published["lower_bound"])
        yield f"| {name} | {row['degree']:.2f} | ours | {ours} | {row['selected_n']} |"
        yield f"| | | published | {theirs} | {published['selected_n']} |"


def _regret(study: dict[str, Any], n: int) -> float:
    regret: float = _row(study, n)["regret"]["mean"]
    return regret


def _row(study: dict[str, Any], n: int) -> dict[str, Any]:
    row: dict[str, Any] = study["scopes"][n]
    assert row["n"] == n
    return row


def _read(path: Path) -> dict[str, Any]:
    read: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return read


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = Path(sys.argv[1])
    everything = load(folder / "results/scopes")
    of_paper = _read(folder / "scope/paper_table.json")
    tables = (*regrets(everything), "", *rules(everything), "", *paper_table(of_paper))
    print(*tables, sep="\n")
