"""Base class for encoders."""

from __future__ import annotations

from abc import ABC, abstractmethod

from torch import Tensor, nn

from ugcl._utils.workspace import Workspace
from ugcl.nn.columns import HiddenColumns, StoredColumns
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

    def columns(self, view: View, work: Workspace, name: str = "hidden") -> HiddenColumns:
        """Return columns of H that are computed when they are needed, without gradients.

        Args:
            view: the view.
            work: where arrays are kept.
            name: begins the names of what is stored.
        """
        return StoredColumns(work.stored(name) if work.has(name) else work.keep(name, self(view)))
