"""A graph's scopes at a glance: what it is like, and which n each rule would take."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt
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
from ugcl.selection.label_free import BEST, ESTIMATORS, Estimator, estimated
from ugcl.selection.paper_rule import (
    Degree,
    degree_of,
    entering,
    paper_rule,
    training_labels_rule,
)
from ugcl.selection.readouts import Readouts

Curve = list[float | None]


@dataclass(frozen=True)
class Survey:
    """What `ugcl scope` tells about a graph.

    Attributes:
        graph: the graph.
        components: how many connected components it has.
        largest: how many nodes the largest has.
        degree: its average degree, 2E/N.
        bound_degree: the degree that entered Lemma 1.
        homophily: the share of edges that join one class; None without labels.
        lower_bound: Lemma 1's expression for n = 1, 2, ...; None without labels.
        measured: `P_n(i)` as it is; None without labels.
        choices: what each rule says; those of the paper and of training labels come first.
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

    def choice(self, rule: str) -> Choice:
        """What a rule says."""
        return next(choice for choice in self.choices if choice.rule == rule)

    def to_json(self) -> dict[str, Any]:
        """As plain data; lists are for n = 1, 2, ..., those of estimators' scores for n = 0, ..."""
        found = self.measured
        mean = None if found is None else _curve(found.mean())
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
            "measured": mean,
            "measured_ci95": None if found is None else [_curve(r) for r in found.interval()],
            "measured_nodes": None if found is None else int(found.sources.size),
            "dominant": None if found is None else _curve(found.dominant()),
            "strongly_dominant": None if found is None else _curve(found.strongly_dominant()),
            "below_bound": self.below_bound,
            "chosen": {
                "paper": self.choice("paper").n,
                "train-labels": self.choice("train-labels").n,
                "label-free": self.choice(BEST).n,
            },
            "rules": {
                choice.rule: {
                    "n": choice.n,
                    "why": choice.why,
                    "scores": None if choice.scores is None else _curve(choice.scores),
                }
                for choice in self.choices
            },
        }

    @property
    def below_bound(self) -> list[int] | None:
        """Those n whose measured mean rate lies below Lemma 1's expression: it is no bound there.

        At n = 1 the two differ only because one is a mean over edges and the other over nodes.
        None without labels, and where Lemma 1 is not that of the whole graph, which is measured.
        """
        if self.measured is None or self.lower_bound is None or self.degree != self.bound_degree:
            return None
        pairs = zip(self.measured.mean(), self.lower_bound, strict=True)
        return [n for n, (rate, bound) in enumerate(pairs, 1) if n > 1 and rate < bound]


def survey(
    graph: Graph,
    *,
    train: npt.NDArray[np.int64] | None = None,
    sample: int | None = None,
    convention: Degree = "average",
    max_n: int = MAX_N,
    trained: Mapping[str, tuple[Estimator, str]] = MappingProxyType({}),
    estimators: Sequence[str] = tuple(ESTIMATORS),
    tell: Callable[[str], None] = lambda text: None,
    progress: Callable[[int, int], None] | None = None,
) -> Survey:
    """Look at a graph.

    Args:
        graph: the graph, with labels or without.
        train: the nodes whose labels a user has, for the rule from training labels.
        sample: S, where Lemma 1 is to be that of a random sample of S nodes.
        convention: which degree enters Lemma 1.
        max_n: the largest n.
        trained: further estimators, for example `ugcl.study.TRAINED_CRITERIA`.
        estimators: those without training that are asked; the best must be among them.
        tell: is told what takes time.
        progress: is told how many of how many nodes' neighbourhoods have been counted.
    """
    adjacency, labels = graph.adjacency, graph.labels
    components, membership = connected_components(adjacency, directed=False)
    homophily = None if labels is None else edge_homophily(adjacency, labels)
    degree = degree_of(adjacency, sample, convention)
    bounds = None
    if homophily is not None and degree > 0:
        bounds = lower_bounds(*entering(homophily, adjacency, sample, convention), max_n)
    measured = None
    if labels is not None and graph.num_classes:
        tell("counting neighbourhoods")
        measured = contextual_homophily(adjacency, labels, max_n, progress=progress)
    choices = [
        paper_rule(adjacency, labels, sample=sample, convention=convention, max_n=max_n),
        training_labels_rule(
            adjacency, labels, train, sample=sample, convention=convention, max_n=max_n
        ),
    ]
    readouts = Readouts(graph, max_n)
    for name in estimators:
        tell(f"asking {name}")
        choices.append(estimated(readouts, name))
    for name in trained:
        tell(f"asking {name}")
        choices.append(estimated(readouts, name, trained))
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
    )


def _curve(values: Any) -> Curve:
    return [float(value) if np.isfinite(value) else None for value in values]
