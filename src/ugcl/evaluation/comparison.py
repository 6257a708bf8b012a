"""The embeddings that an evaluation compares: a run's, another run's, the untrained model's."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ugcl._utils.errors import UGCLError
from ugcl.data import GraphFiles, with_labels
from ugcl.engine import fit
from ugcl.graph import Graph
from ugcl.runs import Run
from ugcl.typing import Embeddings, NodeIndices


@dataclass(frozen=True)
class Comparison:
    """Embeddings of one graph.

    Attributes:
        graph: the graph without held-out edges, with the graph's own split.
        held_out: the held-out edges, E x 2.
        embeddings: those of the run.
        other: those of the run that it is compared with; None without one.
        untrained: by the control's name, those of the run's model before training; empty for a
            method that is not trained.
    """

    graph: Graph
    held_out: NodeIndices
    embeddings: Embeddings
    other: Embeddings | None
    untrained: dict[str, Embeddings]


def load_comparison(
    run: Run,
    against: Run | None = None,
    *,
    graph: str | GraphFiles | None = None,
    labels: GraphFiles | None = None,
    data_root: str | None = None,
    device: str | None = None,
) -> Comparison:
    """Load a run's graph and the embeddings to compare.

    Args:
        run: the run.
        against: another run on the same graph.
        graph: where the run's graph is now, if it has moved or has got labels.
        labels: files of labels for a graph that had none in training.
        data_root: the folder of raw data sets, if it has moved.
        device: where to embed the untrained control; by default where the run was trained.
    """
    for each in (run, against):
        if each is not None:
            each.require_finished()
    config = run.config
    full_graph = config.load_graph(graph, data_root)
    if labels is not None:
        full_graph = with_labels(full_graph, labels)
    training_graph, held_out = config.training_graph(full_graph)
    if config.split:
        training_graph = replace(training_graph, splits=full_graph.splits)
    untrained = {}
    method = config.load_method()
    if method.trained:
        settings = config.settings.replace(epochs=0)
        fitted = fit(
            method,
            training_graph,
            settings=settings,
            seed=config.seed,
            device=device or config.device,
        )
        untrained["untrained"] = fitted.embed(training_graph)
    other = None
    if against is not None:
        _check_same_held_out(run, against)
        other = embeddings_of(against, full_graph)
    return Comparison(training_graph, held_out, embeddings_of(run, full_graph), other, untrained)


def embeddings_of(run: Run, graph: Graph) -> Embeddings:
    """Return a run's embeddings; refuse a run on another graph."""
    if run.config.fingerprint != graph.fingerprint:
        raise UGCLError(f"{run.path} was trained on another graph: compare runs on the same graph")
    run.config.check_labels(graph, str(run.path))
    embeddings = run.embeddings()
    if embeddings.shape[0] != graph.num_nodes:
        raise UGCLError(
            f"{run.path} has embeddings of {embeddings.shape[0]:,} nodes but its graph has "
            f"{graph.num_nodes:,}: train the run again"
        )
    return embeddings


def _check_same_held_out(run: Run, against: Run) -> None:
    one, two = run.config, against.config
    same_seed = one.split_seed == two.split_seed or not one.hold_out_edges
    if one.hold_out_edges != two.hold_out_edges or not same_seed:
        raise UGCLError(
            f"{against.path} held out other edges than {run.path}: train both with the same "
            "`hold_out_edges` and `split_seed`"
        )
