"""`convert_graph`: convert files to the folder of a graph, within a limit of memory."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ugcl._utils.errors import UGCLError
from ugcl._utils.files import READ_ERRORS, make_folder
from ugcl._utils.locks import locked
from ugcl._utils.sizes import parse_size
from ugcl.data.catalogue import DATASETS
from ugcl.data.conversion import budget, nodes
from ugcl.data.conversion.conversion import convert_files
from ugcl.data.conversion.stages import Progress
from ugcl.data.load import load_graph
from ugcl.data.readers.files import GraphFiles
from ugcl.data.readers.paths import matching_files
from ugcl.data.readers.tables import EXTENSIONS, error_text, file_extension, open_table
from ugcl.data.readers.triplets import long_columns
from ugcl.graph import Graph
from ugcl.graph.folder import FolderWriter, check_new_folder, is_graph_folder, mapped, save_folder

DTYPES = ("float32", "float16")


def convert_graph(
    graph: Any,
    out: str | Path,
    *,
    memory: str | int = budget.DEFAULT_MEMORY,
    temp: str | Path | None = None,
    dtype: str = "float32",
    threads: int | None = None,
    data_root: str | Path | None = None,
    progress: Progress | None = None,
) -> Graph:
    """Convert files to the folder of a graph, and open it.

    The graph is that of `load_graph`, bit for bit. Edges, features and labels in text or Parquet
    files, and features in `.npy`, need memory for a few numbers per node at most; all others, such
    as GraphML, are read into memory. If the process is killed, the same call continues after the
    last finished stage. Needs DuckDB (`pip install 'ugcl[big]'`) for text and Parquet.

    Args:
        graph: what `load_graph` takes.
        out: the folder to write, which must not exist.
        memory: the anonymous memory that the process may use, such as "4GB".
        temp: folder of temporary files, by default inside the unfinished folder.
        dtype: "float32" or "float16", of dense features.
        threads: of DuckDB, by default all cores.
        data_root: folder of raw data sets, as for `load_graph`.
        progress: called with the stage, what is done of it, and of how much, where it is known.
    """
    limit = parse_size(memory)
    budget.check_memory(limit)
    if dtype not in DTYPES:
        raise UGCLError(f"`dtype` must be {' or '.join(DTYPES)}, not {dtype!r}")
    path = Path(out)
    check_new_folder(path)
    report = progress or (lambda stage, done, total: None)
    given = isinstance(graph, str | Path)
    files = GraphFiles(edges=str(graph)) if given else graph
    if not isinstance(files, GraphFiles) or not _streams(files):
        report("reading the graph", 0, None)
        loaded = load_graph(graph, data_root)
        report("writing the graph", 0, None)
        _save(loaded, path, np.dtype(dtype))
        return Graph.open(path)
    folder = FolderWriter(path).folder
    make_folder(folder)
    lock = locked(folder, "another conversion writes into")
    with lock, FolderWriter(path, resume=True) as writer:
        try:
            convert_files(writer, files, limit, temp, np.dtype(dtype), threads or _cores(), report)
        except (UGCLError, OSError):
            raise
        except (*READ_ERRORS, pa.ArrowException) as error:
            reason = error_text(error)
            raise UGCLError(f"the graph cannot be read ({reason}): check its files") from error
    return Graph.open(path)


def _streams(files: GraphFiles) -> bool:
    """Return whether the edges can be read in batches."""
    if files.edges.lower() in DATASETS or is_graph_folder(Path(files.edges)):
        return False
    paths = matching_files(files.edges)
    kinds = {file_extension(path) for path in paths}
    return kinds <= set(EXTENSIONS) - {".jsonl", ".ndjson"} and not _has_triplets(files)


def _has_triplets(files: GraphFiles) -> bool:
    """Return whether the features have a row for each node and feature, which is not streamed."""
    paths = matching_files(files.features) if files.features else []
    if not paths or any(file_extension(path) not in EXTENSIONS for path in paths):
        return False
    table = open_table(files.features, "features", named=files.columns.node_columns)
    return long_columns(table, files.columns) is not None


def _save(graph: Graph, path: Path, dtype: np.dtype[Any]) -> None:
    if dtype == np.float32:
        save_folder(graph, path)
        return
    with FolderWriter(path) as writer:
        nodes.write_features(writer, graph.features, dtype, lambda *_: None)
        narrow = _with_features(graph, mapped(writer.folder / "features.npy"))
    save_folder(narrow, path)


def _with_features(graph: Graph, features: npt.NDArray[Any]) -> Graph:
    """Return a graph with features of another type, which its constructor would make float32."""
    other = Graph.__new__(Graph)
    for name in Graph.__dataclass_fields__:
        object.__setattr__(other, name, getattr(graph, name))
    object.__setattr__(other, "features", np.array(features))
    return other


def _cores() -> int:
    """Return the number of cores that this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity is not None else os.cpu_count() or 1
