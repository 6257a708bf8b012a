"""Studies of UGCL's scope, hidden size and sample size: Table IV, Figures 5 and 6."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ugcl.data import load_graph
from ugcl.methods import METHODS
from ugcl.study.cell import Cell
from ugcl.study.entries import (
    CITATION,
    SCOPE_DATA,
    Options,
    Source,
    Study,
    accuracy_cells,
    available,
    by_seed,
    entry,
    loadable,
    one_split,
    shown,
)
from ugcl.study.published import published
from ugcl.study.runner import Results
from ugcl.study.table import Entry, Row, Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MAX_N = 10
"""The largest n of the scope study and of the heat maps."""


# Table IV


def _scope_cells(options: Options) -> list[Cell]:
    cells: list[Cell] = []
    groups = []
    for source in loadable(options, SCOPE_DATA):
        cells.append(_survey_cell(source))
        groups.append(_readout_cells(options, source))
        groups += [_trained_at(options, source, n) for n in range(1, MAX_N + 1)]
    return cells + by_seed(groups)


def _survey_cell(source: Source) -> Cell:
    sizes = published()["scope_study"]["sample_size"]
    return Cell("scopes", source, {"sample": sizes.get(shown(source))})


def _trained_at(options: Options, source: Source, n: int) -> list[Cell]:
    settings = {"scope": n, "readout_scope": n}
    return accuracy_cells(options, source, "ugcl", settings)


def _readout_cells(options: Options, source: Source) -> list[Cell]:
    return accuracy_cells(options, source, "ugcl", readouts=range(1, MAX_N + 1))


def _readout_at(n: int) -> Callable[[dict[str, Any]], float | None]:
    return lambda result: result["readouts"].get(str(n), {}).get("paper")


@dataclass(frozen=True)
class ScopePanel:
    """What is known of one data set for n = 1, 2, ...

    Attributes:
        name: the data set.
        trained: accuracy of a training at each n, with the published one.
        readout: accuracy of one training that is read out at each n.
        lower_bound: Lemma 1's bound, with the published one.
        measured: the measured contextual homophily.
        chosen: the n of each rule.
    """

    name: str
    trained: list[Entry]
    readout: list[Entry]
    lower_bound: list[Entry]
    measured: list[Entry]
    chosen: dict[str, int | None]


def _panel(options: Options, results: Results, source: Source) -> ScopePanel:
    there = available(source, options.data_root)
    survey = (results.result(_survey_cell(source)) if there else None) or {}
    known = published()["scope_study"]["rows"].get(shown(source), {})
    powers = range(1, MAX_N + 1)

    def curve(field: str) -> list[Entry]:
        values, references = survey.get(field) or [], known.get(field) or []
        return [
            Entry(
                values[n - 1] if n <= len(values) else None,
                published=(references[n - 1], None) if n <= len(references) else None,
                digits=2,
            )
            for n in powers
        ]

    accuracies = known.get("accuracy") or [None] * MAX_N
    trained = [
        entry(results, _trained_at(options, source, n), one_split, reference and tuple(reference))
        for n, reference in zip(powers, accuracies, strict=True)
    ]
    readouts = _readout_cells(options, source)
    readout = [entry(results, readouts, _readout_at(n)) for n in powers]
    bounds, measured = curve("lower_bound"), curve("measured")
    return ScopePanel(shown(source), trained, readout, bounds, measured, survey.get("chosen") or {})


def _scope_tables(options: Options, results: Results) -> list[Table]:
    rows: list[Row] = []
    for source in options.sources(SCOPE_DATA):
        panel = _panel(options, results, source)
        marks = {"the paper's rule": "paper", "label-free": "label-free"}
        chosen: list[Entry | str] = [
            ", ".join(text for text, rule in marks.items() if panel.chosen.get(rule) == n)
            if panel.chosen
            else Entry(None)
            for n in range(1, MAX_N + 1)
        ]
        rows += [
            (f"{panel.name}: trained and read out at n", panel.trained),
            (f"{panel.name}: trained once, read out at n", panel.readout),
            (f"{panel.name}: lower bound", panel.lower_bound),
            (f"{panel.name}: measured homophily", panel.measured),
            (f"{panel.name}: chosen", chosen),
        ]
    return [
        Table(
            "scope",
            "Table IV: accuracy (%) of UGCL for n = 1 to 10 (in parentheses as published)",
            "data set",
            [f"n = {n}" for n in range(1, MAX_N + 1)],
            rows,
            notes=(
                "One split, authors' probe. The lower bound is that of Lemma 1 for the paper's "
                "sample size and its degree E/N.",
            ),
        )
    ]


def _scope_figures(options: Options, results: Results) -> dict[str, Figure]:
    from ugcl.study import figures

    panels = [_panel(options, results, source) for source in loadable(options, SCOPE_DATA)]
    panels = [panel for panel in panels if panel.chosen]
    return {"scope": figures.plot_scopes(panels)} if panels else {}


# Figures 5 and 6


def _hidden_sizes(options: Options) -> list[int]:
    sizes = [int(size) for size in published()["hidden_sizes_studied"]]
    return sizes if options.full else [size for size in sizes if size <= 2048]


def _hidden_cells(options: Options) -> list[Cell]:
    pairs = product(_hidden_sizes(options), loadable(options, CITATION))
    return by_seed(
        [accuracy_cells(options, source, "ugcl", {"hidden": size}) for size, source in pairs]
    )


def _hidden_tables(options: Options, results: Results) -> list[Table]:
    sources = options.sources(CITATION)
    rows = [
        (
            f"D' = {size}",
            [
                entry(results, accuracy_cells(options, source, "ugcl", {"hidden": size}), one_split)
                for source in sources
            ],
        )
        for size in _hidden_sizes(options)
    ]
    return [
        Table(
            "hidden",
            "Figure 5: accuracy of UGCL against the hidden size",
            "hidden size",
            [shown(source) for source in sources],
            rows,
            frozenset(name for name, _ in rows),
            (
                "One split, authors' probe."
                + ("" if options.full else " `--full` adds larger sizes."),
            ),
            unit="%",
        )
    ]


def _hidden_figures(options: Options, results: Results) -> dict[str, Figure]:
    from ugcl.study import figures

    (table,) = _hidden_tables(options, results)
    if not table.has_figures:
        return {}
    return {"hidden": figures.plot_hidden(table, _hidden_sizes(options))}


def _joint_sizes(source: Source, options: Options) -> list[int]:
    known = published()["joint_study"].get(shown(source))
    if isinstance(known, dict):
        return [int(size) for size in known["S"]]
    nodes = load_graph(source, options.data_root).num_nodes
    return sorted({max(2, round(fraction * nodes)) for fraction in (0.2, 0.4, 0.6, 0.8, 1.0)})


def _joint_group(options: Options, source: Source, size: int, n: int) -> list[Cell]:
    width = METHODS["ugcl"].preset("paper").values(shown(source))["hidden"]
    settings = {
        **{"sample": size, "scope": n, "readout_scope": n},
        "hidden": width if options.full else 512,
        "negatives": "all" if options.full else 256,
    }
    return accuracy_cells(options, source, "ugcl", settings, scores={"paper": 0})


def _joint_cells(options: Options) -> list[Cell]:
    return by_seed(
        [
            _joint_group(options, source, size, n)
            for source in loadable(options, CITATION)
            for n, size in product(range(1, MAX_N + 1), _joint_sizes(source, options))
        ]
    )


def _joint_tables(options: Options, results: Results) -> list[Table]:
    tables = []
    for source in options.sources(CITATION):
        sizes = _joint_sizes(source, options)
        rows = [
            (
                f"n = {n}",
                [
                    entry(results, _joint_group(options, source, size, n), one_split)
                    for size in sizes
                ],
            )
            for n in range(1, MAX_N + 1)
        ]
        reduced = " Width 512 and 256 negatives; `--full`: the paper's width and all negatives."
        reduced = " The paper's width, all negatives." if options.full else reduced
        tables.append(
            Table(
                f"joint-{Path(shown(source)).stem}",
                f"Figure 6: accuracy of UGCL on {shown(source)} against sample size and n",
                "n",
                [f"S = {size}" for size in sizes],
                rows,
                notes=("One split, authors' probe." + reduced,),
                unit="%",
            )
        )
    return tables


def _joint_figures(options: Options, results: Results) -> dict[str, Figure]:
    from ugcl.study import figures

    tables = [table for table in _joint_tables(options, results) if table.has_figures]
    return {"joint": figures.plot_heat_maps(tables)} if tables else {}


SCOPE_STUDIES = {
    "scope": Study(_scope_cells, _scope_tables, _scope_figures),
    "hidden": Study(_hidden_cells, _hidden_tables, _hidden_figures),
    "joint": Study(_joint_cells, _joint_tables, _joint_figures),
}
"""The studies of this module by name."""
