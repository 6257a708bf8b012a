"""Compare settings on training and validation nodes alone, to choose those of `fast`.

    python tools/choose_fast.py GRAPH --out FILE [--method METHOD] VARIANT [VARIANT ...]

trains each variant (`fast:scope=3,sampling=ball`) and scores it by the honest probe's validation
accuracy on random splits of the training and validation nodes of the graph's own split, or, where
it has none, of the random one with seed 0; a method that learns from labels learns from those
training nodes, stops by half of the validation nodes and is scored by the others. No test node is
looked at. Writes every score as it
goes; what FILE holds already is not computed again. With `--runs DIR`, the runs that `ugcl study`
keeps there are scored instead of being trained again.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

from ugcl import Classifier, Embedder, Graph, load_graph
from ugcl._utils.files import write_json
from ugcl.data.splits import Split, resplits, selection_split
from ugcl.evaluation.probe import validation_accuracy
from ugcl.methods import METHODS
from ugcl.runs import Run
from ugcl.study import Variant


def main() -> None:
    """Train and score every variant."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("graph")
    parser.add_argument("variants", nargs="+")
    parser.add_argument("--method", default="ugcl")
    parser.add_argument("--out", required=True, type=Path)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--splits", type=int, default=4)
    parser.add_argument("--runs", type=Path)
    asked = parser.parse_args()
    graph = load_graph(asked.graph)
    assert graph.labels is not None
    splits = resplits(graph.labels, selection_split(graph), asked.splits)
    about = {"graph": asked.graph, "method": asked.method, "splits": asked.splits}
    result: dict[str, Any] = {**about, "validation": {}}
    if asked.out.is_file():
        result = json.loads(asked.out.read_text("utf-8"))
        if {"method": "ugcl", **result} != {**result, **about}:
            parser.error(f"{asked.out} is not about {about}")
    for text in asked.variants:
        variant = Variant.parse(text, asked.method)
        settings = METHODS[asked.method].resolve(variant.preset, graph, variant.changes).values()
        label = ",".join(f"{name}={value}" for name, value in settings.items())
        held = result["validation"].setdefault(
            label, {"settings": settings, "seconds": [], "scores": []}
        )
        for seed in range(len(held["scores"]), asked.seeds):
            if METHODS[asked.method].supervised:
                scores, seconds = predicted(graph, asked.method, settings, seed, splits)
            else:
                embeddings, seconds = (
                    trained(graph, asked.method, settings, seed)
                    if asked.runs is None
                    else kept(
                        asked.runs / f"{asked.method}-{variant}-{seed}".replace(":", "+"),
                        graph,
                        settings,
                    )
                )
                scores = [validation_accuracy(embeddings, graph.labels, split) for split in splits]
            held["seconds"].append(round(seconds, 1))
            held["scores"].append([round(score, 3) for score in scores])
            held["mean"] = round(fmean(score for row in held["scores"] for score in row), 2)
            write_json(asked.out, result)
        print(f"{held['mean']:.2f}  {fmean(held['seconds']):5.1f} s  {variant}", flush=True)


def trained(graph: Graph, method: str, settings: dict[str, Any], seed: int) -> tuple[Any, float]:
    """Embeddings, and the seconds that training took."""
    started = time.perf_counter()
    model = Embedder(method, options=settings, seed=seed).fit(graph)
    return model.embed(graph), time.perf_counter() - started


def predicted(
    graph: Graph, method: str, settings: dict[str, Any], seed: int, splits: Sequence[Split]
) -> tuple[list[float], float]:
    """Accuracies of a method that learns from labels: it stops by half of the validation nodes.

    The other half is scored. Seconds are those of one training.
    """
    started, scores = time.perf_counter(), []
    for split in splits:
        stop, score = split["val"][::2], split["val"][1::2]
        parts = {"train": split["train"], "val": stop}
        learner = Classifier(method, options=settings, seed=seed)
        found = learner.fit(replace(graph, splits=parts)).predict(graph)
        assert graph.labels is not None
        scores.append(100 * float((found == graph.labels)[score].mean()))
    return scores, (time.perf_counter() - started) / len(splits)


def kept(folder: Path, graph: Graph, settings: dict[str, Any]) -> tuple[Any, float]:
    """The same of a run that is there."""
    run = Run.open(folder)
    assert run.config.fingerprint == graph.fingerprint
    assert run.config.settings.values() == settings
    return run.embeddings(), run.metrics()["training_seconds"]


if __name__ == "__main__":
    main()
