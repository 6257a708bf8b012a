"""Methods of a user's own for tests: a file, and an installed package."""

from __future__ import annotations

from pathlib import Path

import pytest

from ugcl.methods import from_file, from_package

SOURCE = """
from __future__ import annotations

from dataclasses import dataclass

import torch

from ugcl import losses, nn, views
from ugcl.methods import Method, Preset
from ugcl.methods.params import temperature
from ugcl.methods.parts import Parts
from ugcl.methods.settings import AugmentationSettings


@dataclass(frozen=True)
class MixSettings(AugmentationSettings):
    temperature: float = temperature()


def build(num_features: int, settings: MixSettings, generator: torch.Generator) -> Parts:
    return Parts(
        views=views.RandomAugmentation(
            drop_edges=settings.drop_edges,
            mask_features=settings.mask_features,
            self_loops=settings.self_loops,
        ),
        encoder=nn.GCN(num_features, settings.hidden, generator),
        loss=losses.CosineContrast(settings.temperature, negatives=16),
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
"""
"""The file of a method 'mix', the one of `examples/add_a_method.py` with fewer negatives."""

PARAMS = {"hidden": 8, "epochs": 3}
"""Settings that make it fast."""


def write_method(path: Path, name: str = "mix", more: str = "") -> Path:
    """Write a file with a method of that name, and more code at its end."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(SOURCE.replace('name="mix"', f'name="{name}"') + more)
    return path


def write_package(
    folder: Path, name: str = "mix", value: str = "METHOD", package: str = ""
) -> Path:
    """Write an installed package with an entry point into a folder for `sys.path`."""
    package = package or f"{name}_package"
    write_method(folder / package / "own.py", name)
    (folder / package / "__init__.py").touch()
    about = folder / f"{package}-1.5.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.5\n")
    (about / "entry_points.txt").write_text(f"[ugcl.methods]\n{name} = {package}.own:{value}\n")
    return folder


def forget_methods(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget the methods that were loaded, as a new process has none."""
    monkeypatch.setattr(from_file, "_LOADED", {})
    monkeypatch.setattr(from_package, "_LOADED", {})
