"""Selection of n without labels: `--scope auto`."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ugcl._utils.linalg import one_thread
from ugcl._utils.random import numpy_generator
from ugcl._utils.rows import induced, take_rows
from ugcl.graph import Graph
from ugcl.methods.settings import Settings
from ugcl.selection.choice import MAX_N, Choice
from ugcl.selection.criteria import agreement, denoising, held_out_links, pseudo_labels
from ugcl.selection.masked import LARGE_GRAPH, masked_features
from ugcl.selection.readouts import Readouts
from ugcl.selection.stopping import one_standard_error_rule, standard_errors
from ugcl.typing import Features
from ugcl.views import sample_nodes, scale_features

logger = logging.getLogger(__name__)

MIN_NODES = 50
"""With fewer nodes a regression on a tenth of them is meaningless."""

FALLBACK_N = 1
"""The n of graphs on which no criterion applies: the direct neighbours."""

MIN_LINK_AUC = 0.55
"""Held-out links are used to select n if they are predicted at least this well."""

SAMPLE = 20_000
"""Nodes of a large graph whose features are checked, and whose held-out links are predicted."""

TOLERANCE = 1e-5
"""Differences below this fraction of the largest value are rounding errors."""

Criterion = Callable[[Readouts], npt.NDArray[np.float64]]
"""Returns scores, repetitions x (last n + 1), higher is better; last n is at most `max_n`."""

CRITERIA: Mapping[str, tuple[Criterion, str]] = {
    "masked-features": (masked_features, "predicts masked features best"),
    "held-out-links": (held_out_links, "predicts held-out edges best"),
    "pseudo-labels": (pseudo_labels, "is the last with strong dominance of clusters"),
    "denoising": (denoising, "smooths the features best by generalised cross-validation"),
    "agreement": (agreement, "gives the highest agreement of two halves of the features"),
}
"""The criteria that need no training, and the phrase for the n that each of them selects."""

DEFAULT_CRITERION = "masked-features"

_cache: dict[tuple[str, int], Choice] = {}


def choose_scope(graph: Graph, max_n: int = MAX_N) -> Choice:
    """Select the n of `--scope auto` from features and edges; cached for each graph."""
    key = graph.fingerprint, max_n
    if key not in _cache:
        _cache[key] = apply_criterion(Readouts(graph, max_n), DEFAULT_CRITERION)
    return _cache[key]


def resolve_scope(settings: Settings, graph: Graph) -> tuple[Settings, Choice | None]:
    """Replace scopes that are "auto" by the selected n; the choice is None if there are none."""
    values = settings.values()
    names = tuple(name for name in ("scope", "readout_scope") if values.get(name) == "auto")
    if not names:
        return settings, None
    logger.info("choosing n without labels (set the scope to skip this)")
    choice = replace(choose_scope(graph), settings=names)
    return settings.replace(**dict.fromkeys(names, choice.n)), choice


@one_thread()
def apply_criterion(
    readouts: Readouts,
    name: str,
    criteria: Mapping[str, tuple[Criterion, str]] = CRITERIA,
    *,
    all_scores: bool = False,
) -> Choice:
    """Select n by a criterion and the one-standard-error rule.

    Args:
        readouts: the graph and the largest n.
        name: name of the criterion.
        criteria: the criteria by name.
        all_scores: whether `Choice.scores` has every n for the default criterion, also those that
            were not needed; the choice is the same.
    """
    criterion, phrase = criteria[name]
    if (choice := _check_graph(readouts, name)) is not None:
        return choice
    scores = criterion(readouts)
    means = scores.mean(axis=0)
    best, n = one_standard_error_rule(scores)
    why = f"of n = 0 to {means.size - 1}, n = {best} {phrase}"
    if n < best:
        why += f", and n = {n} is within one standard error"
    if name == DEFAULT_CRITERION and not _significant(scores[:, best]):
        n, why = _choose_by_links(readouts)
    if name == DEFAULT_CRITERION and all_scores:
        means = masked_features(readouts, stop=False).mean(axis=0)
    return Choice(name, n, why, tuple(means.tolist()))


def _significant(scores: npt.NDArray[np.float64]) -> bool:
    """Whether the mean over repetitions is above zero by more than two standard errors."""
    return bool(scores.mean() > 2 * standard_errors(scores))


def _choose_by_links(readouts: Readouts) -> tuple[int, str]:
    """Select n by held-out links, for features that do not predict one another.

    In a large graph, by those of the subgraph of `SAMPLE` nodes in balls around random nodes.
    """
    graph = readouts.graph
    if graph.num_nodes >= LARGE_GRAPH:
        rng = numpy_generator("held-out links", 0, 1)
        nodes = sample_nodes(graph.adjacency, SAMPLE, "ball", rng)
        parts = induced(graph.adjacency, nodes), take_rows(graph.features, nodes)
        readouts = Readouts(Graph(*parts, weighted=graph.weighted), readouts.max_n)
    aucs = held_out_links(readouts)[0]
    n, reason = int(aucs.argmax()), "the features do not predict one another"
    if aucs[n] < MIN_LINK_AUC:
        return (
            FALLBACK_N,
            f"{reason}, and held-out edges are hardly predictable",
        )
    return n, f"{reason}; n = {n} predicts held-out edges best"


def _check_graph(readouts: Readouts, name: str) -> Choice | None:
    """Return the choice for graphs that no criterion can score."""
    graph = readouts.graph
    if graph.num_edges == 0:
        return Choice(name, 0, "the graph has no edges")
    if graph.num_nodes < MIN_NODES:
        return Choice(name, FALLBACK_N, f"fewer than {MIN_NODES} nodes, too few to choose n")
    features = graph.features
    if graph.num_nodes >= LARGE_GRAPH:
        rng = numpy_generator("masked features", 0)
        nodes = np.sort(rng.choice(graph.num_nodes, SAMPLE, replace=False))
        features = take_rows(features, nodes)
    scaled = scale_features(features, "l2")
    if min(_num_varying(matrix) for matrix in (features, scaled)) < 2:
        return Choice(name, FALLBACK_N, "fewer than two features that vary, too few to choose n")
    return None


def _num_varying(features: Features) -> int:
    """Count the columns that are not constant up to rounding."""
    largest, smallest = (
        extreme.toarray() if sp.issparse(extreme) else extreme
        for extreme in (features.max(axis=0), features.min(axis=0))
    )
    return int((largest - smallest > TOLERANCE * abs(features).max()).sum())
