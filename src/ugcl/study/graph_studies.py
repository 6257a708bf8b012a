"""Studies of graphs: Tables II and VI, Theorem 1, Proposition 1 and the diagrams."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ugcl.data import load_graph
from ugcl.study.cell import Cell
from ugcl.study.entries import (
    PAPER_DATA,
    SCOPE_DATA,
    Options,
    Source,
    Study,
    available,
    by_graph,
    entry,
    loadable,
    shown,
)
from ugcl.study.published import published
from ugcl.study.runner import Results
from ugcl.study.table import Entry, Row, Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DECAY_N = 100
"""The largest n of the study of convergence."""

FRACTIONS = (0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0)
"""Sizes of the sampled subgraphs, as fractions of the graph."""


# Table II


def _dataset_cells(options: Options) -> list[Cell]:
    return [Cell("statistics", source) for source in loadable(options, PAPER_DATA)]


def _dataset_tables(options: Options, results: Results) -> list[Table]:
    rows = []
    for source in options.sources(PAPER_DATA):
        result, known = _statistics(options, results, source), published()["datasets"]
        paper = known.get(shown(source), {})
        entries: list[Entry | str] = []
        for name in ("nodes", "edges", "features", "classes"):
            reference = (float(paper[name]), None) if name in paper else None
            entries.append(Entry(result.get(name), published=reference, digits=0))
        entries += [
            Entry(result.get("homophily"), digits=3),
            Entry(None if not result else 100 * result["sparsity"], digits=3, unit=" %"),
            Entry(result.get("components"), digits=0),
        ]
        rows.append((shown(source), entries))
    return [
        Table(
            "datasets",
            "Table II: the data sets (in parentheses as published)",
            "data set",
            ("nodes", "edges", "features", "classes", "homophily", "sparsity", "components"),
            rows,
            notes=("Edges are counted once, without self-loops and repetitions.",),
        )
    ]


def _statistics(options: Options, results: Results, source: Source) -> dict[str, Any]:
    if not available(source, options.data_root):
        return {}
    return results.result(Cell("statistics", source)) or {}


# Table VI


def _power_cells(options: Options) -> list[Cell]:
    known, sizes = published()["power_time_seconds"], published()["scope_study"]["sample_size"]
    return [
        Cell(
            "power_time",
            source,
            {
                "n": known.get(shown(source), {"n": 5})["n"],
                "sample": sizes.get(shown(source), 1000),
                "hidden": 512,
            },
        )
        for source in loadable(options, SCOPE_DATA)
    ]


def _power_tables(options: Options, results: Results) -> list[Table]:
    known = published()["power_time_seconds"]
    computed = {shown(cell.graph): cell for cell in _power_cells(options)}
    rows: list[Row] = []
    for source in options.sources(SCOPE_DATA):
        name = shown(source)
        cell = computed.get(name)
        result = (results.result(cell) if cell else None) or {}
        seconds = result.get("seconds")
        paper = known.get(name)
        rows.append(
            (
                name,
                [
                    str(cell.params["n"]) if cell else "-",
                    Entry(result.get("sample"), digits=0),
                    Entry(
                        None if seconds is None else 1000 * seconds,
                        published=(1000 * paper["seconds"], None) if paper else None,
                        digits=2,
                        unit=" ms",
                    ),
                ],
            )
        )
    return [
        Table(
            "power-time",
            "Table VI: time of Aⁿ H on a sampled subgraph (in parentheses as published)",
            "data set",
            ("n", "sample S", "time"),
            rows,
            notes=("512 columns, one thread, median of 20; the paper does not state its machine.",),
        )
    ]


# Theorem 1 and Proposition 1


def _convergence_cells(options: Options) -> list[Cell]:
    return [Cell("decay", source, {"max_n": DECAY_N}) for source in loadable(options, SCOPE_DATA)]


def _convergence_tables(options: Options, results: Results) -> list[Table]:
    powers = (1, 2, 5, 10, 20, 50, 100)
    computed = {shown(cell.graph): cell for cell in _convergence_cells(options)}
    rows: list[Row] = []
    for source in options.sources(SCOPE_DATA):
        cell = computed.get(shown(source))
        result = results.result(cell) if cell else None
        for name, field in (("measured", "measured"), ("bound λⁿ", "bound")):
            values = [result[field][n] if result else None for n in powers]
            rows.append((f"{shown(source)}: {name}", [Entry(v, digits=4) for v in values]))
    return [
        Table(
            "convergence",
            "Theorem 1: distance of Aⁿ H to the component subspace, as a fraction of that of H",
            "data set",
            [f"n = {n}" for n in powers],
            rows,
            notes=("H is Gaussian, 64 columns; A has one self-loop at each node.",),
        )
    ]


def _convergence_figures(options: Options, results: Results) -> dict[str, Figure]:
    from ugcl.study import figures

    curves = {
        shown(cell.graph): result
        for cell in _convergence_cells(options)
        if (result := results.result(cell))
    }
    return {"convergence": figures.plot_decay(curves)} if curves else {}


def _subsampling_cells(options: Options) -> list[Cell]:
    cells = []
    for source in loadable(options, SCOPE_DATA):
        graph = load_graph(source, options.data_root)
        if graph.labels is None:
            continue
        sizes = [max(2, round(fraction * graph.num_nodes)) for fraction in FRACTIONS]
        cells += [
            Cell("subsampling", source, {"sizes": sizes}, seed) for seed in range(options.seeds)
        ]
    return cells


def _subsampling_tables(options: Options, results: Results) -> list[Table]:
    rows: list[Row] = []
    groups = by_graph(_subsampling_cells(options))
    for source in options.sources(SCOPE_DATA):
        cells = groups.get(shown(source), [])
        for name, field, factor, digits in (
            ("sparsity, %", "sparsity", 100, 3),
            ("P₁", "homophily", 1, 3),
        ):
            entries: list[Entry | str] = [
                entry(results, cells, _sampled(number, field, factor), digits=digits)
                for number in range(len(FRACTIONS))
            ]
            rows.append((f"{shown(source)}: {name}", entries))
    return [
        Table(
            "subsampling",
            "Proposition 1: sparsity and P₁ of random subgraphs",
            "data set",
            [f"S = {fraction:g} N" for fraction in FRACTIONS],
            rows,
            notes=("The last column is the graph itself. Mean ± deviation over samples.",),
        )
    ]


def _sampled(number: int, field: str, factor: float) -> Callable[[dict[str, Any]], float | None]:
    def value(result: dict[str, Any]) -> float | None:
        samples = result["samples"]
        found = samples[number][field] if number < len(samples) else None
        return None if found is None else factor * found

    return value


def _subsampling_figures(options: Options, results: Results) -> dict[str, Figure]:
    from ugcl.study import figures

    (table,) = _subsampling_tables(options, results)
    return {"subsampling": figures.plot_subsampling(table, FRACTIONS)} if table.has_figures else {}


def _diagram_figures(options: Options, results: Results) -> dict[str, Figure]:
    from ugcl.study.diagrams import DRAWINGS

    return {name: draw().figure for name, draw in DRAWINGS.items()}


GRAPH_STUDIES = {
    "datasets": Study(_dataset_cells, _dataset_tables),
    "power-time": Study(_power_cells, _power_tables),
    "convergence": Study(_convergence_cells, _convergence_tables, _convergence_figures),
    "subsampling": Study(_subsampling_cells, _subsampling_tables, _subsampling_figures),
    "diagrams": Study(lambda options: [], figures=_diagram_figures),
}
"""The studies of this module by name."""
