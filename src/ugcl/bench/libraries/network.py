"""scikit-network: embeddings of the adjacency, and of smoothed features."""

from __future__ import annotations

from typing import Any

from ugcl._utils.random import seed_of
from ugcl.bench.libraries.matrices import matrices, with_loops
from ugcl.bench.libraries.peer import WIDTH, Peer, Run
from ugcl.typing import Embeddings

FACTORS = 32
"""Columns of decompositions of A; on Cora, 128 cost ten times as much and are hardly better."""


def gsvd(data: Any, run: Run) -> Embeddings:
    """Embed by the generalised SVD of A."""
    from sknetwork.embedding import GSVD

    return _fit(GSVD(_columns(FACTORS, data)), data)


def spectral(data: Any, run: Run) -> Embeddings:
    """Embed by the eigenvectors of the normalised A."""
    from sknetwork.embedding import Spectral

    return _fit(Spectral(_columns(FACTORS, data)), data)


def louvain(data: Any, run: Run) -> Embeddings:
    """Embed by the fraction of a node's edges to each community."""
    from sknetwork.embedding import LouvainEmbedding

    return _fit(LouvainEmbedding(random_state=seed_of("bench", run.seed)), data)


def projection(data: Any, run: Run) -> Embeddings:
    """Embed by a random projection of powers of A (RandNE)."""
    from sknetwork.embedding import RandomProjection

    return _fit(
        RandomProjection(_columns(WIDTH, data), random_state=seed_of("bench", run.seed)), data
    )


def smoothed_features(data: Any, run: Run) -> Embeddings:
    """Embed by the SVD of A^2 X, with its own normalisation of A."""
    from sknetwork.embedding import SVD
    from sknetwork.linalg import normalize

    adjacency, features = data
    average = normalize(with_loops(adjacency))
    rows: Embeddings = SVD(min(WIDTH, min(features.shape) - 1)).fit_transform(
        average @ (average @ features)
    )
    return rows


def _columns(wanted: int, data: Any) -> int:
    """Return the wanted columns, or as many as a small graph has."""
    return int(min(wanted, data[0].shape[0] - 2))


def _fit(embedding: Any, data: Any) -> Embeddings:
    adjacency, _ = data
    rows: Embeddings = embedding.fit_transform(adjacency)
    return rows


def _peer(name: str, about: str, embed: Any) -> Peer:
    return Peer(
        name=f"sknetwork-{name}",
        package="scikit-network",
        module="sknetwork",
        about=about,
        prepare=matrices,
        embed=embed,
    )


PEERS = (
    _peer("gsvd", f"edges only: generalised SVD of A, {FACTORS} columns", gsvd),
    _peer("spectral", f"edges only: eigenvectors of A, {FACTORS} columns", spectral),
    _peer("louvain", "edges only: edges to each Louvain community", louvain),
    _peer("projection", f"edges only: random projection of A, {WIDTH} columns", projection),
    _peer("features", f"SVD of `A^2 X`, {WIDTH} columns", smoothed_features),
)
