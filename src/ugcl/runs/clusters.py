"""Clusters of embeddings, without labels: k-means, HDBSCAN, or Leiden on the neighbour graph."""

from __future__ import annotations

import logging
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.cluster import HDBSCAN, KMeans
from sklearn.decomposition import TruncatedSVD
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import silhouette_score
from sklearn.neighbors import kneighbors_graph
from sklearn.preprocessing import normalize

from ugcl._utils.columns import to_column
from ugcl._utils.errors import UGCLError
from ugcl._utils.extras import required
from ugcl._utils.files import atomic
from ugcl._utils.progress import steps
from ugcl._utils.random import numpy_generator, seed_of
from ugcl.typing import Embeddings

logger = logging.getLogger(__name__)

Algorithm = Literal["kmeans", "hdbscan", "leiden"]
ALGORITHMS = get_args(Algorithm)

STARTS = 10
"""Number of k-means starts; of each k that "auto" tries, one."""

TRIED = (2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 18, 20, 24, 28, 32, 40, 50)
"""Numbers of clusters that "auto" tries, up to the square root of the number of nodes."""

SAMPLE = 5_000
"""Nodes of which the silhouette is computed."""

DIRECTIONS = 32
"""Leading directions in which HDBSCAN looks for dense regions."""

NEIGHBORS = 15
"""Neighbours of a node in the graph for Leiden."""

NOISE = -1
"""The cluster of nodes that HDBSCAN leaves out."""

ENDINGS = (".parquet", ".csv")


@dataclass(frozen=True)
class Clusters:
    """Clusters of nodes.

    Attributes:
        algorithm: how they were found.
        members: the cluster of each node, numbered from 0 by decreasing size; -1 for none.
        silhouette: mean silhouette by the cosine, on a sample of at most 5,000 nodes; None for
            fewer than two clusters.
        tried: silhouette of each number of clusters that "auto" tried.
    """

    algorithm: str
    members: npt.NDArray[np.int64]
    silhouette: float | None
    tried: dict[int, float]

    @property
    def sizes(self) -> list[int]:
        """Number of nodes of each cluster."""
        return [int(size) for size in np.bincount(self.members[self.members >= 0])]

    def to_json(self) -> dict[str, Any]:
        """Return the result without the members, as plain data."""
        return {
            "algorithm": self.algorithm,
            "clusters": len(self.sizes),
            "sizes": self.sizes,
            "noise": int((self.members == NOISE).sum()),
            "silhouette": self.silhouette,
            "tried": {str(k): value for k, value in self.tried.items()},
        }


def find_clusters(
    embeddings: Embeddings,
    k: int | Literal["auto"] = "auto",
    *,
    algorithm: Algorithm = "kmeans",
    min_size: int = 10,
    resolution: float = 1.0,
    seed: int = 0,
) -> Clusters:
    """Cluster the rows of embeddings, scaled to norm 1, so that the cosine counts.

    Args:
        embeddings: N x D', dense or SciPy sparse.
        k: number of clusters, for k-means; "auto" takes the one with the largest silhouette.
        algorithm: "kmeans"; "hdbscan", dense regions in the 32 leading directions; or "leiden",
            communities of the graph of the 15 nearest neighbours, by scikit-network.
        min_size: of a cluster, for HDBSCAN.
        resolution: of Leiden; more gives more clusters.
        seed: of random starts and samples.
    """
    count = embeddings.shape[0]
    if algorithm not in ALGORITHMS:
        raise UGCLError(f"`algorithm` must be {', '.join(ALGORITHMS)}, not {algorithm!r}")
    if algorithm != "kmeans" and k != "auto":
        raise UGCLError(f"{algorithm} finds the number of clusters itself: leave out `k`")
    if k != "auto" and not 1 <= k <= count:
        raise UGCLError(f"`k` must be from 1 to the number of nodes, {count:,}, not {k}")
    rows, tried = unit_rows(embeddings), dict[int, float]()
    if algorithm == "hdbscan":
        members = _hdbscan(rows, min_size, seed)
    elif algorithm == "leiden":
        members = _leiden(rows, resolution, seed)
    else:
        if k == "auto":
            tried = _silhouettes(rows, seed)
            best = max(tried, key=lambda each: tried[each]) if tried else 1
            logger.info("k %d has the largest silhouette of %s", best, list(tried))
        members = _kmeans(rows, best if k == "auto" else k, STARTS, seed)
    members = _by_size(members)
    return Clusters(algorithm, members, _silhouette(rows, members, seed), tried)


