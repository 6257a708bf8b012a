"""Versions of file formats."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ugcl._utils.errors import UGCLError


class FormatError(UGCLError):
    """Exception for a file of a newer format."""


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
