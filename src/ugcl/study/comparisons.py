"""Studies that compare: tuned scopes, gains over controls, protocols, methods."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ugcl._utils.errors import UGCLError
from ugcl.evaluation import CONTROLS
from ugcl.evaluation.protocols import PROTOCOLS
from ugcl.methods import get_method
from ugcl.study.cell import Cell
from ugcl.study.entries import (
    CITATION,
    OURS,
    PAPER_DATA,
    Options,
    Source,
    Study,
    accuracy_cells,
    by_graph,
    by_seed,
    control_entry,
    entry,
    gain,
    grid_of,
    interval_entry,
    loadable,
    many_entry,
    missing,
    shown,
)
from ugcl.study.published import paper_methods
from ugcl.study.runner import Results
from ugcl.study.summary import combined_difference
from ugcl.study.table import Entry, Row, Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SCOPES = (0, 2, 5, 10, "component", "graph")
"""Training scopes that `unify` tries; the integers are its readout scopes."""


# the framework


UNIFIED = ("ugcl", "grace", "dgi", "bgrl", "gca", "mvgrl", "gmi")


def _unify_cells(options: Options) -> list[Cell]:
    for name in options.methods:
        if "readout_scope" not in get_method(name).params:
            raise UGCLError(f"{name} has no scope to tune: leave it out of `methods`")
    methods = [
        name for name in options.names(UNIFIED) if "readout_scope" in get_method(name).params
    ]
    return [
        Cell(
            "tuned",
            source,
            {
                "method": method,
                "preset": options.preset,
                "settings": {},
                "seeds": options.seeds,
                "splits": options.splits,
                "training": list(SCOPES),
                "readout": [scope for scope in SCOPES if isinstance(scope, int)],
            },
        )
        for method, source in product(methods, loadable(options, ("cora", "citeseer")))
    ]


def _unify_tables(options: Options, results: Results) -> list[Table]:
    rows: list[Row] = []
    cells = _unify_cells(options)
    for cell in cells:
        note = missing(results, [cell])
        result = results.result(cell) or {}
        entries: list[Entry | str] = [_pair(result.get("accuracy"), note)]
        for part in ("training", "readout"):
            tuned = result.get(part) or {}
            entries.append(_pair(tuned.get("accuracy"), note))
            entries.append(interval_entry(tuned.get("gain"), note))
        rows.append((f"{cell.params['method']}, {shown(cell.graph)}", entries))
    return [
        Table(
            "unify",
            "Contrastive methods with a tuned contextual scope",
            "method",
            (
                *("own scope", "training scope tuned", "gain"),
                *("readout scope tuned", "gain "),
            ),
            rows,
            notes=(
                "The scope is chosen on validation nodes of each random split; honest probe; gains "
                "over the method's own scope with 95 % intervals.",
            ),
            unit="%",
        )
    ]


def _pair(pair: Sequence[float] | None, note: str = "") -> Entry:
    return Entry(None, note=note) if not pair else Entry(pair[0], pair[1])


# gains


def _unsupervised(options: Options) -> list[str]:
    names = options.names(["multiscope", *paper_methods(), *OURS[1:]])
    return [name for name in names if not get_method(name).supervised]


def _pays_cells(options: Options) -> list[Cell]:
    pairs = product(_unsupervised(options), loadable(options, PAPER_DATA))
    return by_seed([accuracy_cells(options, source, method) for method, source in pairs])


def _gains(options: Options, results: Results) -> dict[str, list[dict[str, Any] | None]]:
    grid = grid_of(options, _unsupervised(options), options.sources(PAPER_DATA))
    return {method: [gain(results, cells) for cells in groups] for method, groups in grid.items()}


def _pays_tables(options: Options, results: Results) -> list[Table]:
    sources = options.sources(PAPER_DATA)
    grid = grid_of(options, _unsupervised(options), sources)
    rows: list[Row] = [
        (
            method,
            [
                interval_entry(gain(results, cells), missing(results, cells, "honest"))
                for cells in groups
            ],
        )
        for method, groups in grid.items()
    ]
    controls = [_best_control(results, groups) for groups in zip(*grid.values(), strict=True)]
    return [
        Table(
            "does-training-pay",
            "Gain of each method over the best control, points of accuracy, 95 % intervals",
            "method",
            [shown(source) for source in sources],
            [("best control without an encoder", controls), *rows],
            notes=(
                f"Honest probe, {options.splits} random splits, paired by node. The best control "
                "is the best of six for each method and graph; one of them is the method's own "
                "encoder before training, which the first row leaves out.",
            ),
            unit="%",
        )
    ]


def _best_control(results: Results, groups: Sequence[Sequence[Cell]]) -> Entry | str:
    names = [name for name in CONTROLS if name != "untrained"]
    entries = {
        name: control_entry(results, groups, name, "controls_mean", "honest") for name in names
    }
    scores = {name: found.mean for name, found in entries.items() if found.mean is not None}
    if not scores:
        return Entry(None)
    best = max(scores, key=lambda name: scores[name])
    return f"{scores[best]:.1f} ({best})"


def _pays_figures(options: Options, results: Results) -> dict[str, Figure]:
    from ugcl.study import figures

    gains = _gains(options, results)
    if not any(found for row in gains.values() for found in row):
        return {}
    names = [shown(source) for source in options.sources(PAPER_DATA)]
    return {"does-training-pay": figures.plot_gains(gains, names)}


# protocols


PROTOCOL_DATA = ("amazon-computers", "amazon-photo")


def _protocol_cells(options: Options) -> list[Cell]:
    return by_seed(
        [
            _all_protocols(options, source, method)
            for method in _protocol_methods(options)
            for source in loadable(options, PROTOCOL_DATA)
        ]
    )


def _protocol_methods(options: Options) -> list[str]:
    names = options.names(("ugcl", "bgrl", "grace"))
    for name in names:
        _require_embeddings(name)
    return names


def _require_embeddings(method: str) -> None:
    if get_method(method).supervised:
        raise UGCLError(
            f"this study probes embeddings, but {method} learns from labels: leave it out of "
            "`methods`"
        )


def _all_protocols(options: Options, source: Source, method: str) -> list[Cell]:
    scores = {str(name): options.splits for name in PROTOCOLS}
    return accuracy_cells(options, source, method, scores=scores)


def _protocol_tables(options: Options, results: Results) -> list[Table]:
    methods, tables = _protocol_methods(options), []
    for source in options.sources(PROTOCOL_DATA):
        grid = {method: _all_protocols(options, source, method) for method in methods}
        rows: list[Row] = [
            (method, [many_entry(results, cells, name) for name in PROTOCOLS])
            for method, cells in grid.items()
        ]
        for control in CONTROLS:
            if control != "untrained":
                entries = [
                    control_entry(results, list(grid.values()), control, "controls_mean", name)
                    for name in PROTOCOLS
                ]
                rows.append((f"control: {control}", entries))
        tables.append(
            Table(
                f"protocols-{Path(shown(source)).stem}",
                f"Accuracy on {shown(source)} under the protocols of published harnesses",
                "method",
                list(PROTOCOLS),
                rows,
                frozenset(methods),
                (
                    f"{options.splits} random splits of each protocol's own kind. The honest probe "
                    "chooses the settings of the controls.",
                ),
                unit="%",
            )
        )
    return tables


# methods against methods


def _compare_cells(options: Options) -> list[Cell]:
    names = options.names(("ugcl", "multiscope"))
    if len(names) < 2:
        raise UGCLError(f"there is one method, {names[0]}: name at least two in `methods`")
    for name in names:
        _require_embeddings(name)
    params = {"methods": names, "preset": options.preset, "splits": options.splits}
    return [
        Cell("compare", source, params, seed)
        for seed in range(options.seeds)
        for source in loadable(options, CITATION)
    ]


def _accuracy_of(number: int) -> Callable[[dict[str, Any]], float | None]:
    return lambda result: float(result["accuracy"][number])


def _compare_tables(options: Options, results: Results) -> list[Table]:
    groups = by_graph(_compare_cells(options))
    names = options.names(("ugcl", "multiscope"))
    columns, rows = [], [(name, list[Entry | str]()) for name in names]
    for source in options.sources(CITATION):
        cells = groups.get(shown(source), [])
        columns += [shown(source), f"{shown(source)}, gain over {names[0]}"]
        found = [result for cell in cells if (result := results.result(cell))]
        for number, (_, entries) in enumerate(rows):
            entries.append(entry(results, cells, _accuracy_of(number)))
            gains = [result["gains"][number] for result in found] if number else []
            note = missing(results, cells)
            gain = combined_difference(gains) if gains else None
            entries.append(interval_entry(gain, note) if number else "-")
    return [
        Table(
            "compare",
            f"Methods against {names[0]}, points of accuracy, 95 % intervals",
            "method",
            columns,
            rows,
            frozenset(names),
            (f"Honest probe, {options.splits} random splits, paired by seed, split and node.",),
            unit="%",
        )
    ]


COMPARISONS = {
    "unify": Study(_unify_cells, _unify_tables),
    "does-training-pay": Study(_pays_cells, _pays_tables, _pays_figures),
    "protocols": Study(_protocol_cells, _protocol_tables),
    "compare": Study(_compare_cells, _compare_tables),
}
"""The studies of this module by name."""
