"""Contextual scopes: the part of the graph that a node's context summarises.

`scope.on(steps, pieces)` returns the function from H, N x D, to the contexts, N x D. `steps` is the
matrix whose powers are taken; `pieces` has the index of each row's graph in a batch of graphs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import assert_never

from torch import Tensor

from ugcl.scope.component import ComponentSubspace, mean, mean_of_pieces
from ugcl.scope.power import power
from ugcl.sparse import SparseMatrix
from ugcl.typing import ScopeName

ContextFunction = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class Power:
    """`A^n H`: the nodes within n steps, closer ones with more weight; n = 0 is the node itself."""

    n: int

    def on(self, steps: SparseMatrix, pieces: Tensor | None = None) -> ContextFunction:
        """Return the function from H to the contexts. Cost: O(n nnz(A) D)."""
        if self.n == 0:
            return lambda hidden: hidden
        return lambda hidden: power(steps, hidden, self.n)


@dataclass(frozen=True)
class Component:
    """`A^inf H`: the connected component, weighted by square roots of degrees."""

    def on(self, steps: SparseMatrix, pieces: Tensor | None = None) -> ContextFunction:
        """Return the function from H to the contexts. Cost: O(N + E) once, then O(N D)."""
        return ComponentSubspace.from_adjacency(steps).project


@dataclass(frozen=True)
class WholeGraph:
    """Mean pooling: the mean of all rows of H, or of the rows of the same graph in a batch."""

    def on(self, steps: SparseMatrix, pieces: Tensor | None = None) -> ContextFunction:
        """Return the function from H to the contexts. Cost: O(N D)."""
        if pieces is None:
            return mean
        return lambda hidden: mean_of_pieces(hidden, pieces)


Scope = Power | Component | WholeGraph


def scope_of(setting: int | ScopeName) -> Scope:
    """Return the scope of a setting: n, "component" or "graph"."""
    if isinstance(setting, int):
        return Power(setting)
    if setting == "component":
        return Component()
    if setting == "graph":
        return WholeGraph()
    assert_never(setting)
