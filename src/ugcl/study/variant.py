"""Variants: a preset with some settings changed, such as `fast:scope=3,temperature=0.2`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ugcl._utils.errors import UGCLError
from ugcl._utils.suggest import unknown
from ugcl.methods import DEFAULT_METHOD, get_method


@dataclass(frozen=True)
class Variant:
    """A preset and the settings that differ from it.

    Attributes:
        preset: the preset's name.
        params: the settings that differ from it.
    """

    preset: str
    params: Mapping[str, Any]

    @classmethod
    def parse(cls, text: str, method: str = DEFAULT_METHOD) -> Variant:
        """Parse text: a preset's name, then, after a colon, NAME=VALUE pairs between commas.

        The items of a value that is a list are joined by plus signs: `fast:powers=0+1+2`.
        """
        declared = get_method(method).params
        preset, _, pairs = text.partition(":")
        get_method(method).preset(preset)
        params = {}
        for pair in filter(None, pairs.split(",")):
            name, equals, value = pair.partition("=")
            name = name.strip().replace("-", "_")
            if not equals:
                raise UGCLError(
                    f"'{pair}' in '{text}' is not a setting: write it as NAME=VALUE, for example "
                    "fast:scope=3,temperature=0.2"
                )
            if name not in declared:
                raise UGCLError(unknown("setting", name, declared))
            params[name] = declared[name].value(f"`{name}`", value.strip())
        return cls(preset, params)

    @classmethod
    def parse_list(cls, text: str, method: str = DEFAULT_METHOD) -> list[Variant]:
        """Parse variants between commas: `fast,authors:hidden=64,epochs=9` has two."""
        variants: list[str] = []
        for item in text.split(","):
            if variants and "=" in item and ":" not in item:
                variants[-1] += f",{item}"  # a further setting of the same variant
            else:
                variants.append(item.strip())
        return [cls.parse(variant, method) for variant in variants]

    def __str__(self) -> str:
        params = ",".join(f"{name}={_shown(value)}" for name, value in self.params.items())
        return f"{self.preset}:{params}" if params else self.preset


def _shown(value: Any) -> str:
    """Return a value as `Variant.parse` reads it."""
    return "+".join(map(str, value)) if isinstance(value, tuple) else str(value)
