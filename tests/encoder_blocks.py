"""Representations and contexts of an encoder in blocks of columns."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from ugcl._utils.workspace import Workspace
from ugcl.nn import Encoder
from ugcl.scope import Scope
from ugcl.views import View


@torch.no_grad()
def encoder_blocks(
    encoder: Encoder, view: View, scope: Scope, width: int = 3
) -> Iterator[tuple[slice, Tensor, Tensor]]:
    """Yield slices of columns, H and its contexts; parts of rows must be those of all rows."""
    hidden = encoder.columns(view, Workspace())
    dtype, size = next(encoder.parameters()).dtype, view.adjacency.shape[0]
    for first in range(0, encoder.width, width):
        columns = slice(first, min(first + width, encoder.width))
        block, other = torch.full((2, size, columns.stop - first), torch.nan, dtype=dtype)
        hidden.fill(columns, block, other)
        if hidden.cheap:
            torch.testing.assert_close(hidden.rows(columns, slice(2, 5)), block[2:5])
        yield columns, block, view.contexts(scope)(block)
