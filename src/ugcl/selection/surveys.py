"""Survey of a graph: homophily at every n, and the n that each rule selects."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from scipy.sparse.csgraph import connected_components

from ugcl.graph import Graph
from ugcl.scope import (
    ContextualHomophily,
    average_degree,
    contextual_homophily,
    edge_homophily,
    lower_bounds,
    sparsity,
)
from ugcl.selection.choice import MAX_N, Choice
from ugcl.selection.label_free import CRITERIA, DEFAULT_CRITERION, Criterion, apply_criterion
from ugcl.selection.paper_rule import (
    bound_degree,
    bound_inputs,
    paper_rule,
    training_labels_rule,
)
from ugcl.selection.readouts import Readouts
from ugcl.typing import Degree, NodeIndices

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Survey:
    """Homophily of a graph and the n that each rule selects, as `ugcl scope` prints them.

    Attributes:
        graph: the graph.
        components: number of connected components.
        largest: number of nodes of the largest component.
        degree: average degree, 2E/N.
        bound_degree: degree used in Lemma 1.
        homophily: edge homophily; None without labels.
        lower_bound: Lemma 1's bound for n = 1, 2, ...; None without labels.
        measured: the contextual homophily rates P_n(i); None without labels.
        choices: the choice of each rule.
        max_n: the largest n.
    """

    graph: Graph
    components: int
    largest: int
    degree: float
    bound_degree: float
    homophily: float | None
    lower_bound: list[float] | None
    measured: ContextualHomophily | None
    choices: tuple[Choice, ...]
    max_n: int = MAX_N

    def choice(self, rule: str) -> Choice:
        """Return the choice of a rule."""
        return next(choice for choice in self.choices if choice.rule == rule)

    def scores(self, rule: str) -> tuple[float, ...]:
        """Return the scores of n = 0, ..., `max_n` by a rule; NaN where they were not computed."""
        known = self.choice(rule).scores or ()
        return known + (float("nan"),) * (self.max_n + 1 - len(known))

    def to_json(self) -> dict[str, Any]:
        """Convert to plain data; curves start at n = 1, scores at n = 0, null if not computed."""
        rates = self.measured
        return {
            "graph": self.graph.name,
            "nodes": self.graph.num_nodes,
            "edges": self.graph.num_edges,
            "features": self.graph.num_features,
            "components": self.components,
            "largest_component": self.largest,
            "isolated": int((np.diff(self.graph.adjacency.indptr) == 0).sum()),
            "degree": self.degree,
            "bound_degree": self.bound_degree,
            "sparsity": sparsity(self.graph.adjacency),
            "homophily": self.homophily,
            "lower_bound": self.lower_bound,
            "measured": None if rates is None else _curve(rates.mean()),
            "measured_ci95": None if rates is None else [_curve(ends) for ends in rates.interval()],
            "measured_nodes": None if rates is None else int(rates.sources.size),
            "dominant": None if rates is None else _curve(rates.dominant()),
            "strongly_dominant": None if rates is None else _curve(rates.strongly_dominant()),
            "below_bound": self.below_bound,
            "chosen": {
                "paper": self.choice("paper").n,
                "train-labels": self.choice("train-labels").n,
                "label-free": self.choice(DEFAULT_CRITERION).n,
            },
            "rules": {
                choice.rule: {
                    "n": choice.n,
                    "why": choice.why,
                    "scores": None if choice.scores is None else _curve(self.scores(choice.rule)),
                }
                for choice in self.choices
            },
        }

    @property
    def below_bound(self) -> list[int] | None:
        """The n > 1 whose measured mean rate is below Lemma 1's expression: not a bound there.

        At n = 1 the two differ only because one is a mean over edges and the other over nodes.
        None without labels, and if Lemma 1 is computed for a sample: the whole graph is measured.
        """
        if self.measured is None or self.lower_bound is None or self.degree != self.bound_degree:
            return None
        pairs = zip(self.measured.mean(), self.lower_bound, strict=True)
        return [n for n, (rate, bound) in enumerate(pairs, 1) if n > 1 and rate < bound]


def survey(
    graph: Graph,
    *,
    train: NodeIndices | None = None,
    sample: int | None = None,
    convention: Degree = "average",
    max_n: int = MAX_N,
    trained: Mapping[str, tuple[Criterion, str]] = MappingProxyType({}),
    criteria: Sequence[str] = tuple(CRITERIA),
    all_scores: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Survey:
    """Measure the homophily of a graph at every n and apply every selection rule.

    Args:
        graph: the graph, with or without labels.
        train: nodes whose labels the rule from training labels uses.
        sample: S, to compute Lemma 1 for a random sample of S nodes.
        convention: degree used in Lemma 1.
        max_n: the largest n.
        trained: criteria that train, for example `ugcl.study.TRAINED_CRITERIA`.
        criteria: names of the criteria without training; must include the default one.
        all_scores: whether the default criterion scores every n, also after its score has fallen
            and no further n is needed for the choice.
        progress: called with the number of nodes whose neighbourhoods are counted, and the total.
    """
    adjacency, labels = graph.adjacency, graph.labels
    components, membership = connected_components(adjacency, directed=False)
    homophily = None if labels is None else edge_homophily(adjacency, labels)
    degree = bound_degree(adjacency, sample, convention)
    bounds = None
    if homophily is not None and degree > 0:
        bounds = lower_bounds(*bound_inputs(homophily, adjacency, sample, convention), max_n)
    measured = None
    if labels is not None and graph.num_classes:
        logger.info("counting neighbourhoods")
        measured = contextual_homophily(adjacency, labels, max_n, progress=progress)
    choices = [
        paper_rule(adjacency, labels, sample=sample, convention=convention, max_n=max_n),
        training_labels_rule(
            adjacency, labels, train, sample=sample, convention=convention, max_n=max_n
        ),
    ]
    readouts = Readouts(graph, max_n)
    for name in (*criteria, *trained):
        logger.info("scoring n by %s", name)
        known = {**CRITERIA, **trained}
        choices.append(apply_criterion(readouts, name, known, all_scores=all_scores))
    return Survey(
        graph,
        int(components),
        int(np.bincount(membership).max()),
        average_degree(adjacency),
        degree,
        homophily,
        bounds,
        measured,
        tuple(choices),
        max_n,
    )


def _curve(values: Iterable[float]) -> list[float | None]:
    return [float(value) if np.isfinite(value) else None for value in values]
