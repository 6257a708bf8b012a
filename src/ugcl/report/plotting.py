"""Matplotlib, where it is installed."""

from __future__ import annotations

from importlib.util import find_spec

from ugcl.errors import UGCLError


def check_plotting() -> None:
    """Refuse where Matplotlib is not installed, before the work that would be drawn."""
    if find_spec("matplotlib") is None:
        raise UGCLError("plots need Matplotlib, which is not installed: pip install 'ugcl[plot]'")
