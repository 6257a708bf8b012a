"""The version of the code that computed a result."""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path


@cache
def source_commit() -> str:
    """Return the commit of the running code, with "+" where it differs; "" outside a checkout."""
    here = Path(__file__)
    if _git(here.parent, "ls-files", "--error-unmatch", here.name) is None:
        return ""
    commit = _git(here.parent, "rev-parse", "--short=12", "HEAD")
    changed = _git(here.parent, "status", "--porcelain", "--", ".")
    return f"{commit}+" if changed else commit or ""


def _git(folder: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=folder, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()
