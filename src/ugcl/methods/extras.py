"""Libraries that some methods need and the package does without."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ugcl.errors import UGCLError


def required(module: str, method: str) -> Any:
    """A module of a library that a method is built on, or an error that says how to get it."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module.partition(".")[0]:
            raise  # it is there and broken
        raise UGCLError(
            f"{method} needs {module.partition('.')[0]}, which is not installed: "
            "pip install 'ugcl[baselines]'"
        ) from error
