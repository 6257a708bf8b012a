"""The graph: adjacency, features, labels, splits and ids."""

from ugcl.graph.graph import FORMAT, Graph

__all__ = ["FORMAT", "Graph"]
