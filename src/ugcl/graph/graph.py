"""`Graph`: an attributed graph G = (X, A), validated once when it is built and immutable after."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ugcl._utils.files import write_npz
from ugcl.graph.edges import EdgeList, is_simple, simple_adjacency
from ugcl.graph.validation import (
    SPLIT_PARTS,
    checked_features,
    checked_ids,
    checked_labels,
    checked_names,
    checked_splits,
    frozen_csr,
    num_classes,
)

FORMAT = "ugcl-graph-1"


@dataclass(frozen=True, eq=False, repr=False)
class Graph:
    """An undirected graph with a feature vector for every node.

    Building it makes the adjacency simple and symmetric (`simple_adjacency` has the rules; what
    was changed is kept in `notes`) and checks everything else.

    Attributes:
        adjacency: A, N x N, a SciPy sparse matrix; becomes float32 CSR without diagonal. Its
            values are edge weights unless `weighted` is False.
        features: X, N x D, dense or SciPy sparse; becomes float32, sparse stays sparse (CSR).
        labels: class of each node, N integers from 0, -1 where it is not known; or None.
        splits: node numbers (or boolean masks) of "train", "val" and "test"; may be empty.
        ids: the user's name for each node, N distinct integers or strings; or None.
        name: what to call the graph; presets are looked up by it.
        weighted: whether the values of the adjacency are weights (otherwise every edge weighs
            1); by default, whether any differs from 1.
        notes: one sentence for each thing that a user may want to know about how the graph was
            read, and for each change that building it made to its edges.
        class_names: the user's names of classes 0, 1, 2, ..., where they have others; or None.
        feature_names: the user's names of the D columns of X; or None.
    """

    adjacency: Any
    features: Any
    _: KW_ONLY
    labels: npt.NDArray[np.int64] | None = None
    splits: Mapping[str, npt.NDArray[np.int64]] = field(default_factory=dict)
    ids: npt.NDArray[Any] | None = None
    name: str = ""
    weighted: bool | None = None
    notes: tuple[str, ...] = ()
    class_names: tuple[str, ...] | None = None
    feature_names: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        features = checked_features(self.features)
        num_nodes = features.shape[0]
        adjacency, weighted, notes = self._simple(num_nodes)
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

    def _simple(self, num_nodes: int) -> tuple[Any, bool, tuple[str, ...]]:
        """The simple adjacency, whether it has weights, and what was changed."""
        given = self.adjacency
        if not isinstance(given, EdgeList):
            if sp.issparse(given) and given.shape == (num_nodes, num_nodes) and is_simple(given):
                weighted = bool((given.data != 1).any()) if self.weighted is None else self.weighted
                values = given.data if weighted else np.ones_like(given.data)
                parts = (values, given.indices, given.indptr)
                return sp.csr_array(parts, shape=given.shape, copy=True), weighted, ()
            given = EdgeList.of_matrix(given, num_nodes, self.weighted)
        adjacency, notes = simple_adjacency(given, num_nodes)
        return adjacency, given.weights is not None, notes

    @classmethod
    def from_edges(
        cls,
        edges: npt.ArrayLike,
        features: Any,
        *,
        weights: npt.ArrayLike | None = None,
        **optional: Any,
    ) -> Graph:
        """Build a graph from an E x 2 array of node numbers.

        Args:
            edges: pairs of node numbers; node i has row i of the features.
            features: N x D, dense or sparse.
            weights: E numbers, or None for a graph without weights.
            **optional: `labels`, `splits`, `ids`, `name`, as for `Graph`.
        """
        return cls(EdgeList.of_pairs(edges, weights), features, **optional)

    @classmethod
    def from_pyg(cls, data: Any, *, name: str = "") -> Graph:
        """Build a graph from a PyTorch Geometric `Data` (`x`, `edge_index`, `edge_weight`, ...)."""
        splits = {part: getattr(data, f"{part}_mask", None) for part in SPLIT_PARTS}
        weights = getattr(data, "edge_weight", None)
        labels = getattr(data, "y", None)
        return cls.from_edges(
            data.edge_index.cpu().numpy().T,
            data.x.cpu().numpy(),
            weights=None if weights is None else weights.cpu().numpy(),
            labels=None if labels is None else labels.cpu().numpy(),
            splits={part: mask.cpu().numpy() for part, mask in splits.items() if mask is not None},
            name=name,
        )

    def to_pyg(self) -> Any:
        """The graph as a PyTorch Geometric `Data`, every edge in both directions."""
        import torch
        from torch_geometric.data import Data

        entries = self.adjacency.tocoo()
        features = self.features.toarray() if sp.issparse(self.features) else self.features.copy()
        data = Data(
            x=torch.from_numpy(features),
            edge_index=torch.from_numpy(np.stack(entries.coords).astype(np.int64)),
        )
        if self.weighted:
            data.edge_weight = torch.from_numpy(entries.data.copy())
        if self.labels is not None:
            data.y = torch.from_numpy(self.labels.copy())
        for part, nodes in self.splits.items():
            mask = torch.zeros(self.num_nodes, dtype=torch.bool)
            mask[torch.from_numpy(nodes.copy())] = True
            data[f"{part}_mask"] = mask
        return data

    @classmethod
    def from_networkx(
        cls, graph: Any, features: Any, *, weight: str | None = "weight", **optional: Any
    ) -> Graph:
        """Build a graph from a NetworkX graph; rows of `features` follow `graph.nodes`.

        Args:
            graph: any NetworkX graph; its nodes become the ids.
            features: N x D, dense or sparse.
            weight: the edge attribute that holds the weight (1 where an edge has none).
            **optional: `labels`, `splits`, `name`, as for `Graph`.
        """
        number = {node: i for i, node in enumerate(graph.nodes)}
        edges = [(number[a], number[b]) for a, b in graph.edges()]
        weights = None
        if weight is not None:
            given = [value for *_, value in graph.edges(data=weight)]
            if any(value is not None for value in given):
                weights = [1.0 if value is None else value for value in given]
        return cls.from_edges(edges, features, weights=weights, ids=list(graph.nodes), **optional)

    def to_networkx(self) -> Any:
        """The structure as a NetworkX graph whose nodes are the ids (or 0 to N - 1)."""
        import networkx as nx

        ids = range(self.num_nodes) if self.ids is None else self.ids.tolist()
        graph = nx.from_scipy_sparse_array(self.adjacency)
        return nx.relabel_nodes(graph, dict(enumerate(ids)))

    def save(self, path: str | Path, *, compressed: bool = True) -> None:
        """Write the graph as an `.npz` without pickles; `load_graph(path)` reads it."""
        upper = sp.triu(self.adjacency, format="csr")
        arrays: dict[str, npt.NDArray[Any]] = {
            "format": np.array(FORMAT),
            "name": np.array(self.name),
            "adjacency_indptr": _narrow(upper.indptr),
            "adjacency_indices": _narrow(upper.indices),
        }
        if self.weighted:
            arrays["adjacency_data"] = upper.data
        if sp.issparse(self.features):
            arrays["features_indptr"] = _narrow(self.features.indptr)
            arrays["features_indices"] = _narrow(self.features.indices)
            arrays["features_data"] = self.features.data
            arrays["features_shape"] = np.array(self.features.shape)
        else:
            arrays["features"] = self.features
        if self.labels is not None:
            arrays["labels"] = _narrow(self.labels)
        for part, nodes in self.splits.items():
            arrays[f"split_{part}"] = _narrow(nodes)
        if self.ids is not None:
            arrays["ids"] = self.ids
        for name in ("notes", "class_names", "feature_names"):
            if texts := getattr(self, name):
                arrays[name] = np.array(texts)
        write_npz(Path(path), arrays, compressed=compressed)

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
        """SHA-256 of A and X: equal for two graphs that give the same embeddings."""
        digest = hashlib.sha256()
        for matrix in (self.adjacency, self.features):
            digest.update(repr(matrix.shape).encode())
            sparse = sp.issparse(matrix)
            for part in (matrix.indptr, matrix.indices, matrix.data) if sparse else (matrix,):
                wide = part.astype(np.int64) if part.dtype.kind == "i" else part
                digest.update(np.ascontiguousarray(wide).tobytes())
        return digest.hexdigest()

    def __copy__(self) -> Graph:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Graph:
        """The graph itself: it never changes."""
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """Unpickling builds the graph anew from its parts."""
        parts = {field.name: getattr(self, field.name) for field in fields(self)}
        return _rebuilt, (parts | {"splits": dict(self.splits)},)

    def __repr__(self) -> str:
        return f"<Graph {self.name or 'unnamed'}: {self.summary}>"

    @property
    def summary(self) -> str:
        """Size of the graph in a few words."""
        kind = "sparse" if sp.issparse(self.features) else "dense"
        words = (
            f"{self.num_nodes:,} nodes, {self.num_edges:,} edges, {self.num_features:,} {kind} "
            f"features"
        )
        return words if self.labels is None else f"{words}, {self.num_classes} classes"


def _rebuilt(parts: dict[str, Any]) -> Graph:
    return Graph(**parts)


def _narrow(numbers: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The same whole numbers in the smallest type that holds them."""
    low, high = int(numbers.min(initial=0)), int(numbers.max(initial=0))
    return numbers.astype(np.result_type(np.min_scalar_type(low), np.min_scalar_type(high)))
