"""Loading of graphs to embed with a trained run."""

from __future__ import annotations

from dataclasses import replace

from ugcl._utils.errors import UGCLError
from ugcl.data import GraphFiles, load_graph
from ugcl.data.readers.nodes import ExpectedFeatures
from ugcl.graph import Graph
from ugcl.runs.run import Run


def load_graph_for(run: Run, graph: str | GraphFiles, data_root: str | None = None) -> Graph:
    """Load a graph to embed with a run; its features are put into the order of training.

    Args:
        run: the run.
        graph: a data set's name, a path, or files.
        data_root: the folder of raw data sets.
    """
    expected = ExpectedFeatures(run.metrics()["features"], run.names("features"))
    return _align_features(load_graph(graph, data_root, expected=expected), run)


def _align_features(graph: Graph, run: Run) -> Graph:
    """Return the graph with the feature columns of training, matched by name."""
    expected, names = run.names("features"), graph.feature_names
    if expected is None or names is None or expected == names:
        return graph
    if missing := [name for name in expected if name not in set(names)]:
        if not run.config.load_method().inductive:
            return graph  # embedding it raises the right error
        raise UGCLError(
            f"{len(missing):,} feature(s) that {run.path} was trained on are missing here "
            f"({', '.join(missing[:3])}{', ...' * (len(missing) > 3)}): pass the same columns"
        )
    position = {name: i for i, name in enumerate(names)}
    features = graph.features[:, [position[name] for name in expected]]
    notes = graph.notes
    if len(names) > len(expected):
        notes += (f"dropped {len(names) - len(expected):,} feature(s) that training did not have",)
    return replace(graph, features=features, feature_names=expected, notes=notes)