def unit_rows(embeddings: Embeddings) -> Embeddings:
    """Return rows of norm 1; a sparse matrix gets 32-bit indices, which k-means requires."""
    rows = normalize(embeddings)
    if not sp.issparse(rows):
        return np.asarray(rows)
    indices, starts = (part.astype(np.int32) for part in (rows.indices, rows.indptr))
    return sp.csr_array((rows.data, indices, starts), shape=rows.shape)


def _kmeans(rows: Embeddings, k: int, starts: int, seed: int) -> npt.NDArray[np.int64]:
    kmeans = KMeans(k, n_init=starts, random_state=seed_of("k-means", seed))
    with warnings.catch_warnings():  # fewer distinct rows than clusters give fewer clusters
        warnings.simplefilter("ignore", ConvergenceWarning)
        return np.asarray(kmeans.fit(rows).labels_, dtype=np.int64)


def _silhouettes(rows: Embeddings, seed: int) -> dict[int, float]:
    """Return the silhouette of each number of clusters that is tried."""
    tried = [k for k in TRIED if k * k <= max(rows.shape[0], 9) and k < rows.shape[0]]
    found = {}
    for k in steps("choosing the number of clusters", tried, len(tried)):
        value = _silhouette(rows, _kmeans(rows, k, 1, seed), seed)
        if value is not None:
            found[k] = value
    return found


def _silhouette(rows: Embeddings, members: npt.NDArray[np.int64], seed: int) -> float | None:
    """Return the mean silhouette of a sample of the nodes that have a cluster."""
    nodes = np.flatnonzero(members >= 0)
    if nodes.size > SAMPLE:
        rng = numpy_generator("clusters", seed)
        nodes = np.sort(rng.choice(nodes, SAMPLE, replace=False))
    found = np.unique(members[nodes]).size
    if not 2 <= found < nodes.size:
        return None
    return round(float(silhouette_score(rows[nodes], members[nodes], metric="cosine")), 4)


def _hdbscan(rows: Embeddings, min_size: int, seed: int) -> npt.NDArray[np.int64]:
    if min(rows.shape) > DIRECTIONS:
        reduced = TruncatedSVD(DIRECTIONS, random_state=seed_of("k-means", seed))
        rows = reduced.fit_transform(rows)
    elif sp.issparse(rows):
        rows = rows.toarray()
    if rows.shape[0] < min_size:
        raise UGCLError(
            f"there are {rows.shape[0]:,} nodes, fewer than `min_size` {min_size}: lower it"
        )
    found = HDBSCAN(min_cluster_size=min_size, copy=True).fit(rows)
    return np.asarray(found.labels_, dtype=np.int64)


def _leiden(rows: Embeddings, resolution: float, seed: int) -> npt.NDArray[np.int64]:
    library = required("sknetwork.clustering", "Leiden", "clusters")
    k = min(NEIGHBORS, rows.shape[0] - 1)
    graph = kneighbors_graph(rows, k, metric="cosine", mode="connectivity")
    graph = sp.csr_matrix(graph.maximum(graph.T))
    leiden = library.Leiden(
        resolution=resolution, shuffle_nodes=True, random_state=seed_of("k-means", seed)
    )
    return np.asarray(leiden.fit_predict(graph), dtype=np.int64)


def _by_size(members: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Number clusters by decreasing size; -1 stays."""
    found, numbers, sizes = np.unique(members, return_inverse=True, return_counts=True)
    sizes = np.where(found == NOISE, -1, sizes)
    ranks = np.empty_like(sizes)
    ranks[np.argsort(-sizes, kind="stable")] = np.arange(sizes.size)
    return np.where(members == NOISE, NOISE, ranks[numbers])


def write_clusters(path: Path, clusters: Clusters, ids: npt.NDArray[Any]) -> None:
    """Write a table of `id` and `cluster`, as Parquet or CSV."""
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet as pq

    table = pa.table({"id": to_column(ids), "cluster": to_column(clusters.members)})
    with atomic(path) as temporary:
        write = pyarrow.csv.write_csv if path.suffix == ".csv" else pq.write_table
        write(table, temporary)
