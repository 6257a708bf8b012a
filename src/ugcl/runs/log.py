"""Reading of the log of a run, `log.jsonl`: one line for each epoch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ugcl._utils.formats import from_json, is_finite

LOG = "log.jsonl"


def read_log(path: Path, epochs: int) -> list[dict[str, Any]]:
    """Return the lines of the first epochs; a `ValueError` says which is missing or damaged."""
    texts = path.read_text("utf-8").splitlines()
    if len(texts) < epochs:
        raise ValueError(f"it has {len(texts)} lines, not {epochs}")
    lines = []
    for epoch, text in enumerate(texts[:epochs], 1):
        try:
            line = from_json(text)
        except ValueError as error:
            raise ValueError(f"line {epoch} is no JSON") from error
        if not isinstance(line, dict) or line.get("epoch") != epoch or not _is_loss(line):
            raise ValueError(f"line {epoch} has no epoch {epoch} with a loss")
        lines.append(line)
    return lines


def _is_loss(line: dict[str, Any]) -> bool:
    values = [line.get("loss"), line.get("validation", 0.0)]
    return all(map(is_finite, values))
