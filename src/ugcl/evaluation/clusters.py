"""Clustering: do k-means clusters of embeddings find the classes again?"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.metrics.cluster import contingency_matrix
from sklearn.preprocessing import normalize

Labels = npt.NDArray[np.int64]

STARTS = 10
"""How often k-means starts."""

MEASURES = {
    "nmi": "normalised mutual information",
    "ari": "adjusted Rand index",
    "accuracy": "accuracy after matching",
}


@dataclass(frozen=True)
class ClusterScore:
    """How well clusters agree with classes, in percent.

    Attributes:
        values: each of `MEASURES`, of the start with the tightest clusters.
        deviations: each over all starts.
    """

    values: Mapping[str, float]
    deviations: Mapping[str, float]

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return {
            name: [round(self.values[name], 4), round(self.deviations[name], 4)]
            for name in MEASURES
        }


def cluster_score(
    embeddings: Any, labels: Labels, *, starts: int = STARTS, seed: int = 0
) -> ClusterScore:
    """Cluster the nodes into as many clusters as there are classes, and compare.

    Rows are brought to length 1 first, so that k-means goes by the cosine, as training does. All
    nodes are clustered, those with labels are compared.

    Args:
        embeddings: N x D, dense or SciPy sparse.
        labels: N classes, below 0 where there is none.
        starts: how often k-means starts, each time with another seed.
        seed: the first of them.
    """
    known = labels >= 0
    classes = np.unique(labels[known]).size
    rows = _narrow(normalize(embeddings))
    found = []
    for start in range(starts):
        means = KMeans(classes, n_init=1, random_state=seed + start)
        with warnings.catch_warnings():  # fewer distinct rows than classes make fewer clusters
            warnings.simplefilter("ignore", ConvergenceWarning)
            means.fit(rows)
        found.append((means.inertia_, agreement(means.labels_[known], labels[known])))
    best = min(found, key=lambda pair: pair[0])[1]
    spread = {name: float(np.std([each[name] for _, each in found])) for name in MEASURES}
    return ClusterScore(best, spread)


def _narrow(rows: Any) -> Any:
    """A sparse matrix with indices of 32 bits, which k-means asks for; a dense one as it is."""
    if not sp.issparse(rows):
        return rows
    indices, starts = (part.astype(np.int32) for part in (rows.indices, rows.indptr))
    return sp.csr_array((rows.data, indices, starts), shape=rows.shape)


def agreement(clusters: npt.NDArray[Any], labels: Labels) -> dict[str, float]:
    """The measures of two partitions of the same nodes, in percent.

    Clusters have no names: for the accuracy each stands for the class that makes most nodes right
    in all, no two for the same.
    """
    counts = contingency_matrix(labels, clusters)
    right = counts[linear_sum_assignment(counts, maximize=True)].sum()
    measures = {
        "nmi": normalized_mutual_info_score(labels, clusters),
        "ari": adjusted_rand_score(labels, clusters),
        "accuracy": right / labels.size,
    }
    return {name: 100 * float(value) for name, value in measures.items()}
