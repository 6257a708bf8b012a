"""Reader of OGB's raw files for node classification: gzipped CSV without headers."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow import csv

from ugcl.data.readers.limits import check_columns, check_compressed
from ugcl.data.readers.streams import MAX_LINE
from ugcl.graph import Graph
from ugcl.graph.validation import UNLABELLED

TABLES = ("edge", "node-feat", "node-label", "num-edge-list", "num-node-list")
SMALL = 2**20
"""Bytes of a file that is read faster without threads."""

SPLIT_PARTS = ("train", "valid", "test")


def read_ogb(files: Sequence[Path], name: str) -> Graph:
    """Read an OGB data set of one graph with the split that OGB publishes.

    The edges are directed citations, which `Graph` makes undirected as OGB's examples do. Labels
    that are `nan` become -1. The numbers of lines are compared with the published counts, which
    detects truncated files.

    Args:
        files: the raw files, one for each of `TABLES` and then of `SPLIT_PARTS`.
        name: name of the graph.
    """
    paths = dict(zip(TABLES + SPLIT_PARTS, files, strict=True))
    edges = _table(paths["edge"], pa.int64())
    features = _table(paths["node-feat"], pa.float32())
    labels = _table(paths["node-label"], pa.float64())[:, 0]
    for table, rows, counted_in in (
        ("edge", edges, "num-edge-list"),
        ("node-feat", features, "num-node-list"),
        ("node-label", labels, "num-node-list"),
    ):
        count = int(_table(paths[counted_in], pa.int64()).sum())
        if len(rows) != count:
            raise ValueError(
                f"{paths[table].name} has {len(rows):,} lines, but {paths[counted_in].name} says "
                f"{count:,}"
            )
    train, val, test = (_table(paths[part], pa.int64())[:, 0] for part in SPLIT_PARTS)
    return Graph.from_edges(
        edges,
        features,
        labels=np.nan_to_num(labels, nan=UNLABELLED).astype(np.int64),
        splits={"train": train, "val": val, "test": test},
        name=name,
    )


def _table(file: Path, kind: Any) -> npt.NDArray[Any]:
    """Read a CSV file as an array.

    The type of the columns is given, because PyArrow infers it from the first lines only.
    """
    check_compressed(file)
    with gzip.open(file) as stream:
        columns = [str(i) for i in range(stream.readline(MAX_LINE).count(b",") + 1)]
    check_columns(file.name, len(columns))
    try:
        table = csv.read_csv(
            file,
            read_options=csv.ReadOptions(
                column_names=columns, use_threads=file.stat().st_size > SMALL
            ),
            convert_options=csv.ConvertOptions(
                column_types=dict.fromkeys(columns, kind), null_values=["nan"]
            ),
        )
    except pa.ArrowException as error:
        raise ValueError(f"{file.name}: {str(error)[:300]}") from error
    return np.stack([column.to_numpy() for column in table.columns], axis=1)
