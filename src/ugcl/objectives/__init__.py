"""Objectives: (anchor, context, negatives) to a loss."""

from ugcl.objectives.cosine import LEAST_TEMPERATURE, cosine_contrast, unit_rows

__all__ = ["LEAST_TEMPERATURE", "cosine_contrast", "unit_rows"]
