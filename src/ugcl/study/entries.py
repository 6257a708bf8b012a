"""Parts of every study: its options, its cells, and the figures of its tables."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any

from ugcl._utils.errors import UGCLError
from ugcl.data import DATASETS, GraphFiles, load_graph
from ugcl.methods import DEFAULT_PRESET, get_method
from ugcl.runs.config import graph_name
from ugcl.study.cell import Cell, preset_of
from ugcl.study.runner import Record, Results
from ugcl.study.summary import combined_difference
from ugcl.study.table import Entry, Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

logger = logging.getLogger(__name__)

Source = str | GraphFiles

PAPER_DATA = tuple(name for name in DATASETS if name != "ogbn-arxiv")
CITATION = ("cora", "citeseer", "pubmed")
SCOPE_DATA = (*CITATION, "amazon-computers", "amazon-photo")

OURS = ("multiscope", "subg-con", "ggd", "cca-ssg")
"""Methods that the paper does not print and that stand beside its own."""

SUPERVISED_SPLITS = 2
"""Random splits of supervised methods, which are trained again on each."""


@dataclass(frozen=True)
class Options:
    """What a study is asked to compute.

    Attributes:
        data: data sets, paths or files; empty for those of the study.
        methods: methods; empty for those of the study.
        seeds: training seeds, from 0.
        splits: random splits of the honest probe.
        preset: the preset of every method.
        full: the paper's full grid where the default is a part of it.
        data_root: the folder of raw data sets.
    """

    data: tuple[Source, ...] = ()
    methods: tuple[str, ...] = ()
    seeds: int = 5
    splits: int = 20
    preset: str = DEFAULT_PRESET
    full: bool = False
    data_root: str | None = None

    def sources(self, default: Sequence[str]) -> list[Source]:
        """Return the graphs: the user's, or those of the study."""
        return list(self.data or default)

    def names(self, default: Sequence[str]) -> list[str]:
        """Return the methods: the user's, or those of the study."""
        return list(self.methods or default)


@dataclass(frozen=True)
class Study:
    """A study.

    Attributes:
        cells: from the options to the cells, the cheapest and most telling first.
        tables: from the options and results to the tables.
        figures: from the options and results to the figures, by name.
    """

    cells: Callable[[Options], list[Cell]]
    tables: Callable[[Options, Results], list[Table]] = lambda options, results: []
    figures: Callable[[Options, Results], dict[str, Figure]] = lambda options, results: {}


def shown(source: Source) -> str:
    """Return the name of a graph in a table: a data set's, or a file's without its folder."""
    return Path(graph_name(source)).name


@cache
def available(source: Source, data_root: str | None) -> bool:
    """Return whether a graph can be loaded; say why where it cannot."""
    try:
        load_graph(source, data_root)
    except UGCLError as error:
        logger.warning("left out: %s", error)
        return False
    return True


def accuracy_cells(
    options: Options,
    source: Source,
    method: str,
    settings: dict[str, Any] | None = None,
    *,
    preset: str | None = None,
    scores: dict[str, int] | None = None,
    readouts: Sequence[int] = (),
) -> list[Cell]:
    """Return the cells of a method on a graph, one for each seed; none if the graph is missing."""
    if not available(source, options.data_root):
        return []
    known = get_method(method)
    if scores is None:
        scores = {"paper": 0, "honest": options.splits}
        if known.supervised:
            scores = {"predictions": min(options.splits, SUPERVISED_SPLITS)}
    name = preset_of(method, options.preset if preset is None else preset)
    values = known.preset(name).values(graph_name(source))
    changed = _changed(values, settings or {})
    params = {"method": method, "preset": name, "settings": changed}
    seeds = options.seeds if known.trained else 1
    return [
        Cell("accuracy", source, params, seed, scores, tuple(readouts)) for seed in range(seeds)
    ]


def _changed(values: dict[str, Any], settings: dict[str, Any]) -> dict[str, Any]:
    """Return the settings that differ from a preset's values, so that equal cells are one cell."""

    def resolved(given: dict[str, Any]) -> dict[str, Any]:
        merged = values | given
        return {"readout_scope": merged.get("scope")} | merged

    kept = dict(settings)
    for name in settings:
        fewer = {other: value for other, value in kept.items() if other != name}
        kept = fewer if resolved(fewer) == resolved(kept) else kept
    return kept


