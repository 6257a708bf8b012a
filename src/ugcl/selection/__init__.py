"""Choosing n: by the paper's rule, from training labels, and without labels."""

from ugcl.selection.choice import MAX_N, Choice
from ugcl.selection.label_free import BEST, ESTIMATORS, choose_scope, estimated, resolve_scope
from ugcl.selection.paper_rule import Degree, degree_of, paper_rule, training_labels_rule
from ugcl.selection.readouts import Readouts
from ugcl.selection.survey import Survey, survey

__all__ = [
    "BEST",
    "ESTIMATORS",
    "MAX_N",
    "Choice",
    "Degree",
    "Readouts",
    "Survey",
    "choose_scope",
    "degree_of",
    "estimated",
    "paper_rule",
    "resolve_scope",
    "survey",
    "training_labels_rule",
]
