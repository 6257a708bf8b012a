"""The contents of a page, collected from run folders, their graph and an evaluation."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse.csgraph import connected_components
from sklearn.cluster import KMeans
from sklearn.preprocessing import normalize

from ugcl._utils.errors import UGCLError
from ugcl._utils.random import numpy_generator, seed_of
from ugcl.data import GraphFiles, with_labels
from ugcl.evaluation import Evaluation, evaluate_run
from ugcl.graph import Graph
from ugcl.report.layout import LARGE_NEIGHBOURS, layout
from ugcl.report.nearest import MAX_EXACT_NODES, nearest_of_all, principal_components
from ugcl.runs import Run
from ugcl.selection import DEFAULT_CRITERION, Survey, survey
from ugcl.typing import LabelArray, NodeIndices

logger = logging.getLogger(__name__)

MAX_NODES = 100_000
"""Nodes on a map; larger graphs are sampled."""

MAX_TEXT = 5_000_000
"""Bytes of ids on a page; with longer ids fewer nodes are shown."""

NEIGHBOURS, MAX_PAIRS = 10, 600_000
"""Neighbours listed for a node, and for all nodes of all maps: the file stays below 15 MB."""

CLUSTERS = 8
"""k-means clusters of a graph without labels."""

SPLIT_PARTS = ("train", "val", "test")

Progress = Callable[[str, int, int], None]
"""Called with what is being computed, how much of it is done, and all of it."""


@dataclass(frozen=True)
class Column:
    """A column that can colour the map.

    Attributes:
        name: its name.
        values: for each shown node the number of its group, or a percentage; -1 if unknown.
        groups: the names of the groups; None for percentages.
    """

    name: str
    values: npt.NDArray[np.int64]
    groups: tuple[str, ...] | None = None


@dataclass(frozen=True)
class ShownNodes:
    """The nodes on the map; the optional arrays are None if the graph or its labels are missing.

    Attributes:
        shown: their indices in the graph.
        total: number of nodes of the graph.
        ids: their ids.
        names: their display names, where the run has them.
        degree: their degrees in the graph.
        component: their connected components, numbered from 0 by descending size.
        label: their classes, -1 if unknown.
        classes: names of the classes.
        columns: further columns that can colour the map.
    """

    shown: NodeIndices
    total: int
    ids: list[str]
    names: list[str] | None
    degree: npt.NDArray[np.int64] | None
    component: npt.NDArray[np.int64] | None
    label: LabelArray | None
    classes: list[str]
    columns: tuple[Column, ...] = ()


@dataclass(frozen=True)
class ReportRun:
    """A run on the page.

    Attributes:
        name: its name on the page.
        run: the run.
        metrics: its metrics.json.
        loss: the loss of each epoch.
        validation: the loss on held-out nodes of each epoch, where it was measured.
        positions: positions of the shown nodes on the map, N x 2, between 0 and 1.
        neighbours: nearest shown nodes of each shown node, N x k.
        cosines: their cosines, N x k.
        clusters: k-means cluster of each shown node.
        linked: whether each pair of neighbours is an edge, N x k; None without the graph.
        approximate: whether a nearest neighbour may be missing.
    """

    name: str
    run: Run
    metrics: dict[str, Any]
    loss: list[float]
    validation: list[float]
    positions: npt.NDArray[np.float32]
    neighbours: npt.NDArray[np.int32]
    cosines: npt.NDArray[np.float32]
    clusters: npt.NDArray[np.int64]
    linked: npt.NDArray[np.bool_] | None = None
    approximate: bool = False

    @property
    def width(self) -> int:
        """Columns of the embeddings."""
        return int(self.run.embeddings().shape[1])


@dataclass(frozen=True)
class ReportData:
    """The contents of a page.

    Attributes:
        runs: the runs, all of one graph.
        nodes: the shown nodes.
        graph: the graph; None if it cannot be loaded.
        missing: why the graph cannot be loaded, or "".
        scope: the survey of the graph's scopes; None without the graph.
        scores: for each run its scores and those of the controls, paired with the first run; empty
            without labels.
        unscored: why there are no scores, or "".
    """

    runs: tuple[ReportRun, ...]
    nodes: ShownNodes
    graph: Graph | None
    missing: str
    scope: Survey | None
    scores: tuple[Evaluation, ...]
    unscored: str


def gather(
    runs: Sequence[Run],
    *,
    splits: int = 10,
    labels: GraphFiles | None = None,
    data_root: str | None = None,
    threads: int = 1,
    seed: int = 0,
    progress: Progress | None = None,
) -> ReportData:
    """Collect the contents of a page about runs on one graph.

    Args:
        runs: the runs.
        splits: number of random splits for the scores.
        labels: files with labels for a graph without labels.
        data_root: the folder of raw data sets.
        threads: threads for t-SNE.
        seed: seed of t-SNE, k-means and the sample of nodes.
        progress: called while maps and neighbours are computed.
    """
    first = runs[0]
    for other in runs[1:]:
        if other.config.fingerprint != first.config.fingerprint:
            raise UGCLError(
                f"{other.path} was trained on another graph than {first.path}: report it separately"
            )
    graph, missing = _load_graph(first, labels, data_root)
    nodes = _shown_nodes(first, graph, seed)
    k = max(1, min(NEIGHBOURS, MAX_PAIRS // (len(nodes.shown) * len(runs))))
    report_runs = tuple(
        _report_run(name, run, nodes, graph, k, threads, seed, progress)
        for name, run in zip(_unique_names(runs), runs, strict=True)
    )
    scope = None
    if graph is not None:
        logger.info("scoring the scopes of the graph")
        scope = survey(graph, train=graph.splits.get("train"), criteria=(DEFAULT_CRITERION,))
    scores: tuple[Evaluation, ...] = ()
    unscored = missing
    if graph is not None and (graph.labels is None or graph.num_classes < 2):
        unscored = "The graph has no labels to score by."
    elif graph is not None:
        try:
            scores = _evaluate(runs, splits, labels, data_root)
        except UGCLError as error:
            unscored = str(error)
    return ReportData(report_runs, nodes, graph, missing, scope, scores, unscored)


def _load_graph(
    run: Run, labels: GraphFiles | None, data_root: str | None
) -> tuple[Graph | None, str]:
    try:
        graph = run.config.load_graph(data_root=data_root)
        return (graph if labels is None else with_labels(graph, labels)), ""
    except UGCLError as error:
        if labels is not None:
            raise
        return None, str(error)


def _shown_nodes(run: Run, graph: Graph | None, seed: int) -> ShownNodes:
    ids = run.ids()
    shown = np.arange(len(ids))
    num_bytes = sum(len(str(name).encode()) for name in ids.tolist())
    max_nodes = min(MAX_NODES, len(ids) * MAX_TEXT // max(num_bytes, 1))
    if len(ids) > max_nodes:
        rng = numpy_generator("report nodes", seed)
        shown = np.sort(rng.choice(len(ids), max_nodes, replace=False))
    degree = component = label = None
    classes: list[str] = []
    columns: tuple[Column, ...] = ()
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
        columns = _columns(graph, shown)
    table = run.nodes()
    names = table["name"].take(shown).to_pylist() if "name" in table.column_names else None
    return ShownNodes(
        shown,
        len(ids),
        [str(name) for name in ids[shown]],
        None if names is None else [str(name) for name in names],
        degree,
        component,
        label,
        classes,
        columns,
    )


def _columns(graph: Graph, shown: NodeIndices) -> tuple[Column, ...]:
    """Return the split of each node, and the percentage of its neighbours with its label."""
    columns = []
    if graph.splits:
        part = np.full(graph.num_nodes, -1)
        parts = [name for name in SPLIT_PARTS if name in graph.splits]
        for number, name in enumerate(parts):
            part[graph.splits[name]] = number
        columns.append(Column("split", part[shown], tuple(parts)))
    if graph.labels is not None and graph.num_classes:
        pairs = graph.adjacency.tocoo()
        own, other = graph.labels[pairs.row], graph.labels[pairs.col]
        known = (own >= 0) & (other >= 0)
        total = np.bincount(pairs.row[known], minlength=graph.num_nodes)
        same = np.bincount(pairs.row[known & (own == other)], minlength=graph.num_nodes)
        percent = np.where(total > 0, 100 * same // np.maximum(total, 1), -1)
        columns.append(Column("neighbours with the same label", percent[shown]))
    return tuple(columns)


def _unique_names(runs: Sequence[Run]) -> list[str]:
    """Return the names of the folders, or their paths if two names are equal."""
    names = [run.path.resolve().name for run in runs]
    return names if len(set(names)) == len(names) else [str(run.path) for run in runs]


def _report_run(
    name: str,
    run: Run,
    nodes: ShownNodes,
    graph: Graph | None,
    k: int,
    threads: int,
    seed: int,
    progress: Progress | None,
) -> ReportRun:
    def part(text: str) -> Callable[[int, int], None] | None:
        return None if progress is None else partial(progress, f"{text} of {name}")

    metrics, losses, validation = run.metrics(), run.losses(), run.validation_losses()
    embeddings = run.embeddings()[nodes.shown]
    large = len(nodes.shown) > MAX_EXACT_NODES
    logger.info("finding neighbours in %s", run.path)
    components = principal_components(embeddings, seed)
    neighbours, cosines = nearest_of_all(
        embeddings,
        max(k, LARGE_NEIGHBOURS) if large else k,
        components=components if large else None,
        threads=threads,
        progress=part("neighbours"),
    )
    logger.info("computing the map of %s", run.path)
    positions = layout(
        embeddings,
        components=components,
        neighbours=neighbours if large else None,
        threads=threads,
        seed=seed,
        progress=part("map"),
    )
    neighbours, cosines = neighbours[:, :k], cosines[:, :k]
    linked = None
    if graph is not None:
        pairs = np.repeat(nodes.shown, neighbours.shape[1]), nodes.shown[neighbours.ravel()]
        linked = (np.asarray(graph.adjacency[pairs]) != 0).reshape(neighbours.shape)
    count = min(len(nodes.classes) or CLUSTERS, len(nodes.shown))
    k_means = KMeans(count, n_init=3, random_state=seed_of("report clusters", seed))
    clusters = k_means.fit_predict(components if large else normalize(embeddings))
    return ReportRun(
        name,
        run,
        metrics,
        losses,
        validation,
        positions,
        neighbours,
        cosines,
        clusters.astype(np.int64),
        linked,
        large,
    )


def _evaluate(
    runs: Sequence[Run], splits: int, labels: GraphFiles | None, data_root: str | None
) -> tuple[Evaluation, ...]:
    evaluations = []
    for index, run in enumerate(runs):
        logger.info("scoring %s and its controls", run.path)
        against = runs[0] if index else None
        evaluations.append(
            evaluate_run(run, splits=splits, against=against, labels=labels, data_root=data_root)
        )
    return tuple(evaluations)
