"""`Graph`: an attributed graph G = (X, A), validated when it is built and immutable."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ugcl.graph import convert
from ugcl.graph.edges import EdgeList, is_simple, simple_adjacency
from ugcl.graph.fingerprint import fingerprint
from ugcl.graph.folder import open_folder, save_folder
from ugcl.graph.npz import load_npz, save_npz
from ugcl.graph.validation import (
    checked_features,
    checked_ids,
    checked_labels,
    checked_names,
    checked_splits,
    frozen_csr,
    num_classes,
)
from ugcl.typing import CSRMatrix, Features, LabelArray, NodeIndices


@dataclass(frozen=True, eq=False, repr=False)
class Graph:
    """An undirected graph with a feature vector for every node.

    The constructor makes the adjacency simple and symmetric (see `simple_adjacency`; changes are
    described in `notes`) and validates everything else.

    Attributes:
        adjacency: A, N x N, a SciPy sparse matrix or an `EdgeList`; stored as float32 CSR without
            diagonal. Its values are edge weights unless `weighted` is False.
        features: X, N x D, dense or SciPy sparse; stored as float32, sparse ones as CSR.
        labels: class of each node, N integers from 0, -1 where it is unknown; or None.
        splits: node indices (or boolean masks) of "train", "val" and "test"; may be empty.
        ids: external id of each node, N distinct integers or strings; or None.
        name: name of the graph; presets are looked up by it.
        weighted: whether the values of the adjacency are weights (otherwise every edge has weight
            1); by default, whether any differs from 1.
        notes: one sentence for each decision made when the graph was read, and for each change to
            its edges.
        class_names: names of the classes 0, 1, 2, ...; or None.
        feature_names: names of the D columns of X; or None.
    """

    adjacency: CSRMatrix
    features: Features
    _: KW_ONLY
    labels: LabelArray | None = None
    splits: Mapping[str, NodeIndices] = field(default_factory=dict)
    ids: npt.NDArray[Any] | None = None
    name: str = ""
    weighted: bool | None = None
    notes: tuple[str, ...] = ()
    class_names: tuple[str, ...] | None = None
    feature_names: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        features = checked_features(self.features)
        num_nodes = features.shape[0]
        adjacency, weighted, notes = self._simple_adjacency(num_nodes)
        labels = checked_labels(self.labels, num_nodes)
        for name, value in {
            "adjacency": frozen_csr(adjacency),
            "features": features,
            "labels": labels,
            "splits": checked_splits(self.splits, labels, num_nodes),
            "ids": checked_ids(self.ids, num_nodes),
            "weighted": weighted,
            "notes": self.notes + notes,
            "class_names": checked_names("class", self.class_names, num_classes(labels)),
            "feature_names": checked_names("feature", self.feature_names, features.shape[1]),
        }.items():
            object.__setattr__(self, name, value)

    def _simple_adjacency(self, num_nodes: int) -> tuple[CSRMatrix, bool, tuple[str, ...]]:
        """Return the simple adjacency, whether it has weights, and what was changed."""
        edges = self.adjacency
        if not isinstance(edges, EdgeList):
            if sp.issparse(edges) and edges.shape == (num_nodes, num_nodes) and is_simple(edges):
                weighted = bool((edges.data != 1).any()) if self.weighted is None else self.weighted
                values = edges.data if weighted else np.ones_like(edges.data)
                parts = (values, edges.indices, edges.indptr)
                return sp.csr_array(parts, shape=edges.shape, copy=True), weighted, ()
            edges = EdgeList.from_matrix(edges, num_nodes, self.weighted)
        adjacency, notes = simple_adjacency(edges, num_nodes)
        return adjacency, edges.weights is not None, notes

    @classmethod
    def from_edges(
        cls,
        edges: npt.ArrayLike,
        features: Features,
        *,
        weights: npt.ArrayLike | None = None,
        **optional: Any,
    ) -> Graph:
        """Build a graph from an E x 2 array of node indices.

        Args:
            edges: pairs of node indices; node i has row i of the features.
            features: N x D, dense or sparse.
            weights: E numbers, or None for a graph without weights.
            **optional: `labels`, `splits`, `ids`, `name`, as for `Graph`.
        """
        return cls(EdgeList.from_pairs(edges, weights), features, **optional)

    @classmethod
    def from_pyg(cls, data: Any, *, name: str = "") -> Graph:
        """Build a graph from a PyTorch Geometric `Data` (`x`, `edge_index`, `edge_weight`, ...)."""
        return cls(**convert.pyg_graph_args(data), name=name)

    def to_pyg(self) -> Any:
        """Return a PyTorch Geometric `Data` with every edge in both directions."""
        return convert.to_pyg(self)

    @classmethod
    def from_networkx(
        cls, network: Any, features: Features, *, weight: str | None = "weight", **optional: Any
    ) -> Graph:
        """Build a graph from a NetworkX graph; rows of `features` follow `network.nodes`.

        Args:
            network: any NetworkX graph; its nodes become the ids.
            features: N x D, dense or sparse.
            weight: the edge attribute that holds the weight (1 where an edge has none).
            **optional: `labels`, `splits`, `name`, as for `Graph`.
        """
        edges = convert.networkx_edges(network, weight)
        return cls(edges, features, **{"ids": list(network.nodes), **optional})

    def to_networkx(self) -> Any:
        """Return a NetworkX graph of the edges; its nodes are the ids, or 0 to N - 1."""
        return convert.to_networkx(self)

    def save(self, path: str | Path, *, compressed: bool = True) -> None:
        """Write the graph as an `.npz` file without pickles; `Graph.load` reads it."""
        save_npz(self, Path(path), compressed=compressed)

    def save_folder(self, path: str | Path) -> None:
        """Write the graph as a folder of arrays, which `Graph.open` maps into memory."""
        save_folder(self, path)

    @classmethod
    def load(cls, path: str | Path) -> Graph:
        """Read a graph that `Graph.save` or `Graph.save_folder` has written."""
        return cls.open(path) if Path(path).is_dir() else cls(**load_npz(Path(path)))

    @classmethod
    def open(cls, path: str | Path, *, verify: bool = False) -> Graph:
        """Open the folder of a graph: its arrays are mapped into memory, and read when used.

        Args:
            path: a folder that `Graph.save_folder` wrote.
            verify: whether to compare files of more than 64 MB with their checksums, too.
        """
        graph = cls.__new__(cls)
        for name, value in open_folder(Path(path), verify=verify).items():
            object.__setattr__(graph, name, value)
        return graph

    @property
    def num_nodes(self) -> int:
        """N, the number of nodes."""
        return int(self.adjacency.shape[0])

    @property
    def num_edges(self) -> int:
        """E, the number of undirected edges."""
        return int(self.adjacency.nnz // 2)

    @property
    def num_features(self) -> int:
        """D, the number of columns of X."""
        return int(self.features.shape[1])

    @property
    def num_classes(self) -> int:
        """The number of classes; 0 without labels."""
        return num_classes(self.labels)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of A and X; graphs with equal fingerprints have equal embeddings."""
        return fingerprint(self.adjacency, self.features)

    def __copy__(self) -> Graph:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Graph:
        """Return the graph itself, which is immutable."""
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the fields; unpickling builds the graph from them."""
        parts = {field.name: getattr(self, field.name) for field in fields(self)}
        return _rebuilt, (parts | {"splits": dict(self.splits)},)

    def __repr__(self) -> str:
        return f"<Graph {self.name or 'unnamed'}: {self.summary}>"

    @property
    def summary(self) -> str:
        """Numbers of nodes, edges, features and classes as text."""
        kind = "sparse" if sp.issparse(self.features) else "dense"
        nodes, edges = f"{self.num_nodes:,} nodes", f"{self.num_edges:,} edges"
        text = f"{nodes}, {edges}, {self.num_features:,} {kind} features"
        return text if self.labels is None else f"{text}, {self.num_classes} classes"


def _rebuilt(parts: dict[str, Any]) -> Graph:
    return Graph(**parts)
