"""Powers of the adjacency times stored rows, by blocks of columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from torch import Tensor

from ugcl._utils.linalg import dense_rows
from ugcl._utils.workspace import Workspace, row_blocks
from ugcl.scope.scopes import ContextFunction
from ugcl.sparse import SparseMatrix, multiply
from ugcl.views import ScaledRows


def projected_rows(
    features: ScaledRows,
    directions: npt.NDArray[np.float32],
    work: Workspace,
    name: str,
) -> Tensor:
    """Return `X V` of scaled features, where a computation keeps its arrays.

    Args:
        features: X, whose rows are scaled when they are read.
        directions: V.
        work: where the result is stored.
        name: its name there.
    """
    shape = features.shape[0], directions.shape[1]
    parts: Iterator[tuple[npt.NDArray[Any]]] = (
        (dense_rows(features[rows] @ directions),) for rows in row_blocks(shape[0])
    )
    (rows,) = work.arrays({name: (shape, np.dtype(np.float32))}, parts)
    return rows


def propagated_columns(
    adjacency: SparseMatrix,
    rows: Tensor,
    powers: Sequence[int],
    work: Workspace,
    name: str,
    limit: ContextFunction | None = None,
) -> Iterator[tuple[int, slice, Tensor]]:
    """Yield columns of `A^k H` for each of the ascending powers k, then of their limit.

    Args:
        adjacency: A.
        rows: H, N x D'.
        powers: the powers.
        work: where the results are kept.
        name: begins their names.
        limit: the function from columns of H to those of another scope.

    Yields:
        The index of the power, the columns, and their values.
    """
    count = len(powers) + (limit is not None)
    size, width = rows.shape
    for columns in work.own_blocks(size, width):
        names = [f"{name} {index} {columns.start}-{columns.stop}" for index in range(count)]
        shape = size, columns.stop - columns.start
        if all(map(work.has, names)):
            for index, each in enumerate(names):
                yield index, columns, work.stored(each)
            work.advance(shape[1] * max(powers, default=0), "embedding")
            continue
        source, other = work.buffers(2, shape, like=rows.flatten()[:0])
        source.copy_(rows[:, columns])
        if limit is not None:
            yield count - 1, columns, work.result(names[-1], limit(source))
        done = 0
        for index, power in enumerate(powers):
            for _ in range(power - done):
                multiply(adjacency.matrix, source, out=other)
                source, other = other, source
                work.advance(shape[1], "embedding")
            done = power
            yield index, columns, work.result(names[index], source)
