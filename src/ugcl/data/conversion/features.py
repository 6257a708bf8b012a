"""The stage that reads the features of a conversion."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ugcl.data.conversion import nodes
from ugcl.data.conversion.context import Context
from ugcl.data.conversion.nodes import NodeFacts
from ugcl.data.readers.features import feature_columns, from_matrix, read_features
from ugcl.data.readers.labels import read_ids
from ugcl.data.readers.nodes import ExpectedFeatures, NodeTable

FEATURES = "features"
"""Table of their ids, and prefix of files."""


def read_feature_stage(context: Context) -> dict[str, Any]:
    """Write the features, and return their `NodeFacts`."""
    alone = not context.files.labels
    source = context.files.features
    table = context.open(source, "features")
    if table is None:
        facts = _in_memory(context, source, alone)
    else:
        used = feature_columns(table, context.columns, ExpectedFeatures(), labelled=alone)
        label = used.label if alone else None
        cells = (used.id, label, used.split)
        facts = nodes.read_rows(context.db, context.work, FEATURES, table, cells)
        total = context.rows("features")
        facts.rows, names = nodes.write_table_features(
            context.writer,
            table,
            used.names,
            context.dtype,
            _id_of(context, facts),
            context.progress,
            total,
        )
        facts.feature_names, facts.width = names, len(names)
        facts.notes = [*table.notes, used.note(table, facts.rows, len(names))]
    if context.files.ids:
        _read_ids(context, facts)
    return asdict(facts)


def _in_memory(context: Context, source: str, alone: bool) -> NodeFacts:
    path = Path(source)
    if path.suffix.lower() == ".npy" and path.is_file():
        table = from_matrix(np.load(path, mmap_mode="r", allow_pickle=False), path.name, None)
    else:
        table = read_features(source, context.columns, ExpectedFeatures(), labelled=alone)
    facts = nodes.keep_rows(context.db, context.work, FEATURES, table, labels=alone)
    assert table.features is not None
    nodes.write_features(context.writer, table.features, context.dtype, context.progress)
    facts.width = table.features.shape[1]
    facts.sparse = (context.writer.folder / "features_indptr.npy").exists()
    facts.feature_names = None if table.feature_names is None else list(table.feature_names)
    return facts


def _read_ids(context: Context, facts: NodeFacts) -> None:
    ids = None if facts.text is None else pa.chunked_array([[]])
    table = NodeTable(facts.name, facts.rows, ids, notes=tuple(facts.notes))
    table = table.with_ids(read_ids(context.files.ids))
    kept = nodes.keep_rows(context.db, context.work, FEATURES, table, labels=False)
    facts.text, facts.low, facts.high = kept.text, kept.low, kept.high
    facts.notes = kept.notes


def _id_of(context: Context, facts: NodeFacts) -> Callable[[int], Any]:
    def id_of(row: int) -> Any:
        if facts.text is None:
            return None
        return context.db.rows(f"SELECT id FROM {FEATURES} WHERE row = {row}")[0][0]

    return id_of
