"""A variant: a preset with changes, as a study names it, such as `fast:sampling=ball,scope=3`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ugcl._utils.errors import UGCLError
from ugcl._utils.suggest import unknown
from ugcl.methods import method_named


@dataclass(frozen=True)
class Variant:
    """A preset and what is changed in it.

    Attributes:
        preset: the preset's name.
        changes: the settings that differ from it.
    """

    preset: str
    changes: Mapping[str, Any]

    @classmethod
    def parse(cls, text: str, method: str = "ugcl") -> Variant:
        """From text: a preset's name, then, after a colon, NAME=VALUE pairs between commas."""
        known = method_named(method)
        preset, _, listed = text.partition(":")
        if preset not in known.presets:
            raise UGCLError(unknown("preset of settings", preset, known.presets))
        pairs = list(filter(None, listed.split(",")))
        options = known.options(dict(pair.partition("=")[::2] for pair in pairs))
        changes = {}
        for pair in pairs:
            name, equals, value = pair.partition("=")
            name = name.strip().replace("-", "_")
            if not equals:
                raise UGCLError(
                    f"'{pair}' in '{text}' is not a change of a setting: write it as NAME=VALUE, "
                    "for example fast:sampling=ball,temperature=0.2"
                )
            if name not in options:
                raise UGCLError(unknown("setting", name, options))
            changes[name] = options[name].value(name, value.strip())
        return cls(preset, changes)

    def __str__(self) -> str:
        changes = ",".join(f"{name}={value}" for name, value in self.changes.items())
        return f"{self.preset}:{changes}" if changes else self.preset
