"""The control `pca`: smoothed features in their leading directions, read out, without training.

`(H + A^n H)/2` with `H = A^k X V`, where V are the leading directions of X (uncentred).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ugcl.methods.method import Method, Shape
from ugcl.methods.params import Auto, integer, power_or_auto, self_loops
from ugcl.methods.preset import load_presets
from ugcl.methods.raw import RawSettings
from ugcl.methods.settings import resolved_scaling

if TYPE_CHECKING:
    from ugcl.methods.models.projected import PrincipalComponents


@dataclass(frozen=True)
class PCASettings(RawSettings):
    """Settings of the principal components."""

    columns: int = integer("leading directions of X, and so columns of the embeddings", 1)
    smoothing: int = integer("the power k of H = A^k X, in its leading directions", 0)
    scope: int | Auto = power_or_auto(
        "the power n of the embeddings (H + A^n H)/2; auto: n chosen without labels"
    )
    self_loops: float = self_loops()


def model(shape: Shape, settings: PCASettings, seed: int) -> PrincipalComponents:
    """Return the model; nothing in it is random."""
    from ugcl.methods.models.projected import PrincipalComponents

    assert settings.scope != "auto"
    return PrincipalComponents(
        shape.features,
        resolved_scaling(settings.feature_scaling),
        columns=settings.columns,
        smoothing=settings.smoothing,
        scope=settings.scope,
        self_loops=settings.self_loops,
    )


METHOD = Method(
    name="pca",
    kind="control",
    scope="A^n H of smoothed features H = A^k X",
    paper="none: principal components of smoothed features",
    settings=PCASettings,
    presets=load_presets("pca"),
    model=model,
    version=2,
)
