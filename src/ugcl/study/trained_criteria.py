"""Criteria for n that train a model: `ugcl scope --deep`."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from ugcl.engine import fit
from ugcl.graph import Graph
from ugcl.selection.criteria import pseudo_labels
from ugcl.selection.label_free import FALLBACK_N, Criterion
from ugcl.selection.masked import r_squared, sample_split
from ugcl.selection.readouts import Readouts
from ugcl.typing import Features

REPEATS = 2


def trained_masked_features(readouts: Readouts) -> npt.NDArray[np.float64]:
    """Return the scores of `masked_features` with an encoder trained on the visible features."""
    scores = np.empty((REPEATS, readouts.max_n + 1))
    for repeat in range(REPEATS):
        split = sample_split(readouts, 0, repeat)
        visible = readouts.graph.features[:, split.visible]
        rows = readouts.for_each_n(_encode(readouts.graph, visible, repeat), split.nodes)
        scores[repeat] = [r_squared(at_n, split) for at_n in rows]
    return scores


def trained_pseudo_labels(readouts: Readouts) -> npt.NDArray[np.float64]:
    """Return the scores of `pseudo_labels` with clusters of trained embeddings."""
    graph = readouts.graph
    return pseudo_labels(readouts, embeddings=_encode(graph, graph.features, 0))


def _encode(graph: Graph, features: Features, seed: int) -> npt.NDArray[np.float32]:
    """Return H of UGCL, trained with the values of `fast` for a graph that it does not name."""
    unnamed = Graph(graph.adjacency, features, weighted=graph.weighted)
    fitted = fit(
        "ugcl", unnamed, preset="fast", seed=seed, device="cpu", scope=FALLBACK_N, readout="hidden"
    )
    return np.asarray(fitted.embed(unnamed))


TRAINED_CRITERIA: Mapping[str, tuple[Criterion, str]] = {
    "trained masked-features": (
        trained_masked_features,
        "predicts masked features best after training on the others",
    ),
    "trained pseudo-labels": (
        trained_pseudo_labels,
        "is the last with strong dominance of clusters of trained embeddings",
    ),
}
"""The criteria by name, each with a description of its n."""
