"""Link prediction: do similarities of embeddings separate held-out edges from other pairs?"""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy import stats
from sklearn.metrics import average_precision_score

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
from ugcl.evaluation.similarity import (
    Scores,
    auc,
    best_similarity,
    fit_weights,
    normalised_ranks,
    pair_scores,
)
from ugcl.evaluation.statistics import LEVEL, Estimate, standard_error
from ugcl.graph import Graph
from ugcl.methods.params import check_integer
from ugcl.runs import Run
from ugcl.typing import Embeddings, NodeIndices

logger = logging.getLogger(__name__)

HITS = (10, 50, 100)
"""Values of K in Hits@K."""

MIN_EDGES = 10
"""Minimum number of edges to score."""

VALIDATION = 0.25
"""The fraction of held-out edges for validation, which are not scored."""


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
        ranks = (normalised_ranks(score.positive, score.negative) for score in (self, other))
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
