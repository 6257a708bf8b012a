"""Blocks of columns side by side, as in SIGN (Frasca et al., 2020)."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import scipy.sparse as sp

from ugcl._utils.linalg import dense_rows, normalize_rows
from ugcl.typing import Features


def side_by_side(blocks: Iterable[tuple[Features, float]]) -> Features:
    """Return `[w_1 B_1 | w_2 B_2 | ...]`, where the rows of each block have L2 norm 1.

    Rows of zeros stay zeros. The result is sparse if all blocks are.

    Args:
        blocks: matrices of N rows, each with its weight.
    """
    scaled = [np.float32(weight) * normalize_rows(block) for block, weight in blocks]
    if all(map(sp.issparse, scaled)):
        return sp.hstack(scaled, format="csr")
    return np.hstack([dense_rows(block) for block in scaled])
