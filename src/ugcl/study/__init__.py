"""Studies: accuracy over seeds, paired comparisons, scopes; and the paper's published figures."""

from ugcl.study.accuracy import accuracy_study, protocols_of
from ugcl.study.paired import paired_study
from ugcl.study.plan import Plan
from ugcl.study.published import published_accuracy, published_where
from ugcl.study.scopes import scope_study
from ugcl.study.trained_criteria import TRAINED_CRITERIA
from ugcl.study.tuned import tuned_study
from ugcl.study.variant import Variant

__all__ = [
    "TRAINED_CRITERIA",
    "Plan",
    "Variant",
    "accuracy_study",
    "paired_study",
    "protocols_of",
    "published_accuracy",
    "published_where",
    "scope_study",
    "tuned_study",
]
