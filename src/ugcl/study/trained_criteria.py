"""Estimators of n that train: `ugcl scope --deep`."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from ugcl.engine import train
from ugcl.graph import Graph
from ugcl.methods import METHODS, Shape
from ugcl.selection.criteria import pseudo_labels
from ugcl.selection.label_free import FALLBACK, Estimator
from ugcl.selection.masked import halves, predicted
from ugcl.selection.readouts import Readouts

REPEATS = 2


def trained_masked_features(readouts: Readouts) -> npt.NDArray[np.float64]:
    """`masked_features` with an encoder that was trained on the features that are not hidden."""
    scores = np.empty((REPEATS, readouts.max_n + 1))
    for repeat in range(REPEATS):
        half = halves(readouts, 0, repeat)
        graph = readouts.graph
        seen = Graph(graph.adjacency, graph.features[:, half.seen], weighted=graph.weighted)
        rows = readouts.of(_encoded(seen, repeat), half.nodes)
        scores[repeat] = [predicted(each, half) for each in rows]
    return scores


def trained_pseudo_labels(readouts: Readouts) -> npt.NDArray[np.float64]:
    """`pseudo_labels` by clusters of trained embeddings."""
    return pseudo_labels(readouts, embeddings=_encoded(readouts.graph, 0))


def _encoded(graph: Graph, seed: int) -> npt.NDArray[np.float32]:
    """H of UGCL, trained with the settings of `fast` for a graph without its own."""
    unnamed = Graph(graph.adjacency, graph.features, weighted=graph.weighted)
    given = {"scope": FALLBACK, "readout": "hidden"}
    settings = METHODS["ugcl"].resolve("fast", unnamed, given)
    model = METHODS["ugcl"].build(Shape.of(graph), settings, seed)
    train(model, unnamed, settings)
    return np.asarray(model.embed(unnamed, "cpu"))


TRAINED_CRITERIA: Mapping[str, tuple[Estimator, str]] = {
    "trained masked-features": (
        trained_masked_features,
        "predicts hidden features best after training on the others",
    ),
    "trained pseudo-labels": (
        trained_pseudo_labels,
        "is the last to hold strong dominance of clusters of trained embeddings",
    ),
}
"""Those that train, and what their n is said to do."""
