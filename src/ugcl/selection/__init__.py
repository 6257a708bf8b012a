"""Choosing n: by the paper's rule, from training labels, and without labels."""

from ugcl.selection.choice import MOST, Choice
from ugcl.selection.free import BEST, ESTIMATORS, choose_scope, estimated, resolve_scope
from ugcl.selection.lemma import Degree, degree_of, paper_rule, training_labels_rule
from ugcl.selection.readouts import Readouts
from ugcl.selection.survey import Survey, survey

__all__ = [
    "BEST",
    "ESTIMATORS",
    "MOST",
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
