"""Studies: results as data, beside the figures that the paper publishes."""

from ugcl.study.accuracy import accuracy_study
from ugcl.study.published import published_accuracy

__all__ = ["accuracy_study", "published_accuracy"]
