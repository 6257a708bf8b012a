from .files import GraphFiles as GraphFiles
from .read import read_graph as read_graph
from .read import with_labels as with_labels
