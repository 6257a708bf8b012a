"""The studies: for each the cells that it computes, its tables and its figures.

A study is data: a list of cells. Tables and figures are made from stored results alone, so they can
be made at any time; a figure that has not been computed reads "not run".
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ugcl._utils.errors import UGCLError
from ugcl._utils.files import make_folder, remove_temporaries
from ugcl._utils.locks import locked
from ugcl._utils.suggest import unknown
from ugcl.data import load_graph
from ugcl.methods import get_method
from ugcl.study.cell import Cell
from ugcl.study.classification import CLASSIFICATION_STUDIES
from ugcl.study.comparisons import COMPARISONS
from ugcl.study.entries import Options, shown
from ugcl.study.graph_studies import GRAPH_STUDIES
from ugcl.study.names import STUDIES
from ugcl.study.runner import Results, RunnerOptions, run_cells
from ugcl.study.scope_studies import SCOPE_STUDIES
from ugcl.study.table import Table

logger = logging.getLogger(__name__)


_STUDIES = CLASSIFICATION_STUDIES | SCOPE_STUDIES | GRAPH_STUDIES | COMPARISONS

BY_NAME = {name: _STUDIES[name] for name in STUDIES if name != "all"}
"""The studies by name."""


def names_of(study: str) -> list[str]:
    """Return the studies that a name stands for: "all" for all but compare."""
    return [name for name in BY_NAME if name != "compare"] if study == "all" else [study]


def cells_of(study: str, options: Options) -> list[Cell]:
    """Return the cells of a study; those of "all" take turns, so that no table stays empty."""
    queues = [BY_NAME[name].cells(options) for name in names_of(study)]
    return list(_in_turn(queues))


def _in_turn(queues: Sequence[Sequence[Cell]]) -> Iterator[Cell]:
    for place in range(max(map(len, queues), default=0)):
        yield from (queue[place] for queue in queues if place < len(queue))


@dataclass(frozen=True)
class Made:
    """What a study has made.

    Attributes:
        tables: its tables.
        files: the files that were written.
        left: cells that are not computed.
        failed: cells that ended with an error.
    """

    tables: list[Table]
    files: list[Path]
    left: int
    failed: int = 0

    def to_json(self) -> dict[str, Any]:
        """Return the tables and the names of the files."""
        return {
            "tables": [table.to_json() for table in self.tables],
            "files": [path.name for path in self.files],
            "cells_left": self.left,
            "cells_failed": self.failed,
        }


def run_study(
    name: str,
    out: Path,
    options: Options | None = None,
    runner: RunnerOptions | None = None,
) -> Made:
    """Compute what is missing of a study, then write its tables and figures.

    Args:
        name: one of `ugcl.study.names.STUDIES`.
        out: the folder: `cells.jsonl` has the results, which all studies share.
        options: what to compute.
        runner: how it is computed.
    """
    options = options or Options()
    if name not in STUDIES:
        raise UGCLError(unknown("study", name, STUDIES))
    for method in options.methods:
        get_method(method)
    names = [shown(source) for source in options.data]
    for source in options.data:
        load_graph(source, options.data_root)  # refuses what cannot be loaded
        if names.count(shown(source)) > 1:
            raise UGCLError(f"two graphs are called {shown(source)}: rename one of the files")
    out = out.resolve()  # workers may have another working directory
    cells = cells_of(name, options)
    if not cells and name not in ("diagrams", "arxiv"):
        raise UGCLError(
            "none of the study's data sets is present: download them, pass their folder "
            "(`data_root`), or name a graph (`data`)"
        )
    make_folder(out)
    with locked(out, "another study computes into"):
        remove_temporaries(out)
        results = Results.open(out / "cells.jsonl", options.data_root)
        run_cells(cells, results, runner)
        with suppress(OSError):
            (out / "runs").rmdir()  # empty unless a cell failed or was stopped
        return write_study(name, out, options, results, cells)


def write_study(
    name: str, out: Path, options: Options, results: Results, cells: Sequence[Cell]
) -> Made:
    """Write the tables and figures of a study from its results; `cells` are those it needs."""
    tables: list[Table] = []
    files: list[Path] = []
    plots = find_spec("matplotlib") is not None
    for each in names_of(name):
        found = BY_NAME[each].tables(options, results)
        tables += found
        for table in found:
            files += table.write(out)
        if plots:
            from ugcl.study.figures import save

            for title, figure in BY_NAME[each].figures(options, results).items():
                files += save(figure, out, title)
    if not plots:
        logger.warning("figures need Matplotlib, which is not installed: pip install 'ugcl[plot]'")
    left = {results.key(cell) for cell in cells if results.get(cell) is None}
    failed = {results.key(cell) for cell in cells if "error" in (results.get(cell) or {})}
    return Made(tables, files, len(left), len(failed))
