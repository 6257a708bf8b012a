"""Optional dependencies."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ugcl._utils.errors import UGCLError


def required(module: str, what: str, extra: str = "baselines") -> Any:
    """Import a module of an optional dependency, or raise an error that says what to install.

    Args:
        module: the module.
        what: the feature that needs it.
        extra: the extra of this package that installs it.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module.partition(".")[0]:
            raise  # installed, but broken
        raise UGCLError(
            f"{what} needs {module.partition('.')[0]}, which is not installed: "
            f"pip install 'ugcl[{extra}]'"
        ) from error
