"""A method of your own in one file, trained with two scopes.

`python examples/add_a_method.py` trains it from Python. On the command line, pass the file instead
of a method's name; its variable `METHOD` is used:

    ugcl train citeseer --method examples/add_a_method.py --out runs/mine
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import torch

import ugcl
from ugcl import losses, nn, views
from ugcl.data import split_of
from ugcl.evaluation import linear_probe
from ugcl.methods import Method, Preset
from ugcl.methods.params import temperature
from ugcl.methods.parts import Parts
from ugcl.methods.settings import AugmentationSettings


@dataclass(frozen=True)
class MixSettings(AugmentationSettings):
    """Settings that all methods with augmented views have, and a temperature."""

    temperature: float = temperature()


def build(num_features: int, settings: MixSettings, generator: torch.Generator) -> Parts:
    """Return the parts: the views of GRACE, a one-layer GCN, the loss of UGCL."""
    return Parts(
        views=views.RandomAugmentation(
            drop_edges=settings.drop_edges,
            mask_features=settings.mask_features,
            self_loops=settings.self_loops,
        ),
        encoder=nn.GCN(num_features, settings.hidden, generator),
        loss=losses.CosineContrast(settings.temperature, negatives=256),
    )


VALUES = {
    **{"epochs": 20, "lr": 0.0005, "patience": 0, "weight_decay": 0.0, "temperature": 0.5},
    **{"scope": 2, "readout": "mean", "hidden": 256, "self_loops": 1.0, "feature_scaling": "l2"},
    **{"drop_edges_1": 0.2, "drop_edges_2": 0.4, "mask_features_1": 0.3, "mask_features_2": 0.2},
}
METHOD = Method(
    name="mix",
    scope="A^n, in the other view",
    paper="an example",
    settings=MixSettings,
    presets={"fast": Preset("not tuned", VALUES, graphs={}, ours={"default": frozenset(VALUES)})},
    build=build,
)


def main() -> None:
    """Train the method on CiteSeer with two scopes and score both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=20)
    args = parser.parse_args()

    graph = ugcl.load_graph("citeseer")
    assert graph.labels is not None
    split, _ = split_of(graph)
    for scope in (1, 5):
        embedder = ugcl.Embedder(METHOD, scope=scope, epochs=args.epochs)
        score = linear_probe(embedder.fit_embed(graph), graph.labels, split)
        print(f"scope {scope}: test accuracy {score.accuracy:.1f} %")


if __name__ == "__main__":
    main()
