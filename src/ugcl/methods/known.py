"""The methods that are known by their names: those of this package and your own."""

from __future__ import annotations

from ugcl._utils.errors import UGCLError
from ugcl._utils.suggest import unknown
from ugcl.methods.method import Method

METHODS: dict[str, Method] = {}


def register(method: Method) -> Method:
    """Make a method known by its name, one of this package or one of your own."""
    if method.name in METHODS:
        raise UGCLError(f"there is a method '{method.name}' already: give yours another name")
    METHODS[method.name] = method
    return method


def method_named(name: str) -> Method:
    """The method of that name, or an error that suggests one."""
    if name in METHODS:
        return METHODS[name]
    raise UGCLError(unknown("method", str(name), METHODS))
