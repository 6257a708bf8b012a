"""The registry: a method that stands here works in Python, on the command line and in tests."""

from __future__ import annotations

from ugcl.errors import UGCLError
from ugcl.methods.ablations import ABLATIONS
from ugcl.methods.bgrl import BGRL
from ugcl.methods.cca_ssg import CCA_SSG
from ugcl.methods.dgi import DGI
from ugcl.methods.gca import GCA
from ugcl.methods.ggd import GGD
from ugcl.methods.gmi import GMI
from ugcl.methods.grace import GRACE
from ugcl.methods.method import Method
from ugcl.methods.mvgrl import MVGRL
from ugcl.methods.subg_con import SUBG_CON
from ugcl.methods.ugcl import UGCL
from ugcl.suggest import unknown

METHODS: dict[str, Method] = {}


def register(method: Method) -> Method:
    """Make a method known by its name, one of this package or one of your own."""
    if method.name in METHODS:
        raise UGCLError(f"there is a method '{method.name}' already: give yours another name")
    METHODS[method.name] = method
    return method


for _method in (
    *(UGCL, *ABLATIONS),
    *(GRACE, GMI, DGI, MVGRL, GCA, BGRL, SUBG_CON, GGD, CCA_SSG),
):
    register(_method)


def method_named(name: str) -> Method:
    """The method of that name, or an error that suggests one."""
    if name in METHODS:
        return METHODS[name]
    raise UGCLError(unknown("method", str(name), METHODS))
