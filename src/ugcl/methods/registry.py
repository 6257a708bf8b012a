"""The registry: a method in it works in Python, on the command line and in the tests."""

from __future__ import annotations

from pathlib import Path

from ugcl._utils.errors import UGCLError
from ugcl._utils.suggest import unknown
from ugcl.methods import (
    bgrl,
    cca_ssg,
    dgi,
    gae,
    gca,
    ggd,
    gmi,
    grace,
    multiscope,
    mvgrl,
    pca,
    raw,
    sign,
    skip_gram,
    smooth,
    subg_con,
    supervised,
    ugcl,
)
from ugcl.methods.from_file import is_path, load_file, loaded_method, method_file
from ugcl.methods.from_package import (
    installed_method,
    installed_methods,
    installed_names,
    package_of,
)
from ugcl.methods.method import Method

METHODS: dict[str, Method] = {}

DEFAULT_METHOD = "multiscope"
"""The method of all commands and of `Embedder` where none is named."""


def register(method: Method) -> Method:
    """Add a method to the registry, for example one of your own."""
    if method.name in METHODS:
        raise UGCLError(f"there is a method '{method.name}' already: use another name")
    METHODS[method.name] = method
    return method


def get_method(name: str | Path | Method) -> Method:
    """Return a method, or raise an error that suggests one.

    Args:
        name: a registered name; the path of a Python file with a `METHOD`; a name that an installed
            package declares as an entry point of `ugcl.methods`; or a method, which is returned.
    """
    if isinstance(name, Method):
        return name
    if isinstance(name, str | Path) and is_path(name) and name not in METHODS:
        return load_file(name, reserved=BUILT_IN)
    method = named_method(str(name)) or loaded_method(str(name))
    if method is None:
        raise UGCLError(unknown("method", str(name), [*METHODS, *installed_names()]))
    return method


def named_method(name: str) -> Method | None:
    """Return the registered method of that name, or that of a package; None without one."""
    return METHODS.get(name) or installed_method(name)


def all_methods() -> dict[str, Method]:
    """Return all methods by name: those of this library, registered ones, those of packages.

    A method of a package that cannot be loaded is left out and logged as a warning.
    """
    return {**METHODS, **installed_methods(reserved=BUILT_IN), **METHODS}


def method_reference(method: Method) -> str:
    """Return the name or path by which another process finds a method."""
    if file := method_file(method):
        return str(file.path)
    known = method.name in BUILT_IN or package_of(method)
    if known and named_method(method.name) is method:
        return method.name
    raise UGCLError(
        f"the method '{method.name}' exists in this process only, and a new process cannot find "
        "it: pass the path of its file"
    )


for _method in (
    *(ugcl.METHOD, multiscope.METHOD, *ugcl.ABLATIONS),
    *(grace.METHOD, gmi.METHOD, dgi.METHOD, mvgrl.METHOD, gca.METHOD, bgrl.METHOD),
    *(subg_con.METHOD, ggd.METHOD, cca_ssg.METHOD),
    *(*skip_gram.METHODS, *gae.METHODS, *supervised.METHODS),
    *(raw.METHOD, smooth.METHOD, pca.METHOD, *sign.METHODS),
):
    register(_method)

BUILT_IN = frozenset(METHODS)
"""Names of the methods of this library, which no other method may have."""
