"""Your own graph: edges, features and labels from files, data frames and other libraries."""

from ugcl.data.readers.files import GraphFiles
from ugcl.data.readers.read import read_graph, with_labels

__all__ = ["GraphFiles", "read_graph", "with_labels"]
