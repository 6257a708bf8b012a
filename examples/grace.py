"""GRACE in a plain PyTorch training loop, with views, encoder and loss from ugcl."""

from __future__ import annotations

import argparse

import numpy as np
import torch

import ugcl
from ugcl import losses, nn, views
from ugcl.data import split_of
from ugcl.evaluation import linear_probe


def main() -> None:
    """Train on CiteSeer, embed its nodes, score the embeddings with a linear probe."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--hidden", type=int, default=256)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()

    graph = ugcl.load_graph("citeseer")
    features = views.scale_features(graph.features, "l2")
    rng = np.random.default_rng(args.seed)
    generator = torch.Generator().manual_seed(args.seed)

    augmentation = views.RandomAugmentation(
        drop_edges=(0.2, 0.4), mask_features=(0.3, 0.2), self_loops=1.0
    )
    sampler = augmentation.bind(graph.adjacency, features)
    encoder = nn.DeepGCN(
        graph.num_features, (2 * args.hidden, args.hidden), activation="relu", generator=generator
    )
    info_nce = losses.InfoNCE(
        args.hidden, projector=256, temperature=0.9, negatives=256, generator=generator
    )
    parameters = [*encoder.parameters(), *info_nce.parameters()]
    optimizer = torch.optim.Adam(parameters, lr=1e-3, weight_decay=1e-5)

    for epoch in range(args.epochs):
        patches = [encoder(view) for view in sampler.sample(rng).views]
        loss = info_nce(losses.Batch(patches=patches, contexts=None, rng=rng))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"epoch {epoch + 1}: loss {loss.item():.4f}")

    (whole_graph,) = augmentation.inference_views(graph.adjacency, features, "cpu")
    with torch.no_grad():
        embeddings = encoder(whole_graph).numpy()
    assert graph.labels is not None
    split, _ = split_of(graph)
    score = linear_probe(embeddings, graph.labels, split)
    print(f"accuracy {score.accuracy:.1f} % on the test nodes of the public split")


if __name__ == "__main__":
    main()
