"""What the framework relies on of every encoder."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator

from torch import Tensor, nn

from ugcl.scope import Scope
from ugcl.views import View


class Encoder(nn.Module, ABC):
    """From a view to hidden representations H.

    Attributes:
        width: D', the columns of H.
    """

    width: int

    @abstractmethod
    def forward(self, view: View) -> Tensor:
        """H, S x D'."""

    def context(self, view: View, scope: Scope) -> Tensor:
        """The contexts of H, S x D', such as `A^n H`."""
        return view.contexts(scope)(self(view))

    def blocks(self, view: View, scope: Scope) -> Iterator[tuple[slice, Tensor, Tensor]]:
        """Which columns, these of H and of its contexts: some after others, good until the next."""
        hidden = self(view)
        yield slice(None), hidden, view.contexts(scope)(hidden)
