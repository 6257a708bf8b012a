"""The stages of a conversion, in order."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from ugcl._utils.errors import UGCLError
from ugcl._utils.sizes import size
from ugcl.data.conversion import budget, labels, nodes, numbering
from ugcl.data.conversion.adjacency import write_adjacency
from ugcl.data.conversion.context import Context, inputs_of, sources_of, work_folder
from ugcl.data.conversion.database import Database
from ugcl.data.conversion.edges import EdgeFacts, read_edges
from ugcl.data.conversion.features import read_feature_stage
from ugcl.data.conversion.node_numbers import NodeNumbers
from ugcl.data.conversion.nodes import NodeFacts
from ugcl.data.conversion.stages import Progress, Stages
from ugcl.data.readers import structural
from ugcl.data.readers.edges import open_edges
from ugcl.data.readers.files import GraphFiles
from ugcl.data.readers.paths import name_of
from ugcl.data.readers.read import isolated_note, no_features_note
from ugcl.graph.fingerprint import fingerprint
from ugcl.graph.folder import IDS, FolderWriter, mapped, mapped_csr

PER_EDGE, PER_WEIGHT = 40, 90
"""Bytes of temporary files for each edge, without and with weights."""


def convert_files(
    writer: FolderWriter,
    files: GraphFiles,
    memory: int,
    temp: str | Path | None,
    dtype: np.dtype[Any],
    threads: int,
    progress: Progress,
) -> None:
    """Write the folder of a graph; the arguments are those of `convert_graph`."""
    sources, work = sources_of(files), work_folder(writer, temp)
    stages = Stages(work, inputs_of(files, sources, dtype, work), progress)
    if not stages.done:
        for file in writer.folder.iterdir():  # of an earlier conversion of other files
            if file.suffix in (".npy", ".parquet"):
                file.unlink()
        _check_disk(files, sources, work, writer.folder)
    if files.ids and not files.features:
        raise UGCLError("`ids` needs features, and there are none: leave it out")
    db = _database(stages, memory, threads)
    context = Context(writer, files, memory, dtype, threads, progress, work, sources, db)
    with closing(db):
        finish = _run(context, stages)
    finish()
    stages.remove()


def _run(context: Context, stages: Stages) -> Callable[[], None]:
    """Do the stages that are not done yet, and return the function that finishes the folder."""
    columns, progress = context.columns, context.progress
    table = open_edges(context.files.edges, columns)
    edges = EdgeFacts.from_json(
        stages.run(
            "reading edges",
            lambda: read_edges(context.db, table, columns, progress, context.rows("edges")),
        )
    )
    features: NodeFacts | None = None
    if context.files.features:
        stored = stages.run("reading features", lambda: read_feature_stage(context))
        features = NodeFacts(**stored)
    numbers = NodeNumbers(context, edges, features)
    numbered = stages.run("numbering nodes", lambda: numbers.number(table))
    numbers.low, num_nodes = numbered["low"], numbered["nodes"]
    context.db.limit(budget.for_database(context.memory, num_nodes))
    labelled = stages.run(
        "reading labels", lambda: labels.write_stage(context, numbers, numbered["text"], num_nodes)
    )
    sorted_edges = stages.run(
        "sorting edges",
        lambda: write_adjacency(
            context.db,
            context.writer,
            numbering.pairs_of(context.db, edges, numbers.lookup()),
            num_nodes,
            weighted=edges.weighted,
            directed=columns.directed,
            progress=progress,
            total=edges.rows,
            work=context.work,
        ),
    )
    notes = [*numbered["notes"], *(features.notes if features else ()), *labelled["notes"]]
    notes = list(dict.fromkeys(notes))
    if features is None:
        names = stages.run("structural features", lambda: _structural(context, edges, num_nodes))
        notes.append(no_features_note(tuple(names)))
    else:
        names = features.feature_names
        if numbered["isolated"]:
            notes.append(isolated_note(numbered["isolated"]))
    texts = {
        "notes": [*notes, *sorted_edges["notes"]],
        "class_names": labelled["class_names"],
        "feature_names": names,
    }
    return lambda: _finish(context, edges, features, num_nodes, texts)


def _check_disk(
    files: GraphFiles, sources: Mapping[str, list[Path]], work: Path, folder: Path
) -> None:
    rows = budget.estimated_rows(sources["edges"])
    temporary = rows * (PER_EDGE if not files.weight else PER_WEIGHT)
    final = 2 * rows * np.dtype(np.int32).itemsize
    final += sum(path.stat().st_size for path in sources.get("features", ()))
    budget.check_disk({work: temporary, folder: final})


def _database(stages: Stages, memory: int, threads: int) -> Database:
    limit, about = budget.for_database(memory), size(memory)
    try:
        return Database(stages.folder, limit, threads, about)
    except UGCLError:
        if not stages.done:
            raise
        stages.restart()  # a kill has damaged it
        return Database(stages.folder, limit, threads, about)


def _structural(context: Context, edges: EdgeFacts, num_nodes: int) -> list[str]:
    """Write structural features, and return their names."""
    matrix = _mapped_adjacency(context.folder, edges, num_nodes)
    steps = structural.num_steps(matrix.nnz)
    shape = (num_nodes, structural.NUM_PROJECTIONS)
    signs, other = (
        np.lib.format.open_memmap(context.work / f"{name}.npy", "w+", np.float32, shape)
        for name in ("signs", "other")
    )
    row = 0
    for batch in pq.ParquetFile(context.folder / IDS).iter_batches(structural.BLOCK):
        signs[row : row + len(batch)] = structural.random_signs(batch["id"].to_pylist())
        row += len(batch)
    file = context.work / "structural.npy"
    features = np.lib.format.open_memmap(file, "w+", np.float32, (num_nodes, shape[1] + 1))
    structural.fill_features(matrix, signs, other, features, steps)
    nodes.write_features(context.writer, features, context.dtype, lambda *_: None)
    return list(structural.names_of(steps))


def _mapped_adjacency(folder: Path, edges: EdgeFacts, num_nodes: int) -> Any:
    indptr, indices = (mapped(folder / f"{name}.npy") for name in ("indptr", "indices"))
    ones = np.broadcast_to(np.float32(1), indices.shape)
    values = mapped(folder / "weights.npy") if edges.weighted else ones
    return mapped_csr((values, indices, indptr), (num_nodes, num_nodes))


def _finish(
    context: Context,
    edges: EdgeFacts,
    features: NodeFacts | None,
    num_nodes: int,
    texts: Mapping[str, list[str] | None],
) -> None:
    """Write the manifest and give the folder its name."""
    context.progress("computing checksums", 0, None)
    folder = context.folder
    if features is not None and features.sparse:
        parts = [mapped(folder / f"features_{part}.npy") for part in ("data", "indices", "indptr")]
        matrix = mapped_csr(parts, (num_nodes, features.width))
    else:
        matrix = mapped(folder / "features.npy")
    context.writer.finish(
        name=name_of(context.files.edges),
        weighted=edges.weighted,
        num_features=int(matrix.shape[1]),
        fingerprint=fingerprint(_mapped_adjacency(folder, edges, num_nodes), matrix),
        **{name: list(values) for name, values in texts.items() if values},
    )
