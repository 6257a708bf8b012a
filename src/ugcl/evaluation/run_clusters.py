"""Scoring a run by how well its clusters find the classes again, beside its controls."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ugcl._utils.errors import UGCLError
from ugcl.data import GraphFiles
from ugcl.evaluation.clusters import STARTS, ClusterScore, cluster_score
from ugcl.evaluation.comparison import compared
from ugcl.methods import METHODS, Shape
from ugcl.methods.options import check_integer
from ugcl.runs.folder import Run

FEATURE_CONTROLS = ("raw", "smooth")
"""Controls without training; there are no labels to choose on, so each has its own preset."""


@dataclass(frozen=True)
class ClusterEvaluation:
    """Scores of a run and of its controls.

    Attributes:
        clusters: how many clusters.
        starts: how often k-means started.
        seed: the seed of the first start.
        score: the run's.
        controls: those of the controls, by name.
        other: that of the run it is compared with, where there is one.
    """

    clusters: int
    starts: int
    seed: int
    score: ClusterScore
    controls: dict[str, ClusterScore]
    other: ClusterScore | None = None

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        result: dict[str, Any] = {
            "task": "clusters",
            **self.score.to_json(),
            "clusters": self.clusters,
            "starts": self.starts,
            "seed": self.seed,
            "controls": {name: score.to_json() for name, score in self.controls.items()},
        }
        if self.other is not None:
            result["against"] = self.other.to_json()
        return result


def evaluate_clusters(
    run: Run,
    *,
    starts: int = STARTS,
    seed: int = 0,
    against: Run | None = None,
    graph: str | GraphFiles | None = None,
    labels: GraphFiles | None = None,
    data_root: str | None = None,
    device: str | None = None,
    tell: Callable[[str], None] = lambda text: None,
) -> ClusterEvaluation:
    """Cluster a finished run's embeddings, and those of its controls, and compare with the labels.

    Args:
        run: the run.
        starts: how often k-means starts.
        seed: the seed of the first start.
        against: another run on the same graph to compare with.
        graph: where the run's graph is now, if it has moved or has labels that it had not.
        labels: where labels are that the run's graph had not, and which column is what.
        data_root: the folder of raw data sets, where it is not that of training any more.
        device: where to embed the untrained control.
        tell: is told what takes time.
    """
    check_integer("starts", starts, 1)
    check_integer("seed", seed, 0)
    who = compared(run, against, graph=graph, labels=labels, data_root=data_root, device=device)
    known = who.graph.labels
    if known is None or who.graph.num_classes < 2:
        raise UGCLError(
            "clusters are compared with classes, and the graph has fewer than 2: give the same "
            "graph with labels (ugcl evaluate --labels FILE)"
        )

    def score(name: str, embeddings: Any) -> ClusterScore:
        tell(f"clustering {name}, {starts} starts")
        return cluster_score(embeddings, known, starts=starts, seed=seed)

    own = score(run.config.method, who.run)
    other = None if who.other is None else score("the other run", who.other)
    controls = {}
    for name in FEATURE_CONTROLS:
        method = METHODS[name]
        model = method.build(Shape.of(who.graph), method.resolve("fast", who.graph, {}), 0)
        model.prepare(who.graph)
        controls[name] = score(name, model.embed(who.graph, "cpu"))
    controls |= {name: score(name, rows) for name, rows in who.untrained.items()}
    clusters = np.unique(known[known >= 0]).size
    return ClusterEvaluation(clusters, starts, seed, own, controls, other)
