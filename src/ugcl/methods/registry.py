"""The registry: a method that stands here works in Python, on the command line and in tests."""

from __future__ import annotations

from collections.abc import Mapping

from ugcl.errors import UGCLError
from ugcl.methods.ablations import ABLATIONS
from ugcl.methods.bgrl import BGRL
from ugcl.methods.dgi import DGI
from ugcl.methods.grace import GRACE
from ugcl.methods.method import Method
from ugcl.methods.ugcl import UGCL
from ugcl.suggest import unknown

METHODS: Mapping[str, Method] = {
    method.name: method for method in (UGCL, *ABLATIONS, GRACE, DGI, BGRL)
}


def method_named(name: str) -> Method:
    """The method of that name, or an error that suggests one."""
    if name in METHODS:
        return METHODS[name]
    raise UGCLError(unknown("method", name, METHODS))
