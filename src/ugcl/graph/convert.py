"""Converters between `Graph` and PyTorch Geometric and NetworkX, neither of which is required.

SciPy matrices need no converter: `Graph(adjacency, features)` takes them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from ugcl._utils.errors import UGCLError
from ugcl._utils.extras import required
from ugcl.graph.edges import EdgeList
from ugcl.graph.validation import SPLIT_PARTS

if TYPE_CHECKING:
    from ugcl.graph.graph import Graph


def is_networkx(value: Any) -> bool:
    """Return whether a value is a NetworkX graph, without importing NetworkX."""
    return all(hasattr(value, name) for name in ("is_directed", "nodes", "edges", "adj"))


def is_igraph(value: Any) -> bool:
    """Return whether a value is an igraph graph, without importing igraph."""
    return all(hasattr(value, name) for name in ("get_edgelist", "is_directed", "vs", "es"))


def is_pyg(value: Any) -> bool:
    """Return whether a value is a PyTorch Geometric `Data`, without importing it."""
    return hasattr(value, "edge_index")


def pyg_graph_args(data: Any) -> dict[str, Any]:
    """Return the arguments of `Graph` that a PyTorch Geometric `Data` holds.

    These are `adjacency` (an `EdgeList`), `features` (None without `x`), `labels` (None without
    `y`) and `splits`, the boolean masks.
    """
    num_nodes, masks = int(data.num_nodes), [f"{part}_mask" for part in SPLIT_PARTS]
    tensors = {
        name: tensor.detach().cpu()
        for name in ("x", "y", "edge_index", "edge_weight", *masks)
        if (tensor := getattr(data, name, None)) is not None
    }
    labels = tensors["y"].reshape(-1).numpy() if "y" in tensors else None
    if labels is not None and len(labels) != num_nodes:
        raise UGCLError(
            f"the PyTorch Geometric graph has {num_nodes:,} nodes but {len(labels):,} labels in y: "
            "give one for each node"
        )
    splits = {
        part: tensors[mask].bool().numpy()
        for part, mask in zip(SPLIT_PARTS, masks, strict=True)
        if mask in tensors
    }
    in_split = np.zeros(num_nodes, dtype=bool)
    for part, mask in splits.items():
        if mask.shape != (num_nodes,) or in_split[mask].any():
            raise UGCLError(
                f"{part}_mask of the PyTorch Geometric graph must be one boolean for each node, "
                "and masks must not overlap: choose one split"
            )
        in_split |= mask
    sources, targets = tensors["edge_index"].numpy()
    weights = tensors["edge_weight"].numpy() if "edge_weight" in tensors else None
    return {
        "adjacency": EdgeList(sources, targets, weights),
        "features": tensors["x"].float().numpy() if "x" in tensors else None,
        "labels": labels,
        "splits": splits,
    }


def networkx_edges(network: Any, weight: str | None = "weight") -> EdgeList:
    """Return the edges of a NetworkX graph, its nodes numbered in the order of `network.nodes`.

    Args:
        network: any NetworkX graph; the opposite edges of a directed one are distinct edges.
        weight: edge attribute that holds the weight (1 where an edge has none); None for a graph
            without weights. If no edge has it, the graph has no weights.
    """
    index = {node: i for i, node in enumerate(network.nodes)}
    edges = [(index[u], index[v]) for u, v in network.edges()]
    values = [] if weight is None else [value for *_, value in network.edges(data=weight)]
    return _edge_list(edges, values, weight, directed=network.is_directed())


def igraph_edges(graph: Any, weight: str) -> EdgeList:
    """Return the edges of an igraph graph; the arguments are those of `networkx_edges`."""
    values = graph.es[weight] if weight in graph.es.attributes() else []
    return _edge_list(graph.get_edgelist(), values, weight, directed=graph.is_directed())


def _edge_list(edges: Any, values: list[Any], weight: str | None, *, directed: bool) -> EdgeList:
    """Return edges with values of their attribute `weight`, None where they have none."""
    sources, targets = np.array(edges, dtype=np.int64).reshape(-1, 2).T
    weights = None
    if any(value is not None for value in values):
        try:
            weights = np.array([1.0 if value is None else value for value in values], dtype=float)
        except (TypeError, ValueError) as error:
            raise UGCLError(
                f"the edge attribute '{weight}' holds values that are not numbers: name another "
                "with `weight`"
            ) from error
    return EdgeList(sources, targets, weights, directed=directed)


def to_pyg(graph: Graph) -> Any:
    """Return a PyTorch Geometric `Data` with every edge in both directions."""
    import torch

    geometric = required("torch_geometric.data", "Graph.to_pyg", "interop")
    entries = graph.adjacency.tocoo()
    features = graph.features.toarray() if sp.issparse(graph.features) else graph.features.copy()
    data = geometric.Data(
        x=torch.from_numpy(features),
        edge_index=torch.from_numpy(np.stack(entries.coords).astype(np.int64)),
    )
    if graph.weighted:
        data.edge_weight = torch.from_numpy(entries.data.copy())
    if graph.labels is not None:
        data.y = torch.from_numpy(graph.labels.copy())
    for part, nodes in graph.splits.items():
        mask = torch.zeros(graph.num_nodes, dtype=torch.bool)
        mask[torch.from_numpy(nodes.copy())] = True
        data[f"{part}_mask"] = mask
    return data


def to_networkx(graph: Graph) -> Any:
    """Return a NetworkX graph of the edges; its nodes are the ids, or 0 to N - 1."""
    nx = required("networkx", "Graph.to_networkx", "interop")
    ids = range(graph.num_nodes) if graph.ids is None else graph.ids.tolist()
    network = nx.from_scipy_sparse_array(graph.adjacency)
    return nx.relabel_nodes(network, dict(enumerate(ids)))
