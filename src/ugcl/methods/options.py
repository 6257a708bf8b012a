"""Options: one description of a setting for Python, the command line and `config.toml`."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from ugcl.errors import UGCLError

All = Literal["all"]
Auto = Literal["auto"]

_WHOLE = "a whole number of at least {}"


@dataclass(frozen=True)
class Option:
    """What values a setting takes.

    Attributes:
        help: what it does, in a few words.
        wanted: the values it takes, in words that continue "must be ...".
        parse: from text or a value to a value; raises ValueError where it does not fit.
        metavar: what stands for the value in the command line's help.
    """

    help: str
    wanted: str
    parse: Callable[[Any], Any]
    metavar: str

    def value(self, name: str, given: Any) -> Any:
        """The value that was given as text or as itself, or an error that names it."""
        try:
            return self.parse(given)
        except (TypeError, ValueError, OverflowError) as error:
            raise UGCLError(f"{name} must be {self.wanted}, not {given!r}") from error


def whole(help: str, least: int) -> Any:
    """A whole number of at least `least`."""
    return _option(help, _WHOLE.format(least), parse_whole(least), "N")


def whole_or_all(help: str, least: int) -> Any:
    """A whole number of at least `least`, or "all"."""
    return _whole_or(("all",), help, least)


def scope_or_auto(help: str) -> Any:
    """A number of steps n, "component", "graph", or "auto": n chosen for the graph."""
    return _whole_or(("component", "graph", "auto"), help, 0)


def steps_or_auto(help: str) -> Any:
    """A number of steps n, or "auto": n chosen for the graph."""
    return _whole_or(("auto",), help, 0)


def _whole_or(words: tuple[str, ...], help: str, least: int) -> Any:
    def parse(given: Any) -> Any:
        return given if given in words else parse_whole(least)(given)

    *others, last = (f"'{word}'" for word in words)
    listed = ", ".join(["", *others]) + f" or {last}"
    return _option(help, _WHOLE.format(least) + listed, parse, "|".join(["N", *words]))


def share(help: str) -> Any:
    """A number of at least 0 and below 1."""
    return number(help, least=0, below=1)


def number(
    help: str, *, above: float | None = None, least: float | None = None, below: float = math.inf
) -> Any:
    """A finite number, above one number or at least another, and below a third."""

    def parse(given: Any) -> float:
        value = float(given)
        if isinstance(given, bool) or not math.isfinite(value):
            raise ValueError
        if (above is not None and value <= above) or (least is not None and value < least):
            raise ValueError
        if value >= below:
            raise ValueError
        return value

    wanted = f"above {above}" if above is not None else f"of at least {least}"
    wanted += f" and below {below}" if math.isfinite(below) else ""
    return _option(help, f"a number {wanted}", parse, "R")


def choice(help: str, choices: tuple[str, ...]) -> Any:
    """One of a few names."""

    def parse(given: Any) -> str:
        if given not in choices:
            raise ValueError
        return str(given)

    return _option(help, "one of " + ", ".join(choices), parse, "|".join(choices))


def checked_whole(name: str, given: Any, least: int) -> int:
    """A whole number of at least `least`, or an error that names it."""
    value: int = Option("", _WHOLE.format(least), parse_whole(least), "N").value(name, given)
    return value


def option_of(settings_field: Any) -> Option:
    """The option that describes a field of a settings class."""
    option: Option = settings_field.metadata["option"]
    return option


def flag(name: str) -> str:
    """The command-line spelling of a setting's name."""
    return "--" + name.replace("_", "-")


def _option(*description: Any) -> Any:
    return field(metadata={"option": Option(*description)})


def parse_whole(least: int) -> Callable[[Any], int]:
    """From text or a number to a whole number of at least `least`."""

    def parse(given: Any) -> int:
        value = int(given)
        if isinstance(given, bool) or (not isinstance(given, str) and given != value):
            raise ValueError
        if not least <= value < 2**63:
            raise ValueError
        return value

    return parse
