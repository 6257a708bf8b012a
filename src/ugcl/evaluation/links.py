"""Link prediction: do inner products of embeddings tell edges from other pairs of nodes?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy import stats
from sklearn.metrics import average_precision_score
from sklearn.preprocessing import normalize

from ugcl.evaluation.statistics import LEVEL, Estimate, standard_error

Pairs = npt.NDArray[np.int64]
Scores = npt.NDArray[np.float64]

Similarity = Literal["cosine", "dot"]
SIMILARITIES: tuple[Similarity, ...] = ("cosine", "dot")

HITS = (10, 50, 100)
"""Values of K in Hits@K."""

BLOCK = 4096
"""Pairs whose rows are gathered at a time."""


@dataclass(frozen=True)
class LinkScore:
    """How well edges are told from other pairs, in percent.

    Attributes:
        auc: the area under the ROC curve: how often an edge scores higher than another pair.
        average_precision: the area under the curve of precision over recall.
        hits: by K, the share of edges that score higher than the K-th best of the other pairs;
            only for K of which there are as many.
        chosen: what was chosen on validation edges.
        edges: the score of each edge.
        others: the score of each other pair.
    """

    auc: float
    average_precision: float
    hits: Mapping[int, float]
    chosen: Mapping[str, Any]
    edges: Scores
    others: Scores

    @classmethod
    def of(cls, edges: Scores, others: Scores, chosen: Mapping[str, Any]) -> LinkScore:
        """From the scores of edges and of other pairs."""
        labels = np.repeat([1, 0], [edges.size, others.size])
        precision = average_precision_score(labels, np.concatenate([edges, others]))
        ranked = np.sort(others)[::-1]
        hits = {k: 100 * float((edges > ranked[k - 1]).mean()) for k in HITS if k <= ranked.size}
        return cls(auc(edges, others), 100 * float(precision), hits, chosen, edges, others)

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "auc": round(self.auc, 4),
            "average_precision": round(self.average_precision, 4),
            "hits": {str(k): round(share, 4) for k, share in self.hits.items()},
            "chosen": dict(self.chosen),
        }

    def gain_over(self, other: LinkScore) -> Estimate:
        """How much more AUC it has, with a 95 % interval (DeLong et al., 1988).

        Both must have scored the same pairs. The area is a mean over edges and over other pairs of
        their places among the others; differences of these places, pair by pair, give its error.
        """
        mine, theirs = (_places(score.edges, score.others) for score in (self, other))
        of_edges, of_others = (
            100 * standard_error(own - his) for own, his in zip(mine, theirs, strict=True)
        )
        error = float(np.hypot(of_edges, of_others))
        mean = self.auc - other.auc
        half = float(stats.norm.ppf((1 + LEVEL) / 2)) * error
        return Estimate(mean, mean - half, mean + half, 0.0, error, (mean,))


def auc(edges: Scores, others: Scores) -> float:
    """The area under the ROC curve, in percent: ties count half."""
    return 100 * float(_places(edges, others)[0].mean())


def _places(edges: Scores, others: Scores) -> tuple[Scores, Scores]:
    """The share of other pairs below each edge, and of edges above each other pair."""
    return _below(edges, others), 1 - _below(others, edges)


def _below(values: Scores, among: Scores) -> Scores:
    ranked = np.sort(among)
    places = [np.searchsorted(ranked, values, side=side) for side in ("left", "right")]
    return np.asarray((places[0] + places[1]) / (2 * among.size))


def pair_scores(embeddings: Any, pairs: Pairs, similarity: Similarity) -> Scores:
    """The inner product, or the cosine, of each pair of rows; dense or SciPy sparse."""
    scores = np.empty(len(pairs))
    for start in range(0, len(pairs), BLOCK):
        block = slice(start, start + BLOCK)
        first, second = (embeddings[nodes] for nodes in pairs[block].T)
        if similarity == "cosine":
            first, second = normalize(first), normalize(second)
        if sp.issparse(first):
            scores[block] = np.asarray(first.multiply(second).sum(axis=1)).ravel()
        else:
            scores[block] = np.einsum("ij,ij->i", first, second, dtype=np.float64)
    return scores


def best_similarity(embeddings: Any, edges: Pairs, others: Pairs) -> tuple[float, Similarity]:
    """The similarity with the larger AUC on validation pairs, and that AUC."""
    found = [
        (auc(pair_scores(embeddings, edges, each), pair_scores(embeddings, others, each)), each)
        for each in SIMILARITIES
    ]
    return max(found, key=lambda pair: pair[0])
