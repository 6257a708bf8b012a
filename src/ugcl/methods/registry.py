"""The registry: a method that stands here works in Python, on the command line and in tests."""

from __future__ import annotations

from ugcl.methods.ablations import ABLATIONS
from ugcl.methods.autoencoders import GAE, VGAE
from ugcl.methods.bgrl import BGRL
from ugcl.methods.cca_ssg import CCA_SSG
from ugcl.methods.dgi import DGI
from ugcl.methods.features import RAW, SMOOTH
from ugcl.methods.gca import GCA
from ugcl.methods.ggd import GGD
from ugcl.methods.gmi import GMI
from ugcl.methods.grace import GRACE
from ugcl.methods.known import METHODS, method_named, register
from ugcl.methods.mvgrl import MVGRL
from ugcl.methods.skip_gram import DEEPWALK, NODE2VEC
from ugcl.methods.subg_con import SUBG_CON
from ugcl.methods.supervised import GAT, GCN, MLP, SGC
from ugcl.methods.ugcl import UGCL
from ugcl.methods.untrained import UNTRAINED

__all__ = ["METHODS", "method_named", "register"]

for _method in (
    *(UGCL, *ABLATIONS),
    *(GRACE, GMI, DGI, MVGRL, GCA, BGRL, SUBG_CON, GGD, CCA_SSG),
    *(DEEPWALK, NODE2VEC, GAE, VGAE),
    *(MLP, GCN, GAT, SGC),
    *(RAW, SMOOTH, UNTRAINED),
):
    register(_method)
