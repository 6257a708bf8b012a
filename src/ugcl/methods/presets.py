"""Presets: named choices of all settings, for each data set and for any other graph.

Every method has `fast`, our own: chosen on training and validation nodes, a fraction of the cost,
and the default. Every method that is trained has `paper`, as it was published.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, TypeVar

from ugcl._utils.errors import UGCLError
from ugcl._utils.suggest import unknown
from ugcl.graph import Graph
from ugcl.methods.settings import Settings

DEFAULT_PRESET = "fast"

S = TypeVar("S", bound=Settings)


@dataclass(frozen=True)
class Preset:
    """Values of all settings; without one of its own, `readout_scope` follows `scope`.

    Attributes:
        about: where the values come from.
        base: the values for a graph that has none of its own.
        graphs: what differs for a data set.
        ours: settings that the source does not state in general and we chose.
        stated: those of them that the source does state for a data set.
    """

    about: str
    base: Mapping[str, Any]
    graphs: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    ours: frozenset[str] = frozenset()
    stated: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def values(self, graph: str) -> dict[str, Any]:
        """All values for the graph of that name."""
        return {**self.base, **self.graphs.get(graph, {})}

    def changed(self, **changes: Any) -> Preset:
        """The same for all graphs but for these changes, which are not ours."""
        listed = ", ".join(f"{name} {value}" for name, value in changes.items())
        return replace(
            self,
            about=f"{self.about}, with {listed}" if changes else self.about,
            base={**self.base, **changes},
            graphs={name: {**values, **changes} for name, values in self.graphs.items()},
            ours=self.ours - changes.keys(),
            stated={name: names - changes.keys() for name, names in self.stated.items()},
        )

    def ours_for(self, graph: str) -> frozenset[str]:
        """The settings that the source does not state for the graph of that name."""
        return self.ours - self.stated.get(graph, frozenset())


def preset_named(presets: Mapping[str, Preset], name: str) -> Preset:
    """The preset of that name, or an error that lists those there are."""
    if name in presets:
        return presets[name]
    raise UGCLError(unknown("preset of settings", name, presets))


def resolve(
    kind: type[S],
    presets: Mapping[str, Preset],
    preset: str,
    graph: Graph,
    given: Mapping[str, Any],
) -> S:
    """The settings of a preset for a graph, with the user's own values in place of the preset's.

    A scope may still be "auto" in them.

    A preset that asks for more nodes than the graph has is shrunk; a user who does is told so.
    """
    values = preset_named(presets, preset).values(graph.name) | dict(given)
    if "scope" in values and any(field.name == "readout_scope" for field in fields(kind)):
        values.setdefault("readout_scope", values["scope"])
    return kind.from_values(values).fitted(graph, frozenset(given))
