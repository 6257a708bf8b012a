"""What a page shows: gathered from run folders, their graph and an evaluation."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse.csgraph import connected_components
from sklearn.cluster import KMeans
from sklearn.preprocessing import normalize

from ugcl._utils.errors import UGCLError
from ugcl.data import GraphFiles, with_labels
from ugcl.evaluation import Evaluation, evaluate_run
from ugcl.graph import Graph
from ugcl.report.layout import layout, nearest_of_all
from ugcl.runs import LoadedRun
from ugcl.selection import BEST, Survey, survey

MAX_NODES = 100_000
"""Nodes that a map shows; of more, so many are drawn at random."""

MAX_TEXT = 5_000_000
"""Bytes of ids on a page; where they are longer, fewer nodes are shown."""

NEIGHBOURS, MAX_PAIRS = 10, 600_000
"""Neighbours that a page lists for a node, and for all nodes of all maps together: the file is to
stay below 15 MB."""

CLUSTERS = 8
"""k-means clusters of a graph without labels."""


@dataclass(frozen=True)
class Nodes:
    """The nodes that are shown.

    Attributes:
        shown: their numbers in the graph.
        total: how many the graph has.
        ids: what they are called.
        degree: how many neighbours they have in the graph; None where the graph is not at hand.
        component: the number of their connected component, the largest being 0; or None.
        label: the number of their class, -1 where it is not known; or None.
        classes: the names of the classes.
    """

    shown: npt.NDArray[np.int64]
    total: int
    ids: list[str]
    degree: npt.NDArray[np.int64] | None
    component: npt.NDArray[np.int64] | None
    label: npt.NDArray[np.int64] | None
    classes: list[str]


@dataclass(frozen=True)
class RunView:
    """A run as the page shows it.

    Attributes:
        name: what the page calls it.
        run: the run.
        metrics: what it wrote down.
        loss: the loss of each epoch.
        positions: where the shown nodes are on the map, N x 2, between 0 and 1.
        neighbours: for each shown node the places of the nearest among the shown, N x k.
        cosines: their cosines.
        clusters: the k-means cluster of each shown node.
    """

    name: str
    run: LoadedRun
    metrics: dict[str, Any]
    loss: list[float | None]
    positions: npt.NDArray[np.float32]
    neighbours: npt.NDArray[np.int32]
    cosines: npt.NDArray[np.float32]
    clusters: npt.NDArray[np.int64]

    @property
    def width(self) -> int:
        """Columns of the embeddings."""
        return int(self.run.embeddings().shape[1])


@dataclass(frozen=True)
class Gathered:
    """All that a page shows.

    Attributes:
        runs: the runs, of one graph.
        nodes: the nodes.
        graph: the graph; None where it is not at hand.
        missing: why the graph is not at hand; "" where it is.
        scope: what the graph says about its scope; None where it is not at hand.
        scores: for each run its scores beside its controls, and beside the first run. Empty without
            labels.
        unscored: why there are no scores; "" where there are.
    """

    runs: tuple[RunView, ...]
    nodes: Nodes
    graph: Graph | None
    missing: str
    scope: Survey | None
    scores: tuple[Evaluation, ...]
    unscored: str


def gather(
    runs: Sequence[LoadedRun],
    *,
    splits: int = 10,
    labels: GraphFiles | None = None,
    data_root: str | None = None,
    threads: int = 1,
    seed: int = 0,
    tell: Callable[[str], None] = lambda text: None,
) -> Gathered:
    """Gather what a page shows of runs on one graph.

    Args:
        runs: the runs.
        splits: random splits that scores are averaged over.
        labels: where labels are that the graph had not.
        data_root: the folder of raw data sets.
        threads: threads for the map.
        seed: of the map, the clusters and the choice of nodes.
        tell: is told what takes time.
    """
    first = runs[0]
    for other in runs[1:]:
        if other.config.fingerprint != first.config.fingerprint:
            raise UGCLError(
                f"{other.path} was trained on another graph than {first.path}: report them apart"
            )
    graph, missing = _graph(first, labels, data_root)
    nodes = _nodes(first, graph, seed)
    k = max(1, min(NEIGHBOURS, MAX_PAIRS // (len(nodes.shown) * len(runs))))
    views = tuple(
        _view(name, run, nodes, k, threads, seed, tell)
        for name, run in zip(_names(runs), runs, strict=True)
    )
    found = None
    if graph is not None:
        tell("looking at the graph's scope")
        train = graph.splits.get("train")
        found = survey(graph, train=train, estimators=(BEST,))
    scores, unscored = _scores(runs, graph, missing, splits, labels, data_root, tell)
    return Gathered(views, nodes, graph, missing, found, scores, unscored)


def _graph(
    run: LoadedRun, labels: GraphFiles | None, data_root: str | None
) -> tuple[Graph | None, str]:
    try:
        graph = run.config.load_graph(data_root=data_root)
        return (graph if labels is None else with_labels(graph, labels)), ""
    except UGCLError as error:
        if labels is not None:
            raise
        return None, str(error)


def _nodes(run: LoadedRun, graph: Graph | None, seed: int) -> Nodes:
    ids = run.ids()
    shown = np.arange(len(ids))
    text = sum(len(str(name).encode()) for name in ids.tolist())
    most = min(MAX_NODES, len(ids) * MAX_TEXT // max(text, 1))
    if len(ids) > most:
        rng = np.random.default_rng(seed)
        shown = np.sort(rng.choice(len(ids), most, replace=False))
    degree = component = label = None
    classes: list[str] = []
    if graph is not None:
        degree = np.diff(graph.adjacency.indptr)[shown]
        _, membership = connected_components(graph.adjacency, directed=False)
        order = np.argsort(-np.bincount(membership), kind="stable")
        rank = np.empty_like(order)
        rank[order] = np.arange(order.size)
        component = rank[membership][shown]
        if graph.labels is not None and graph.num_classes:
            label = graph.labels[shown]
            classes = list(graph.class_names or map(str, range(graph.num_classes)))
    return Nodes(
        shown, len(ids), [str(name) for name in ids[shown]], degree, component, label, classes
    )


def _names(runs: Sequence[LoadedRun]) -> list[str]:
    """The names of the folders, or their paths where two are called the same."""
    names = [run.path.resolve().name for run in runs]
    return names if len(set(names)) == len(names) else [str(run.path) for run in runs]


def _view(
    name: str,
    run: LoadedRun,
    nodes: Nodes,
    k: int,
    threads: int,
    seed: int,
    tell: Callable[[str], None],
) -> RunView:
    embeddings = run.embeddings()[nodes.shown]
    tell(f"drawing the map of {run.path}")
    positions = layout(embeddings, threads=threads, seed=seed)
    tell(f"finding neighbours in {run.path}")
    neighbours, cosines = nearest_of_all(embeddings, k)
    count = min(len(nodes.classes) or CLUSTERS, len(nodes.shown))
    clusters = KMeans(count, n_init=3, random_state=seed).fit_predict(normalize(embeddings))
    clusters = clusters.astype(np.int64)
    return RunView(name, run, run.metrics(), _losses(run), positions, neighbours, cosines, clusters)


def _losses(run: LoadedRun) -> list[float | None]:
    try:
        lines = (run.path / "log.jsonl").read_text("utf-8").splitlines()
        return [json.loads(line).get("loss") for line in lines]
    except (OSError, ValueError, AttributeError):
        return []


def _scores(
    runs: Sequence[LoadedRun],
    graph: Graph | None,
    missing: str,
    splits: int,
    labels: GraphFiles | None,
    data_root: str | None,
    tell: Callable[[str], None],
) -> tuple[tuple[Evaluation, ...], str]:
    if graph is None:
        return (), missing
    if graph.labels is None or graph.num_classes < 2:
        return (), "The graph has no labels to score by."
    found = []
    try:
        for i, run in enumerate(runs):
            against = runs[0] if i else None
            tell(f"scoring {run.path} beside its controls")
            found.append(
                evaluate_run(
                    run,
                    splits=splits,
                    against=against,
                    labels=labels,
                    data_root=data_root,
                    tell=tell,
                )
            )
    except UGCLError as error:
        return (), str(error)
    return tuple(found), ""
