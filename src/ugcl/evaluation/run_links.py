"""Scoring a run by the edges that it did not see, beside its controls."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from ugcl._utils.errors import UGCLError
from ugcl.data import GraphFiles, non_edges
from ugcl.evaluation.comparison import Compared, compared
from ugcl.evaluation.controls import FeatureControls
from ugcl.evaluation.links import LinkScore, Similarity, best_similarity, pair_scores
from ugcl.evaluation.statistics import Estimate
from ugcl.graph import Graph
from ugcl.methods.options import check_integer
from ugcl.runs.folder import Run

MIN_EDGES = 10
"""Fewer edges would say nothing, and seem to say it for certain."""

VALIDATION = 0.25
"""The share of held-out edges that choices are made on, and that are not scored."""


@dataclass(frozen=True)
class LinkEvaluation:
    """Scores of a run and of its controls.

    Attributes:
        counts: held-out edges to choose on and to score, each beside as many other pairs.
        seed: the seed of the other pairs.
        score: the run's.
        controls: those of the controls, by name.
        gains: how much more AUC the run has than each.
        other: the score of the run it is compared with, and how much more AUC the run has.
    """

    counts: dict[str, int]
    seed: int
    score: LinkScore
    controls: dict[str, LinkScore]
    gains: dict[str, Estimate]
    other: tuple[LinkScore, Estimate] | None = None

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
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


@dataclass(frozen=True)
class _Pairs:
    """Held-out edges and other pairs: some to choose on, the others to score."""

    choose: tuple[Any, Any]
    score: tuple[Any, Any]

    @classmethod
    def of(cls, graph: Graph, held_out: Any, seed: int) -> _Pairs:
        """As many pairs that no edge joins, seen or held out, as there are held-out edges."""
        ones = np.ones(len(held_out), dtype=np.float32)
        held = sp.coo_array((ones, tuple(held_out.T)), shape=graph.adjacency.shape)
        others = non_edges((graph.adjacency + held + held.T).tocsr(), len(held_out), seed)
        rng = np.random.default_rng(seed)
        count = max(1, round(VALIDATION * len(held_out)))
        edges = rng.permutation(held_out)
        return cls((edges[:count], others[:count]), (edges[count:], others[count:]))

    def link_score(self, embeddings: Any) -> LinkScore:
        """The score of embeddings, by the similarity that is better on the pairs to choose on."""
        return self.scored(embeddings, best_similarity(embeddings, *self.choose)[1], {})

    def scored(self, embeddings: Any, similarity: Similarity, about: dict[str, Any]) -> LinkScore:
        """The score of embeddings by a similarity."""
        edges, others = (pair_scores(embeddings, pairs, similarity) for pairs in self.score)
        return LinkScore.of(edges, others, {**about, "similarity": similarity})


def evaluate_links(
    run: Run,
    *,
    seed: int = 0,
    against: Run | None = None,
    graph: str | GraphFiles | None = None,
    labels: GraphFiles | None = None,
    data_root: str | None = None,
    device: str | None = None,
    tell: Callable[[str], None] = lambda text: None,
) -> LinkEvaluation:
    """Score a finished run by its held-out edges, beside as many pairs that no edge joins.

    A quarter of the held-out edges decides between cosine and inner product, for the run as for the
    controls, and how far the controls smooth and how they scale; the others are scored.

    Args:
        run: the run.
        seed: the seed of the other pairs and of which edges are scored.
        against: another run on the same graph that held out the same edges.
        graph: where the run's graph is now, if it has moved.
        labels: where labels are that the run's graph had not, and which column is what.
        data_root: the folder of raw data sets, where it is not that of training any more.
        device: where to embed the untrained control.
        tell: is told what takes time.
    """
    check_integer("seed", seed, 0)
    run.require_finished()
    run.require_held_out()
    who = compared(run, against, graph=graph, labels=labels, data_root=data_root, device=device)
    run.check_held_out(who.held_out)
    pairs = _Pairs.of(who.graph, who.held_out, seed)
    if len(pairs.score[0]) < MIN_EDGES:
        raise UGCLError(
            f"{run.path} held out {len(who.held_out):,} edges, too few to score: train it again "
            "with a larger --hold-out-edges"
        )
    tell("choosing how far the controls smooth and how they scale, on validation edges")
    score = pairs.link_score(who.run)
    controls = _feature_controls(who, pairs)
    controls |= {name: pairs.link_score(rows) for name, rows in who.untrained.items()}
    other = None if who.other is None else pairs.link_score(who.other)
    return LinkEvaluation(
        {"chosen_on": len(pairs.choose[0]), "scored": len(pairs.score[0])},
        seed,
        score,
        controls,
        {name: score.gain_over(each) for name, each in controls.items()},
        None if other is None else (other, score.gain_over(other)),
    )


def _feature_controls(who: Compared, pairs: _Pairs) -> dict[str, LinkScore]:
    """The controls of features and edges, each at its best on the pairs to choose on."""
    best: dict[str, float] = {}
    scores: dict[str, LinkScore] = {}
    for candidate, matrix in FeatureControls(who.graph).candidates():
        area, similarity = best_similarity(matrix, *pairs.choose)
        name = candidate.control
        if area > best.get(name, -1.0):
            about = {"scaling": candidate.scaling, "k": candidate.k}
            best[name], scores[name] = area, pairs.scored(matrix, similarity, about)
    return scores
