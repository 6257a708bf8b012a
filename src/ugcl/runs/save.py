"""Writing the results of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.sparse as sp

from ugcl._utils.columns import to_column
from ugcl._utils.files import atomic, write_csr, write_json, write_npy, write_safetensors
from ugcl.graph import Graph
from ugcl.runs.export import write_embeddings
from ugcl.runs.log import LOG
from ugcl.runs.manifest import Manifest
from ugcl.runs.method import METHOD_COPY
from ugcl.runs.run import (
    CONFIG,
    DENSE,
    HELD_OUT,
    METRICS,
    MODEL,
    NAMES,
    NODES,
    PREDICTIONS,
    SPARSE,
    Run,
)
from ugcl.typing import Embeddings

if TYPE_CHECKING:
    from ugcl.engine.streaming import StoredEmbeddings
    from ugcl.methods.models.model import Model


def save_results(
    run: Run,
    graph: Graph,
    model: Model,
    embeddings: Embeddings | StoredEmbeddings,
    metrics: dict[str, Any],
    predictions: npt.NDArray[np.int64] | None = None,
) -> None:
    """Write the results; `manifest.json` comes last and marks the run as finished."""
    path = run.path
    config = (path / CONFIG).read_text("utf-8")
    write_safetensors(path / MODEL, model.state_dict(), {CONFIG: config})
    if sp.issparse(embeddings):
        write_csr(path / SPARSE, embeddings)
    else:
        write_embeddings(path / DENSE, embeddings, np.empty(0))
    if predictions is not None:
        write_npy(path / PREDICTIONS, predictions)
    names = {"features": graph.feature_names, "classes": graph.class_names}
    if known := {name: list(value) for name, value in names.items() if value is not None}:
        write_json(path / NAMES, known)
    with atomic(path / NODES) as temporary:
        columns = _columns(graph)
        table = pa.table({name: to_column(values) for name, values in columns.items()})
        pq.write_table(table, temporary)
    write_json(path / METRICS, metrics)
    written = (CONFIG, METHOD_COPY, LOG, HELD_OUT, MODEL, DENSE, SPARSE, PREDICTIONS, NODES, NAMES)
    Manifest.write(path, (*written, METRICS))


def _columns(graph: Graph) -> dict[str, Any]:
    """Return the columns of the table of nodes."""
    columns: dict[str, Any] = {"node": np.arange(graph.num_nodes)}
    if graph.ids is not None:
        columns["id"] = graph.ids
    if graph.labels is not None:
        columns["label"] = graph.labels
    if graph.labels is not None and graph.class_names is not None:
        columns["class"] = np.array([*graph.class_names, ""])[graph.labels]
    return columns
