"""The adjacency of a conversion: sorted by DuckDB, merged in one pass, streamed to CSR."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ugcl.data.conversion.database import Database, Feed
from ugcl.data.conversion.edges import Pairs
from ugcl.data.conversion.numbering import column
from ugcl.data.conversion.stages import Progress
from ugcl.graph.edges import MergeCounts, float32_weights, merged_weights
from ugcl.graph.folder import FolderWriter, index_dtype, mapped

Ints = npt.NDArray[np.int64]

UNWEIGHTED = pa.schema([("k", pa.int64())])
WEIGHTED = pa.schema([("k", pa.int64()), ("r", pa.int64()), ("w", pa.float64())])

PIECE = 2**20


def write_adjacency(
    db: Database,
    writer: FolderWriter,
    pairs: Pairs,
    num_nodes: int,
    *,
    weighted: bool,
    directed: bool,
    progress: Progress,
    total: int,
    work: Path,
) -> dict[str, Any]:
    """Write `indptr`, `indices` and `weights`, and return the notes of what was changed.

    Every edge (u, v) becomes two keys 2 (u N + v) and 2 (v N + u) + 1, whose last bit says that
    they are mirrored. Sorted, they are the entries of the symmetric matrix in CSR order, with
    duplicates side by side. With weights, the row of the edge is sorted by, too, so that
    duplicates are added in the order of the file, as in memory.

    Args:
        db: sorts the keys.
        writer: of the folder.
        pairs: of node numbers.
        num_nodes: N.
        weighted: whether there are weights.
        directed: whether (u, v) and (v, u) are distinct edges.
        progress: called with the number of sorted keys.
        total: number of edges.
        work: folder of temporary files.
    """
    counts = MergeCounts(summed=weighted)
    schema = WEIGHTED if weighted else UNWEIGHTED
    feed = Feed(schema, _keys(pairs, num_nodes, counts, schema, progress, total))
    query = f"SELECT {', '.join(schema.names)} FROM keys ORDER BY k{', r' if weighted else ''}"
    indptr = np.lib.format.open_memmap(work / "indptr.npy", "w+", np.int64, (num_nodes + 1,))
    index = np.int32 if num_nodes < 2**31 else np.int64
    with feed.errors(), writer.stream("indices", index) as indices:
        sorted_keys = db.batches(query, {"keys": feed.reader})
        if weighted:
            with writer.stream("weights", np.float32) as weights:
                for pair, values in _summed(sorted_keys, num_nodes, counts, directed=directed):
                    _append(indices, indptr, pair, num_nodes)
                    weights.append(values)
        else:
            for pair in _distinct(sorted_keys, counts):
                _append(indices, indptr, pair, num_nodes)
                progress("sorting edges", total + indices.rows // 2, 2 * total)
        nnz = indices.rows
    end = 0
    for start in range(0, indptr.size, PIECE):
        part = indptr[start : start + PIECE]
        part[...] = np.cumsum(part) + end
        end = int(part[-1])
    dtype = index_dtype(num_nodes, nnz)
    with writer.stream("indptr", dtype) as stream:
        for start in range(0, indptr.size, PIECE):
            stream.append(indptr[start : start + PIECE])
    if dtype != index:
        _widen(writer, work, dtype)
    return {"nnz": nnz, "notes": counts.notes(directed=directed)}


def _keys(
    pairs: Pairs,
    num_nodes: int,
    counts: MergeCounts,
    schema: pa.Schema,
    progress: Progress,
    total: int,
) -> Iterator[pa.RecordBatch]:
    done = 0
    for sources, targets, batch in pairs:
        keep = sources != targets
        counts.loops += int(sources.size - keep.sum())
        values = None
        if len(schema) > 1:
            values, rows = column(batch, "w"), column(batch, "r")
            counts.zero += int((keep & (values == 0)).sum())
            keep &= values != 0
            values, rows = values[keep], rows[keep]
        u, v = sources[keep], targets[keep]
        counts.listed += u.size
        done += len(batch)
        progress("sorting edges", done, 2 * total)
        keys = np.concatenate([2 * (u * num_nodes + v), 2 * (v * num_nodes + u) + 1])
        arrays = [keys]
        if values is not None:
            arrays += [np.concatenate([rows, rows]), np.concatenate([values, values])]
        yield pa.record_batch([pa.array(array) for array in arrays], schema=schema)


def _append(indices: Any, indptr: Ints, pairs: Ints, num_nodes: int) -> None:
    """Append entries in ascending order, given as u N + v, and count them by row."""
    if pairs.size == 0:
        return
    rows = pairs // num_nodes
    indices.append(pairs - rows * num_nodes)
    first, last = int(rows[0]), int(rows[-1])
    indptr[first + 1 : last + 2] += np.bincount(rows - first)


def _distinct(batches: Iterator[pa.RecordBatch], counts: MergeCounts) -> Iterator[Ints]:
    """Yield distinct pairs of sorted keys, and count those that are listed in their direction."""
    last = -1
    for batch in batches:
        keys = column(batch, "k")
        if keys.size == 0:
            continue
        pairs = keys >> 1
        steps = np.diff(pairs, prepend=last)
        _check_sorted(steps)
        new = steps > 0
        last = int(pairs[-1])
        counts.distinct += int((new & (keys & 1 == 0)).sum())
        counts.entries += int(new.sum())
        yield pairs[new]


def _check_sorted(steps: Ints) -> None:
    if steps.min() < 0:
        raise AssertionError("the database returned rows out of order")


def _summed(
    batches: Iterator[pa.RecordBatch], num_nodes: int, counts: MergeCounts, *, directed: bool
) -> Iterator[tuple[Ints, npt.NDArray[np.float32]]]:
    """Yield pairs and their weights.

    The last pair of a batch may go on in the next one, and begins it with the sums so far.
    """
    pair, sums = np.empty(0, np.int64), np.empty((2, 0))
    for batch in batches:
        keys, values = column(batch, "k"), column(batch, "w")
        if keys.size == 0:
            continue
        pairs = np.concatenate([pair, pair, keys >> 1])
        mirrored = np.concatenate(
            [np.zeros(pair.size, bool), np.ones(pair.size, bool), keys & 1 > 0]
        )
        values = np.concatenate([sums[0], sums[1], values])
        steps = np.diff(pairs, prepend=-1)
        _check_sorted(steps)
        which = np.cumsum(steps > 0) - 1
        size = int(which[-1]) + 1
        sums = np.stack(
            [
                np.bincount(which[mask], weights=values[mask], minlength=size)
                for mask in (~mirrored, mirrored)
            ]
        )
        distinct = pairs[steps > 0]
        yield _merged(distinct[:-1], sums[:, :-1], num_nodes, counts, directed=directed)
        pair, sums = distinct[-1:], sums[:, -1:]
    yield _merged(pair, sums, num_nodes, counts, directed=directed)


def _merged(
    pairs: Ints,
    sums: npt.NDArray[np.float64],
    num_nodes: int,
    counts: MergeCounts,
    *,
    directed: bool,
) -> tuple[Ints, npt.NDArray[np.float32]]:
    """Return the weights of the entries, the same for (u, v) and (v, u), and count by (u, v)."""
    upper = pairs // num_nodes < pairs % num_nodes
    forward, backward = np.where(upper, sums[0], sums[1]), np.where(upper, sums[1], sums[0])
    merged, same = merged_weights(forward, backward, directed=directed)
    counts.add(forward[upper], backward[upper], same[upper])
    return pairs, float32_weights(merged)


def _widen(writer: FolderWriter, work: Path, dtype: npt.DTypeLike) -> None:
    """Rewrite the column indices in a wider type, which SciPy wants to be that of `indptr`."""
    narrow = shutil.move(writer.folder / "indices.npy", work / "indices.npy")
    values = mapped(Path(narrow))
    with writer.stream("indices", dtype) as stream:
        for start in range(0, values.size, PIECE):
            stream.append(values[start : start + PIECE])
