"""Evaluation: linear probes, links, clusters, the controls beside them, collapse."""

from ugcl.evaluation.collapse import Collapse, diagnose_collapse
from ugcl.evaluation.compare import Estimate, Outcomes, half_width, standard_error
from ugcl.evaluation.controls import CONTROLS, Candidate, FeatureControls
from ugcl.evaluation.probe import Protocol, Score, check_split, linear_probe, predicted_score

__all__ = [
    "CONTROLS",
    "Candidate",
    "Collapse",
    "Estimate",
    "FeatureControls",
    "Outcomes",
    "Protocol",
    "Score",
    "check_split",
    "diagnose_collapse",
    "half_width",
    "linear_probe",
    "predicted_score",
    "standard_error",
]
