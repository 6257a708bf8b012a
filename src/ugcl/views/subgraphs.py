"""The views of training: small subgraphs around some nodes, side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
import torch

from ugcl.scope import nearest, normalised_adjacency, pagerank_coefficients
from ugcl.sparse import SparseMatrix
from ugcl.views.sampling import Nodes, row_entries
from ugcl.views.scaling import dense_if_crowded
from ugcl.views.view import Sample, View, ViewSampler, features_on, rows_on

CHUNK = 4096
"""Nodes whose subgraphs are cut out at a time."""


@dataclass(frozen=True)
class Subgraphs:
    """A subgraph for every node, all of them one after the other.

    A *slot* is a place of a node in a subgraph. The slots of node v's subgraph are those from
    `starts[v]` to `starts[v + 1]`, and the first of them is v itself.

    Attributes:
        starts: where each subgraph begins.
        nodes: the node of each slot.
        edges: the adjacency of slots, CSR: two are joined if they are in one subgraph and their
            nodes are joined.
    """

    starts: Nodes
    nodes: Nodes
    edges: Any

    @classmethod
    def of(cls, adjacency: Any, size: int, teleport: float) -> Subgraphs:
        """For each node itself and the `size - 1` others that matter most to it, with their edges.

        What matters is personalised PageRank, row v of `alpha (I - (1 - alpha) A D^-1)^-1`; there
        are fewer where fewer are within reach.
        """
        found, values = nearest(adjacency, pagerank_coefficients(teleport), size, power=1)
        members = _itself_first(found, values > 0)
        starts = np.concatenate([[0], np.cumsum((members >= 0).sum(axis=1))])
        nodes = members[members >= 0]
        return cls(starts, nodes, _joined(adjacency, members))

    def around(self, centres: Nodes) -> tuple[Nodes, Any, Nodes]:
        """The subgraphs of some nodes: nodes of slots, adjacency of slots, where each begins."""
        counts = self.starts[centres + 1] - self.starts[centres]
        begins = np.cumsum(counts) - counts
        skipped = np.repeat(self.starts[centres] - begins, counts)
        slots = skipped + np.arange(skipped.size)
        positions, entries = row_entries(self.edges, slots)
        columns = self.edges.indices[positions] - np.repeat(skipped, entries)
        bounds = np.concatenate([[0], np.cumsum(entries)])
        shape = slots.size, slots.size
        edges = sp.csr_array((self.edges.data[positions], columns, bounds), shape=shape)
        return self.nodes[slots], edges, begins


class SubgraphSampler(ViewSampler):
    """One view: the subgraphs of some random nodes, each by itself, side by side.

    Only these nodes, the centres, are compared with their contexts.

    Args:
        subgraphs: of all nodes.
        features: X, scaled, dense or CSR; it is held once.
        count: how many nodes are drawn in every epoch.
        self_loops: weight of the self-loops in the normalisation, which is each subgraph's own.
        seed: the training seed.
        device: where the views are used.
    """

    def __init__(
        self,
        subgraphs: Subgraphs,
        features: Any,
        *,
        count: int,
        self_loops: float,
        seed: int,
        device: torch.device | str = "cpu",
    ) -> None:
        self.subgraphs, self.features = subgraphs, dense_if_crowded(features)
        self.count, self.self_loops, self.seed, self.device = count, self_loops, seed, device

    def draw(self, rng: np.random.Generator) -> Sample:
        """Draw centres. Cost: O(N) to draw them, else that of their subgraphs alone."""
        size = self.subgraphs.starts.size - 1
        centres = np.sort(rng.choice(size, self.count, replace=False, shuffle=False))
        nodes, edges, begins = self.subgraphs.around(centres)
        normalised = normalised_adjacency(edges, self.self_loops)
        counts = np.diff(begins, append=nodes.size)
        seen, places = np.unique(nodes, return_inverse=True)
        view = View(
            adjacency=_from_nodes(normalised, places, seen.size, self.device),
            features=rows_on(self.features[seen], self.device),
            aggregated=None,
            steps=SparseMatrix.from_scipy(normalised, symmetric=True, device=self.device),
            pieces=torch.from_numpy(np.repeat(np.arange(centres.size), counts)).to(self.device),
            centres=torch.from_numpy(begins).to(self.device),
        )
        return Sample((view,), rng)


def centre_view(
    subgraphs: Subgraphs,
    adjacency: Any,
    features: Any,
    self_loops: float,
    device: torch.device | str = "cpu",
) -> View:
    """The graph in which each node sees what it sees in its own subgraph, by one convolution.

    The contexts are those of the graph itself.
    """
    normalised = normalised_adjacency(subgraphs.edges, self_loops)
    centres, size = subgraphs.starts[:-1], adjacency.shape[0]
    steps = normalised_adjacency(adjacency, self_loops)
    held = _from_nodes(normalised[centres], subgraphs.nodes, size, device)
    columns = features_on(features, device)
    walked = SparseMatrix.from_scipy(steps, symmetric=True, device=device)
    if isinstance(columns, SparseMatrix):
        return View(held, columns, None, walked)
    return View(held, None, held @ columns, walked)


def _from_nodes(slots: Any, nodes: Nodes, size: int, device: torch.device | str) -> SparseMatrix:
    """A matrix with a column for each slot, made one with a column for each node."""
    by_node = sp.csr_array((slots.data, nodes[slots.indices], slots.indptr), (slots.shape[0], size))
    return SparseMatrix.from_scipy(by_node, device=device)


def _itself_first(found: npt.NDArray[np.int32], real: npt.NDArray[np.bool_]) -> Nodes:
    """Members of each node's subgraph, at first itself; -1 where there are fewer."""
    size, count = found.shape
    own = np.arange(size)[:, None]
    others = np.where(real & (found != own), found, -1)
    order = np.argsort(others < 0, axis=1, kind="stable")[:, : count - 1]
    return np.hstack([own, np.take_along_axis(others, order, axis=1)]).astype(np.int64)


def _joined(adjacency: Any, members: Nodes) -> Any:
    """The adjacency of slots; some thousand subgraphs at a time."""
    parts = [
        _joined_part(adjacency, members[start : start + CHUNK])
        for start in range(0, members.shape[0], CHUNK)
    ]
    return sp.block_diag(parts, format="csr")


def _joined_part(adjacency: Any, members: Nodes) -> Any:
    """Look each neighbour of each slot up among the members of the slot's subgraph."""
    size = adjacency.shape[0]
    graphs, places = np.nonzero(members >= 0)
    nodes = members[graphs, places]
    keys = graphs * size + nodes
    order = np.argsort(keys)
    positions, counts = row_entries(adjacency, nodes)
    wanted = np.repeat(graphs * size, counts) + adjacency.indices[positions]
    at = np.minimum(np.searchsorted(keys, wanted, sorter=order), keys.size - 1)
    there = keys[order[at]] == wanted
    rows = np.repeat(np.arange(nodes.size), counts)[there]
    values = adjacency.data[positions[there]]
    joined = sp.csr_array((values, (rows, order[at[there]])), shape=(nodes.size, nodes.size))
    joined.sort_indices()
    return joined
