"""Studies of accuracy: Tables I, III and V."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

from ugcl.evaluation import CONTROLS
from ugcl.methods import get_method
from ugcl.study.cell import Cell
from ugcl.study.entries import (
    CITATION,
    OURS,
    PAPER_DATA,
    SUPERVISED_SPLITS,
    Options,
    Source,
    Study,
    accuracy_cells,
    by_seed,
    control_entry,
    entry,
    grid_of,
    loadable,
    many_entry,
    one_split,
    shown,
)
from ugcl.study.published import paper_methods, published, published_accuracy
from ugcl.study.runner import Results
from ugcl.study.table import Entry, Table

ARXIV = "ogbn-arxiv"


# Tables I and III


def _all_methods() -> list[str]:
    return [*paper_methods(), *OURS]


def _classification_cells(options: Options) -> list[Cell]:
    methods = sorted(options.names(_all_methods()), key=lambda name: name != "ugcl")
    pairs = product(methods, loadable(options, PAPER_DATA))
    groups = [accuracy_cells(options, source, method) for method, source in pairs]
    return by_seed(groups)


def _classification_tables(options: Options, results: Results) -> list[Table]:
    sources = options.sources(PAPER_DATA)
    grid = grid_of(options, options.names(_all_methods()), sources)
    columns = [shown(source) for source in sources]
    groups_of = list(zip(*grid.values(), strict=True))

    def controls(field: str, protocol: str) -> list[tuple[str, list[Entry]]]:
        names = [name for name in CONTROLS if name != "untrained"]
        return [
            (
                f"control: {name}",
                [control_entry(results, groups, name, field, protocol) for groups in groups_of],
            )
            for name in names
        ]

    first = [
        (
            method,
            [
                entry(results, cells, one_split, published_accuracy(method, column))
                for cells, column in zip(groups, columns, strict=True)
            ],
        )
        for method, groups in grid.items()
    ]
    many = [
        (method, [many_entry(results, cells) for cells in groups])
        for method, groups in grid.items()
    ]
    learned = frozenset(grid)
    return [
        Table(
            "classification",
            "Table I: accuracy on one split, by the authors' probe (in parentheses as published)",
            "method",
            columns,
            [*first, *controls("controls", "paper")],
            learned,
            (
                f"Preset `{options.preset}`, or the only one of a method; mean ± deviation over "
                "seeds. The public split, or a random 10/10/80 % split. mlp, gcn, gat and sgc "
                "learn from labels and are scored by their predictions. † differs from the "
                "published mean by more than two deviations.",
            ),
            unit="%",
        ),
        Table(
            "classification-honest",
            "Accuracy over random splits, by the honest probe",
            "method",
            columns,
            [*many, *controls("controls_mean", "honest")],
            learned,
            (
                f"{options.splits} random splits; {SUPERVISED_SPLITS} for methods that learn from "
                "labels. Nothing is chosen on test nodes.",
            ),
            unit="%",
        ),
    ]


def _arxiv_sources(options: Options) -> list[Source]:
    other = _other_data(options)
    return list(other) if options.data else loadable(options, (ARXIV,))


def _other_data(options: Options) -> tuple[Source, ...]:
    """Return the user's graphs for the table of ogbn-arxiv: itself or graphs in its layout."""
    return tuple(source for source in options.data if shown(source) not in PAPER_DATA)


def _arxiv_methods(options: Options) -> list[str]:
    return options.names([*published()["ogbn_arxiv"]["rows"], "multiscope"])


def _arxiv_cells(options: Options) -> list[Cell]:
    groups = [
        accuracy_cells(options, source, method, scores=_arxiv_scores(method))
        for method, source in product(_arxiv_methods(options), _arxiv_sources(options))
    ]
    return by_seed(groups)


def _arxiv_scores(method: str) -> dict[str, int]:
    return {"predictions" if get_method(method).supervised else "honest": 0}


def _arxiv_tables(options: Options, results: Results) -> list[Table]:
    sources = _arxiv_sources(options)
    rows = []
    for method in _arxiv_methods(options):
        figures = published()["ogbn_arxiv"]["rows"].get(method)
        entries: list[Entry | str] = []
        for source in sources or [ARXIV]:
            cells = accuracy_cells(options, source, method, scores=_arxiv_scores(method))
            for column, field in enumerate(("validation", "accuracy")):
                reference = None
                if figures and shown(source) == ARXIV:
                    reference = (float(figures[column][0]), figures[column][1])
                entries.append(entry(results, cells, _field(field), reference))
        rows.append((method, entries))
    names = [shown(source) for source in sources] or [ARXIV]
    return [
        Table(
            "arxiv",
            "Table III: accuracy on ogbn-arxiv (in parentheses as published)",
            "method",
            [f"{name}, {part}" for name in names for part in ("validation", "test")],
            rows,
            frozenset(_arxiv_methods(options)),
            ("Honest probe on the graph's own split; predictions of gcn and mlp.",),
            unit="%",
        )
    ]


def _field(name: str) -> Callable[[dict[str, Any]], float | None]:
    def value(result: dict[str, Any]) -> float | None:
        row = next(iter(result["scores"].values()))
        return None if row.get(name) is None else float(row[name])

    return value


# Table V


ABLATIONS = ("ugcl", "ugcl-mean", "ugcl-smooth", "ugcl-sig", "ugcl-no-sample", "ugcl-no-power")


def _ablation_cells(options: Options) -> list[Cell]:
    sources = loadable(options, CITATION)
    pairs = product(options.names(ABLATIONS), sources)
    return by_seed([accuracy_cells(options, source, method) for method, source in pairs])


def _ablation_tables(options: Options, results: Results) -> list[Table]:
    sources = options.sources(CITATION)
    grid = grid_of(options, options.names(ABLATIONS), sources)
    columns = [shown(source) for source in sources]
    rows = []
    for method, groups in grid.items():
        entries: list[Entry | str] = [
            entry(results, cells, one_split, published_accuracy(method, column))
            for cells, column in zip(groups, columns, strict=True)
        ]
        entries += [many_entry(results, cells) for cells in groups]
        rows.append((method, entries))
    return [
        Table(
            "ablation",
            "Table V: ablations of UGCL (in parentheses as published)",
            "method",
            [*columns, *(f"{column}, random splits" for column in columns)],
            rows,
            frozenset(grid),
            (
                f"Preset `{options.preset}`. One split by the authors' probe, random splits by the "
                "honest one.",
            ),
            unit="%",
        )
    ]


CLASSIFICATION_STUDIES = {
    "classification": Study(_classification_cells, _classification_tables),
    "arxiv": Study(_arxiv_cells, _arxiv_tables),
    "ablation": Study(_ablation_cells, _ablation_tables),
}
"""The studies of this module by name."""
