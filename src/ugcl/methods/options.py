"""Options: one description of a setting for Python, the command line and `config.toml`."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from ugcl._utils.errors import UGCLError

All = Literal["all"]
Auto = Literal["auto"]

_INTEGER = "a whole number of at least {}"


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


def integer(help: str, minimum: int) -> Any:
    """A whole number of at least `minimum`."""
    return _option(help, _INTEGER.format(minimum), parse_integer(minimum), "N")


def integer_or_all(help: str, minimum: int) -> Any:
    """A whole number of at least `minimum`, or "all"."""
    return _integer_or(("all",), help, minimum)


def scope_or_auto(help: str) -> Any:
    """A number of steps n, "component", "graph", or "auto": n chosen for the graph."""
    return _integer_or(("component", "graph", "auto"), help, 0)


def steps_or_auto(help: str) -> Any:
    """A number of steps n, or "auto": n chosen for the graph."""
    return _integer_or(("auto",), help, 0)


def _integer_or(words: tuple[str, ...], help: str, minimum: int) -> Any:
    def parse(given: Any) -> Any:
        return given if given in words else parse_integer(minimum)(given)

    *others, last = (f"'{word}'" for word in words)
    listed = ", ".join(["", *others]) + f" or {last}"
    return _option(help, _INTEGER.format(minimum) + listed, parse, "|".join(["N", *words]))


def fraction(help: str) -> Any:
    """A number of at least 0 and below 1."""
    return number(help, minimum=0, below=1)


def number(
    help: str, *, above: float | None = None, minimum: float | None = None, below: float = math.inf
) -> Any:
    """A finite number, above one number or at least another, and below a third."""

    def parse(given: Any) -> float:
        value = float(given)
        if isinstance(given, bool) or not math.isfinite(value):
            raise ValueError
        if (above is not None and value <= above) or (minimum is not None and value < minimum):
            raise ValueError
        if value >= below:
            raise ValueError
        return value

    wanted = f"above {above}" if above is not None else f"of at least {minimum}"
    wanted += f" and below {below}" if math.isfinite(below) else ""
    return _option(help, f"a number {wanted}", parse, "R")


def choice(help: str, choices: tuple[str, ...]) -> Any:
    """One of a few names."""

    def parse(given: Any) -> str:
        if given not in choices:
            raise ValueError
        return str(given)

    return _option(help, "one of " + ", ".join(choices), parse, "|".join(choices))


def check_integer(name: str, given: Any, minimum: int) -> int:
    """A whole number of at least `minimum`, or an error that names it."""
    value: int = Option("", _INTEGER.format(minimum), parse_integer(minimum), "N").value(
        name, given
    )
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


def parse_integer(minimum: int) -> Callable[[Any], int]:
    """From text or a number to a whole number of at least `minimum`."""

    def parse(given: Any) -> int:
        value = int(given)
        if isinstance(given, bool) or (not isinstance(given, str) and given != value):
            raise ValueError
        if not minimum <= value < 2**63:
            raise ValueError
        return value

    return parse
