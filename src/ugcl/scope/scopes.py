"""Contextual scopes as values: what of the graph a node's context summarises."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, assert_never

from torch import Tensor

from ugcl.scope.component import ComponentSubspace, mean, mean_of_pieces
from ugcl.scope.power import power
from ugcl.sparse import SparseMatrix

ScopeName = Literal["component", "graph"]
"""The scopes that are not a number of steps."""


@dataclass(frozen=True)
class Power:
    """`A^n H`: the nodes within n steps, near ones more than far ones; n = 0 the node alone."""

    n: int

    def on(self, steps: SparseMatrix, pieces: Tensor | None = None) -> Callable[[Tensor], Tensor]:
        """From H to the contexts, for n = 0 H itself. Cost: O(n nnz(A) D)."""
        del pieces
        if self.n == 0:
            return lambda hidden: hidden
        return lambda hidden: power(steps, hidden, self.n)


@dataclass(frozen=True)
class Component:
    """`A^inf H`: all nodes of the connected component, weighted by square roots of degrees."""

    def on(self, steps: SparseMatrix, pieces: Tensor | None = None) -> Callable[[Tensor], Tensor]:
        """From H to the contexts. Cost: O(N + E) once, then O(N D)."""
        del pieces
        return ComponentSubspace.of(steps).project


@dataclass(frozen=True)
class WholeGraph:
    """The mean of all rows of H, whatever the edges are: mean pooling."""

    def on(self, steps: SparseMatrix, pieces: Tensor | None = None) -> Callable[[Tensor], Tensor]:
        """From H to the contexts, without pieces N rows that are one in memory. Cost: O(N D).

        Args:
            steps: not needed.
            pieces: where several graphs stand side by side, the number of each row's graph, whose
                rows alone are its context.
        """
        del steps
        if pieces is None:
            return mean
        return lambda hidden: mean_of_pieces(hidden, pieces)


Scope = Power | Component | WholeGraph


def scope_of(setting: int | ScopeName) -> Scope:
    """The scope that a setting names: n, "component" or "graph"."""
    if isinstance(setting, int):
        return Power(setting)
    if setting == "component":
        return Component()
    if setting == "graph":
        return WholeGraph()
    assert_never(setting)
