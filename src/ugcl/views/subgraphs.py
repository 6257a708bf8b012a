"""Small subgraphs around sampled nodes as one batch: SubG-Con's view."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
import torch

from ugcl._utils.memo import cached_on
from ugcl._utils.rows import row_entries
from ugcl._utils.workspace import Workspace
from ugcl.scope import normalised_adjacency, pagerank_coefficients, top_k_diffusion
from ugcl.sparse import SparseMatrix
from ugcl.typing import CSRMatrix, Device, Features, NodeIndices
from ugcl.views.sampler import Sample, ViewSampler
from ugcl.views.scaling import ScaledRows, densify
from ugcl.views.view import View, features_to, rows_to

CHUNK = 4096
"""Subgraphs that are extracted at a time."""


@dataclass(frozen=True)
class Subgraphs:
    """A subgraph around every node, concatenated.

    A *slot* is the position of a node in a subgraph. The slots of the subgraph of node v are
    `starts[v]` to `starts[v + 1]`, and the first of them is v itself.

    Attributes:
        starts: the first slot of each subgraph, and the number of slots.
        nodes: the node of each slot.
        edges: the adjacency of the slots; slots are connected if they are in one subgraph and
            their nodes are connected.
    """

    starts: NodeIndices
    nodes: NodeIndices
    edges: CSRMatrix

    @classmethod
    def of(cls, adjacency: CSRMatrix, size: int, teleport: float) -> Subgraphs:
        """Return for each node the node and its `size - 1` most important others.

        Importance is personalised PageRank, row v of `alpha (I - (1 - alpha) A D^-1)^-1`; a
        subgraph is smaller where fewer nodes can be reached.
        """
        neighbours, values = top_k_diffusion(
            adjacency, pagerank_coefficients(teleport), size, power=1
        )
        members = _centre_first(neighbours, values > 0)
        starts = np.concatenate([[0], np.cumsum((members >= 0).sum(axis=1))])
        return cls(starts, members[members >= 0], _slot_edges(adjacency, members))

    def around(self, centres: NodeIndices) -> tuple[NodeIndices, CSRMatrix, NodeIndices]:
        """Return the subgraphs of some nodes: nodes and adjacency of their slots, their starts."""
        counts = self.starts[centres + 1] - self.starts[centres]
        begins = np.cumsum(counts) - counts
        shift = np.repeat(self.starts[centres] - begins, counts)
        slots = shift + np.arange(shift.size)
        positions, entries = row_entries(self.edges, slots)
        columns = self.edges.indices[positions] - np.repeat(shift, entries)
        indptr = np.concatenate([[0], np.cumsum(entries)])
        shape = slots.size, slots.size
        edges = sp.csr_array((self.edges.data[positions], columns, indptr), shape=shape)
        return self.nodes[slots], edges, begins


class SubgraphSampler(ViewSampler):
    """One view: the subgraphs of sampled nodes as a batch of graphs; these nodes are the anchors.

    Args:
        count: how many nodes are sampled in every step, or "all".
        size: nodes of a subgraph at most.
        teleport: restart probability of the PageRank that chooses them.
        self_loops: weight of the self-loops in the normalisation of each subgraph.
    """

    def __init__(
        self, *, count: int | Literal["all"], size: int, teleport: float, self_loops: float
    ) -> None:
        self.count, self.size, self.teleport = count, size, teleport
        self.self_loops = self_loops

    def setup(self, adjacency: CSRMatrix, features: Features, device: Device) -> None:
        """Find the subgraphs of all nodes."""
        self.subgraphs = self._subgraphs(adjacency)
        self.features, self.device = densify(features), device

    def sample(self, rng: np.random.Generator) -> Sample:
        """Sample anchors. Cost: O(N), and that of their subgraphs."""
        num_nodes = self.subgraphs.starts.size - 1
        count = num_nodes if self.count == "all" else self.count
        centres = np.sort(rng.choice(num_nodes, count, replace=False, shuffle=False))
        nodes, edges, begins = self.subgraphs.around(centres)
        normalised = normalised_adjacency(edges, self.self_loops)
        counts = np.diff(begins, append=nodes.size)
        distinct, columns = np.unique(nodes, return_inverse=True)
        graph_ids = np.repeat(np.arange(centres.size), counts)
        view = View(
            adjacency=_merge_columns(normalised, columns, distinct.size, self.device),
            features=rows_to(self.features[distinct], self.device),
            aggregated=None,
            propagation=SparseMatrix.from_scipy(normalised, symmetric=True, device=self.device),
            graph_ids=torch.from_numpy(graph_ids).to(self.device),
            anchors=torch.from_numpy(begins).to(self.device),
        )
        return Sample((view,))

    def inference_views(
        self,
        adjacency: CSRMatrix,
        features: Features | ScaledRows,
        device: Device,
        work: Workspace | None = None,
    ) -> tuple[View, ...]:
        """Return the view in which each node is encoded within its own subgraph.

        Contexts of the readout are those of the graph itself.
        """
        subgraphs = self._subgraphs(adjacency)
        normalised = normalised_adjacency(subgraphs.edges, self.self_loops)
        centres, num_nodes = subgraphs.starts[:-1], adjacency.shape[0]
        matrix = _merge_columns(normalised[centres], subgraphs.nodes, num_nodes, device)
        steps = normalised_adjacency(adjacency, self.self_loops)
        propagation = SparseMatrix.from_scipy(steps, symmetric=True, device=device)
        columns = features_to(features, device)
        if isinstance(columns, SparseMatrix):
            return (View(matrix, columns, None, propagation),)
        return (View(matrix, None, matrix @ columns, propagation),)

    def _subgraphs(self, adjacency: CSRMatrix) -> Subgraphs:
        """Return the subgraphs, which are cached with the graph."""
        key = "subgraphs", self.size, self.teleport
        return cached_on(adjacency, key, lambda: Subgraphs.of(adjacency, self.size, self.teleport))


def _merge_columns(
    slots: CSRMatrix, nodes: NodeIndices, num_nodes: int, device: Device
) -> SparseMatrix:
    """Turn a matrix with a column for each slot into one with a column for each node."""
    shape = slots.shape[0], num_nodes
    by_node = sp.csr_array((slots.data, nodes[slots.indices], slots.indptr), shape)
    return SparseMatrix.from_scipy(by_node, device=device)


def _centre_first(neighbours: npt.NDArray[np.int32], reached: npt.NDArray[np.bool_]) -> NodeIndices:
    """Return the members of each subgraph, first its centre; -1 where there are fewer."""
    num_nodes, count = neighbours.shape
    centre = np.arange(num_nodes)[:, None]
    others = np.where(reached & (neighbours != centre), neighbours, -1)
    order = np.argsort(others < 0, axis=1, kind="stable")[:, : count - 1]
    return np.hstack([centre, np.take_along_axis(others, order, axis=1)]).astype(np.int64)


def _slot_edges(adjacency: CSRMatrix, members: NodeIndices) -> CSRMatrix:
    """Return the adjacency of the slots, computed for `CHUNK` subgraphs at a time."""
    parts = [
        _slot_edges_of(adjacency, members[start : start + CHUNK])
        for start in range(0, members.shape[0], CHUNK)
    ]
    return sp.block_diag(parts, format="csr")


def _slot_edges_of(adjacency: CSRMatrix, members: NodeIndices) -> CSRMatrix:
    """Look up each neighbour of each slot among the members of the slot's subgraph."""
    num_nodes = adjacency.shape[0]
    graphs, places = np.nonzero(members >= 0)
    nodes = members[graphs, places]
    keys = graphs * num_nodes + nodes
    order = np.argsort(keys)
    positions, counts = row_entries(adjacency, nodes)
    neighbour_keys = np.repeat(graphs * num_nodes, counts) + adjacency.indices[positions]
    at = np.minimum(np.searchsorted(keys, neighbour_keys, sorter=order), keys.size - 1)
    inside = keys[order[at]] == neighbour_keys
    rows = np.repeat(np.arange(nodes.size), counts)[inside]
    values = adjacency.data[positions[inside]]
    shape = nodes.size, nodes.size
    edges = sp.csr_array((values, (rows, order[at[inside]])), shape=shape)
    edges.sort_indices()
    return edges
