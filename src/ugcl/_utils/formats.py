"""Versions of file formats, and JSON and TOML of files."""

from __future__ import annotations

import json
import sys
import tomllib
from pathlib import Path
from typing import Any

from ugcl._utils.errors import UGCLError


class FormatError(UGCLError):
    """Exception for a file of a newer format."""


def from_json(text: str | bytes) -> Any:
    """Parse JSON; a `ValueError` also where it is nested too deeply."""
    try:
        return json.loads(text)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def from_toml(text: str) -> dict[str, Any]:
    """Parse TOML; a `ValueError` also where it is nested too deeply."""
    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def is_finite(value: Any) -> bool:
    """Return whether a value of JSON is a number that a float can hold."""
    return type(value) in (int, float) and abs(value) <= sys.float_info.max


def check_format(path: Path, found: Any, newest: int) -> None:
    """Refuse a file whose format is newer than this version reads, or is no number.

    Args:
        path: the file.
        found: the version of its format.
        newest: the newest that can be read.
    """
    if isinstance(found, bool) or not isinstance(found, int) or found < 1:
        raise UGCLError(f"{path} is damaged: its format must be a number, not {found!r}")
    if found > newest:
        raise FormatError(
            f"{path} has format {found} of a newer version of ugcl, and this one reads up to "
            f"{newest}: update ugcl (pip install --upgrade ugcl)"
        )
