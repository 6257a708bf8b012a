"""Base class for encoders."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator

from torch import Tensor, nn

from ugcl.scope import Scope
from ugcl.views import View


class Encoder(nn.Module, ABC):
    """Base class for encoders: from a view to hidden representations H.

    Attributes:
        width: D', the number of columns of H.
    """

    width: int

    @abstractmethod
    def forward(self, view: View) -> Tensor:
        """Return H, S x D'."""

    def context(self, view: View, scope: Scope) -> Tensor:
        """Return the contexts of H, S x D', for example `A^n H`."""
        return view.contexts(scope)(self(view))

    def blocks(self, view: View, scope: Scope) -> Iterator[tuple[slice, Tensor, Tensor]]:
        """Yield blocks of columns: their slice, H and its contexts.

        The tensors may be overwritten when the next block is requested.
        """
        hidden = self(view)
        yield slice(None), hidden, view.contexts(scope)(hidden)
