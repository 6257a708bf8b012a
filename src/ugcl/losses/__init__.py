"""Objectives: from patches, contexts and negatives to a loss."""

from ugcl.losses.bootstrap import BootstrapLoss
from ugcl.losses.cca_ssg import CCASSGLoss
from ugcl.losses.cosine import MIN_TEMPERATURE, CosineContrast, cosine_contrast, unit_rows
from ugcl.losses.gmi import GMILoss
from ugcl.losses.group_discrimination import GroupDiscrimination
from ugcl.losses.info_nce import InfoNCE, info_nce
from ugcl.losses.jsd import BilinearJSD
from ugcl.losses.loss import Loss
from ugcl.losses.margin import MarginLoss
from ugcl.losses.reconstruction import PairDecoder, ReconstructionLoss

__all__ = [
    "MIN_TEMPERATURE",
    "BilinearJSD",
    "BootstrapLoss",
    "CCASSGLoss",
    "CosineContrast",
    "GMILoss",
    "GroupDiscrimination",
    "InfoNCE",
    "Loss",
    "MarginLoss",
    "PairDecoder",
    "ReconstructionLoss",
    "cosine_contrast",
    "info_nce",
    "unit_rows",
]
