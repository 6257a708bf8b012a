"""Readers of users' graphs: edges, features and labels from files, data frames and libraries."""

from ugcl.data.readers.files import GraphFiles
from ugcl.data.readers.read import read_graph, with_labels

__all__ = ["GraphFiles", "read_graph", "with_labels"]
