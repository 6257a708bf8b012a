"""Methods of installed packages, which declare them as entry points.

In the `pyproject.toml` of a package:

    [project.entry-points."ugcl.methods"]
    mix = "mypackage.mix:METHOD"

Entry points are looked up when an unknown name is used or all methods are listed, not on import.
"""

from __future__ import annotations

import logging
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ugcl._utils.errors import UGCLError
from ugcl.methods.from_file import error_reason
from ugcl.methods.method import Method

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

logger = logging.getLogger(__name__)

GROUP = "ugcl.methods"


@dataclass(frozen=True)
class Package:
    """An installed package.

    Attributes:
        name: its name.
        version: its version.
    """

    name: str
    version: str


_LOADED: dict[str, tuple[Package, Method]] = {}


def installed_names() -> list[str]:
    """Return the names of the methods of packages; nothing is imported."""
    return list(dict.fromkeys(entry.name for entry in _entry_points()))


def installed_method(name: str) -> Method | None:
    """Return the method of that name from a package; None without one."""
    if name not in _LOADED:
        entries = [entry for entry in _entry_points() if entry.name == name]
        if not entries:
            return None
        _LOADED[name] = _load(entries)
    return _LOADED[name][1]


def installed_methods(reserved: Collection[str] = ()) -> dict[str, Method]:
    """Return the methods of packages; log a warning for each that cannot be used.

    Args:
        reserved: names that a method must not have.
    """
    methods = {}
    for name in installed_names():
        try:
            if name in reserved:
                raise UGCLError(
                    f"a method '{name}' of an installed package has the name of one of this "
                    "library and is ignored"
                )
            method = installed_method(name)
        except UGCLError as error:
            logger.warning("%s", error)
            continue
        if method is not None:
            methods[name] = method
    return methods


def package_of(method: Method) -> Package | None:
    """Return the package that a method is from; None if it is from none."""
    return next((package for package, loaded in _LOADED.values() if loaded is method), None)


def _entry_points() -> list[EntryPoint]:
    from importlib.metadata import entry_points

    return list(entry_points(group=GROUP))


def _load(entries: list[EntryPoint]) -> tuple[Package, Method]:
    """Load the entry point of a name; there must be one."""
    packages = [
        Package(entry.dist.name, entry.dist.version) if entry.dist else Package(entry.value, "")
        for entry in entries
    ]
    entry, package = entries[0], packages[0]
    if len(entries) > 1:
        names = " and ".join(each.name for each in packages)
        raise UGCLError(f"the packages {names} both have a method '{entry.name}': uninstall one")
    shown = f"the method '{entry.name}' of the package {package.name}"
    try:
        method = entry.load()
    except (Exception, SystemExit) as error:
        raise UGCLError(
            f"{shown} cannot be loaded ({error_reason(error)}): update or uninstall the package"
        ) from error
    if not isinstance(method, Method):
        kind = type(method).__name__
        raise UGCLError(f"{shown} must be a ugcl.methods.Method, not {kind}")
    if method.name != entry.name:
        raise UGCLError(
            f"{shown} calls itself '{method.name}': its entry point must have the same name"
        )
    return package, method
