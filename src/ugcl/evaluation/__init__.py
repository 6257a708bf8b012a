"""Evaluation: linear probes, the controls beside them, collapse."""

from ugcl.evaluation.collapse import Collapse, diagnose_collapse
from ugcl.evaluation.controls import CONTROLS, control_embeddings
from ugcl.evaluation.probe import Protocol, Score, linear_probe

__all__ = [
    "CONTROLS",
    "Collapse",
    "Protocol",
    "Score",
    "control_embeddings",
    "diagnose_collapse",
    "linear_probe",
]
