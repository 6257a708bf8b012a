"""Where graphs come from: the catalogue of data sets, readers, synthetic graphs, splits."""

from ugcl.data.catalogue import DATASETS, Dataset
from ugcl.data.held_out import hold_out_edges, non_edges
from ugcl.data.load import load_graph
from ugcl.data.readers import GraphFiles, read_graph, with_labels
from ugcl.data.splits import SplitKind, split_of
from ugcl.data.synthetic import sbm_graph

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