def entry(
    results: Results,
    cells: Sequence[Cell],
    value: Callable[[dict[str, Any]], float | None],
    reference: tuple[float, float | None] | None = None,
    digits: int = 1,
    *,
    protocol: str = "",
) -> Entry:
    """Return mean and deviation over the cells' seeds; a failure or fewer seeds are noted.

    Args:
        results: the results.
        cells: the cells, one for each seed.
        value: the figure of a result.
        reference: the published mean and deviation.
        digits: decimals.
        protocol: of figures over many splits; another number of splits is noted.
    """
    found = [result for cell in cells if (result := results.result(cell)) is not None]
    values = [number for result in found if (number := value(result)) is not None]
    note = missing(results, cells, protocol)
    if not values:
        return Entry(None, published=reference, note="undefined" if found else note)
    deviation = stdev(values) if len(values) > 1 else None
    return Entry(fmean(values), deviation, reference, note=note, digits=digits)


def failure(record: Record | None) -> str:
    """Return why a cell has no result, as a note; "" where it has not failed."""
    error = "" if record is None else record.get("error", "")
    return f"failed: {error}" if error else ""


def one_split(result: dict[str, Any]) -> float | None:
    """Return the accuracy on one split: by the authors' probe, or of the predictions."""
    scores = result["scores"]
    row = scores.get("paper") or scores.get("predictions")
    return None if row is None else float(row["accuracy"])


def many_entry(results: Results, cells: Sequence[Cell], protocol: str = "honest") -> Entry:
    """Return the mean accuracy over random splits, of a probe or of predictions."""
    if any("predictions" in cell.scores for cell in cells):
        protocol = "predictions"
    return entry(
        results,
        cells,
        lambda result: result["scores"].get(protocol, {}).get("accuracy_mean"),
        protocol=protocol,
    )


def gain(results: Results, cells: Sequence[Cell]) -> dict[str, Any] | None:
    """Return the gain over the best control by the honest probe, over the cells' seeds."""
    found = [result["scores"] for cell in cells if (result := results.result(cell))]
    return best_control_gain([row for scores in found if (row := scores.get("honest"))])


def best_control_gain(scores: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """Return the gain over the best control with its interval, from the scores of each seed."""
    rows = [row for row in scores if row.get("differences")]
    if not rows:
        return None
    means = {
        name: fmean(row["controls_mean"][name] for row in rows) for name in rows[0]["controls_mean"]
    }
    best = max(means, key=lambda name: means[name])
    combined = combined_difference([row["differences"][best] for row in rows])
    return {**combined, "control": best, "control_mean": means[best], "seeds": len(rows)}


def loadable(options: Options, default: Sequence[str]) -> list[Source]:
    """Return the graphs that are there; the user's own must be."""
    if options.data:
        return list(options.data)
    return [name for name in default if available(name, options.data_root)]


def by_seed(groups: Sequence[Sequence[Cell]]) -> list[Cell]:
    """Return the first seed of all groups, then the second, and so on."""
    longest = max(map(len, groups), default=0)
    return [group[seed] for seed in range(longest) for group in groups if seed < len(group)]


def by_graph(cells: Sequence[Cell]) -> dict[str, list[Cell]]:
    """Return cells by the name of their graph."""
    groups: dict[str, list[Cell]] = {}
    for cell in cells:
        groups.setdefault(shown(cell.graph), []).append(cell)
    return groups


def interval_entry(difference: dict[str, Any] | None, note: str = "") -> Entry:
    """Return a difference with its 95 % interval; `note` says what is missing."""
    if difference is None:
        return Entry(None, note=note)
    low, high = difference["ci95"]
    return Entry(difference["mean"], low=low, high=high, note=note)


def missing(results: Results, cells: Sequence[Cell], protocol: str = "") -> str:
    """Return why there is no result, or of how many seeds and splits, as a note.

    With a protocol, a number of its splits that differs from the one asked for is noted, too.
    """
    found = [cell for cell in cells if results.result(cell) is not None]
    if not found:
        return next(filter(None, (failure(results.get(cell)) for cell in cells)), "")
    notes = [] if len(found) == len(cells) else [f"{len(found)} of {len(cells)} seeds"]
    counts = {(results.splits(cell).get(protocol), cell.scores.get(protocol)) for cell in found}
    notes += sorted(f"{stored} of {asked} splits" for stored, asked in counts if stored != asked)
    return ", ".join(notes)


def grid_of(
    options: Options, methods: Sequence[str], sources: Sequence[Source]
) -> dict[str, list[list[Cell]]]:
    """Return for each method the cells on each graph."""
    return {
        method: [accuracy_cells(options, source, method) for source in sources]
        for method in methods
    }


def control_entry(
    results: Results,
    groups: Sequence[Sequence[Cell]],
    name: str,
    field: str,
    protocol: str,
) -> Entry:
    """Return the score of a control, which every record of the graph has."""
    for cells in groups:
        for cell in cells:
            result = results.result(cell)
            scores = {} if result is None else result["scores"].get(protocol, {}).get(field, {})
            if name in scores:
                return Entry(scores[name])
    return Entry(None)
