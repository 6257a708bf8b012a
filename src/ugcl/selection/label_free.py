"""Choosing n without labels: `--scope auto`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ugcl.graph import Graph
from ugcl.methods.settings import Settings
from ugcl.selection.choice import MAX_N, Choice
from ugcl.selection.criteria import agreement, denoising, held_out_links, pseudo_labels
from ugcl.selection.masked import masked_features
from ugcl.selection.readouts import Readouts

MIN_NODES = 50
"""With fewer nodes a regression on a tenth of them says nothing."""

FALLBACK = 1
"""The n of a graph that says nothing about it: the neighbours."""

TELLING = 0.55
"""Held-out links say something about n if they are told from random pairs so well (AUC)."""

ROUNDING = 1e-5
"""Differences below this share of the largest number are rounding."""

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


def choose_scope(graph: Graph, max_n: int = MAX_N) -> Choice:
    """The n of `--scope auto`, from features and edges alone; computed once for a graph."""
    key = graph.fingerprint, max_n
    if key not in _known:
        _known[key] = estimated(Readouts(graph, max_n), BEST)
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
    choice = replace(choose_scope(graph), settings=tuple(open_scopes))
    return settings.replace(**dict.fromkeys(open_scopes, choice.n)), choice


def estimated(
    readouts: Readouts,
    name: str,
    estimators: Mapping[str, tuple[Estimator, str]] = ESTIMATORS,
) -> Choice:
    """The n that an estimator scores highest, or a smaller one that is as good."""
    estimator, words = estimators[name]
    if (choice := _nothing_to_go_by(readouts, name)) is not None:
        return choice
    scores = estimator(readouts)
    if name == BEST and not _clear(scores[:, scores.mean(axis=0).argmax()]):
        return _by_edges(readouts, scores)
    best, n = smallest_good(scores)
    why = f"of n = 0 to {readouts.max_n}, n = {best} {words}"
    if n < best:
        why += f", and n = {n} is hardly worse"
    return Choice(name, n, why, _means(scores))


def smallest_good(scores: npt.NDArray[np.float64]) -> tuple[int, int]:
    """The n with the best mean score, and the smallest one down from it that is hardly worse.

    From the best n downwards as long as the score falls short by less than one standard error of
    the difference, paired over repetitions: a smaller n costs less, and mixes less. Fewer than
    three repetitions have no error worth the name, and the best is taken.
    """
    best = n = int(scores.mean(axis=0).argmax())
    count = len(scores)
    if count < 3:
        return best, best
    behind = scores[:, [best]] - scores
    hardly = behind.mean(axis=0) <= behind.std(axis=0, ddof=1) / np.sqrt(count)
    while n > 0 and hardly[n - 1]:
        n -= 1
    return best, n


def _clear(values: npt.NDArray[np.float64]) -> bool:
    """Whether the mean of repetitions is above zero by more than two standard errors."""
    return bool(values.mean() > 2 * values.std(ddof=1) / np.sqrt(values.size))


def _by_edges(readouts: Readouts, scores: npt.NDArray[np.float64]) -> Choice:
    """Where features do not predict one another: by held-out links, if these say something."""
    found = held_out_links(readouts)[0]
    n, words = int(found.argmax()), "the features do not predict one another"
    if found[n] < TELLING:
        why = f"{words}, and held-out edges are hardly told from random pairs"
        return Choice(BEST, FALLBACK, why, _means(scores))
    why = f"{words}; n = {n} tells held-out edges from random pairs best"
    return Choice(BEST, n, why, _means(scores))


def _means(scores: npt.NDArray[np.float64]) -> tuple[float, ...]:
    return tuple(scores.mean(axis=0).tolist())


def _nothing_to_go_by(readouts: Readouts, name: str) -> Choice | None:
    graph = readouts.graph
    if graph.num_edges == 0:
        return Choice(name, 0, "the graph has no edges")
    if graph.num_nodes < MIN_NODES:
        return Choice(name, FALLBACK, f"fewer than {MIN_NODES} nodes say nothing about n")
    if min(_differing(matrix) for matrix in (graph.features, readouts.features)) < 2:
        return Choice(name, FALLBACK, "fewer than two features that differ say nothing about n")
    return None


def _differing(features: Any) -> int:
    """How many columns are not the same for all nodes, apart from rounding."""
    max_n, least = (
        end.toarray() if sp.issparse(end) else end
        for end in (features.max(axis=0), features.min(axis=0))
    )
    return int((max_n - least > ROUNDING * abs(features).max()).sum())
