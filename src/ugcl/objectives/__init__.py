"""Objectives: (anchor, context, negatives) to a loss."""

from ugcl.objectives.cosine import LEAST_TEMPERATURE, cosine_contrast

__all__ = ["LEAST_TEMPERATURE", "cosine_contrast"]
