"""Settings: a frozen value that holds all a method needs to know, checked when it is made."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from torch.nn import Parameter
from torch.optim import Adam, Optimizer

from ugcl._utils.errors import UGCLError
from ugcl.graph import Graph
from ugcl.methods.options import flag, integer, number, option_of


@dataclass(frozen=True)
class Settings:
    """What the settings of all methods can do; a method adds the fields."""

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            value = option_of(field).value(field.name, getattr(self, field.name))
            object.__setattr__(self, field.name, value)

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> Self:
        """Settings from names and values, all of them."""
        names = {field.name for field in dataclasses.fields(cls)}
        if unknown := sorted(set(values) - names):
            raise UGCLError(f"there is no setting '{unknown[0]}': the settings are {_list(names)}")
        if missing := names - set(values):
            raise UGCLError(f"settings are incomplete: {_list(missing)} missing")
        return cls(**values)

    def replace(self, **changes: Any) -> Self:
        """The same settings but for these changes."""
        return dataclasses.replace(self, **changes)

    def values(self) -> dict[str, Any]:
        """All settings by name."""
        return dataclasses.asdict(self)

    def fitted(self, graph: Graph, given: frozenset[str]) -> Self:
        """These settings made to fit a graph; `given` names what the user asked for himself."""
        del graph, given
        return self

    def fit_count(self, name: str, available: int, of: str, given: frozenset[str]) -> Any:
        """A count that must not exceed what there is; "all" where a preset asks for more."""
        count = getattr(self, name)
        if count == "all" or count <= available:
            return count
        if name in given:
            raise UGCLError(
                f"{flag(name)} {count} is more than the {available:,} {of} of this graph: "
                "use less, or 'all'"
            )
        return "all"


@dataclass(frozen=True)
class TrainedSettings(Settings):
    """What every method has that is trained."""

    epochs: int = integer("training steps", 0)
    lr: float = number("learning rate of the optimiser", above=0)
    patience: int = integer(
        "stop after this many epochs without a lower loss and keep the last weights; 0: never", 0
    )

    def rate(self, epoch: int) -> float:
        """The learning rate in an epoch."""
        del epoch
        return self.lr

    def optimizer(self, parameters: Iterable[Parameter]) -> Optimizer:
        """Adam, each step of it one pass over the parameters."""
        return Adam(parameters, lr=self.lr, fused=True)


def _list(names: set[str]) -> str:
    return ", ".join(sorted(names))
