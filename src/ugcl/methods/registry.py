"""The registry: a method in it works in Python, on the command line and in the tests."""

from __future__ import annotations

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
    mvgrl,
    raw,
    skip_gram,
    smooth,
    subg_con,
    supervised,
    ugcl,
)
from ugcl.methods.method import Method

METHODS: dict[str, Method] = {}


def register(method: Method) -> Method:
    """Add a method to the registry, for example one of your own."""
    if method.name in METHODS:
        raise UGCLError(f"there is a method '{method.name}' already: use another name")
    METHODS[method.name] = method
    return method


def get_method(name: str | Method) -> Method:
    """Return the method of that name, or raise an error that suggests one."""
    if isinstance(name, Method):
        return name
    if name in METHODS:
        return METHODS[name]
    raise UGCLError(unknown("method", str(name), METHODS))


for _method in (
    *(ugcl.METHOD, *ugcl.ABLATIONS),
    *(grace.METHOD, gmi.METHOD, dgi.METHOD, mvgrl.METHOD, gca.METHOD, bgrl.METHOD),
    *(subg_con.METHOD, ggd.METHOD, cca_ssg.METHOD),
    *(*skip_gram.METHODS, *gae.METHODS, *supervised.METHODS),
    *(raw.METHOD, smooth.METHOD),
):
    register(_method)
