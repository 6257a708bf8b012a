from . import losses as losses
from . import nn as nn
from . import views as views
from ._utils.errors import UGCLError as UGCLError
from .data import load_graph as load_graph
from .data import read_graph as read_graph
from .engine import fit as fit
from .estimators import UGCL as UGCL
from .estimators import Classifier as Classifier
from .estimators import Embedder as Embedder
from .graph import Graph as Graph
from .runs import load_run as load_run
from .transformer import NodeTransformer as NodeTransformer

__version__: str
