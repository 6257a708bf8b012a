"""Objectives: from patches, contexts and negatives to a loss."""

from ugcl.objectives.bilinear import BilinearJSD
from ugcl.objectives.bootstrap import Bootstrap
from ugcl.objectives.correlation import Correlation
from ugcl.objectives.cosine import LEAST_TEMPERATURE, CosineContrast, cosine_contrast, unit_rows
from ugcl.objectives.graphical import GraphicalMI
from ugcl.objectives.group import GroupDiscrimination
from ugcl.objectives.margin import Margin
from ugcl.objectives.nt_xent import NTXent, nt_xent
from ugcl.objectives.objective import Objective
from ugcl.objectives.reconstruction import PairDecoder, Reconstruction

__all__ = [
    "LEAST_TEMPERATURE",
    "BilinearJSD",
    "Bootstrap",
    "Correlation",
    "CosineContrast",
    "GraphicalMI",
    "GroupDiscrimination",
    "Margin",
    "NTXent",
    "Objective",
    "PairDecoder",
    "Reconstruction",
    "cosine_contrast",
    "nt_xent",
    "unit_rows",
]
