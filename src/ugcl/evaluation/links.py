"""Link prediction: do similarities of embeddings separate held-out edges from other pairs?"""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy import linalg, stats
from sklearn.metrics import average_precision_score
from sklearn.preprocessing import normalize

from ugcl._utils.errors import UGCLError
from ugcl._utils.random import numpy_generator
from ugcl.data import GraphFiles, non_edges
from ugcl.evaluation.comparison import load_comparison
from ugcl.evaluation.controls import (
    CANDIDATES,
    FEATURE_CONTROLS,
    Candidate,
    FeatureControls,
    structure_candidates,
)
from ugcl.evaluation.statistics import LEVEL, Estimate, standard_error
from ugcl.graph import Graph
from ugcl.methods.params import check_integer
from ugcl.runs import Run
from ugcl.typing import Embeddings, NodeIndices

logger = logging.getLogger(__name__)

Scores = npt.NDArray[np.float64]

Similarity = Literal["cosine", "dot"]
SIMILARITIES: tuple[Similarity, ...] = ("cosine", "dot")

HITS = (10, 50, 100)
"""Values of K in Hits@K."""

BLOCK = 4096
"""Pairs whose rows are gathered at a time."""

MIN_EDGES = 10
"""Minimum number of edges to score."""

VALIDATION = 0.25
"""The fraction of held-out edges for validation, which are not scored."""

PENALTIES = (1e-5, 1e-4, 1e-3, 1e-2)
"""Ridge penalties of the columns' weights, as fractions of the trace of the Gram matrix."""

MIN_FITTED = 100
"""Validation edges below which columns have equal weights: too few to fit others."""

MAX_FITTED = 20_000
"""Maximum number of edges, and of negative pairs, that the weights are fitted to."""


@dataclass(frozen=True)
class LinkScore:
    """Scores of a ranking of edges (positive pairs) and non-edges (negative pairs), in percent.

    Attributes:
        auc: area under the ROC curve.
        average_precision: area under the precision-recall curve.
        hits: Hits@K by K: the fraction of edges above the K-th best negative pair; only for K up to
            the number of negative pairs.
        chosen: what was chosen on validation edges.
        positive: similarity of each edge.
        negative: similarity of each negative pair.
    """

    auc: float
    average_precision: float
    hits: Mapping[int, float]
    chosen: Mapping[str, Any]
    positive: Scores
    negative: Scores

    @classmethod
    def of(cls, positive: Scores, negative: Scores, chosen: Mapping[str, Any]) -> LinkScore:
        """Compute the scores from the similarities of edges and of negative pairs."""
        labels = np.repeat([1, 0], [positive.size, negative.size])
        precision = float(average_precision_score(labels, np.concatenate([positive, negative])))
        ranked = np.sort(negative)[::-1]
        hits = {k: 100 * float((positive > ranked[k - 1]).mean()) for k in HITS if k <= ranked.size}
        return cls(
            auc(positive, negative), 100 * float(precision), hits, chosen, positive, negative
        )

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain data."""
        return {
            "auc": round(self.auc, 4),
            "average_precision": round(self.average_precision, 4),
            "hits": {str(k): round(fraction, 4) for k, fraction in self.hits.items()},
            "chosen": dict(self.chosen),
        }

    def gain_over(self, other: LinkScore) -> Estimate:
        """Return the difference in AUC with its 95 % interval (DeLong et al., 1988).

        Both must score the same pairs. The AUC is a mean of normalised ranks over edges and over
        negative pairs; the paired differences of these ranks give its standard error.
        """
        ranks = (_normalised_ranks(score.positive, score.negative) for score in (self, other))
        errors = [100 * standard_error(mine - theirs) for mine, theirs in zip(*ranks, strict=True)]
        error = float(np.hypot(errors[0], errors[1]))
        mean = self.auc - other.auc
        half = float(stats.norm.ppf((1 + LEVEL) / 2)) * error
        return Estimate(mean, mean - half, mean + half, 0.0, error, (mean,))


@dataclass(frozen=True)
class LinkEvaluation:
    """Scores of a run and of its controls.

    Attributes:
        counts: held-out edges for validation ("chosen_on") and "scored"; there are as many negative
            pairs of each.
        seed: the seed of the negative pairs.
        score: the score of the run.
        controls: the scores of the controls, by name.
        gains: the run's gain in AUC over each control.
        other: the score of the run that it is compared with and the gain over it; None without one.
    """

    counts: dict[str, int]
    seed: int
    score: LinkScore
    controls: dict[str, LinkScore]
    gains: dict[str, Estimate]
    other: tuple[LinkScore, Estimate] | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain data."""
        result = {
            "task": "links",
            **self.score.to_json(),
            "edges": self.counts,
            "seed": self.seed,
            "controls": {name: score.to_json() for name, score in self.controls.items()},
            "differences": {name: gain.to_json() for name, gain in self.gains.items()},
        }
        if self.other is not None:
            score, gain = self.other
            result["against"] = {**score.to_json(), "difference": gain.to_json()}
        return result


