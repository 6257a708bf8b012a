"""Print the tables of the README and of the pages in docs/results from the result files.

python tools/results_tables.py docs/results
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import fmean, stdev
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


def overview(studies: dict[str, dict[str, Any]], cold_start: dict[str, Any]) -> Iterator[str]:
    """A line for each data set: the default settings over many splits, in short."""
    heads = ("data set", "all in", "UGCL `fast`", "best control", "gain, 95 % interval")
    yield f"| {' | '.join(heads)} |"
    yield "|" + "---|" * len(heads)
    for name, study in studies.items():
        row = row_of(study, "fast", "honest")
        best, mean = best_control(row)
        cells = [
            name,
            f"{cold_start['seconds'][name]['cold_start']:.0f} s",
            figure(row["accuracy_mean"]),
            f"{mean:.1f} ({best})",
            gain(row["differences"][best]),
        ]
        yield f"| {' | '.join(cells)} |"


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
    heads = ("data set", "settings", "splits", "UGCL", *CONTROLS, "gain over the best")
    yield f"| {' | '.join(heads)} |"
    yield "|" + "---|" * len(heads)
    for name, study in studies.items():
        for variant in variants(study):
            row = row_of(study, variant, "honest")
            cells = [
                name,
                f"`{variant}`",
                str(row["splits"]),
                figure(row["accuracy_mean"]),
                *(f"{row['controls_mean'][control][0]:.1f}" for control in CONTROLS),
                gain(row["differences"][best_control(row)[0]]),
            ]
            yield f"| {' | '.join(cells)} |"


def best_control(row: dict[str, Any]) -> tuple[str, float]:
    """The control with the highest mean over many splits, and that mean."""
    means = {control: mean for control, (mean, _) in row["controls_mean"].items()}
    best = max(means, key=lambda control: means[control])
    return best, means[best]


def gain(difference: dict[str, Any], digits: int = 1) -> str:
    """A difference and its interval, bold where that leaves out zero."""
    low, high = difference["ci95"]
    mean, low_end, high_end = (f"{v:+.{digits}f}" for v in (difference["mean"], low, high))
    words = f"{mean} [{low_end}, {high_end}]"
    return f"**{words}**" if low > 0 or high < 0 else words


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


def negatives(folder: Path) -> Iterator[str]:
    """A line for each data set: some sampled negatives against all of them."""
    yield from _compared(folder, lambda variant: "negatives=" in variant)


def fast(folder: Path) -> Iterator[str]:
    """A line for each data set: the default settings against those of the authors."""
    yield from _compared(folder, lambda variant: variant == "fast")


def _compared(folder: Path, chosen: Callable[[str], bool]) -> Iterator[str]:
    yield "| data set | settings | accuracy | against | accuracy | difference | seeds |"
    yield "|---|---|---|---|---|---|---|"
    for name in DATASETS:
        file = folder / "paired" / f"{name}.json"
        read = json.loads(file.read_text("utf-8")) if file.is_file() else {"summary": []}
        for row in read["summary"]:
            if chosen(row["variant"]):
                yield (
                    f"| {name} | `{row['variant']}` | {figure(row['accuracy'])} "
                    f"| `{read['against']}` | {figure(row['against_accuracy'])} "
                    f"| {gain(row['difference'], 2)} | {row['seeds']} |"
                )


def methods(folder: Path, wanted: Callable[[str], bool] = lambda name: True) -> Iterator[str]:
    """A line for each data set, method and variant: one split beside the published, and many."""
    heads = ["data set", "method", "settings", "authors' probe", "published", "honest probe"]
    heads += ["splits", "many splits", "untrained", "best control", "gain over it"]
    yield f"| {' | '.join(heads)} |"
    yield "|" + "---|" * len(heads)
    for study in by_method(folder):
        for variant in variants(study) if wanted(study["method"]) else ():
            honest, paper = (row_of(study, variant, probe) for probe in ("honest", "paper"))
            best, mean = best_control(honest)
            cells = [
                study["graph"],
                study["method"],
                f"`{variant}`",
                figure(paper["accuracy"]),
                figure(study["published"]),
                figure(honest["accuracy"]),
                str(honest["splits"]),
                figure(honest["accuracy_mean"]),
                f"{honest['controls_mean']['untrained'][0]:.1f}",
                f"{mean:.1f} ({best})",
                gain(honest["differences"][best]),
            ]
            yield f"| {' | '.join(cells)} |"


def unsupervised(folder: Path) -> Iterator[str]:
    """As `methods`, of the baselines that learn without labels."""
    yield from methods(folder, lambda name: not METHODS[name].supervised)


def supervised(folder: Path) -> Iterator[str]:
    """A line for each data set, method that learns from labels, and variant."""
    heads = ["data set", "method", "settings", "one split", "published", "splits", "many splits"]
    heads += ["best control", "gain over it", "seconds"]
    yield f"| {' | '.join(heads)} |"
    yield "|" + "---|" * len(heads)
    for study in by_method(folder):
        for variant in variants(study) if METHODS[study["method"]].supervised else ():
            row = row_of(study, variant, "predictions")
            best, mean = best_control(row)
            cells = [
                study["graph"],
                study["method"],
                f"`{variant}`",
                figure(row["accuracy"]),
                figure(study["published"]),
                str(row["splits"]),
                figure(row["accuracy_mean"]),
                f"{mean:.1f} ({best})",
                gain(row["differences"][best]),
                f"{row['training_seconds'][0]:.0f}",
            ]
            yield f"| {' | '.join(cells)} |"


def tasks(folder: Path) -> Iterator[str]:
    """A line for each data set and method, and for its controls: links and clusters."""
    heads = ["data set", "method", "seeds", "AUC", "AP", "Hits@100", "NMI", "ARI", "accuracy"]
    yield f"| {' | '.join(heads)} |"
    yield "|" + "---|" * len(heads)
    for path in sorted((folder / "tasks").glob("*.json")):
        read = json.loads(path.read_text("utf-8"))
        controls = [row for row in read["rows"] if row["method"] == "ugcl"]
        for name in ("pca", "smooth", "raw"):
            yield _task_line(
                read["graph"],
                f"{name}, control",
                [row["links"]["controls"][name] for row in controls[:1]],
                [row["clusters"]["controls"].get(name) for row in controls[:1]],
            )
        for name in METHODS:
            rows = [row for row in read["rows"] if row["method"] == name]
            if rows:
                links, clusters = ([row[task] for row in rows] for task in ("links", "clusters"))
                yield _task_line(read["graph"], f"`{name}`", links, clusters)


def _task_line(graph: str, name: str, links: list[Any], clusters: list[Any]) -> str:
    cells = [graph, name, str(len(links))]
    cells += [_spread([row[key] for row in links]) for key in ("auc", "average_precision")]
    cells.append(_spread([row["hits"]["100"] for row in links]))
    for key in ("nmi", "ari", "accuracy"):
        cells.append("-" if None in clusters else _spread([row[key][0] for row in clusters]))
    return f"| {' | '.join(cells)} |"


def _spread(values: list[float]) -> str:
    return figure((fmean(values), stdev(values) if len(values) > 1 else None))


def tuned(folder: Path) -> Iterator[str]:
    """A line for each data set and method: what a chosen scope adds to the method's own."""
    heads = ["data set", "method", "seeds", "splits", "own scopes", "accuracy"]
    heads += ["training scope chosen", "gain", "readout scope chosen", "gain"]
    yield f"| {' | '.join(heads)} |"
    yield "|" + "---|" * len(heads)
    for study in by_method(folder / "tuned"):
        own = study["own"]
        cells = [
            study["graph"],
            study["method"],
            str(study["seeds"]),
            str(study["splits"]),
            f"{own['scope']}, {own['readout_scope']}",
            figure(study["accuracy"]),
        ]
        for name in ("training", "readout"):
            chosen = (f"{scope} ({count})" for scope, count in study[name]["chosen"].items())
            cells += [", ".join(chosen), gain(study[name]["gain"], 2)]
        yield f"| {' | '.join(cells)} |"


