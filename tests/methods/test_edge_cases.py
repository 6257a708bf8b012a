"""Inputs at the edge of what makes sense, for every registered method.

Each ends with finite embeddings of the right shape, or with an error of one sentence; a warning of
NumPy, SciPy or PyTorch fails the test.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from ugcl import Graph, UGCLError, fit
from ugcl._utils.linalg import dense_rows
from ugcl.methods import METHODS
from ugcl.methods.multiscope import MultiScopeSettings
from ugcl.methods.pca import PCASettings
from ugcl.methods.settings import Settings
from ugcl.methods.sign import SIGNSettings

pytestmark = [
    pytest.mark.filterwarnings("error"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]

SMALL: dict[str, Any] = {
    "epochs": 2,
    "hidden": 8,
    "projector": 8,
    "predictor": 8,
    "inner": 8,
    "warmup": 1,
    "sample": "all",
    "negatives": 4,
    "walk_length": 6,
    "window": 2,
    "heads": 2,
    "block_columns": 5,
    "raw_columns": 4,
    "structure_columns": 3,
    "columns": 8,
}
NODES = 16
X = np.random.default_rng(0).random((NODES, 6))
RING = np.stack([np.arange(NODES), (np.arange(NODES) + 1) % NODES], axis=1)
STAR = np.stack([np.zeros(NODES - 1, dtype=int), np.arange(1, NODES)], axis=1)
NO_EDGES = np.zeros((0, 2), dtype=int)

every_method = pytest.mark.parametrize("name", METHODS)
SCALED = [name for name, method in METHODS.items() if "feature_scaling" in method.params]
SCOPED = [name for name, method in METHODS.items() if "scope" in method.params]


def graph_of(edges: npt.NDArray[Any], features: npt.NDArray[Any]) -> Graph:
    """A graph with two classes, whose last node is for validation."""
    nodes = np.arange(len(features))
    splits = {"train": nodes[:-1], "val": nodes[-1:]}
    return Graph.from_edges(edges, features, labels=nodes % 2, splits=splits)


def small(name: str, **params: Any) -> dict[str, Any]:
    """Values that keep training short; counts of nodes are "all"."""
    values = SMALL | params
    known = METHODS[name].params
    counts = {key: "all" for key, param in known.items() if param.metavar == "N|all"}
    return counts | {k: v for k, v in values.items() if k in known and k not in counts}


def width_of(name: str, settings: Settings, graph: Graph) -> int:
    features, values = graph.num_features, settings.values()
    if name in ("raw", "smooth", "sgc"):
        return features
    if isinstance(settings, PCASettings):
        return min(settings.columns, features)
    if isinstance(settings, SIGNSettings):
        blocks = len(settings.powers) * min(settings.block_columns, features)
        return blocks + values.get("structure_columns", 0)
    if not isinstance(settings, MultiScopeSettings):
        return int(values["hidden"])
    raw = len({0, *settings.raw_powers}) * min(settings.raw_columns, features)
    blocks = len({0, *settings.powers}) * min(settings.block_columns, settings.hidden)
    return blocks + raw + settings.structure_columns


def assert_sound(name: str, graph: Graph, *, may_fail: str = "", **params: Any) -> None:
    """Train and embed; an error is allowed where its sentence has the words of `may_fail`."""
    said = ""
    try:
        fitted = fit(name, graph, device="cpu", **small(name, **params))
        embeddings = dense_rows(fitted.embed(graph))
    except UGCLError as error:
        said = str(error)
    if said:
        assert may_fail, said
        assert may_fail in said
        assert "\n" not in said
        return
    assert embeddings.shape == (graph.num_nodes, width_of(name, fitted.settings, graph))
    assert embeddings.dtype == np.float32
    assert np.isfinite(embeddings).all()


FEATURES: dict[str, npt.NDArray[Any]] = {
    "zero": np.zeros_like(X),
    "constant": np.ones_like(X),
    "duplicate columns": np.repeat(X[:, :1], 6, axis=1),
    "duplicate rows": np.repeat(X[:2], NODES // 2, axis=0),
    "subnormal": X * 1e-40,
}


@every_method
@pytest.mark.parametrize("features", FEATURES)
def test_features_without_information(name: str, features: str) -> None:
    assert_sound(name, graph_of(RING, FEATURES[features]))


@pytest.mark.parametrize("scaling", ["none", "row", "l2", "tfidf", "standard", "auto"])
@pytest.mark.parametrize("name", SCALED)
def test_huge_features(name: str, scaling: str) -> None:
    """Without scaling an error names it; otherwise they are taken like all others."""
    for factor in (1e30, 3e38):
        graph = graph_of(RING, (X - (factor > 1e30) / 2) * factor)
        unscaled = "use `feature_scaling` l2 (the largest entry is " if scaling == "none" else ""
        assert_sound(name, graph, may_fail=unscaled, feature_scaling=scaling)


GRAPHS: dict[str, Callable[[], Graph]] = {
    "two nodes": lambda: graph_of(RING[:1], X[:2]),
    "star": lambda: graph_of(STAR, X),
    "pairs": lambda: graph_of(np.arange(40).reshape(-1, 2), np.tile(X, (3, 1))[:40]),
}


@every_method
@pytest.mark.parametrize("graph", GRAPHS)
def test_graphs_of_extreme_shape(name: str, graph: str) -> None:
    assert_sound(name, GRAPHS[graph]())


@every_method
@pytest.mark.parametrize("nodes", [1, NODES])
def test_graphs_without_edges(name: str, nodes: int) -> None:
    graph = graph_of(NO_EDGES, X[:nodes])
    reason = "the graph has " if nodes > 1 or "A" in METHODS[name].needs else "labels"
    assert_sound(name, graph, may_fail=reason)
    if METHODS[name].trained:
        assert_sound(name, graph, may_fail=reason, epochs=0)


@every_method
def test_a_single_column(name: str) -> None:
    narrow = {"hidden": 1, "heads": 1, "block_columns": 1, "raw_columns": 1, "columns": 1}
    assert_sound(name, graph_of(RING, X), **narrow, inner=1, projector=1, predictor=1)


@pytest.mark.parametrize("scope", [0, 1000])
@pytest.mark.parametrize("name", SCOPED)
def test_the_smallest_and_a_large_scope(name: str, scope: int) -> None:
    assert_sound(name, graph_of(RING, X), scope=scope, readout_scope=scope)
    assert_sound(name, graph_of(STAR, X), scope=scope, readout_scope=scope, self_loops=0)


@pytest.mark.parametrize("name", SCOPED)
def test_a_scope_is_chosen_without_information(name: str) -> None:
    assert_sound(name, graph_of(RING, np.zeros_like(X)), scope="auto")


@every_method
def test_an_untrained_model(name: str) -> None:
    assert_sound(name, graph_of(RING, X), epochs=0)


@pytest.mark.slow
@every_method
def test_ten_thousand_components(name: str) -> None:
    graph = graph_of(np.arange(2000).reshape(-1, 2), np.tile(X, (700, 1))[:11_000])
    scopes = {"scope": "component"} if name in ("ugcl", "dgi") else {}
    assert_sound(name, graph, epochs=1, **scopes)
