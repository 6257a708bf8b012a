"""Compare settings on training and validation nodes, to choose the preset `fast`.

    python tools/choose_fast.py GRAPH [--method METHOD] VARIANT [VARIANT ...]

Train each variant (`fast:scope=3,sampling=ball`) and score it by the honest probe's validation
accuracy on random splits of the training and validation nodes of the graph's own split or, if it
has none, of the random split with seed 0. A supervised method trains on those training nodes,
stops early by one half of the validation nodes and is scored on the other half. Test nodes are
never used. Scores are added to results/choices.jsonl; those already there are not computed again.
With `--runs DIR`, the runs of `ugcl study run --runs DIR` are scored instead of training again.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

from collect import RESULTS, find_record, put_record, read_records
from ugcl import Classifier, Embedder, Graph, load_graph
from ugcl.data.splits import Split, resplits, selection_split
from ugcl.evaluation.probe import validation_accuracy
from ugcl.methods import METHODS
from ugcl.runs import Run
from ugcl.study import Variant
from ugcl.typing import Embeddings


def main() -> None:
    """Train and score every variant."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("graph")
    parser.add_argument("variants", nargs="+")
    parser.add_argument("--method", default="ugcl")
    parser.add_argument("--out", type=Path, default=RESULTS / "choices.jsonl")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--splits", type=int, default=4)
    parser.add_argument("--runs", type=Path)
    args = parser.parse_args()
    graph = load_graph(args.graph)
    assert graph.labels is not None
    splits = resplits(graph.labels, selection_split(graph), args.splits)
    for text in args.variants:
        variant = Variant.parse(text, args.method)
        params = METHODS[args.method].resolve(variant.preset, graph, variant.params).values()
        key = {
            "graph": args.graph,
            "method": args.method,
            "splits": args.splits,
            "settings": params,
        }
        record = find_record(read_records(args.out), **key)
        record = record or {**key, "seconds": [], "scores": []}
        for seed in range(len(record["scores"]), args.seeds):
            if METHODS[args.method].supervised:
                scores, seconds = score_classifier(graph, args.method, params, seed, splits)
            else:
                if args.runs is None:
                    embeddings, seconds = train(graph, args.method, params, seed)
                else:
                    name = f"{args.method}-{variant}-{seed}".replace(":", "+")
                    embeddings, seconds = load_run(args.runs / name, graph, params)
                scores = [validation_accuracy(embeddings, graph.labels, split) for split in splits]
            record["seconds"].append(round(seconds, 1))
            record["scores"].append([round(score, 3) for score in scores])
            record["mean"] = round(fmean(score for row in record["scores"] for score in row), 2)
            put_record(args.out, record, *key)
        print(f"{record['mean']:.2f}  {fmean(record['seconds']):5.1f} s  {variant}", flush=True)


def train(graph: Graph, method: str, params: dict[str, Any], seed: int) -> tuple[Embeddings, float]:
    """Train a method; return the embeddings and the seconds of training."""
    started = time.perf_counter()
    model = Embedder(method, seed=seed, **params).fit(graph)
    return model.embed(graph), time.perf_counter() - started


def score_classifier(
    graph: Graph, method: str, params: dict[str, Any], seed: int, splits: Sequence[Split]
) -> tuple[list[float], float]:
    """Train a supervised method on each split; return accuracies and the mean training seconds.

    Early stopping uses every other validation node, the accuracy the remaining ones.
    """
    assert graph.labels is not None
    started, scores = time.perf_counter(), []
    for split in splits:
        stopping, scored = split["val"][::2], split["val"][1::2]
        training_graph = replace(graph, splits={"train": split["train"], "val": stopping})
        classifier = Classifier(method, seed=seed, **params).fit(training_graph)
        correct = classifier.predict(graph) == graph.labels
        scores.append(100 * float(correct[scored].mean()))
    return scores, (time.perf_counter() - started) / len(splits)


def load_run(folder: Path, graph: Graph, params: dict[str, Any]) -> tuple[Embeddings, float]:
    """Return the embeddings and the training seconds of a finished run."""
    run = Run.open(folder)
    assert run.config.fingerprint == graph.fingerprint
    assert run.config.settings.values() == params
    return run.embeddings(), run.metrics()["training_seconds"]


if __name__ == "__main__":
    main()
