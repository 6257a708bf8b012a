"""The controls `sign` and `structure`: several `A^k X` side by side, without training.

`sign` has the inputs of SIGN (Frasca et al., 2020), `[X V | A X V | A^2 X V | ...]`, where V are
the leading directions of X and each block has rows of norm 1; SIGN trains layers on them.
`structure` adds NetMF (Qiu et al., 2018), a factorisation of the edges alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ugcl.methods.method import Method, Shape
from ugcl.methods.params import integer, integers, number, self_loops
from ugcl.methods.preset import load_presets
from ugcl.methods.raw import RawSettings
from ugcl.methods.settings import resolved_scaling

if TYPE_CHECKING:
    from ugcl.methods.models.projected import FeatureBlocks


@dataclass(frozen=True)
class SIGNSettings(RawSettings):
    """Settings of the blocks."""

    powers: tuple[int, ...] = integers("the powers k of the blocks A^k X", 0)
    block_columns: int = integer("columns of each block: leading directions of X", 1)
    self_loops: float = self_loops()


@dataclass(frozen=True)
class StructureSettings(SIGNSettings):
    """Settings of the blocks with a structural block beside them."""

    structure_columns: int = integer("columns of the structural block; 0: none", 0)
    structure_weight: float = number(
        "weight of the structural block; that of all others is 1", minimum=0
    )


def model(shape: Shape, settings: SIGNSettings, seed: int) -> FeatureBlocks:
    """Return the model; nothing in it is random."""
    from ugcl.methods.models.projected import FeatureBlocks

    structure: dict[str, Any] = {}
    if isinstance(settings, StructureSettings):
        structure["structure_columns"] = settings.structure_columns
        structure["structure_weight"] = settings.structure_weight
    return FeatureBlocks(
        shape.features,
        resolved_scaling(settings.feature_scaling),
        columns=settings.block_columns,
        powers=settings.powers,
        self_loops=settings.self_loops,
        **structure,
    )


METHODS = (
    Method(
        name="sign",
        kind="control",
        scope="several powers A^k X side by side",
        paper="Frasca et al., 2020, without the trained layers",
        settings=SIGNSettings,
        presets=load_presets("sign"),
        model=model,
        version=2,
    ),
    Method(
        name="structure",
        kind="control",
        scope="several powers A^k X, beside walks of 5 steps (NetMF)",
        paper="Qiu et al., WSDM 2018, beside Frasca et al., 2020",
        settings=StructureSettings,
        presets=load_presets("structure"),
        model=model,
        version=2,
    ),
)
