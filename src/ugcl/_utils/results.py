"""Result files that a command continues."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from ugcl._utils.errors import UGCLError
from ugcl._utils.formats import from_json


def read_result(
    path: Path,
    expected: Mapping[str, Any],
    *,
    fields: Collection[str] = (),
    row_fields: Collection[str] = (),
) -> dict[str, Any] | None:
    """Read a JSON result to continue it; None where there is no file.

    Args:
        path: the file.
        expected: the values of fields that the result must have.
        fields: further fields that it must have.
        row_fields: fields that each of its `rows` must have.
    """
    if not path.is_file():
        return None
    try:
        result: dict[str, Any] = from_json(path.read_text("utf-8"))
        complete = {*expected, *fields} <= result.keys() and all(
            set(row_fields) <= row.keys() for row in result.get("rows", [])
        )
    except (AttributeError, TypeError, ValueError):
        complete = False
    if not complete:
        raise UGCLError(f"{path} is not a result of this command: choose another `out`")
    check_fields(path, result, expected)
    return result


def check_fields(path: Path, stored: Mapping[str, Any], expected: Mapping[str, Any]) -> None:
    """Refuse stored fields, settings for example, whose values are not the expected ones."""
    for name, value in expected.items():
        before = stored.get(name)
        if before == value:
            continue
        if isinstance(before, Mapping) and isinstance(value, Mapping):
            check_fields(path, before, value)
        raise UGCLError(
            f"{path} holds a result with {name} {before!r} instead of {value!r}: choose another "
            "`out`"
        )
