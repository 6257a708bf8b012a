"""Display names of the nodes of a run, from a column of its files."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ugcl._utils.errors import UGCLError
from ugcl.data.readers.arrays import is_array_file
from ugcl.data.readers.ids import as_ids, decoded, positions_of, with_common_type
from ugcl.data.readers.paths import matching_files
from ugcl.data.readers.tables import EXTENSIONS, Table, file_extension, open_table
from ugcl.runs.run import Run


def display_names(run: Run, column: str, file: Any = None) -> npt.NDArray[np.str_]:
    """Return the name of each node, "" where it has none.

    Args:
        run: the run.
        column: the column of names.
        file: a table with ids and names, such as a path or a frame; by default the labels or the
            features that the run was trained on.
    """
    files = run.config.graph_files
    id = "" if files is None else files.id
    sources = [file] if file is not None else []
    if not sources and files is not None:
        sources = [source for source in (files.labels, files.features) if _is_table(source)]
    tables = [
        open_table(source, "names", named=[n for n in (id, column) if n]) for source in sources
    ]
    table = next((table for table in tables if column in table.columns), None)
    if table is None:
        if file is not None:
            tables[0].require(column)
        raise UGCLError(
            f"no table that {run.path} was trained on has a column '{column}' of names: pass the "
            "table that has it as `names`"
        )
    return _names(table, column, id, run)


def _is_table(source: str) -> bool:
    if not source:
        return False
    paths = matching_files(source)
    return all(
        path.is_file() and not is_array_file(path) and file_extension(path) in EXTENSIONS
        for path in paths
    )


def _names(table: Table, column: str, id: str, run: Run) -> npt.NDArray[np.str_]:
    nodes = run.ids()
    key = table.id_column(id) or next((name for name in table.columns if name != column), None)
    texts = decoded(table.read((column,), text=True)[column]).cast(pa.string())
    values = np.array(texts.fill_null("").to_pylist(), dtype=np.str_)
    if key is None or key == column:
        if values.size != nodes.size:
            raise UGCLError(
                f"{table.name} has no ids besides '{column}', and {values.size:,} rows for "
                f"{nodes.size:,} nodes: give it a column of ids"
            )
        return values
    ids = as_ids(table.read((key,), text=True)[key], f"the column '{key}' of {table.name}")
    known = as_ids(pa.array(nodes), "the run")
    ids, known = with_common_type([ids, known])
    rows = positions_of(known, decoded(ids))
    if (rows < 0).all():
        raise UGCLError(
            f"no id in the column '{key}' of {table.name} is one of {run.path}: check the table"
        )
    return np.where(rows >= 0, values[rows], "")
