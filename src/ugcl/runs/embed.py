"""Embedding of other graphs with a trained run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ugcl._utils.errors import UGCLError
from ugcl.data import GraphFiles, load_graph
from ugcl.data.readers.nodes import ExpectedFeatures
from ugcl.graph import Graph
from ugcl.runs.export import write_embeddings
from ugcl.runs.run import Run
from ugcl.typing import FloatName

if TYPE_CHECKING:
    from ugcl._utils.workspace import Progress

Unknown = Literal["ignore", "error"]


def load_graph_for(
    run: Run,
    graph: str | GraphFiles,
    data_root: str | None = None,
    *,
    unknown_features: Unknown = "ignore",
) -> Graph:
    """Load a graph to embed with a run; its features are put into the order of training.

    Args:
        run: the run.
        graph: a data set's name, a path, or files.
        data_root: the folder of raw data sets.
        unknown_features: whether features that training did not have are ignored with a note, or
            an error.
    """
    names, width = run.names("features"), run.metrics()["features"]
    loaded = load_graph(graph, data_root, expected=ExpectedFeatures(width, names))
    indices = isinstance(graph, GraphFiles) and ".json" in Path(graph.features).suffixes
    if names is None and loaded.feature_names is None and indices:
        if loaded.num_features <= width:
            return loaded
        order: Any = slice(width)
        others = np.arange(width, loaded.num_features)
        return _without(loaded, order, others, [str(i) for i in others], None, unknown_features)
    return _align_features(loaded, run, unknown_features)


def embed_to_file(
    run: Run,
    graph: Graph,
    out: Path,
    *,
    device: str | None = None,
    memory: int | None = None,
    dtype: FloatName = "float32",
    progress: Progress | None = None,
) -> tuple[tuple[int, int], list[Path]]:
    """Write the embeddings of a graph, which may be larger than memory.

    What is computed stays in `OUT.partial` until the file is written. After a kill the same call
    continues there.

    Args:
        run: the run.
        graph: the graph.
        out: the file; its extension names the format.
        device: where to compute; by default where the run was trained.
        memory: bytes of anonymous memory that the process may use; by default small embeddings
            are computed in memory, and others in half of what there is.
        dtype: of the embeddings.
        progress: called as the computation proceeds.

    Ranks compute columns each, if OUT is on a file system that all see; rank 0 writes the file.

    Returns:
        The shape of the embeddings, and the files that were written.
    """
    from ugcl.engine import resolve_device
    from ugcl.engine.ranks import current
    from ugcl.engine.streaming import compute_columns, streamed

    graph = run.checked(graph)
    device = resolve_device(device or run.config.device)
    model, ranks = run.model().to(device), current()
    where: dict[str, Any] = {
        "device": device,
        "folder": out.with_name(f"{out.name}.partial"),
        "memory": memory,
        "dtype": dtype,
        "progress": progress,
        "ranks": ranks,
    }
    compute_columns(model, graph, **where)
    if ranks.rank:
        return (0, 0), []
    with streamed(model, graph, run.config.settings, **where) as embeddings:
        ids = np.arange(graph.num_nodes) if graph.ids is None else graph.ids
        labels = label_names(graph)
        files = write_embeddings(out, embeddings, ids, labels, dtype=dtype, progress=progress)
    return (int(embeddings.shape[0]), int(embeddings.shape[1])), files


def label_names(graph: Graph) -> npt.NDArray[np.str_] | None:
    """Return the name of each node's class, "" where it is unknown; None without labels."""
    if graph.labels is None:
        return None
    names = graph.class_names or [str(number) for number in range(graph.num_classes)]
    return np.array([*names, ""])[graph.labels]


def _align_features(graph: Graph, run: Run, unknown: Unknown) -> Graph:
    """Return the graph with the feature columns of training, matched by name."""
    expected, names = run.names("features"), graph.feature_names
    if expected is None or names is None or expected == names:
        return graph
    if missing := [name for name in expected if name not in set(names)]:
        if not run.config.load_method().inductive:
            return graph  # embedding it raises the right error
        raise UGCLError(
            f"{len(missing):,} feature(s) that {run.path} was trained on are missing here "
            f"({_first(missing)}): pass the same columns"
        )
    position = {name: i for i, name in enumerate(names)}
    order = [position[name] for name in expected]
    trained = set(expected)
    others = np.array([i for i, name in enumerate(names) if name not in trained], dtype=np.int64)
    return _without(graph, order, others, [names[i] for i in others], expected, unknown)


def _without(
    graph: Graph,
    order: Any,
    others: Any,
    names: Sequence[str],
    expected: tuple[str, ...] | None,
    unknown: Unknown,
) -> Graph:
    """Return the graph with the columns of training.

    Args:
        graph: the graph.
        order: its columns that training had, in that order.
        others: its other columns.
        names: what these are called.
        expected: names of the columns of training.
        unknown: what to do about the others.
    """
    notes = graph.notes
    if names:
        columns = graph.features[:, others]
        columns = columns.tocsr() if sp.issparse(columns) else columns
        by_node = columns.count_nonzero(axis=1) if sp.issparse(columns) else (columns != 0).sum(1)
        values = f"{int(by_node.sum()):,} value(s) of {int((by_node > 0).sum()):,} node(s)"
        if unknown == "error":
            raise UGCLError(
                f"{len(names):,} feature(s) were not there in training ({_first(names)}), with "
                f"{values}: remove them, or pass `unknown_features` ignore"
            )
        about = f"{len(names):,} feature(s) that training did not have ({_first(names)})"
        notes += (f"ignored {about}: {values}",)
    features = graph.features[:, order]
    return replace(graph, features=features, feature_names=expected, notes=notes)


def _first(names: Sequence[str]) -> str:
    return f"{', '.join(names[:3])}{', ...' * (len(names) > 3)}"
