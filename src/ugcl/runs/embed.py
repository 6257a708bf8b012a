"""Embedding a graph with a trained run."""

from __future__ import annotations

from typing import Any

from ugcl.errors import UGCLError
from ugcl.graph import Graph
from ugcl.methods import method_named
from ugcl.runs.folder import Run
from ugcl.scope import ScopeName


def embed_graph(
    run: Run, graph: Graph, device: str = "cpu", readout_scope: int | ScopeName | None = None
) -> Any:
    """Embeddings of a graph, the run's own or another with the same features.

    An array, or a SciPy CSR matrix where they are sparse.

    With `readout_scope` they are read out at this scope instead of the run's own: one training
    serves all of them.
    """
    trained_on = run.metrics()["features"]
    if graph.num_features != trained_on:
        raise UGCLError(
            f"the graph has {graph.num_features:,} features but {run.path} was trained on "
            f"{trained_on:,}: give a graph with the same features"
        )
    if (
        graph.fingerprint == run.config.fingerprint
        and not method_named(run.config.method).inductive
    ):
        graph, _ = run.config.seen(graph)  # its rows are of these nodes, whatever edges it saw
    return run.model(readout_scope).to(device).embed(graph, device)
