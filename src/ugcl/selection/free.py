"""Choosing n without labels: `--scope auto`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ugcl.graph import Graph
from ugcl.methods.settings import Settings
from ugcl.selection.choice import MOST, Choice
from ugcl.selection.masked import masked_features
from ugcl.selection.readouts import Readouts
from ugcl.selection.rivals import agreement, denoising, held_out_links, pseudo_labels

LEAST_NODES = 50
"""With fewer nodes a regression on a tenth of them says nothing."""

ERRORS = 2.0
"""Standard errors that make a difference clear."""

FALLBACK = 2
"""The n of a graph that says nothing about it."""

Estimator = Callable[[Readouts], npt.NDArray[np.float64]]

ESTIMATORS: Mapping[str, tuple[Estimator, str]] = {
    "masked-features": (masked_features, "predicts hidden features of a node best"),
    "held-out-links": (held_out_links, "tells edges that were taken away best"),
    "pseudo-labels": (pseudo_labels, "is the last to hold strong dominance of clusters"),
    "denoising": (denoising, "smooths the features best by generalised cross-validation"),
    "agreement": (agreement, "makes two halves of the features agree best"),
}
"""Those that need no training, the best first, and what their n is said to do."""

BEST = "masked-features"

_known: dict[tuple[str, int], Choice] = {}


def choose_scope(graph: Graph, most: int = MOST) -> Choice:
    """The n of `--scope auto`, from features and edges alone; computed once for a graph."""
    key = graph.fingerprint, most
    if key not in _known:
        _known[key] = estimated(Readouts(graph, most), BEST)
    return _known[key]


def resolve_scope(
    settings: Settings, graph: Graph, tell: Callable[[str], None] = lambda text: None
) -> tuple[Settings, Choice | None]:
    """Settings whose scopes are numbers, and how "auto" was chosen where they were not."""
    values = settings.values()
    open_scopes = [name for name in ("scope", "readout_scope") if values.get(name) == "auto"]
    if not open_scopes:
        return settings, None
    tell("choosing n without labels (--scope N sets it)")
    choice = choose_scope(graph)
    return settings.replace(**dict.fromkeys(open_scopes, choice.n)), choice


def estimated(
    readouts: Readouts,
    name: str,
    estimators: Mapping[str, tuple[Estimator, str]] = ESTIMATORS,
) -> Choice:
    """The n that an estimator scores highest, or a smaller one that is as good."""
    estimator, words = estimators[name]
    if (choice := _nothing_to_go_by(readouts.graph, name)) is not None:
        return choice
    scores = estimator(readouts)
    best, n = smallest_good(scores)
    means = scores.mean(axis=0)
    why = f"of n = 0 to {readouts.most}, n = {best} {words}"
    if n < best:
        why += f", and n = {n} is the smallest that is not clearly worse"
    return Choice(name, n, why, tuple(means.tolist()))


def smallest_good(scores: npt.NDArray[np.float64]) -> tuple[int, int]:
    """The n with the best mean score, and the smallest that is not clearly below it.

    Clearly: by more than `ERRORS` standard errors of the difference, paired over repetitions. A
    graph whose scope hardly matters, or whose features say nothing, gets a small n by that. Fewer
    than three repetitions have no error worth the name, and the best is taken.
    """
    best = int(scores.mean(axis=0).argmax())
    count = len(scores)
    if count < 3:
        return best, best
    behind = scores[:, [best]] - scores
    error = behind.std(axis=0, ddof=1) / np.sqrt(count)
    return best, int(np.flatnonzero(behind.mean(axis=0) <= ERRORS * error)[0])


def _nothing_to_go_by(graph: Graph, name: str) -> Choice | None:
    if graph.num_edges == 0:
        return Choice(name, 0, "the graph has no edges")
    if graph.num_nodes < LEAST_NODES:
        return Choice(name, FALLBACK, f"fewer than {LEAST_NODES} nodes say nothing about n")
    if _columns(graph.features) < 2:
        return Choice(name, FALLBACK, "fewer than two features that differ say nothing about n")
    return None


def _columns(features: Any) -> int:
    """How many columns are not the same for all nodes."""
    most, least = (
        end.toarray() if sp.issparse(end) else end
        for end in (features.max(axis=0), features.min(axis=0))
    )
    return int((most != least).sum())
