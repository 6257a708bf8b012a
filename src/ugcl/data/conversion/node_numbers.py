"""The stage that numbers the nodes of a conversion."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from ugcl._utils.errors import UGCLError
from ugcl.data.conversion import nodes, numbering
from ugcl.data.conversion.context import Context
from ugcl.data.conversion.database import ROWS
from ugcl.data.conversion.edges import EDGES, EdgeFacts, check_weights, notes_of
from ugcl.data.conversion.features import FEATURES
from ugcl.data.conversion.nodes import NodeFacts
from ugcl.data.readers.ids import FEATURE_ROWS
from ugcl.data.readers.read import nodes_without_features
from ugcl.data.readers.tables import Table
from ugcl.graph.folder import IDS

TABLE_SHARE = 0.25
"""Part of the memory that a table of all integers from the smallest to the largest id may take."""


class NodeNumbers:
    """Numbers of nodes: in the order of the features, else of the sorted ids.

    Args:
        context: of the conversion.
        edges: what is known of the edges.
        features: what is known of the features; None without any.

    Attributes:
        low: the smallest integer of the table of integer ids; None where ids are joined.
    """

    def __init__(self, context: Context, edges: EdgeFacts, features: NodeFacts | None) -> None:
        self.context, self.edges, self.features = context, edges, features
        self.low: int | None = None
        self.missing = False

    def number(self, table: Table) -> dict[str, Any]:
        """Number the nodes and write their ids; return what later stages need.

        Args:
            table: the table of edges.
        """
        edges, features = self.edges, self.features
        texts = [*edges.text]
        if features is not None:
            texts.append(bool(features.text))
        text = any(texts)
        shared, isolated = False, 0
        low, high = (edges.low, edges.high) if features is None else (features.low, features.high)
        if features is not None and features.text is None:
            low, high = 0, features.rows - 1
        room = int(TABLE_SHARE * self.context.memory / numbering.BYTES_PER_ID)
        dense = not text and 0 <= high - low < room
        if features is None and edges.rows == 0:
            raise UGCLError("the edges are empty, and so the graph has no nodes: check the file")
        file = self.context.work / "table.npy"
        if features is None and dense:
            sources, targets = numbering.mark_ends(self.context.db, low, high - low + 1)
            shared = bool((sources & targets).any())
            numbering.table_of_present(file, low, sources | targets)
            present = np.flatnonzero(sources | targets) + low
            parts: Iterator[pa.Array] = map(pa.array, _pieces(present))
            count = numbering.write_id_file(self.context.folder / IDS, False, parts)
        else:
            if dense:
                assert features is not None
                rows = self._feature_ids(features)
                _, distinct = numbering.table_of_rows(file, low, high - low + 1, rows)
                if distinct < features.rows:
                    nodes.refuse_repeated(self.context.db, FEATURES, features.name, FEATURE_ROWS)
            else:
                self.node_table(text)
                numbering.join_edges(self.context.db, edges, text)
            order = f"SELECT id FROM {numbering.NODES} ORDER BY node"
            if dense and features is not None:
                parts = map(pa.array, self._feature_ids(features))
            else:
                parts = (batch["id"] for batch in self.context.db.batches(order))
            count = numbering.write_id_file(self.context.folder / IDS, text, parts)
        self.low = low if dense else None
        if features is not None or not dense:
            shared, isolated = self._check_ends(count)
        notes = notes_of(self.context.db, table, self.context.columns, edges, shared)
        if self.missing:
            self._refuse_missing(text)
        check_weights(edges)
        return {
            "nodes": count,
            "text": text,
            "low": self.low,
            "notes": notes,
            "isolated": isolated,
        }

    def _feature_ids(self, features: NodeFacts) -> Iterator[npt.NDArray[np.int64]]:
        if features.text is None:
            yield from _pieces(np.arange(features.rows))
            return
        for batch in self.context.db.batches(f"SELECT id FROM {FEATURES} ORDER BY row"):
            yield numbering.column(batch, "id")

    def node_table(self, text: bool) -> None:
        """Make the table of ids and numbers of the nodes."""
        cast = "CAST({} AS VARCHAR)" if text else "{}"
        name = numbering.NODES
        if self.features is not None and self.features.text is not None:
            id = cast.format("id")
            self.context.db.run(
                f"CREATE OR REPLACE TABLE {name} AS SELECT {id} AS id, row AS node FROM {FEATURES}"
            )
            nodes.refuse_repeated(
                self.context.db,
                f"(SELECT id, node AS row FROM {name})",
                self.features.name,
                FEATURE_ROWS,
            )
            return
        if self.features is not None:
            id = cast.format("i")
            rows = self.features.rows
            self.context.db.run(
                f"CREATE OR REPLACE TABLE {name} AS "
                f"SELECT {id} AS id, i AS node FROM range({rows}) x(i)"
            )
            return
        ends = " UNION ALL ".join(f"SELECT {cast.format(end)} AS id FROM {EDGES}" for end in "st")
        kind = pa.string() if text else pa.int64()
        schema = pa.schema([("id", kind), ("node", pa.int64())])

        def numbered() -> Iterator[pa.RecordBatch]:
            row = 0
            for batch in self.context.db.batches(f"SELECT DISTINCT id FROM ({ends}) ORDER BY id"):
                numbers = pa.array(np.arange(row, row + len(batch)))
                row += len(batch)
                yield pa.record_batch([batch["id"].cast(kind), numbers], schema=schema)

        self.context.db.fill(name, schema, numbered())

    def lookup(self) -> numbering.Lookup | None:
        """Return the table of integer ids; None where ids are joined."""
        return (
            None
            if self.low is None
            else numbering.stored_table(self.context.work / "table.npy", self.low)
        )

    def _check_ends(self, num_nodes: int) -> tuple[bool, int]:
        """Return whether any node is a source and a target, and how many nodes are neither."""
        sources, targets = np.zeros(num_nodes, dtype=bool), np.zeros(num_nodes, dtype=bool)
        for s, t, _ in numbering.pairs_of(self.context.db, self.edges, self.lookup()):
            if s.size and min(s.min(), t.min()) < 0:
                self.missing = True
                s, t = s[s >= 0], t[t >= 0]
            sources[s] = targets[t] = True
        return bool((sources & targets).any()), int((~(sources | targets)).sum())

    def _refuse_missing(self, text: bool) -> None:
        cast = "CAST({} AS VARCHAR)" if text else "{}"
        ends = " UNION ".join(f"SELECT {cast.format(end)} AS id FROM {EDGES}" for end in "st")
        if self.features is not None and self.features.text is not None:
            known = f"SELECT {cast.format('id')} FROM {FEATURES}"
        else:
            rows = 0 if self.features is None else self.features.rows
            known = f"SELECT {cast.format('i')} FROM range({rows}) x(i)"
        missing = f"FROM ({ends}) WHERE id NOT IN ({known})"
        count = self.context.db.rows(f"SELECT count(*) {missing}")[0][0]
        first = self.context.db.rows(f"SELECT id {missing} ORDER BY id LIMIT 4")
        assert self.features is not None
        has_ids = self.features.text is not None
        raise nodes_without_features(
            pa.array([id for (id,) in first]),
            count,
            self.features.name,
            self.first_ids(),
            has_ids=has_ids,
            rows=self.features.rows,
        )

    def first_ids(self) -> pa.Array:
        """Return the first ids of the graph, for messages."""
        file = pq.ParquetFile(self.context.folder / IDS)
        batch = next(file.iter_batches(4), None)
        return pa.array([]) if batch is None else batch["id"]


def _pieces(values: npt.NDArray[np.int64]) -> Iterator[npt.NDArray[np.int64]]:
    for start in range(0, values.size, ROWS):
        yield values[start : start + ROWS]
