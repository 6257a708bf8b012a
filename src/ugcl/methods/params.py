"""Parameters: one declaration of a setting for Python, the command line and `config.toml`."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import Field, dataclass, field
from typing import Any, Literal, get_args

from ugcl._utils.errors import UGCLError
from ugcl.typing import FeatureScaling

All = Literal["all"]
Auto = Literal["auto"]

MIN_TEMPERATURE = 0.02
"""Sums of exp(cos/t) overflow float32 near t = 0.012."""

_INTEGER = "an integer of at least {}"

MAX_INTEGER = 2**63 - 1

MAX_THREADS = 1024
"""PyTorch crashes with many more."""


class _TooLargeError(ValueError):
    """An integer is above the maximum."""


@dataclass(frozen=True)
class Param:
    """The values that a setting takes.

    Attributes:
        help: what the setting does.
        expected: the values it takes, in words that continue "must be ...".
        parse: from text or a value to the value; raises ValueError for others.
        metavar: placeholder of the value in the command line's help.
    """

    help: str
    expected: str
    parse: Callable[[Any], Any]
    metavar: str

    def value(self, name: str, value: Any) -> Any:
        """Parse a value, or raise an error that names the parameter."""
        try:
            return self.parse(value)
        except _TooLargeError as error:
            raise UGCLError(f"{name} must be {error}, not {value}") from error
        except (TypeError, ValueError, OverflowError) as error:
            raise UGCLError(f"{name} must be {self.expected}, not {value!r}") from error


def param_of(settings_field: Field[Any]) -> Param:
    """Return the parameter that a field of a settings class declares."""
    param: Param = settings_field.metadata["param"]
    return param


def integer(help: str, minimum: int, maximum: int = MAX_INTEGER) -> Any:
    """Declare an integer of at least `minimum`."""
    return _param(help, _INTEGER.format(minimum), parse_integer(minimum, maximum), "N")


def integers(help: str, minimum: int) -> Any:
    """Declare different integers of at least `minimum`: a sequence, or text such as "0,1,2".

    The value is a tuple in ascending order.
    """
    parse_one = parse_integer(minimum)

    def parse(value: Any) -> tuple[int, ...]:
        items = re.split(r"[,+]", value) if isinstance(value, str) else value
        parsed = tuple(sorted(map(parse_one, items)))
        if not parsed or len(set(parsed)) < len(parsed):
            raise ValueError
        return parsed

    expected = f"different integers of at least {minimum}, separated by commas"
    return _param(help, expected, parse, "N,N,...")


def integer_or_all(help: str, minimum: int) -> Any:
    """Declare an integer of at least `minimum`, or "all"."""
    return _integer_or(("all",), help, minimum)


def scope_or_auto(help: str) -> Any:
    """Declare a scope: a power n, "component", "graph", or "auto" (n chosen for the graph)."""
    return _integer_or(("component", "graph", "auto"), help, 0)


def power_or_auto(help: str) -> Any:
    """Declare a power n, or "auto" (n chosen for the graph)."""
    return _integer_or(("auto",), help, 0)


def fraction(help: str) -> Any:
    """Declare a number of at least 0 and below 1."""
    return number(help, minimum=0, below=1)


def number(
    help: str, *, above: float | None = None, minimum: float | None = None, below: float = math.inf
) -> Any:
    """Declare a finite number, above `above` or at least `minimum`, and below `below`."""

    def parse(value: Any) -> float:
        parsed = float(value)
        if isinstance(value, bool) or not math.isfinite(parsed):
            raise ValueError
        if (above is not None and parsed <= above) or (minimum is not None and parsed < minimum):
            raise ValueError
        if parsed >= below:
            raise ValueError
        return parsed

    limits = [
        *([f"above {above:g}"] if above is not None else ()),
        *([f"of at least {minimum:g}"] if minimum is not None else ()),
        *([f"below {below:g}"] if math.isfinite(below) else ()),
    ]
    return _param(help, " ".join(["a number", " and ".join(limits)]).strip(), parse, "R")


def choice(help: str, choices: tuple[str, ...]) -> Any:
    """Declare one of a few names."""

    def parse(value: Any) -> str:
        if value not in choices:
            raise ValueError
        return str(value)

    return _param(help, "one of " + ", ".join(choices), parse, "|".join(choices))


def feature_scaling() -> Any:
    """Declare the setting `feature_scaling`; "auto" is chosen for the graph."""
    return choice(
        "features as they are, rows of L1 norm 1, rows of L2 norm 1, TF-IDF, columns of mean 0 and "
        "standard deviation 1 (sparse ones: deviation 1 only); auto: L2, or "
        "TF-IDF for counts and standard for others, whichever is more reliable",
        (*get_args(FeatureScaling), "auto"),
    )


def temperature() -> Any:
    """Declare the temperature of a contrastive loss."""
    return number("temperature of the loss", minimum=MIN_TEMPERATURE)


def self_loops() -> Any:
    """Declare the weight of the self-loops."""
    return number("weight of the self-loops in the normalised adjacency", minimum=0)


def check_integer(name: str, value: Any, minimum: int, maximum: int = MAX_INTEGER) -> int:
    """Return an integer of at least `minimum`, or raise an error that names it."""
    param = Param("", _INTEGER.format(minimum), parse_integer(minimum, maximum), "N")
    parsed: int = param.value(name, value)
    return parsed


def parse_integer(minimum: int, maximum: int = MAX_INTEGER) -> Callable[[Any], int]:
    """Return the parser of an integer of at least `minimum`, from text or a number."""

    def parse(value: Any) -> int:
        parsed = int(value)
        if isinstance(value, bool) or (not isinstance(value, str) and value != parsed):
            raise ValueError
        if parsed < minimum:
            raise ValueError
        if parsed > maximum:
            raise _TooLargeError(f"at most {maximum:,}")
        return parsed

    return parse


def _integer_or(words: tuple[str, ...], help: str, minimum: int) -> Any:
    def parse(value: Any) -> Any:
        return value if value in words else parse_integer(minimum)(value)

    *others, last = (f"'{word}'" for word in words)
    listed = ", ".join(["", *others]) + f" or {last}"
    return _param(help, _INTEGER.format(minimum) + listed, parse, "|".join(["N", *words]))


def _param(*declaration: Any) -> Any:
    return field(metadata={"param": Param(*declaration)})
