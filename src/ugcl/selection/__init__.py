"""Selection of the contextual scope n: the paper's rule, training labels, label-free criteria."""

from ugcl.selection.choice import MAX_N, Choice
from ugcl.selection.label_free import (
    CRITERIA,
    DEFAULT_CRITERION,
    apply_criterion,
    choose_scope,
    resolve_scope,
)
from ugcl.selection.paper_rule import bound_degree, paper_rule, training_labels_rule
from ugcl.selection.readouts import Readouts
from ugcl.selection.survey import Survey, survey

__all__ = [
    "CRITERIA",
    "DEFAULT_CRITERION",
    "MAX_N",
    "Choice",
    "Readouts",
    "Survey",
    "apply_criterion",
    "bound_degree",
    "choose_scope",
    "paper_rule",
    "resolve_scope",
    "survey",
    "training_labels_rule",
]