def evaluate_links(
    run: Run,
    *,
    seed: int = 0,
    against: Run | None = None,
    graph: str | GraphFiles | None = None,
    labels: GraphFiles | None = None,
    data_root: str | None = None,
    device: str | None = None,
) -> LinkEvaluation:
    """Score a finished run by its held-out edges and as many pairs without an edge.

    A quarter of the held-out edges is for validation: the choice between cosine and inner product
    and the weights of the columns in it, for the run as for the controls, and the controls'
    smoothing and scaling. The rest is scored.

    Args:
        run: the run.
        seed: the seed of the negative pairs and of which edges are scored.
        against: another run on the same graph that held out the same edges.
        graph: as for `load_comparison`, like all others.
        labels: files of labels for a graph that had none in training.
        data_root: the folder of raw data sets, if it has moved.
        device: where to embed the untrained control.
    """
    check_integer("`seed`", seed, 0)
    run.require_finished()
    run.require_held_out()
    comparison = load_comparison(
        run, against, graph=graph, labels=labels, data_root=data_root, device=device
    )
    held_out = comparison.held_out
    run.check_held_out(held_out)
    pairs = _LinkSplit.of(comparison.graph, held_out, seed)
    if len(pairs.test[0]) < MIN_EDGES:
        raise UGCLError(
            f"{run.path} held out {len(held_out):,} edges, too few to score: train it again with a "
            "larger `hold_out_edges`"
        )
    logger.info("choosing the controls' smoothing and scaling on validation edges")
    score = pairs.score(comparison.embeddings)
    controls = _feature_controls(comparison.graph, pairs)
    controls |= {name: pairs.score(rows) for name, rows in comparison.untrained.items()}
    other = None if comparison.other is None else pairs.score(comparison.other)
    return LinkEvaluation(
        {"chosen_on": len(pairs.validation[0]), "scored": len(pairs.test[0])},
        seed,
        score,
        controls,
        {name: score.gain_over(control) for name, control in controls.items()},
        None if other is None else (other, score.gain_over(other)),
    )


@dataclass(frozen=True)
class _LinkSplit:
    """Held-out edges and negative pairs, for validation and for the test."""

    validation: tuple[NodeIndices, NodeIndices]
    test: tuple[NodeIndices, NodeIndices]

    @classmethod
    def of(cls, graph: Graph, held_out: NodeIndices, seed: int) -> _LinkSplit:
        """Sample as many pairs without an edge, neither seen nor held out, as held-out edges."""
        ones = np.ones(len(held_out), dtype=np.float32)
        missing = sp.coo_array((ones, tuple(held_out.T)), shape=graph.adjacency.shape)
        all_edges = (graph.adjacency + missing + missing.T).tocsr()
        negative = non_edges(all_edges, len(held_out), seed)
        positive = numpy_generator("link pairs", seed).permutation(held_out)
        count = max(1, round(VALIDATION * len(held_out)))
        return cls((positive[:count], negative[:count]), (positive[count:], negative[count:]))

    def score(self, embeddings: Embeddings, **chosen: Any) -> LinkScore:
        """Score embeddings by the similarity that is best on the validation pairs.

        Args:
            embeddings: N x D.
            chosen: recorded with the choice of the similarity.
        """
        area, similarity = best_similarity(embeddings, *self.validation)
        weighted_area, weights = fit_weights(embeddings, *self.validation, similarity)
        weighted = weighted_area > area
        positive, negative = (
            pair_scores(embeddings, pairs, similarity, weights if weighted else None)
            for pairs in self.test
        )
        name = f"weighted {similarity}" if weighted else similarity
        return LinkScore.of(positive, negative, {**chosen, "similarity": name})


def _feature_controls(graph: Graph, pairs: _LinkSplit) -> dict[str, LinkScore]:
    """Score the feature controls, each with the settings that are best on validation pairs."""
    controls = FeatureControls(graph)
    best: dict[str, tuple[float, Candidate, Embeddings]] = {}

    def try_all(candidates: Collection[Candidate]) -> None:
        for candidate, matrix in controls.candidates(candidates):
            validation_auc = best_similarity(matrix, *pairs.validation)[0]
            name = candidate.control
            if name not in best or validation_auc > best[name][0]:
                best[name] = validation_auc, candidate, matrix

    try_all(CANDIDATES)
    try_all(structure_candidates(best["sign"][1]))
    return {
        name: pairs.score(best[name][2], **best[name][1].to_json()) for name in FEATURE_CONTROLS
    }


def auc(positive: Scores, negative: Scores) -> float:
    """Return the area under the ROC curve, in percent; ties count half."""
    return 100 * float(_normalised_ranks(positive, negative)[0].mean())


