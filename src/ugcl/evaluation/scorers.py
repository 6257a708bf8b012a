"""Scorers: functions from a split to a score, by a probe or by a run's own predictions."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from ugcl.data.splits import Split
from ugcl.engine import Fitted, fit
from ugcl.evaluation.probe import Score, predicted_score
from ugcl.evaluation.protocols import linear_probe
from ugcl.graph import Graph
from ugcl.runs import Run
from ugcl.typing import Embeddings, Protocol, Scoring

logger = logging.getLogger(__name__)

Scorer = Callable[[Split], Score]


def default_scoring(run: Run, protocol: Scoring | None) -> Scoring:
    """Return the requested protocol; by default predictions of supervised methods, else honest."""
    return protocol or ("predictions" if run.config.supervised else "honest")


def run_scorer(
    run: Run, graph: Graph, embeddings: Embeddings, protocol: Scoring | None, device: str
) -> Scorer:
    """Return the scorer of a run, by its embeddings or its predictions.

    A supervised run has seen labels of its own split, so for any other split it is trained again.
    """
    scoring, seed = default_scoring(run, protocol), run.config.seed
    if not run.config.supervised:
        assert scoring != "predictions"
        return partial(probe_score, embeddings, graph, scoring, seed)
    labels, training_split = graph.labels, run.config.split_of(graph)
    assert labels is not None

    def score(split: Split) -> Score:
        same = all(np.array_equal(split[part], training_split[part]) for part in ("train", "val"))
        retrained = None if same else _retrain(run, replace(graph, splits=split), device)
        if scoring == "predictions":
            if retrained is None:
                return predicted_score(run.predictions(), labels, split)
            return predicted_score(retrained.predict_proba(graph).argmax(axis=1), labels, split)
        rows = embeddings if retrained is None else retrained.embed(graph)
        return probe_score(rows, graph, scoring, seed, split)

    return score


def _retrain(run: Run, graph: Graph, device: str) -> Fitted:
    """Train the run's method on the graph's split."""
    config, method = run.config, run.config.load_method()
    logger.info("training %s again for another split", method.name)
    return fit(method, graph, settings=config.settings, seed=config.seed, device=device)


def probe_score(
    embeddings: Embeddings, graph: Graph, protocol: Protocol, seed: int, split: Split
) -> Score:
    """Return the score of a probe on a split; `seed` is that of a probe trained by Adam."""
    assert graph.labels is not None
    return linear_probe(embeddings, graph.labels, split, protocol, dataset=graph.name, seed=seed)
