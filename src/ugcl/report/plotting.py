"""Matplotlib, where it is installed."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from ugcl._utils.errors import UGCLError

ENDINGS = (".png", ".svg", ".pdf")


def check_plotting(path: Path) -> None:
    """Refuse what cannot be drawn before the work that would be drawn."""
    if find_spec("matplotlib") is None:
        raise UGCLError("plots need Matplotlib, which is not installed: pip install 'ugcl[plot]'")
    if path.suffix not in ENDINGS:
        raise UGCLError(f"cannot draw {path}: use a name that ends in {', '.join(ENDINGS)}")
