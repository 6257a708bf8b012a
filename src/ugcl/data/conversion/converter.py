"""`convert_graph`: convert files to the folder of a graph, within a limit of memory."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from ugcl._utils.errors import UGCLError
from ugcl._utils.files import READ_ERRORS, make_folder
from ugcl._utils.locks import locked
from ugcl.data.catalogue import DATASETS
from ugcl.data.conversion import adjacency, budget, labels, nodes, numbering
from ugcl.data.conversion.database import ROWS, Database
from ugcl.data.conversion.edges import EDGES, EdgeFacts, check_weights, notes_of, read_edges
from ugcl.data.conversion.nodes import NodeFacts
from ugcl.data.conversion.stages import Progress, Stages
from ugcl.data.load import load_graph
from ugcl.data.readers import structural
from ugcl.data.readers.arrays import is_array_file
from ugcl.data.readers.features import feature_columns, from_matrix, read_features
from ugcl.data.readers.files import GraphFiles
from ugcl.data.readers.ids import preview
from ugcl.data.readers.labels import label_columns, labels_note, read_ids, read_labels
from ugcl.data.readers.nodes import ExpectedFeatures, NodeTable
from ugcl.data.readers.paths import is_several, matching_files, name_of
from ugcl.data.readers.read import isolated_note, no_features_note, nodes_without_features
from ugcl.data.readers.tables import EXTENSIONS, Table, error_text, file_extension, open_table
from ugcl.graph import Graph
from ugcl.graph.fingerprint import fingerprint
from ugcl.graph.folder import (
    IDS,
    WORK,
    FolderWriter,
    check_new_folder,
    index_dtype,
    is_graph_folder,
    mapped,
    mapped_csr,
    save_folder,
)

logger = logging.getLogger(__name__)

DTYPES = ("float32", "float16")

FEATURES, LABELS = "features", "labels"
"""Tables of ids, and prefixes of files."""

TABLE_SHARE = 0.25
"""Part of the memory that the table of all integers from the smallest to the largest id may take."""


def convert_graph(
    graph: str | Path | GraphFiles,
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
    limit = budget.parse_size(memory)
    budget.check_memory(limit)
    if dtype not in DTYPES:
        raise UGCLError(f"`dtype` must be {' or '.join(DTYPES)}, not {dtype!r}")
    path = Path(out)
    check_new_folder(path)
    report = progress or (lambda stage, done, total: None)
    files = graph if isinstance(graph, GraphFiles) else GraphFiles(edges=str(graph))
    if not _streams(files):
        report("reading the graph", 0, None)
        loaded = load_graph(graph, data_root)
        report("writing the graph", 0, None)
        _save(loaded, path, np.dtype(dtype))
        return Graph.open(path)
    folder = FolderWriter(path).folder
    make_folder(folder)
    with locked(folder, "another conversion writes into"), FolderWriter(path, resume=True) as writer:
        cores = threads or len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 2
        try:
            Conversion(writer, files, limit, temp, np.dtype(dtype), cores, report).run()
        except UGCLError:
            raise
        except (*READ_ERRORS, pa.ArrowException) as error:
            if isinstance(error, OSError):
                raise
            raise UGCLError(
                f"the graph cannot be read ({error_text(error)}): check its files"
            ) from error
    return Graph.open(path)


def _streams(files: GraphFiles) -> bool:
    """Return whether the edges can be read in batches."""
    if files.edges.lower() in DATASETS or is_graph_folder(Path(files.edges)):
        return False
    paths = matching_files(files.edges)
    kinds = {file_extension(path) for path in paths}
    return kinds <= set(EXTENSIONS) - {".jsonl", ".ndjson"}


def _save(graph: Graph, path: Path, dtype: np.dtype[Any]) -> None:
    if dtype == np.float32:
        save_folder(graph, path)
        return
    with FolderWriter(path) as writer:
        nodes.write_features(writer, graph.features, dtype, lambda *_: None)
        narrow = replace_features(graph, mapped(writer.folder / "features.npy"))
    save_folder(narrow, path)


def replace_features(graph: Graph, features: npt.NDArray[Any]) -> Graph:
    """Return a graph with features of another type, which its constructor would make float32."""
    other = Graph.__new__(Graph)
    for name in Graph.__dataclass_fields__:
        object.__setattr__(other, name, getattr(graph, name))
    object.__setattr__(other, "features", np.array(features))
    return other


class Conversion:
    """The stages of a conversion.

    Args:
        writer: of the folder.
        files: of the graph.
        memory: limit in bytes.
        temp: folder of temporary files; None for inside the unfinished folder.
        dtype: of dense features.
        threads: of DuckDB.
        progress: called with the progress of each stage.
    """

    def __init__(
        self,
        writer: FolderWriter,
        files: GraphFiles,
        memory: int,
        temp: str | Path | None,
        dtype: np.dtype[Any],
        threads: int,
        progress: Progress,
    ) -> None:
        self.writer, self.files, self.memory, self.dtype = writer, files, memory, dtype
        self.columns, self.threads, self.progress = files.columns, threads, progress
        self.work = writer.folder / WORK
        if temp is not None:
            name = sha256(str(writer.path.resolve()).encode()).hexdigest()[:12]
            self.work = Path(temp) / f"ugcl-convert-{name}"
        self.edge_table = open_table(files.edges, "edges", named=self.columns.edge_columns)
        self.sources = {
            name: matching_files(source)
            for name in ("edges", "features", "labels", "ids")
            if (source := getattr(files, name))
        }
        for paths in self.sources.values():
            for path in paths:
                if not path.is_file():
                    raise UGCLError(f"the file {path} does not exist: check the path")

    def run(self) -> None:
        """Do the stages that are not done yet, and finish the folder."""
        self.stages = Stages(self.work, self._inputs(), self.progress)
        if not self.stages.done:
            self._clear()
            self._check_disk()
        self.db = self._database()
        with closing(self.db):
            facts = self.stages.run("reading edges", self._read_edges)
            self.edges = EdgeFacts(**facts)
            self.edges.used, self.edges.text = tuple(facts["used"]), tuple(facts["text"])
            self.features: NodeFacts | None = None
            if self.files.ids and not self.files.features:
                raise UGCLError("`ids` needs features, and there are none: leave it out")
            if self.files.features:
                self.features = NodeFacts(**self.stages.run("reading features", self._features))
            numbered = self.stages.run("numbering nodes", self._number)
            self.num_nodes, self.text = numbered["nodes"], numbered["text"]
            self.low = numbered["low"]
            self.db.limit(budget.for_database(self.memory, self.num_nodes))
            named = self.stages.run("reading labels", self._labels)
            entries = self.stages.run("sorting edges", self._adjacency)
        notes = [*numbered["edge_notes"]]
        if self.features is not None:
            notes += self.features.notes
        notes = list(dict.fromkeys([*notes, *named["notes"]]))
        feature_names = None if self.features is None else self.features.feature_names
        if self.features is None:
            names = self.stages.run("structural features", lambda: self._structural(entries["nnz"]))
            notes.append(no_features_note(tuple(names)))
            feature_names = names
        elif numbered["isolated"]:
            notes.append(isolated_note(numbered["isolated"]))
        self._finish([*notes, *entries["notes"]], feature_names, named["class_names"])

    def _inputs(self) -> dict[str, Any]:
        stamps = [
            (name, str(path.resolve()), path.stat().st_size, path.stat().st_mtime_ns)
            for name, paths in self.sources.items()
            for path in paths
        ]
        options = {key: value for key, value in asdict(self.files).items()}
        return {"files": stamps, "options": options, "dtype": self.dtype.str, "temp": str(self.work)}

    def _clear(self) -> None:
        """Remove files of an earlier conversion of other files."""
        for file in self.writer.folder.iterdir():
            if file.is_file() and file.name != ".lock":
                file.unlink()

    def _check_disk(self) -> None:
        rows = self.edge_rows = budget.estimated_rows(self.sources["edges"])
        temporary = rows * (2 * 40 if self.columns.weight else 2 * 20)
        final = 2 * rows * 4
        if "features" in self.sources:
            final += sum(path.stat().st_size for path in self.sources["features"])
        budget.check_disk({self.work: temporary, self.writer.folder: final})

    def _database(self) -> Database:
        limit = budget.for_database(self.memory)
        about = budget.size(self.memory)
        try:
            return Database(self.work, limit, self.threads, about)
        except UGCLError:
            if not self.stages.done:
                raise
            self.stages.restart()  # a kill has damaged it
            return Database(self.work, limit, self.threads, about)

    def _read_edges(self) -> dict[str, Any]:
        total = budget.estimated_rows(self.sources["edges"])
        return read_edges(self.db, self.edge_table, self.columns, self.progress, total)

    # Features

    def _features(self) -> dict[str, Any]:
        alone = not self.files.labels
        source = self.files.features
        table = self._open(source, "features")
        if table is None:
            facts = self._features_in_memory(source, alone)
        else:
            used = feature_columns(table, self.columns, ExpectedFeatures(), labelled=alone)
            label = used.label if alone else None
            cells = (used.id, label, used.split)
            facts = nodes.read_rows(self.db, self.work, FEATURES, table, cells)
            total = budget.estimated_rows(self.sources["features"])
            facts.rows, names = nodes.write_table_features(
                self.writer, table, used.names, self.dtype, self._id_of(facts), self.progress, total
            )
            facts.feature_names, facts.width = names, len(names)
            facts.notes = [*table.notes, used.note(table, facts.rows, len(names))]
        if self.files.ids:
            self._read_ids(facts)
        return nodes.facts_as_json(facts)

    def _features_in_memory(self, source: str, alone: bool) -> NodeFacts:
        path = Path(source)
        if path.suffix.lower() == ".npy" and path.is_file():
            table = from_matrix(np.load(path, mmap_mode="r", allow_pickle=False), path.name, None)
        else:
            table = read_features(source, self.columns, ExpectedFeatures(), labelled=alone)
        facts = nodes.keep_rows(self.db, self.work, FEATURES, table, labels=alone)
        assert table.features is not None
        nodes.write_features(self.writer, table.features, self.dtype, self.progress)
        facts.width = table.features.shape[1]
        facts.sparse = (self.writer.folder / "features_indptr.npy").exists()
        facts.feature_names = None if table.feature_names is None else list(table.feature_names)
        return facts

    def _read_ids(self, facts: NodeFacts) -> None:
        ids = None if facts.text is None else pa.chunked_array([[]])
        table = NodeTable(facts.name, facts.rows, ids, notes=tuple(facts.notes))
        table = table.with_ids(read_ids(self.files.ids))
        kept = nodes.keep_rows(self.db, self.work, FEATURES, table, labels=False)
        facts.text, facts.low, facts.high = kept.text, kept.low, kept.high
        facts.notes = kept.notes

    def _open(self, source: str, what: str) -> Table | None:
        """Open a table that is read in batches; None for all others."""
        if not is_several(source):
            path = Path(source)
            if is_array_file(path) or file_extension(path) == ".json":
                return None
        table = open_table(source, what, named=self.columns.node_columns)
        return None if table.batches is None else table

    def _id_of(self, facts: NodeFacts) -> Any:
        def id_of(row: int) -> Any:
            if facts.text is None:
                return None
            return self.db.rows(f"SELECT id FROM {FEATURES} WHERE row = {row}")[0][0]

        return id_of

    # Nodes

    def _number(self) -> dict[str, Any]:
        edges, features = self.edges, self.features
        texts = [*edges.text]
        if features is not None:
            texts.append(bool(features.text))
        text = any(texts)
        shared, isolated = False, 0
        low, high = (edges.low, edges.high) if features is None else (features.low, features.high)
        if features is not None and features.text is None:
            low, high = 0, features.rows - 1
        room = int(TABLE_SHARE * self.memory / numbering.BYTES_PER_ID)
        dense = not text and 0 <= high - low < room
        if features is None and edges.rows == 0:
            raise UGCLError("the edges are empty, and so the graph has no nodes: check the file")
        file = self.work / "table.npy"
        if features is None and dense:
            sources, targets = numbering.mark_ends(self.db, low, high - low + 1)
            shared = bool((sources & targets).any())
            lookup = numbering.table_of_present(file, low, sources | targets)
            present = np.flatnonzero(sources | targets) + low
            parts: Iterator[pa.Array] = map(pa.array, _pieces(present))
            count = numbering.write_id_file(self.writer.folder / IDS, False, parts)
        else:
            if dense:
                assert features is not None
                rows = self._feature_ids(features)
                _, distinct = numbering.table_of_rows(file, low, high - low + 1, rows)
                if distinct < features.rows:
                    nodes.refuse_repeated(self.db, FEATURES, features.name)
            else:
                self._node_table(text)
                numbering.join_edges(self.db, edges, text)
            order = f"SELECT id FROM {numbering.NODES} ORDER BY node"
            if dense:
                parts = map(pa.array, self._feature_ids(features))
            else:
                parts = (batch["id"] for batch in self.db.batches(order))
            count = numbering.write_id_file(self.writer.folder / IDS, text, parts)
        self.low = low if dense else None
        if features is not None or not dense:
            shared, isolated = self._check_ends(count)
        notes = notes_of(self.db, self.edge_table, self.columns, edges, shared)
        if self.missing:
            self._refuse_missing(text)
        check_weights(edges)
        return {
            "nodes": count,
            "text": text,
            "low": self.low,
            "edge_notes": notes,
            "isolated": isolated,
        }

    missing = False

    def _feature_ids(self, features: NodeFacts) -> Iterator[npt.NDArray[np.int64]]:
        if features.text is None:
            yield from _pieces(np.arange(features.rows))
            return
        for batch in self.db.batches(f"SELECT id FROM {FEATURES} ORDER BY row"):
            yield numbering.column(batch, "id")

    def _node_table(self, text: bool) -> None:
        """Make the table of ids and numbers of the nodes."""
        cast = "CAST({} AS VARCHAR)" if text else "{}"
        name = numbering.NODES
        if self.features is not None and self.features.text is not None:
            id = cast.format("id")
            self.db.run(f"CREATE OR REPLACE TABLE {name} AS SELECT {id} AS id, row AS node FROM {FEATURES}")
            nodes.refuse_repeated(
                self.db, f"(SELECT id, node AS row FROM {name})", self.features.name
            )
            return
        if self.features is not None:
            id = cast.format("i")
            rows = self.features.rows
            self.db.run(
                f"CREATE OR REPLACE TABLE {name} AS SELECT {id} AS id, i AS node FROM range({rows}) x(i)"
            )
            return
        ends = " UNION ALL ".join(f"SELECT {cast.format(end)} AS id FROM {EDGES}" for end in "st")
        kind = pa.string() if text else pa.int64()
        schema = pa.schema([("id", kind), ("node", pa.int64())])

        def numbered() -> Iterator[pa.RecordBatch]:
            row = 0
            for batch in self.db.batches(f"SELECT DISTINCT id FROM ({ends}) ORDER BY id"):
                numbers = pa.array(np.arange(row, row + len(batch)))
                row += len(batch)
                yield pa.record_batch([batch["id"].cast(kind), numbers], schema=schema)

        self.db.fill(name, schema, numbered())

    def _lookup(self) -> numbering.Lookup | None:
        return None if self.low is None else numbering.stored_table(self.work / "table.npy", self.low)

    def _check_ends(self, num_nodes: int) -> tuple[bool, int]:
        """Return whether any node is a source and a target, and how many nodes are neither."""
        sources, targets = np.zeros(num_nodes, dtype=bool), np.zeros(num_nodes, dtype=bool)
        for s, t, _ in numbering.pairs_of(self.db, self.edges, self._lookup()):
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
        count = self.db.rows(f"SELECT count(*) {missing}")[0][0]
        first = self.db.rows(f"SELECT id {missing} ORDER BY id LIMIT 4")
        assert self.features is not None
        has_ids = self.features.text is not None
        raise nodes_without_features(
            pa.array([id for (id,) in first]), count, self.features.name, self._first_ids(),
            has_ids=has_ids, rows=self.features.rows,
        )

    def _first_ids(self) -> pa.Array:
        file = pq.ParquetFile(self.writer.folder / IDS)
        batch = next(file.iter_batches(4), None)
        return pa.array([]) if batch is None else batch["id"]

    # Labels

    def _labels(self) -> dict[str, Any]:
        tables: list[tuple[str, NodeFacts]] = []
        notes: list[str] = []
        if self.files.labels:
            facts = self._read_labels()
            tables.append((LABELS, facts))
            notes += facts.notes
        if self.features is not None:
            tables.append((FEATURES, self.features))
        names = labels.write_labels(
            self.writer, self.work, tables, self.columns, self.num_nodes, self._rows_of
        )
        return {"class_names": names, "notes": notes}

    def _read_labels(self) -> NodeFacts:
        alone = self.features is None
        source = self.files.labels
        table = self._open(source, "labels")
        if table is None:
            read = read_labels(source, self.columns, alone=alone)
            return nodes.keep_rows(self.db, self.work, LABELS, read, labels=True)
        used = label_columns(table, self.columns, alone=alone)
        facts = nodes.read_rows(self.db, self.work, LABELS, table, used)
        facts.notes = [*table.notes, labels_note(table, facts.rows, used)]
        if facts.text is not None:
            nodes.refuse_repeated(self.db, LABELS, table.name)
        return facts

    def _rows_of(self, prefix: str, facts: NodeFacts) -> labels.Rows:
        if prefix == FEATURES or facts.text is None:
            return labels.in_order(facts, self.num_nodes, ordered=self.features is not None)
        lookup = None if facts.text or self.text else self._lookup()
        if lookup is None and self.low is not None:
            self._node_table(self.text)
        return labels.by_id(self.db, prefix, facts, lookup, self._first_ids())

    # Edges

    def _adjacency(self) -> dict[str, Any]:
        return adjacency.write_adjacency(
            self.db,
            self.writer,
            numbering.pairs_of(self.db, self.edges, self._lookup()),
            self.num_nodes,
            weighted=self.edges.weighted,
            directed=self.columns.directed,
            progress=self.progress,
            total=self.edges.rows,
            work=self.work,
        )

    def _structural(self, nnz: int) -> list[str]:
        matrix = self._mapped_adjacency()
        steps = structural.num_steps(nnz)
        shape = (self.num_nodes, structural.NUM_PROJECTIONS)
        signs, other = (
            np.lib.format.open_memmap(self.work / f"{name}.npy", "w+", np.float32, shape)
            for name in ("signs", "other")
        )
        row = 0
        for batch in pq.ParquetFile(self.writer.folder / IDS).iter_batches(2**16):
            signs[row : row + len(batch)] = structural.random_signs(batch["id"].to_pylist())
            row += len(batch)
        features = self.writer.array("features", np.float32, (shape[0], shape[1] + 1))
        structural.fill_features(matrix, signs, other, features, steps)
        features.flush()
        if self.dtype != np.float32:
            self._narrow_features()
        return list(structural.names_of(steps))

    def _narrow_features(self) -> None:
        wide = (self.writer.folder / "features.npy").rename(self.work / "wide.npy")
        nodes.write_features(self.writer, mapped(wide), self.dtype, self.progress)

    def _mapped_adjacency(self) -> Any:
        folder = self.writer.folder
        indptr, indices = (mapped(folder / f"{name}.npy") for name in ("indptr", "indices"))
        if self.edges.weighted:
            values = mapped(folder / "weights.npy")
        else:
            values = np.broadcast_to(np.float32(1), indices.shape)
        return mapped_csr((values, indices, indptr), (self.num_nodes, self.num_nodes))

    def _finish(
        self, notes: list[str], feature_names: list[str] | None, class_names: list[str] | None
    ) -> None:
        self.progress("computing checksums", 0, None)
        folder = self.writer.folder
        if self.features is not None and self.features.sparse:
            parts = [mapped(folder / f"features_{part}.npy") for part in ("data", "indices", "indptr")]
            features = mapped_csr(parts, (self.num_nodes, self.features.width))
        else:
            features = mapped(folder / "features.npy")
        texts = {"notes": notes, "class_names": class_names, "feature_names": feature_names}
        self.writer.finish(
            name=name_of(self.files.edges),
            weighted=self.edges.weighted,
            num_features=int(features.shape[1]),
            fingerprint=fingerprint(self._mapped_adjacency(), features),
            **{name: list(values) for name, values in texts.items() if values},
        )
        self.stages.remove()


def _pieces(values: npt.NDArray[np.int64]) -> Iterator[npt.NDArray[np.int64]]:
    for start in range(0, values.size, ROWS):
        yield values[start : start + ROWS]
