"""What scores a run on a split: a probe of its embeddings, or its own predictions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Literal

import numpy as np

from ugcl.data.splits import Split
from ugcl.engine import train
from ugcl.evaluation.probe import Protocol, Score, linear_probe, predicted_score
from ugcl.graph import Graph
from ugcl.methods import Predictor, Shape, method_named
from ugcl.runs.folder import Run

Scoring = Literal["honest", "paper", "predictions"]
"""By one of the probes, or by the predictions of a method that learned from labels."""

Scorer = Callable[[Split], Score]


def scoring_of(run: Run, protocol: Scoring | None) -> Scoring:
    """How a run is scored: as asked for, or as suits its method."""
    supervised = method_named(run.config.method).supervised
    return protocol or ("predictions" if supervised else "honest")


def scorer(
    run: Run,
    graph: Graph,
    embeddings: Any,
    protocol: Scoring | None,
    device: str,
    tell: Callable[[str], None],
) -> Scorer:
    """What scores a run on a split, by its embeddings or its predictions."""
    scoring, seed = scoring_of(run, protocol), run.config.seed
    if not method_named(run.config.method).supervised:
        assert scoring != "predictions"
        return partial(probed, embeddings, graph, scoring, seed)
    labels, learned_from = graph.labels, run.config.split_of(graph)
    assert labels is not None

    def score(split: Split) -> Score:
        same = all(np.array_equal(split[part], learned_from[part]) for part in ("train", "val"))
        model = None if same else _retrained(run, replace(graph, splits=dict(split)), device, tell)
        if scoring == "predictions":
            predicted = (
                run.predictions() if model is None else model.predict(graph, device).argmax(axis=1)
            )
            return predicted_score(predicted, labels, split)
        rows = embeddings if model is None else model.embed(graph, device)
        return probed(rows, graph, scoring, seed, split)

    return score


def _retrained(run: Run, graph: Graph, device: str, tell: Callable[[str], None]) -> Predictor:
    """The run's model, trained on the graph's split."""
    tell(f"training {run.config.method} anew for another split")
    model = run.config.untrained_model(Shape.of(graph))
    assert isinstance(model, Predictor)
    train(model, graph, run.config.settings, device=device)
    return model


def probed(embeddings: Any, graph: Graph, protocol: Protocol, seed: int, split: Split) -> Score:
    """The score of a probe on a split; `seed` is that of the authors' probe."""
    assert graph.labels is not None
    return linear_probe(embeddings, graph.labels, split, protocol, dataset=graph.name, seed=seed)
