"""Embedding a graph with a trained run."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ugcl._utils.errors import UGCLError
from ugcl.data import GraphFiles, load_graph
from ugcl.data.readers.nodes import Like
from ugcl.graph import Graph
from ugcl.methods import method_named
from ugcl.runs.folder import Run
from ugcl.scope import ScopeName


def load_for(run: Run, graph: str | GraphFiles, data_root: str | None = None) -> Graph:
    """Load a graph to embed by a run: its features are put in the order that training had.

    Args:
        run: the run.
        graph: a data set's name, a path, or files.
        data_root: the folder of raw data sets.
    """
    like = Like(run.metrics()["features"], run.names("features"))
    return _aligned(load_graph(graph, data_root, like=like), run)


def _aligned(graph: Graph, run: Run) -> Graph:
    """The graph with the columns that training had, by their names where both have names."""
    wanted, found = run.names("features"), graph.feature_names
    if wanted is None or found is None or wanted == found:
        return graph
    if missing := [name for name in wanted if name not in set(found)]:
        if not method_named(run.config.method).inductive:
            return graph  # it will say that it embeds no other graph
        raise UGCLError(
            f"{len(missing):,} feature(s) that {run.path} was trained on are missing here "
            f"({', '.join(missing[:3])}{', ...' * (len(missing) > 3)}): give the same columns"
        )
    where = {name: i for i, name in enumerate(found)}
    features = graph.features[:, [where[name] for name in wanted]]
    notes = graph.notes
    if len(found) > len(wanted):
        notes += (f"left out {len(found) - len(wanted):,} feature(s) that training did not have",)
    return replace(graph, features=features, feature_names=wanted, notes=notes)


def embed_graph(
    run: Run, graph: Graph, device: str = "cpu", readout_scope: int | ScopeName | None = None
) -> Any:
    """Embeddings of a graph, the run's own or another with the same features.

    An array, or a SciPy CSR matrix where they are sparse.

    With `readout_scope` they are read out at this scope instead of the run's own: one training
    serves all of them.
    """
    trained_on = run.metrics()["features"]
    inductive = method_named(run.config.method).inductive
    if graph.num_features != trained_on and inductive:
        raise UGCLError(
            f"the graph has {graph.num_features:,} features but {run.path} was trained on "
            f"{trained_on:,}: give a graph with the same features"
        )
    if graph.fingerprint == run.config.fingerprint and not inductive:
        graph, _ = run.config.seen(graph)  # its rows are of these nodes, whatever edges it saw
    return run.model(readout_scope).to(device).embed(graph, device)
