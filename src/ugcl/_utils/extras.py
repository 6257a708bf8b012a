"""Libraries that the package does without where they are not asked for."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ugcl._utils.errors import UGCLError


def required(module: str, what: str, extra: str = "baselines") -> Any:
    """A module of a library that something needs, or an error that says how to get it.

    Args:
        module: the module.
        what: what needs it.
        extra: the extra of the package that brings it.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module.partition(".")[0]:
            raise  # it is there and broken
        raise UGCLError(
            f"{what} needs {module.partition('.')[0]}, which is not installed: "
            f"pip install 'ugcl[{extra}]'"
        ) from error
