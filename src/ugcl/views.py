"""From a graph to the view of it that an encoder sees."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
import torch
from sklearn.preprocessing import normalize
from torch import Tensor

from ugcl.scope import normalised_adjacency
from ugcl.sparse import SparseMatrix

Nodes = npt.NDArray[np.int64]
Sampling = Literal["random", "window", "ball"]
Normalisation = Literal["graph", "subgraph"]
FeatureScaling = Literal["none", "row", "l2", "tfidf"]


@dataclass(frozen=True)
class View:
    """A normalised adjacency and the features that go with it, ready to be convolved.

    Attributes:
        adjacency: the normalised adjacency, S x S.
        features: X, S x D, where it is sparse; None where `aggregated` is held instead.
        aggregated: A X, S x D, where X is dense: all encoders share it, and it has no gradient.
    """

    adjacency: SparseMatrix
    features: SparseMatrix | None
    aggregated: Tensor | None

    @classmethod
    def of(cls, adjacency: Any, features: Any, device: torch.device | str = "cpu") -> View:
        """View of a normalised SciPy adjacency and of features, SciPy sparse or dense."""
        held = SparseMatrix.from_scipy(adjacency, symmetric=True, device=device)
        if sp.issparse(features):
            return cls(held, SparseMatrix.from_scipy(features, device=device), None)
        dense = torch.from_numpy(np.array(features)).to(device)
        return cls(held, None, held @ dense)

    def convolve(self, weight: Tensor) -> Tensor:
        """`A X W`: as `A (X W)` for sparse X, whose rows `A X` would fill; else as `(A X) W`."""
        if self.features is not None:
            return self.adjacency @ (self.features @ weight)
        assert self.aggregated is not None
        return self.aggregated @ weight


def scale_features(
    features: Any, scaling: FeatureScaling, column_weights: npt.NDArray[np.float32] | None = None
) -> Any:
    """X as it is, with rows of L1 or L2 length 1, or as TF-IDF; rows of zeros stay zeros.

    Sparse stays sparse.

    Args:
        features: X, N x D.
        scaling: which scaling.
        column_weights: for TF-IDF, the weights of the graph that was trained on; by default those
            of X itself.
    """
    if scaling == "none":
        return features
    if scaling == "tfidf":
        weights = inverse_frequency(features) if column_weights is None else column_weights
        features = features @ sp.diags_array(weights, format="csr")
    return normalize(features, norm="l1" if scaling == "row" else "l2")


def inverse_frequency(features: Any) -> npt.NDArray[np.float32]:
    """TF-IDF's weight of each column: `1 + log((1 + N) / (1 + number of nodes that have it))`."""
    frequency = np.asarray((features != 0).sum(axis=0)).ravel()
    weights: npt.NDArray[np.float64] = 1 + np.log((1 + features.shape[0]) / (1 + frequency))
    return weights.astype(np.float32)


def sample_nodes(adjacency: Any, size: int, sampling: Sampling, rng: np.random.Generator) -> Nodes:
    """S distinct node numbers in ascending order.

    Args:
        adjacency: CSR, N x N.
        size: S, at most N.
        sampling: `random` nodes (the paper); a `window` of consecutive numbers (the authors'
            code); `ball`, whole neighbourhoods around S/20 random nodes.
        rng: the source of randomness.
    """
    return SAMPLERS[sampling](adjacency, size, rng)


def _random(adjacency: Any, size: int, rng: np.random.Generator) -> Nodes:
    chosen = rng.choice(adjacency.shape[0], size, replace=False, shuffle=False)
    return np.sort(chosen.astype(np.int64))


def _window(adjacency: Any, size: int, rng: np.random.Generator) -> Nodes:
    start = int(rng.integers(adjacency.shape[0] - size + 1))
    return np.arange(start, start + size)


