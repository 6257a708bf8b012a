"""Studies of graphs and of UGCL's scope, width and sample: Tables II, IV and VI, Figures 1 to 6."""

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
    PAPER_DATA,
    SCOPE_DATA,
    Options,
    Source,
    Study,
    accuracy_cells,
    available,
    by_graph,
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
            "Table IV: accuracy of UGCL for n = 1 to 10 (in parentheses as published)",
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
            )
        )
    return tables


def _joint_figures(options: Options, results: Results) -> dict[str, Figure]:
    from ugcl.study import figures

    tables = [table for table in _joint_tables(options, results) if table.has_figures]
    return {"joint": figures.plot_heat_maps(tables)} if tables else {}


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


SCOPE_STUDIES = {
    "datasets": Study(_dataset_cells, _dataset_tables),
    "scope": Study(_scope_cells, _scope_tables, _scope_figures),
    "power-time": Study(_power_cells, _power_tables),
    "hidden": Study(_hidden_cells, _hidden_tables, _hidden_figures),
    "joint": Study(_joint_cells, _joint_tables, _joint_figures),
    "convergence": Study(_convergence_cells, _convergence_tables, _convergence_figures),
    "subsampling": Study(_subsampling_cells, _subsampling_tables, _subsampling_figures),
    "diagrams": Study(lambda options: [], figures=_diagram_figures),
}
"""The studies of this module by name."""
