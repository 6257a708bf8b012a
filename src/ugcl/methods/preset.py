"""Presets: named values of all settings, for each data set and for any other graph.

They are data: `presets/METHOD.toml` beside this file. Every method has `fast`, our own values,
chosen on training and validation nodes for a fraction of the cost, and the default. Every method
that is trained has `paper`, the published values; UGCL also has `authors`, the arithmetic of the
authors' code. `ours` marks the values that the source does not state.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from importlib import resources
from typing import Any

DEFAULT_PRESET = "fast"


@dataclass(frozen=True)
class Preset:
    """Values of all settings; without a value of its own, `readout_scope` equals `scope`.

    Attributes:
        about: where the values come from.
        base: the values for a graph without values of its own.
        graphs: the values that differ for a data set.
        ours: for a data set, or as "default", the settings that the source does not state.
    """

    about: str
    base: Mapping[str, Any]
    graphs: Mapping[str, Mapping[str, Any]]
    ours: Mapping[str, frozenset[str]]

    def values(self, graph: str) -> dict[str, Any]:
        """Return all values for the graph of that name."""
        return {**self.base, **self.graphs.get(graph, {})}

    def ours_for(self, graph: str) -> frozenset[str]:
        """Return the settings that the source does not state for the graph of that name."""
        return self.ours.get(graph, self.ours["default"])

    def override(self, **params: Any) -> Preset:
        """Return the preset with other values for all graphs, which count as stated."""
        listed = ", ".join(f"{name} {value}" for name, value in params.items())
        return replace(
            self,
            about=f"{self.about}, with {listed}" if params else self.about,
            base={**self.base, **params},
            graphs={name: {**values, **params} for name, values in self.graphs.items()},
            ours={name: names - params.keys() for name, names in self.ours.items()},
        )


class PresetFile(Mapping[str, Preset]):
    """The presets of a method, read from its TOML file when they are first used.

    Args:
        method: the name of the method.
    """

    def __init__(self, method: str) -> None:
        self.method = method

    @cached_property
    def _presets(self) -> dict[str, Preset]:
        file = resources.files("ugcl.methods") / "presets" / f"{self.method}.toml"
        return parse_presets(file.read_text("utf-8"))

    def __getitem__(self, name: str) -> Preset:
        return self._presets[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._presets)

    def __len__(self) -> int:
        return len(self._presets)


@cache
def load_presets(method: str) -> PresetFile:
    """Return the presets of a method."""
    return PresetFile(method)


def parse_presets(text: str) -> dict[str, Preset]:
    """Parse presets; the files of this package show the format."""
    presets = {}
    for name, table in tomllib.loads(text).items():
        base = table["base"]
        ours = {
            graph: frozenset(base) if names == "all" else frozenset(names)
            for graph, names in table["ours"].items()
        }
        presets[name] = Preset(table["about"], base, table.get("graphs", {}), ours)
    return presets
