"""The method of a run: what `config.toml` stores to find it again."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ugcl._utils.errors import UGCLError
from ugcl.data.cache import user_cache
from ugcl.methods import Method, Settings, method_file
from ugcl.methods.from_file import current_sha256, is_loaded, load_file
from ugcl.methods.registry import BUILT_IN, named_method

logger = logging.getLogger(__name__)

ALLOWED = "allowed-methods.txt"
"""File in the user's cache: the SHA-256 of method files that the user has run."""

METHOD_COPY = "method.py"
"""Copy of the file of a user's own method in the run folder. It is never run from there."""


@dataclass(frozen=True)
class RecordedSettings(Settings):
    """Settings of a run whose method cannot be found here: values to show.

    Attributes:
        recorded: the values by name.
    """

    recorded: dict[str, Any]

    def __post_init__(self) -> None:
        pass  # there is no declaration to validate them

    def values(self) -> dict[str, Any]:
        """Return all settings by name."""
        return dict(self.recorded)


def allow(method: Method) -> None:
    """Record that the user has run the file of a method: runs may load it from then on."""
    file = method_file(method)
    if file is None or file.sha256 in _allowed():
        return
    path = user_cache() / ALLOWED
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as stream:
            stream.write(f"{file.sha256}\n")
    except OSError as error:
        logger.warning("cannot write %s (%s): runs of %s need it", path, error, file.path)


def _allowed() -> set[str]:
    try:
        return set((user_cache() / ALLOWED).read_text("utf-8").split())
    except (OSError, ValueError):
        return set()


def method_fields(method: Method) -> dict[str, Any]:
    """Return the fields of `RunConfig` for a method; refuse one that cannot be found again."""
    if file := method_file(method):
        allow(method)
        path, sha256 = str(file.path), file.sha256
        return {"method": method.name, "method_file": path, "method_sha256": sha256}
    if named_method(method.name) is not method:
        raise UGCLError(
            f"the method '{method.name}' could not be found again for this run: pass the path of "
            "its file, or register it (ugcl.methods.register)"
        )
    return {"method": method.name, "method_file": "", "method_sha256": ""}


def find_method(name: str, file: str = "", sha256: str = "") -> Method:
    """Return the method of a run, and check that its file has not changed.

    A run folder may come from somebody else, so a file is loaded only if this user has run it.

    Args:
        name: the method's name.
        file: the path of its file, if it is from one.
        sha256: the SHA-256 of that file.
    """
    if not file:
        method = named_method(name)
        if method is None:
            raise UGCLError(
                f"the run's method '{name}' is not known here: install the package that has it, or "
                "register it in Python (ugcl.methods.register)"
            )
        return method
    advice = f"or set method_file in config.toml to the path of the copy, RUN/{METHOD_COPY}"
    current = current_sha256(Path(file))
    if current is None:
        raise UGCLError(
            f"the run's method '{name}' is no longer at {file}: move the file back, {advice}"
        )
    if current != sha256:
        raise UGCLError(
            f"{file} is not the code that this run was configured with: restore the old file, "
            f"train a new run, {advice}"
        )
    if not is_loaded(Path(file)) and sha256 not in _allowed():
        raise UGCLError(
            f"the run's method is the Python file {file}, which you have not run before: read it, "
            f"then allow it with ugcl methods {file}"
        )
    return load_file(file, BUILT_IN, sha256)
