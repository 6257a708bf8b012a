"""Synthetic graphs that are written as they are sampled: to a graph's folder, or to tables."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from ugcl.data.sbm import Sample, sample, sbm_graph
from ugcl.graph.fingerprint import fingerprint
from ugcl.graph.folder import WORK, FolderWriter, index_dtype, mapped, mapped_csr

logger = logging.getLogger(__name__)

Ints = npt.NDArray[np.int64]
Ends = npt.NDArray[np.int32]

PIECE = 2**22
"""Edges, or numbers of features, that are written at a time."""

ENTRIES = 2**25
"""Entries of the adjacency that are sorted at a time."""

TABLES = ("csv", "parquet")


def write_sbm(
    path: str | Path, *, kind: str = "folder", name: str = "sbm", **params: Any
) -> dict[str, Any]:
    """Write a graph of the stochastic block model without building it in memory.

    The graph is that of `sbm_graph`, bit for bit. Memory: about 25 bytes for each edge and 150 for
    each node while the edges are sampled; features are written as they are sampled.

    Args:
        path: the folder to write, which must not exist.
        kind: "folder" for the folder of a graph; "csv" or "parquet" for a folder with the tables
            `edges`, each edge once, and `nodes`, with ids, features and labels.
        name: of the graph.
        **params: those of `sbm_graph`.

    Returns:
        `nodes`, `edges`, `features`, `classes`, `homophily` (None without edges), `components`.
    """
    bound = inspect.signature(sbm_graph).bind(**params)
    bound.apply_defaults()
    with FolderWriter(path) as writer:
        sampled = sample(bound.arguments)
        ends, same = _ends(sampled)
        about = {
            "nodes": sampled.num_nodes,
            "edges": len(ends),
            "features": sampled.num_features,
            "classes": sampled.num_classes,
            "homophily": same / len(ends) if len(ends) else None,
            "components": sampled.num_components,
        }
        if kind in TABLES:
            _write_tables(writer, sampled, ends, kind)
        else:
            _write_graph(writer, sampled, ends, name)
    return about


def _ends(sampled: Sample) -> tuple[Ends, int]:
    """Return the ends of the edges in the room of their keys, and how many have equal labels."""
    keys, sampled.edges = sampled.edges, np.empty(0, dtype=np.int64)
    ends = np.ascontiguousarray(keys).view(np.int32).reshape(-1, 2)
    same = 0
    for start in range(0, len(ends), PIECE):
        u, v = (
            sampled.node[end] for end in np.divmod(keys[start : start + PIECE], sampled.num_nodes)
        )
        same += int((sampled.labels[u] == sampled.labels[v]).sum())
        ends[start : start + PIECE, 0], ends[start : start + PIECE, 1] = u, v
    return ends, same


def _write_graph(writer: FolderWriter, sampled: Sample, ends: Ends, name: str) -> None:
    num_nodes = sampled.num_nodes
    dtype = index_dtype(num_nodes, 2 * len(ends))
    indptr = np.zeros(num_nodes + 1, dtype=np.int64)
    for start in range(0, len(ends), PIECE):
        np.add.at(indptr, ends[start : start + PIECE].reshape(-1) + 1, 1)
    np.cumsum(indptr, out=indptr)
    writer.write("indptr", indptr.astype(dtype, copy=False))
    logger.info("writing %s edges", f"{len(ends):,}")
    with writer.stream("indices", dtype) as stream:
        for first, last in _row_blocks(indptr):
            stream.append(_columns(ends, first, last, num_nodes))
    writer.write("labels", sampled.labels)
    logger.info("writing %s x %s features", f"{num_nodes:,}", sampled.num_features)
    features = writer.array("features", np.float32, (num_nodes, sampled.num_features))
    sampled.fill(features)
    features.flush()
    indices, rows = (mapped(writer.folder / f"{part}.npy") for part in ("indices", "indptr"))
    ones = np.broadcast_to(np.float32(1), indices.shape)
    adjacency = mapped_csr((ones, indices, rows), (num_nodes, num_nodes))
    writer.finish(
        name=name,
        weighted=False,
        num_features=sampled.num_features,
        fingerprint=fingerprint(adjacency, features),
    )


def _row_blocks(indptr: Ints) -> Iterator[tuple[int, int]]:
    """Split the rows into blocks of about `ENTRIES` entries."""
    first, rows = 0, indptr.size - 1
    while first < rows:
        last = int(np.searchsorted(indptr, indptr[first] + ENTRIES, side="right")) - 1
        last = min(max(last, first + 1), rows)
        yield first, last
        first = last


def _columns(ends: Ends, first: int, last: int, num_nodes: int) -> Ints:
    """Return the column indices of a block of rows of the symmetric adjacency."""
    keys = []
    for start in range(0, len(ends), PIECE):
        block = ends[start : start + PIECE]
        for u, v in (block.T, block.T[::-1]):
            inside = (u >= first) & (u < last)
            keys.append((u[inside].astype(np.int64) - first) * num_nodes + v[inside])
    entries = np.concatenate(keys) if keys else np.empty(0, dtype=np.int64)
    keys.clear()
    entries.sort()
    entries %= num_nodes
    return entries


def _write_tables(writer: FolderWriter, sampled: Sample, ends: Ends, kind: str) -> None:
    schema = pa.schema([("source", pa.int64()), ("target", pa.int64())])
    with _writer(writer.folder / f"edges.{kind}", schema) as out:
        for start in range(0, len(ends), PIECE):
            columns = [pa.array(end.astype(np.int64)) for end in ends[start : start + PIECE].T]
            out.write_table(pa.table(columns, schema=schema))
    work = writer.folder / WORK
    work.mkdir()
    shape = (sampled.num_nodes, sampled.num_features)
    features = np.lib.format.open_memmap(work / "features.npy", "w+", np.float32, shape)
    sampled.fill(features)
    names = [f"x{i}" for i in range(shape[1])]
    fields = [("id", pa.int64()), *((column, pa.float32()) for column in names)]
    schema = pa.schema([*fields, ("label", pa.int64())])
    with _writer(writer.folder / f"nodes.{kind}", schema) as out:
        step = max(1, PIECE // shape[1])
        for start in range(0, shape[0], step):
            block = np.ascontiguousarray(features[start : start + step].T)
            ids = pa.array(np.arange(start, start + block.shape[1]))
            labels = pa.array(sampled.labels[start : start + step])
            out.write_table(pa.table([ids, *map(pa.array, block), labels], schema=schema))
    writer.finish_tables()


def _writer(path: Path, schema: pa.Schema) -> Any:
    if path.suffix == ".csv":
        return pyarrow.csv.CSVWriter(path, schema)
    return pq.ParquetWriter(path, schema)
