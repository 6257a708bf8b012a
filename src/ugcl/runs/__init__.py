"""The run folder: its configuration, its results, export and neighbours."""

from ugcl.runs.config import RunConfig
from ugcl.runs.embed import load_graph_for
from ugcl.runs.prepare import Prepared, prepare, prepare_again
from ugcl.runs.run import Run, load_run
from ugcl.runs.train import open_run, train_run

__all__ = [
    "Prepared",
    "Run",
    "RunConfig",
    "load_graph_for",
    "load_run",
    "open_run",
    "prepare",
    "prepare_again",
    "train_run",
]
