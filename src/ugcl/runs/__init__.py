"""Runs: a folder that holds what was done, what came out, and all that is needed to repeat it."""

from ugcl.runs.clusters import ClusterEvaluation, evaluate_clusters
from ugcl.runs.config import RunConfig, new_config
from ugcl.runs.embed import embed_graph, load_for
from ugcl.runs.evaluate import Evaluation, ManySplits, evaluate_run
from ugcl.runs.folder import Run
from ugcl.runs.links import LinkEvaluation, evaluate_links
from ugcl.runs.loaded import LoadedRun, load_run
from ugcl.runs.train import Reporter, open_run, train_run

__all__ = [
    "ClusterEvaluation",
    "Evaluation",
    "LinkEvaluation",
    "LoadedRun",
    "ManySplits",
    "Reporter",
    "Run",
    "RunConfig",
    "embed_graph",
    "evaluate_clusters",
    "evaluate_links",
    "evaluate_run",
    "load_for",
    "load_run",
    "new_config",
    "open_run",
    "train_run",
]
