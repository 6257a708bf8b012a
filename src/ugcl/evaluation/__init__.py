"""Evaluation: linear probes, link prediction, clustering, controls, statistics."""

from ugcl.evaluation.classification import Evaluation, ManySplits, evaluate_run
from ugcl.evaluation.clusters import ClusterEvaluation, evaluate_clusters
from ugcl.evaluation.controls import CONTROLS, Candidate, FeatureControls
from ugcl.evaluation.links import LinkEvaluation, evaluate_links
from ugcl.evaluation.probe import Protocol, Score, check_split, linear_probe, predicted_score
from ugcl.evaluation.statistics import Estimate, Outcomes, half_width, standard_error

__all__ = [
    "CONTROLS",
    "Candidate",
    "ClusterEvaluation",
    "Estimate",
    "Evaluation",
    "FeatureControls",
    "LinkEvaluation",
    "ManySplits",
    "Outcomes",
    "Protocol",
    "Score",
    "check_split",
    "evaluate_clusters",
    "evaluate_links",
    "evaluate_run",
    "half_width",
    "linear_probe",
    "predicted_score",
    "standard_error",
]
