"""Objectives: from patches, contexts and negatives to a loss."""

from ugcl.objectives.bilinear import BilinearJSD
from ugcl.objectives.bootstrap import Bootstrap
from ugcl.objectives.cosine import LEAST_TEMPERATURE, CosineContrast, cosine_contrast, unit_rows
from ugcl.objectives.nt_xent import NTXent, nt_xent
from ugcl.objectives.objective import Objective

__all__ = [
    "LEAST_TEMPERATURE",
    "BilinearJSD",
    "Bootstrap",
    "CosineContrast",
    "NTXent",
    "Objective",
    "cosine_contrast",
    "nt_xent",
    "unit_rows",
]
