"""Runs: a folder that holds what was done, what came out, and all that is needed to repeat it."""

from ugcl.runs.config import RunConfig, new_config
from ugcl.runs.embed import embed_graph, load_for
from ugcl.runs.folder import Run
from ugcl.runs.loaded import LoadedRun, load_run
from ugcl.runs.train import Reporter, open_run, train_run

__all__ = [
    "LoadedRun",
    "Reporter",
    "Run",
    "RunConfig",
    "embed_graph",
    "load_for",
    "load_run",
    "new_config",
    "open_run",
    "train_run",
]
