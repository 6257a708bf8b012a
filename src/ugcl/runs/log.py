"""The log of a run, `log.jsonl`: one line for each epoch."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from ugcl._utils.errors import UGCLError
from ugcl._utils.files import cannot_write, write_text
from ugcl.engine.callbacks import Callback, TrainingState

LOG = "log.jsonl"


class JSONLog(Callback):
    """Writes the log.

    Args:
        path: the file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def on_fit_start(self, state: TrainingState) -> None:
        """Open the file after the epochs of the checkpoint; later lines are dropped."""
        lines = []
        if state.epoch:
            try:
                lines = read_log(self.path, state.epoch)
            except (OSError, ValueError) as error:
                raise UGCLError(
                    f"{self.path} is not the log of the {state.epoch} epochs of the checkpoint "
                    f"({error}): delete checkpoint.safetensors beside it to train from the "
                    "beginning"
                ) from error
        write_text(self.path, "".join(json.dumps(line) + "\n" for line in lines))
        self.stream = self.path.open("a", encoding="utf-8")

    def on_epoch_end(self, state: TrainingState) -> None:
        """Write the line of the epoch."""
        line = {"epoch": state.epoch, "loss": state.loss, "seconds": round(state.seconds, 4)}
        if state.validation_loss is not None:
            line["validation"] = state.validation_loss
        try:
            self.stream.write(json.dumps(line) + "\n")
            self.stream.flush()
        except OSError as error:
            raise UGCLError(cannot_write(self.path, error)) from error

    def on_fit_end(self, state: TrainingState) -> None:
        """Close the file."""
        try:
            self.stream.close()
        except OSError as error:  # once more, of the line that could not be written
            raise UGCLError(cannot_write(self.path, error)) from error


def read_log(path: Path, epochs: int) -> list[dict[str, Any]]:
    """Return the lines of the first epochs; a `ValueError` says which is missing or damaged."""
    texts = path.read_text("utf-8").splitlines()
    if len(texts) < epochs:
        raise ValueError(f"it has {len(texts)} lines, not {epochs}")
    lines = []
    for epoch, text in enumerate(texts[:epochs], 1):
        try:
            line = json.loads(text)
        except ValueError as error:
            raise ValueError(f"line {epoch} is no JSON") from error
        if not isinstance(line, dict) or line.get("epoch") != epoch or not _is_loss(line):
            raise ValueError(f"line {epoch} has no epoch {epoch} with a loss")
        lines.append(line)
    return lines


def _is_loss(line: dict[str, Any]) -> bool:
    values = [line.get("loss"), line.get("validation", 0.0)]
    return all(type(value) in (int, float) and math.isfinite(value) for value in values)
