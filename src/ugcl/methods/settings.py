"""Settings: frozen dataclasses with declared parameters. Torch is not imported."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self, get_args

from ugcl._utils.errors import UGCLError
from ugcl.methods.params import (
    Auto,
    choice,
    feature_scaling,
    fraction,
    integer,
    number,
    param_of,
    scope_or_auto,
    self_loops,
)
from ugcl.typing import FeatureScaling, Readout, ScopeName

if TYPE_CHECKING:
    from ugcl.graph import Graph


@dataclass(frozen=True)
class Settings:
    """Base class for the settings of a method; values are validated on creation."""

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            value = param_of(field).value(f"`{field.name}`", getattr(self, field.name))
            object.__setattr__(self, field.name, value)

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> Self:
        """Create settings from the values of all of them, by name."""
        cls.check_names(values)
        if missing := {field.name for field in dataclasses.fields(cls)} - set(values):
            raise UGCLError(f"settings are incomplete: {_list(missing)} missing")
        return cls(**values)

    @classmethod
    def check_names(cls, params: Iterable[str]) -> None:
        """Refuse names that are not settings."""
        names = {field.name for field in dataclasses.fields(cls)}
        if unknown := sorted(set(params) - names):
            raise UGCLError(f"there is no setting '{unknown[0]}': the settings are {_list(names)}")

    def replace(self, **params: Any) -> Self:
        """Return a copy with other values for some settings."""
        return dataclasses.replace(self, **params)

    def values(self) -> dict[str, Any]:
        """Return all settings by name, as plain data: a list of integers is a list."""
        values = dataclasses.asdict(self)
        return {k: list(v) if isinstance(v, tuple) else v for k, v in values.items()}

    def adapted_to(self, graph: Graph, params: frozenset[str]) -> Self:
        """Return the settings adapted to a graph.

        Args:
            graph: the graph.
            params: names of the settings that the user has set, which must fit as they are.
        """
        return self

    def cap(self, name: str, available: int, unit: str, params: frozenset[str]) -> Any:
        """Return a count; "all" where a preset asks for more than is available."""
        count = getattr(self, name)
        if count == "all" or count <= available:
            return count
        if name in params:
            raise UGCLError(
                f"`{name}` {count} is more than the {available:,} {unit} of this graph: use less, "
                "or 'all'"
            )
        return "all"


@dataclass(frozen=True)
class TrainingSettings(Settings):
    """Settings of every method that is trained."""

    epochs: int = integer("training steps", 0)
    lr: float = number("learning rate of the optimizer", above=0)
    patience: int = integer(
        "stop after this many epochs without a lower loss and keep the last weights; 0: never", 0
    )

    def lr_at(self, epoch: int) -> float:
        """Return the learning rate of an epoch."""
        return self.lr


@dataclass(frozen=True)
class SSLSettings(TrainingSettings):
    """Settings of every method made of views, encoder, scope and loss."""

    scope: int | ScopeName | Auto = scope_or_auto(
        "training scope: contrast with A^n H, the connected component or the whole graph; auto: n "
        "chosen without labels"
    )
    readout_scope: int | ScopeName | Auto = scope_or_auto("scope of the embeddings H + A^n H")
    hidden: int = integer("width D' of the encoder, and so of the embeddings", 1)
    self_loops: float = self_loops()
    feature_scaling: FeatureScaling | Auto = feature_scaling()
    readout: Readout = choice("how H and A^n H become the embedding", get_args(Readout))

    def __post_init__(self) -> None:
        super().__post_init__()
        if "component" in (self.scope, self.readout_scope) and self.self_loops == 0:
            raise UGCLError(
                "the scope 'component' needs `self_loops` above 0, without which powers of the "
                "adjacency need not converge: raise it, or use a power n as the scope"
            )


@dataclass(frozen=True)
class AugmentationSettings(SSLSettings):
    """Settings of methods with two augmented views."""

    drop_edges_1: float = fraction("fraction of edges dropped in the first view")
    drop_edges_2: float = fraction("fraction of edges dropped in the second view")
    mask_features_1: float = fraction("fraction of features masked in the first view")
    mask_features_2: float = fraction("fraction of features masked in the second view")
    weight_decay: float = number("weight decay of the optimizer", minimum=0)

    @property
    def drop_edges(self) -> tuple[float, float]:
        """The fractions of dropped edges of both views."""
        return self.drop_edges_1, self.drop_edges_2

    @property
    def mask_features(self) -> tuple[float, float]:
        """The fractions of masked features of both views."""
        return self.mask_features_1, self.mask_features_2


def resolved_scaling(scaling: FeatureScaling | Auto) -> FeatureScaling:
    """Return a feature scaling that is not "auto" any more."""
    if scaling == "auto":
        raise UGCLError("the feature scaling 'auto' is not resolved yet: see Method.resolve")
    return scaling


def resolved(scope: int | ScopeName | Auto) -> int | ScopeName:
    """Return a scope that is not "auto" any more."""
    if scope == "auto":
        raise UGCLError("the scope 'auto' is not resolved yet: see ugcl.engine.resolve_settings")
    return scope


def _list(names: set[str]) -> str:
    return ", ".join(sorted(names))
