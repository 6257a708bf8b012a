"""Node representations without labels: contrastive learning with flexible contextual scopes."""

from importlib.metadata import version

from ugcl._utils.errors import UGCLError
from ugcl.data import load_graph, read_graph
from ugcl.estimators import UGCL, Classifier, Embedder
from ugcl.graph import Graph
from ugcl.runs import load_run
from ugcl.transformer import NodeTransformer

__version__ = version("ugcl")
__all__ = [
    "UGCL",
    "Classifier",
    "Embedder",
    "Graph",
    "NodeTransformer",
    "UGCLError",
    "__version__",
    "load_graph",
    "load_run",
    "read_graph",
]
