"""Objectives: (anchor, context, negatives) to a loss."""

from ugcl.objectives.cosine import cosine_contrast

__all__ = ["cosine_contrast"]