def _ball(adjacency: Any, size: int, rng: np.random.Generator) -> Nodes:
    """Grow balls around S/20 random nodes, hop by hop, until S nodes are reached.

    Each hop adds the whole neighbourhoods of the hop before, one after the other in random order,
    so that at most one neighbourhood is cut. Balls that fill their components before S nodes are
    reached are joined by new random nodes. Cost: O(edges of the sample), apart from one flag for
    each node.
    """
    seen = np.zeros(adjacency.shape[0], dtype=bool)
    frontier = rng.permutation(_random(adjacency, max(1, size // 20), rng))
    seen[frontier] = True
    chosen, missing = [frontier], size - frontier.size
    while missing:
        reached = _neighbours(adjacency, frontier)
        reached = reached[~seen[reached]]
        _, first = np.unique(reached, return_index=True)
        frontier = reached[np.sort(first)][:missing]
        if frontier.size == 0:
            others = np.flatnonzero(~seen)
            frontier = rng.choice(others, max(1, missing // 20), replace=False)
        seen[frontier] = True
        chosen.append(frontier)
        missing -= frontier.size
        frontier = rng.permutation(frontier)
    return np.sort(np.concatenate(chosen))


SAMPLERS: dict[str, Callable[[Any, int, np.random.Generator], Nodes]] = {
    "random": _random,
    "window": _window,
    "ball": _ball,
}


def _neighbours(adjacency: Any, nodes: Nodes) -> Nodes:
    """The entries of the CSR rows `nodes`, one after the other."""
    positions, _ = _positions(adjacency, nodes)
    listed: Nodes = adjacency.indices[positions].astype(np.int64)
    return listed


def _positions(adjacency: Any, nodes: Nodes) -> tuple[Nodes, Nodes]:
    """Where the entries of the CSR rows `nodes` are stored, and how many each row has."""
    starts = adjacency.indptr[nodes].astype(np.int64)
    counts = adjacency.indptr[nodes + 1].astype(np.int64) - starts
    ends = np.cumsum(counts)
    within = np.arange(ends[-1] if ends.size else 0) - np.repeat(ends - counts, counts)
    return np.repeat(starts, counts) + within, counts


class Subsampler:
    """The views that training sees: a subgraph of S nodes, drawn anew in every epoch.

    Each view is a function of the seed and the epoch alone, so a run that was interrupted needs no
    state of a random number generator to go on as if it had not been.

    Args:
        adjacency: A of the whole graph, CSR.
        features: X, scaled, dense or CSR.
        size: S; with S = N the one view is the graph itself.
        sampling: how the nodes are drawn.
        normalisation: `graph` slices the subgraph out of the normalised adjacency of the whole
            graph; `subgraph` normalises the subgraph by its own degrees.
        self_loops: weight of the self-loops in the normalisation.
        seed: the training seed.
        device: where the views are used.
    """

    def __init__(
        self,
        adjacency: Any,
        features: Any,
        *,
        size: int,
        sampling: Sampling,
        normalisation: Normalisation,
        self_loops: float,
        seed: int,
        device: torch.device | str = "cpu",
    ) -> None:
        self.structure, self.features = adjacency, features
        self.size, self.sampling, self.seed, self.device = size, sampling, seed, device
        self.self_loops = self_loops
        self.renormalise = normalisation == "subgraph"
        whole = normalised_adjacency(adjacency, self_loops)
        self.adjacency = adjacency if self.renormalise else whole
        self.place = np.full(adjacency.shape[0], -1, dtype=np.int64)
        self.whole = View.of(whole, features, device) if size == adjacency.shape[0] else None

    def rng(self, epoch: int) -> np.random.Generator:
        """The source of randomness of an epoch."""
        return np.random.default_rng([self.seed, epoch])

    def draw(self, rng: np.random.Generator) -> View:
        """Sample nodes and cut out their view. Cost: O(S + edges of the S nodes)."""
        if self.whole is not None:
            return self.whole
        nodes = sample_nodes(self.structure, self.size, self.sampling, rng)
        adjacency = self._induced(nodes)
        if self.renormalise:
            adjacency = normalised_adjacency(adjacency, self.self_loops)
        return View.of(adjacency, self.features[nodes], self.device)

    def _induced(self, nodes: Nodes) -> Any:
        """The subgraph that the nodes induce: the CSR rows and columns `nodes`, in that order."""
        positions, counts = _positions(self.adjacency, nodes)
        self.place[nodes] = np.arange(nodes.size)
        columns = self.place[self.adjacency.indices[positions]]
        self.place[nodes] = -1
        inside = columns >= 0
        rows = np.repeat(np.arange(nodes.size), counts)[inside]
        return sp.csr_array(
            (self.adjacency.data[positions[inside]], (rows, columns[inside])),
            shape=(nodes.size, nodes.size),
        )
