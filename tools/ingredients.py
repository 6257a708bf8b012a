"""Score the ingredients of the multi-scope method: encoder, loss, blocks, and when it stops.

    python tools/ingredients.py GRAPH [--encoders mlp,linear,gcn] [--losses infonce,jsd] [--seeds 3]
    python tools/ingredients.py GRAPH --epochs 60,100,200,400,600 [--seeds 3]

The first command trains each encoder with each loss and scores parts of the embedding, from z alone
to all blocks, by the honest probe on random splits: results/ingredients.jsonl. The second trains
without the label-free stop, scores the embedding after some epochs and where training would have
stopped, and gives the regret: results/stopping.jsonl. Records already there are not computed again.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np
import torch

from collect import RESULTS, Record, find_record, put_record, read_records
from ugcl import Graph, load_graph
from ugcl._utils.provenance import source_commit
from ugcl.engine import Callback, TrainingState, fit
from ugcl.evaluation import linear_probe
from ugcl.evaluation.classification import random_splits
from ugcl.methods import get_method
from ugcl.methods.models.multiscope import MultiScopeModel
from ugcl.typing import Embeddings

LEARNED, RAW = ("z", "A z", "A^2 z", "A^10 z"), ("X", "A^2 X", "A^10 X")

READOUTS = {
    "z": LEARNED[:1],
    "z and powers": LEARNED,
    "and features": LEARNED + RAW,
    "and structure: all": (*LEARNED, *RAW, "structure"),
    "without learned blocks": (*RAW, "structure"),
}
"""Blocks of the embedding that are scored together."""


def accuracies(embeddings: Embeddings, graph: Graph, splits: int) -> list[float]:
    """Return the test accuracy on each random split."""
    assert graph.labels is not None
    return [
        round(linear_probe(embeddings, graph.labels, split).accuracy, 3)
        for split in random_splits(graph, splits)
    ]


def readouts(model: MultiScopeModel, graph: Graph) -> Iterator[tuple[str, Embeddings]]:
    """Yield parts of the embedding."""
    blocks = dict(model.blocks(graph, "cpu"))
    for name, parts in READOUTS.items():
        yield name, torch.cat([blocks[part] for part in parts], dim=1).numpy()


def score_ingredients(graph: Graph, key: Record, splits: int) -> Record:
    """Train one encoder with one loss and score the parts of its embedding."""
    params = {name: key[name] for name in ("encoder", "loss", "seed")}
    fitted = fit("multiscope", graph, device="cpu", **params)
    assert isinstance(fitted.model, MultiScopeModel)
    return {
        **key,
        "accuracy": {
            readout: accuracies(embeddings, graph, splits)
            for readout, embeddings in readouts(fitted.model, graph)
        },
        **{"epochs": fitted.epochs, "weights": fitted.model.weights.tolist()},
        **{"settings": fitted.settings.values(), "commit": source_commit()},
    }


class Snapshots(Callback):
    """Scores the embedding after some epochs, and where training would have stopped."""

    def __init__(self, tolerance: float, epochs: list[int], splits: int) -> None:
        self.tolerance, self.epochs, self.splits = tolerance, epochs, splits
        self.stop: int | None = None
        self.accuracy: dict[int, list[float]] = {}

    def on_epoch_end(self, state: TrainingState) -> None:
        """Score if this is one of the epochs."""
        model = state.model
        assert isinstance(model, MultiScopeModel)
        stops = self.stop is None and model.converged(state.epoch, self.tolerance)
        if stops:
            self.stop = state.epoch
        if stops or state.epoch in self.epochs:
            model.on_fit_end(state.graph, "cpu")
            embeddings = model.embed(state.graph, "cpu")
            self.accuracy[state.epoch] = accuracies(embeddings, state.graph, self.splits)


def score_stopping(graph: Graph, key: Record, epochs: list[int], splits: int) -> Record:
    """Train to the last epoch; return the accuracies, the stop and the regret."""
    tolerance = get_method("multiscope").resolve("fast", graph, {}).values()["tolerance"]
    snapshots = Snapshots(tolerance, epochs, splits)
    fitted = fit(
        "multiscope",
        graph,
        seed=key["seed"],
        device="cpu",
        callbacks=[snapshots],
        epochs=max(epochs),
        tolerance=0.0,
    )
    means = {epoch: float(np.mean(values)) for epoch, values in snapshots.accuracy.items()}
    stop = max(epochs) if snapshots.stop is None else snapshots.stop
    return {
        **key,
        "stop": stop,
        "oracle": max(means, key=means.__getitem__),
        "regret": round(max(means.values()) - means[stop], 3),
        "accuracy": {str(epoch): values for epoch, values in snapshots.accuracy.items()},
        **{"settings": fitted.settings.values(), "commit": source_commit()},
    }


def main() -> None:
    """Score what is missing."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("graph")
    parser.add_argument("--encoders", default="mlp,linear,gcn")
    parser.add_argument("--losses", default="infonce,jsd")
    parser.add_argument("--epochs")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--results", type=Path, default=RESULTS)
    args = parser.parse_args()
    graph = load_graph(args.graph)
    keys: list[Record]
    fixed = {"splits": args.splits}
    if args.epochs is None:
        out = args.results / "ingredients.jsonl"
        names = args.encoders.split(","), args.losses.split(",")
        keys = [
            {"graph": args.graph, "encoder": encoder, "loss": loss, "seed": seed, **fixed}
            for encoder, loss, seed in product(*names, range(args.seeds))
        ]
    else:
        out = args.results / "stopping.jsonl"
        keys = [{"graph": args.graph, "seed": seed, **fixed} for seed in range(args.seeds)]
    for key in keys:
        if find_record(read_records(out), **key) is not None:
            continue
        print(*key.values(), flush=True)
        if args.epochs is None:
            record = score_ingredients(graph, key, args.splits)
        else:
            epochs = [int(word) for word in args.epochs.split(",")]
            record = score_stopping(graph, key, epochs, args.splits)
        put_record(out, record, *key)


if __name__ == "__main__":
    main()
