"""Data sets, readers of graph files, synthetic graphs and splits."""

from ugcl.data.catalogue import DATASETS, Dataset
from ugcl.data.held_out import hold_out_edges, non_edges
from ugcl.data.load import load_graph
from ugcl.data.readers import GraphFiles, read_graph, with_labels
from ugcl.data.sbm import sbm_graph
from ugcl.data.splits import SplitKind, split_of

__all__ = [
    "DATASETS",
    "Dataset",
    "GraphFiles",
    "SplitKind",
    "hold_out_edges",
    "load_graph",
    "non_edges",
    "read_graph",
    "sbm_graph",
    "split_of",
    "with_labels",
]
