"""What a run is compared with on its graph: another run, and itself without training."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ugcl._utils.errors import UGCLError
from ugcl.data import GraphFiles, with_labels
from ugcl.engine import resolve_device
from ugcl.graph import Graph
from ugcl.methods import Shape, method_named
from ugcl.runs.folder import Run


@dataclass(frozen=True)
class Compared:
    """Embeddings of one graph.

    Attributes:
        graph: the graph, without the edges that the run did not see, and with its own split.
        held_out: those edges, E x 2 node numbers.
        run: the run's.
        other: those of the run it is compared with; None without one.
        untrained: by name, those of the run's own model before training; none for a method that is
            not trained.
    """

    graph: Graph
    held_out: npt.NDArray[np.int64]
    run: Any
    other: Any
    untrained: dict[str, Any]


def compared(
    run: Run,
    against: Run | None = None,
    *,
    graph: str | GraphFiles | None = None,
    labels: GraphFiles | None = None,
    data_root: str | None = None,
    device: str | None = None,
) -> Compared:
    """Load what is compared.

    Args:
        run: the run.
        against: another run on the same graph.
        graph: where the run's graph is now, if it has moved or has labels that it had not.
        labels: where labels are that the run's graph had not, and which column is what.
        data_root: the folder of raw data sets, where it is not that of training any more.
        device: where to embed the untrained control; by default where the run was trained.
    """
    for each in (run, against):
        if each is not None:
            each.require_finished()
    whole = run.config.load_graph(graph, data_root)
    if labels is not None:
        whole = with_labels(whole, labels)
    seen, held_out = run.config.seen(whole)
    if run.config.split:
        seen = replace(seen, splits=whole.splits)
    where = resolve_device(device or run.config.device)
    untrained = {}
    if method_named(run.config.method).trained:
        model = run.config.untrained_model(Shape.of(seen)).to(where)
        model.prepare(seen)
        untrained["untrained"] = model.embed(seen, where)
    other = None
    if against is not None:
        shares = [each.config.hold_out_edges for each in (run, against)]
        seeds = [each.config.split_seed for each in (run, against)]
        if shares[0] != shares[1] or (shares[0] and seeds[0] != seeds[1]):
            raise UGCLError(
                f"{against.path} held out other edges than {run.path}: train both with the same "
                "--hold-out-edges and --split-seed"
            )
        other = embeddings_of(against, whole)
    return Compared(seen, held_out, embeddings_of(run, whole), other, untrained)


def embeddings_of(run: Run, graph: Graph) -> Any:
    """The run's embeddings, which must be of this graph."""
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
