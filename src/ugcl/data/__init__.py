"""Where graphs come from: the catalogue of data sets, readers of files, splits."""

from ugcl.data.catalogue import DATASETS, Dataset
from ugcl.data.load import load_graph
from ugcl.data.splits import SplitKind, split_of

__all__ = ["DATASETS", "Dataset", "SplitKind", "load_graph", "split_of"]