def _normalised_ranks(positive: Scores, negative: Scores) -> tuple[Scores, Scores]:
    """Return the fraction of negatives below each edge, and of edges above each negative."""
    return _fraction_below(positive, negative), 1 - _fraction_below(negative, positive)


def _fraction_below(values: Scores, reference: Scores) -> Scores:
    ranked = np.sort(reference)
    left, right = (np.searchsorted(ranked, values, side=side) for side in ("left", "right"))
    return np.asarray((left + right) / (2 * reference.size))


def pair_scores(
    embeddings: Embeddings,
    pairs: NodeIndices,
    similarity: Similarity,
    weights: Scores | None = None,
) -> Scores:
    """Return the inner product or cosine of each of E x 2 pairs of rows.

    Args:
        embeddings: N x D.
        pairs: E x 2 node numbers.
        similarity: "cosine" scales rows to L2 norm 1.
        weights: the weights of the D columns in the sum; None: all 1.
    """
    scores = np.empty(len(pairs))
    for start in range(0, len(pairs), BLOCK):
        block = slice(start, start + BLOCK)
        first, second = _rows_of_pairs(embeddings, pairs[block], similarity)
        if weights is not None:
            scores[block] = _products(first, second) @ weights
        elif sp.issparse(first):
            scores[block] = np.asarray(first.multiply(second).sum(axis=1)).ravel()
        else:
            scores[block] = np.einsum("ij,ij->i", first, second, dtype=np.float64)
    return scores


def _rows_of_pairs(
    embeddings: Embeddings, pairs: NodeIndices, similarity: Similarity
) -> tuple[Embeddings, Embeddings]:
    first, second = (embeddings[nodes] for nodes in pairs.T)
    return (normalize(first), normalize(second)) if similarity == "cosine" else (first, second)


def _products(first: Embeddings, second: Embeddings) -> Scores:
    """Return the element-wise products of rows, dense."""
    if sp.issparse(first):
        return np.asarray(first.multiply(second).toarray(), dtype=np.float64)
    return np.asarray(np.multiply(first, second, dtype=np.float64))


def best_similarity(
    embeddings: Embeddings, positive: NodeIndices, negative: NodeIndices
) -> tuple[float, Similarity]:
    """Return the higher AUC on these pairs, and the similarity that gives it."""
    areas = [
        auc(*(pair_scores(embeddings, pairs, similarity) for pairs in (positive, negative)))
        for similarity in SIMILARITIES
    ]
    best = int(np.argmax(areas))
    return areas[best], SIMILARITIES[best]


def fit_weights(
    embeddings: Embeddings, positive: NodeIndices, negative: NodeIndices, similarity: Similarity
) -> tuple[float, Scores]:
    """Fit a weight for each column: ridge regression of "is an edge" on products of rows.

    The Hadamard product of two rows is the usual input of a classifier of links (Grover and
    Leskovec, 2016). Weights shrink towards equal weights, those of the plain similarity. Pairs
    outside one half, to which weights are fitted, choose the penalty, and the reverse.

    Returns:
        The mean AUC of the halves and the weights fitted to both; minus infinity and equal
        weights for fewer than `MIN_FITTED` edges.
    """
    if len(positive) < MIN_FITTED:
        return -np.inf, np.ones(embeddings.shape[1])
    positive, negative = positive[:MAX_FITTED], negative[:MAX_FITTED]
    products = np.vstack(
        [
            _products(*_rows_of_pairs(embeddings, pairs, similarity))
            for pairs in (positive, negative)
        ]
    )
    edges = np.repeat([1.0, 0.0], [len(positive), len(negative)])
    halves = [np.arange(len(edges)) % 2 == half for half in (0, 1)]
    areas = [
        [
            _area(products[other] @ weights, edges[other])
            for weights in _ridge(products, edges, half)
        ]
        for half, other in (halves, halves[::-1])
    ]
    mean_areas = np.mean(areas, axis=0)
    best = int(np.argmax(mean_areas))
    every = np.ones(len(edges), dtype=bool)
    return float(mean_areas[best]), _ridge(products, edges, every)[best]


def _area(scores: Scores, edges: Scores) -> float:
    return auc(scores[edges > 0], scores[edges == 0])


def _ridge(products: Scores, edges: Scores, rows: npt.NDArray[np.bool_]) -> list[Scores]:
    """Return the weights at each of `PENALTIES`: equal ones, and a ridge fit of what they leave."""
    centred, target = products[rows], edges[rows]
    centred, target = centred - centred.mean(axis=0), target - target.mean()
    total = centred.sum(axis=1)
    equal = (total @ target) / max(total @ total, 1e-12)
    right = centred.T @ (target - equal * total)
    gram = centred.T @ centred
    scale = float(np.trace(gram)) or 1.0
    identity = np.eye(len(gram))
    return [
        equal + linalg.solve(gram + penalty * scale * identity, right, assume_a="pos")
        for penalty in PENALTIES
    ]
