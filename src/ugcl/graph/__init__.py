"""`Graph`: adjacency, features, labels, splits and ids; converters and graph files."""

from ugcl.graph.graph import Graph

__all__ = ["Graph"]
