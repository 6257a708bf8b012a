"""Clustering: agreement of k-means clusters of the embeddings with the classes."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.metrics.cluster import contingency_matrix

from ugcl._utils.errors import UGCLError
from ugcl._utils.progress import steps
from ugcl._utils.random import seed_of
from ugcl.data import GraphFiles
from ugcl.engine import fit
from ugcl.evaluation.comparison import load_comparison
from ugcl.evaluation.controls import Candidate, FeatureControls
from ugcl.methods import DEFAULT_PRESET, get_method
from ugcl.methods.params import check_integer
from ugcl.runs import Run
from ugcl.runs.clusters import unit_rows
from ugcl.typing import Embeddings, LabelArray

logger = logging.getLogger(__name__)

STARTS = 10
"""Number of k-means starts."""

MEASURES = {
    "nmi": "normalised mutual information",
    "ari": "adjusted Rand index",
    "accuracy": "accuracy after matching",
}

METHODS = ("raw", "smooth")
"""Controls with the preset of the method of that name: there are no labels to tune them on."""

BLOCKS = (Candidate("sign", "l2", (0, 1, 2)), Candidate("structure", "l2", (0, 1, 2), 0.6))
"""The other controls from features and edges, not tuned either."""


@dataclass(frozen=True)
class ClusterScore:
    """Agreement of clusters with classes, in percent.

    Attributes:
        values: each of `MEASURES`, of the start with the lowest inertia.
        deviations: the standard deviation of each over all starts.
    """

    values: Mapping[str, float]
    deviations: Mapping[str, float]

    def to_json(self) -> dict[str, Any]:
        """Return value and deviation of each measure."""
        return {
            name: [round(self.values[name], 4), round(self.deviations[name], 4)]
            for name in MEASURES
        }


@dataclass(frozen=True)
class ClusterEvaluation:
    """Scores of a run and of its controls.

    Attributes:
        clusters: the number of clusters.
        starts: the number of k-means starts.
        seed: the seed of the first start.
        score: the score of the run.
        controls: the scores of the controls, by name.
        other: the score of the run that it is compared with; None without one.
    """

    clusters: int
    starts: int
    seed: int
    score: ClusterScore
    controls: dict[str, ClusterScore]
    other: ClusterScore | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain data."""
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
) -> ClusterEvaluation:
    """Cluster the embeddings of a finished run and of its controls, and compare with the labels.

    Args:
        run: the run.
        starts: the number of k-means starts.
        seed: the seed of the first start.
        against: another run on the same graph to compare with.
        graph: as for `load_comparison`, like all others.
        labels: files of labels for a graph that had none in training.
        data_root: the folder of raw data sets, if it has moved.
        device: where to embed the untrained control.
    """
    check_integer("`starts`", starts, 1)
    check_integer("`seed`", seed, 0)
    comparison = load_comparison(
        run, against, graph=graph, labels=labels, data_root=data_root, device=device
    )
    training_graph = comparison.graph
    classes = training_graph.labels
    if classes is None or training_graph.num_classes < 2:
        raise UGCLError(
            "clusters are compared with classes, and the graph has fewer than 2: pass the same "
            "graph with labels (`labels`)"
        )

    def score(name: str, embeddings: Embeddings) -> ClusterScore:
        logger.info("clustering %s, %d starts", name, starts)
        return cluster_score(embeddings, classes, starts=starts, seed=seed)

    run_score = score(run.config.method, comparison.embeddings)
    other = None if comparison.other is None else score("the other run", comparison.other)
    controls = {}
    for name in METHODS:
        settings = get_method(name).resolve(DEFAULT_PRESET, training_graph, {})
        control = fit(name, training_graph, settings=settings, device="cpu")
        controls[name] = score(name, control.embed(training_graph))
    for candidate, matrix in FeatureControls(training_graph).candidates(BLOCKS):
        controls[candidate.control] = score(candidate.control, matrix)
    controls |= {name: score(name, rows) for name, rows in comparison.untrained.items()}
    clusters = np.unique(classes[classes >= 0]).size
    return ClusterEvaluation(clusters, starts, seed, run_score, controls, other)


def cluster_score(
    embeddings: Embeddings, labels: LabelArray, *, starts: int = STARTS, seed: int = 0
) -> ClusterScore:
    """Cluster the nodes into as many clusters as there are classes, and compare.

    Rows are scaled to L2 norm 1, so that k-means uses the cosine, as training does. All nodes are
    clustered; those with labels are compared.

    Args:
        embeddings: N x D, dense or SciPy sparse.
        labels: N classes, below 0 where unknown.
        starts: the number of k-means starts, with seeds from `seed` on.
        seed: the seed of the first start.
    """
    labelled = labels >= 0
    num_classes = np.unique(labels[labelled]).size
    rows = unit_rows(embeddings)
    results = []
    for start in steps("clustering", range(starts), starts):
        kmeans = KMeans(num_classes, n_init=1, random_state=seed_of("k-means", seed + start))
        with warnings.catch_warnings():  # fewer distinct rows than classes give fewer clusters
            warnings.simplefilter("ignore", ConvergenceWarning)
            kmeans.fit(rows)
        measures = cluster_agreement(kmeans.labels_[labelled], labels[labelled])
        results.append((kmeans.inertia_, measures))
    best = min(results, key=lambda result: result[0])[1]
    deviations = {name: float(np.std([each[name] for _, each in results])) for name in MEASURES}
    return ClusterScore(best, deviations)


def cluster_agreement(clusters: npt.NDArray[Any], labels: LabelArray) -> dict[str, float]:
    """Return `MEASURES` of two partitions of the same nodes, in percent.

    For the accuracy, clusters are matched one to one with classes so that most nodes agree.
    """
    counts = contingency_matrix(labels, clusters)
    matched = counts[linear_sum_assignment(counts, maximize=True)].sum()
    measures = {
        "nmi": normalized_mutual_info_score(labels, clusters),
        "ari": adjusted_rand_score(labels, clusters),
        "accuracy": matched / labels.size,
    }
    return {name: 100 * float(value) for name, value in measures.items()}
