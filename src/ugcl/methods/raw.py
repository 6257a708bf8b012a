"""The control `raw`: the features as embeddings, without training."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ugcl.methods.method import Method, Shape
from ugcl.methods.params import Auto, feature_scaling
from ugcl.methods.preset import load_presets
from ugcl.methods.settings import Settings, resolved_scaling
from ugcl.typing import FeatureScaling

if TYPE_CHECKING:
    from ugcl.methods.models.smoothing import SmoothedFeatures


@dataclass(frozen=True)
class RawSettings(Settings):
    """Settings of the features."""

    feature_scaling: FeatureScaling | Auto = feature_scaling()


def model(shape: Shape, settings: RawSettings, seed: int) -> SmoothedFeatures:
    """Return the model; nothing in it is random."""
    from ugcl.methods.models.smoothing import SmoothedFeatures

    return SmoothedFeatures(shape.features, resolved_scaling(settings.feature_scaling))


METHOD = Method(
    name="raw",
    kind="control",
    needs=("X",),
    scope="the node itself: the features as they are",
    paper="none: the features without a method",
    settings=RawSettings,
    presets=load_presets("raw"),
    model=model,
)
