"""Variants around the `fast` settings of CiteSeer, on training and validation nodes alone.

    python scripts/choose_fast.py docs/results/choose_fast.json

trains variants of the settings and scores each by the honest probe on eight random splits of the
620 public training and validation nodes (20 of each class against the rest); no test node is
looked at. Prints the mean over seeds and splits and writes all scores.
"""

from __future__ import annotations

import sys
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import numpy.typing as npt

from ugcl import UGCL, Graph, load_graph
from ugcl.evaluation import linear_probe
from ugcl.files import write_json

SEEDS, SPLITS = 2, 8
VARIANTS: dict[str, dict[str, Any]] = {
    "fast": {},
    "width 512": {"hidden": 512},
    "scope 2": {"scope": 2},
    "scope 10": {"scope": 10},
    "TF-IDF features": {"feature_scaling": "tfidf"},
    "samples of 3,000 nodes": {"sample": 3000},
    "all negatives": {"negatives": "all"},
    "twice the epochs": {"epochs": 90},
    "no training": {"epochs": 0},
}


def resplit(graph: Graph, seed: int) -> dict[str, npt.NDArray[np.int64]]:
    """A split of the training and validation nodes; the probe's test nodes are its validation's."""
    assert graph.labels is not None
    pool = np.concatenate([graph.splits["train"], graph.splits["val"]])
    shuffled = np.random.default_rng(seed).permutation(pool)
    members = [shuffled[graph.labels[shuffled] == c][:20] for c in range(graph.num_classes)]
    train = np.sort(np.concatenate(members))
    rest = np.setdiff1d(pool, train)
    return {"train": train, "val": rest, "test": rest}


def main(out: Path) -> None:
    """Train and score every variant."""
    graph = load_graph("citeseer")
    assert graph.labels is not None
    splits = [resplit(graph, seed) for seed in range(SPLITS)]
    result = {}
    for name, changes in VARIANTS.items():
        scores = []
        for seed in range(SEEDS):
            embeddings = UGCL("fast", **changes, seed=seed).fit(graph).embed(graph)
            scores += [linear_probe(embeddings, graph.labels, s).validation for s in splits]
        result[name] = {"mean": round(fmean(s for s in scores if s is not None), 2), "all": scores}
        print(f"{name:24} {result[name]['mean']:.2f}", flush=True)
        write_json(out, {"seeds": SEEDS, "splits": SPLITS, "validation": result})


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
