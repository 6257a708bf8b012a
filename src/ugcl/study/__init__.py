"""Studies: results as data, beside the figures that the paper publishes."""

from ugcl.study.accuracy import accuracy_study
from ugcl.study.published import published_accuracy
from ugcl.study.variant import Variant

__all__ = ["Variant", "accuracy_study", "published_accuracy"]
