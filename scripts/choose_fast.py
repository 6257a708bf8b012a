"""Compare settings on training and validation nodes alone, to choose those of `fast`.

    python scripts/choose_fast.py GRAPH --out FILE VARIANT [VARIANT ...]

trains each variant (`fast:scope=3,sampling=ball`) and scores it by the honest probe's validation
accuracy on random splits of the training and validation nodes of the graph's own split, or, where
it has none, of the random one with seed 0. No test node is looked at. Writes every score as it
goes; what FILE holds already is not computed again.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from statistics import fmean
from typing import Any

from ugcl import UGCL, load_graph
from ugcl.data.splits import resplits, selection_split
from ugcl.evaluation.probe import validation_accuracy
from ugcl.files import write_json
from ugcl.methods import METHODS
from ugcl.study import Variant


def main() -> None:
    """Train and score every variant."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("graph")
    parser.add_argument("variants", nargs="+", type=Variant.parse)
    parser.add_argument("--out", required=True, type=Path)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--splits", type=int, default=4)
    asked = parser.parse_args()
    graph = load_graph(asked.graph)
    assert graph.labels is not None
    splits = resplits(graph.labels, selection_split(graph), asked.splits)
    result: dict[str, Any] = {"graph": asked.graph, "splits": asked.splits, "validation": {}}
    if asked.out.is_file():
        result = json.loads(asked.out.read_text("utf-8"))
        if (result["graph"], result["splits"]) != (asked.graph, asked.splits):
            parser.error(f"{asked.out} is about {result['graph']} with {result['splits']} splits")
    for variant in asked.variants:
        settings = METHODS["ugcl"].resolve(variant.preset, graph, variant.changes).values()
        label = ",".join(f"{name}={value}" for name, value in settings.items())
        held = result["validation"].setdefault(
            label, {"settings": settings, "seconds": [], "scores": []}
        )
        for seed in range(len(held["scores"]), asked.seeds):
            started = time.perf_counter()
            model = UGCL(**settings, seed=seed).fit(graph)
            held["seconds"].append(round(time.perf_counter() - started, 1))
            embeddings = model.embed(graph)
            scores = [validation_accuracy(embeddings, graph.labels, split) for split in splits]
            held["scores"].append([round(score, 3) for score in scores])
            held["mean"] = round(fmean(score for row in held["scores"] for score in row), 2)
            write_json(asked.out, result)
        print(f"{held['mean']:.2f}  {fmean(held['seconds']):5.1f} s  {variant}", flush=True)


if __name__ == "__main__":
    main()
