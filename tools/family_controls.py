"""Score embeddings without training on every family of synthetic graphs.

    python tools/family_controls.py [--nodes 3000] [--seeds 5]

Each seed samples a graph and a split; the scores of the honest probe are written to
results/families.jsonl.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import numpy as np
from scipy.sparse.linalg import eigsh

from collect import RESULTS, Record, put_record
from ugcl import Graph
from ugcl._utils.provenance import source_commit
from ugcl.data import FAMILIES, split_of, synthetic_graph
from ugcl.evaluation import linear_probe
from ugcl.scope import SMOOTHING_SELF_LOOPS, normalised_adjacency
from ugcl.typing import Embeddings, FeatureScaling
from ugcl.views import scale_features, smooth_features

POWERS = (0, 1, 2, 5)
EIGENVECTORS = 16


def controls(graph: Graph, scaling: FeatureScaling) -> Iterator[tuple[str, Embeddings]]:
    """Yield `A^k X`, and the eigenvectors of A with the largest absolute eigenvalues."""
    adjacency = normalised_adjacency(graph.adjacency, SMOOTHING_SELF_LOOPS)
    features = scale_features(graph.features, scaling)
    for k, smoothed in smooth_features(adjacency, features, POWERS):
        yield str(k), smoothed
    adjacency = normalised_adjacency(graph.adjacency, 0).astype(np.float64)
    yield "structure", eigsh(adjacency, EIGENVECTORS, v0=np.ones(graph.num_nodes))[1]


def scores(family: str, nodes: int, seed: int, scaling: FeatureScaling) -> dict[str, float]:
    """Return the test accuracy of each control on one graph and split."""
    graph = synthetic_graph(family, nodes=nodes, seed=seed)
    assert graph.labels is not None
    split, _ = split_of(graph, "fraction", seed)
    return {
        control: round(linear_probe(embeddings, graph.labels, split).accuracy, 2)
        for control, embeddings in controls(graph, scaling)
    }


def main() -> None:
    """Write a record for each family and feature scaling."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--nodes", type=int, default=3000)
    parser.add_argument("--seeds", type=int, default=5)
    args = parser.parse_args()
    scalings: tuple[FeatureScaling, ...] = ("none", "standard")
    for family in FAMILIES:
        for scaling in scalings:
            print(f"{family}, {scaling}", flush=True)
            by_seed = [scores(family, args.nodes, seed, scaling) for seed in range(args.seeds)]
            record: Record = {
                "family": family,
                "feature_scaling": scaling,
                "nodes": args.nodes,
                "accuracy": {name: [each[name] for each in by_seed] for name in by_seed[0]},
                "commit": source_commit(),
            }
            put_record(RESULTS / "families.jsonl", record, "family", "feature_scaling")


if __name__ == "__main__":
    main()