def each_scope(folder: Path) -> Iterator[str]:
    """A line for each data set and method: the gain of every scope over the method's own."""
    training, readout = ("0", "2", "5", "10", "component", "graph"), ("0", "2", "5", "10")
    heads = ["data set", "method", *(f"training {scope}" for scope in training)]
    heads += [f"readout {scope}" for scope in readout]
    yield f"| {' | '.join(heads)} |"
    yield "|" + "---|" * len(heads)
    for study in by_method(folder / "tuned"):
        cells = [study["graph"], study["method"]]
        for name, scopes in (("training", training), ("readout", readout)):
            own, *others = study[name]["scopes"]
            found = {str(row["scope"]): row["gain"] for row in others}
            cells += ["own" if s == str(own["scope"]) else short(found[s]) for s in scopes]
        yield f"| {' | '.join(cells)} |"


def short(difference: dict[str, Any]) -> str:
    """A difference, bold where its interval leaves out zero."""
    low, high = difference["ci95"]
    words = f"{difference['mean']:+.1f}"
    return f"**{words}**" if low > 0 or high < 0 else words


def by_method(folder: Path) -> list[dict[str, Any]]:
    """The studies in a folder, in the order of the catalogue and of the registry."""
    found = [json.loads(path.read_text("utf-8")) for path in folder.glob("*.json")]
    graphs, named = list(DATASETS), list(METHODS)
    return sorted(found, key=lambda s: (graphs.index(s["graph"]), named.index(s["method"])))


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
    place = Path(sys.argv[1])
    found = results(place)
    timed = json.loads((place.parent / "bench" / "cold_start.json").read_text("utf-8"))
    print(*overview(found, timed), "", sep="\n")
    print(*one_split(found), "", *many_splits(found), "", *choices(place), sep="\n")
    print("", *negatives(place), "", *fast(place), "", sep="\n")
    print(*methods(place / "methods"), "", *tuned(place / "methods"), "", sep="\n")
    print(*each_scope(place / "methods"), "", sep="\n")
    others = place / "baselines"
    print(*unsupervised(others), "", *supervised(others), "", *tasks(others), sep="\n")
