"""The control `smooth`: smoothed features `A^n X` as embeddings, without training."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ugcl.methods.method import Method, Shape
from ugcl.methods.params import Auto, power_or_auto, self_loops
from ugcl.methods.preset import load_presets
from ugcl.methods.raw import RawSettings
from ugcl.methods.settings import resolved_scaling

if TYPE_CHECKING:
    from ugcl.methods.models.smoothing import SmoothedFeatures


@dataclass(frozen=True)
class SmoothSettings(RawSettings):
    """Settings of the smoothing."""

    scope: int | Auto = power_or_auto("the power n of A^n X; auto: n chosen without labels")
    self_loops: float = self_loops()


def model(shape: Shape, settings: SmoothSettings, seed: int) -> SmoothedFeatures:
    """Return the model; nothing in it is random."""
    from ugcl.methods.models.smoothing import SmoothedFeatures

    assert settings.scope != "auto"
    return SmoothedFeatures(
        shape.features,
        resolved_scaling(settings.feature_scaling),
        settings.scope,
        settings.self_loops,
    )


METHOD = Method(
    name="smooth",
    kind="control",
    scope="A^n X",
    paper="none: features and edges without a method; SGC learns from the same",
    settings=SmoothSettings,
    presets=load_presets("smooth"),
    model=model,
    version=2,
)
