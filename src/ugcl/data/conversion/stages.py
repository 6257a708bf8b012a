"""Stages of a conversion: what a killed process has finished is not done again."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ugcl._utils.files import READ_ERRORS, make_folder, write_json

VERSION = 1
"""Of the tables and files of a stage; those of another version are made again."""

Progress = Callable[[str, int, int | None], None]
"""Called with the stage, what is done of it, and of how much, where that is known."""


class Stages:
    """The finished stages of a conversion, in a folder.

    Args:
        folder: of the stages' files; one of another conversion is emptied.
        inputs: all that the result depends on.
        progress: called when a stage begins.
    """

    def __init__(self, folder: Path, inputs: Mapping[str, Any], progress: Progress) -> None:
        self.folder, self.progress = folder, progress
        self.inputs = json.loads(json.dumps({"version": VERSION, **inputs}))
        self.file = folder / "stages.json"
        self.done: dict[str, Any] = {}
        try:
            stored = json.loads(self.file.read_text("utf-8"))
            self.done = dict(stored["done"]) if stored["inputs"] == self.inputs else {}
        except READ_ERRORS:
            pass
        if not self.done:
            self.restart()

    def restart(self) -> None:
        """Forget all stages."""
        self.done = {}
        shutil.rmtree(self.folder, ignore_errors=True)
        make_folder(self.folder)

    def run(self, name: str, compute: Callable[[], Any]) -> Any:
        """Return the result of a stage, which can be written as JSON.

        Args:
            name: of the stage.
            compute: does it; what is not finished is done again from its beginning.
        """
        if name not in self.done:
            self.progress(name, 0, None)
            self.done[name] = json.loads(json.dumps(compute()))
            write_json(self.file, {"inputs": self.inputs, "done": self.done})
        return self.done[name]

    def remove(self) -> None:
        """Remove the files of the stages."""
        shutil.rmtree(self.folder, ignore_errors=True)
