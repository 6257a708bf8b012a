"""Base class for view samplers: what a training step sees of the graph."""

from __future__ import annotations

from abc import ABC, abstractmethod
from copy import copy
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from torch import Tensor

from ugcl._utils.workspace import Workspace
from ugcl.scope import stored_adjacency
from ugcl.sparse import SparseMatrix
from ugcl.typing import CSRMatrix, Device, Features
from ugcl.views.scaling import ScaledRows
from ugcl.views.view import View, aggregate, features_to


@dataclass(frozen=True)
class Sample:
    """The views of one training step.

    Attributes:
        views: the views. The context of a view's nodes is taken in the next view, that of the last
            in the first; a single view has its own contexts.
        corrupted: for each view its corrupted version, for losses that need negatives; else empty.
        edges: both endpoints of each undirected edge, for losses that reconstruct edges; else None.
        nodes: for views of sampled contexts, the node of each row of the views; else None.
    """

    views: tuple[View, ...]
    corrupted: tuple[View, ...] = ()
    edges: tuple[Tensor, Tensor] | None = None
    nodes: tuple[Tensor, ...] | None = None


class ViewSampler(ABC):
    """Base class for view samplers.

    A sampler is created with its hyperparameters; `bind` returns a copy that holds a graph, whose
    `sample` returns the views of one step. A sample is a function of the random generator alone,
    so an interrupted run resumes without stored generator states.

    Attributes:
        self_loops: weight of the self-loops in the normalised adjacency.
        reads_rows: whether `setup` takes `ScaledRows`, of which `sample` reads what it needs.
    """

    self_loops: float = 1.0
    reads_rows: ClassVar[bool] = False

    def bind(
        self, adjacency: CSRMatrix, features: Features | ScaledRows, device: Device = "cpu"
    ) -> Self:
        """Return a copy of this sampler for a graph.

        Args:
            adjacency: A of the graph, without self-loops.
            features: X, scaled; or `ScaledRows`.
            device: where the views are used.
        """
        if isinstance(features, ScaledRows) != self.reads_rows:
            features = ScaledRows(features) if self.reads_rows else features.all()
        bound = copy(self)
        bound.setup(adjacency, features, device)
        return bound

    @abstractmethod
    def setup(self, adjacency: CSRMatrix, features: Any, device: Device) -> None:
        """Store what `sample` needs of the graph."""

    @abstractmethod
    def sample(self, rng: np.random.Generator) -> Sample:
        """Sample the views of one step."""

    def inference_views(
        self,
        adjacency: CSRMatrix,
        features: Features | ScaledRows,
        device: Device,
        work: Workspace | None = None,
    ) -> tuple[View, ...]:
        """Return the views to embed, one for each encoder; by default the graph itself.

        Args:
            adjacency: A of the graph, which may be mapped.
            features: X, scaled, or scaled when it is read.
            device: where the views are used.
            work: where large arrays are kept; by default in memory.
        """
        work = work or Workspace(device=device)
        matrix = stored_adjacency(adjacency, self.self_loops, work)
        is_lazy = isinstance(features, ScaledRows)
        columns = features if is_lazy else features_to(features, device)
        if isinstance(columns, SparseMatrix):
            return (View(matrix, columns, None, matrix),)
        return (View(matrix, None, aggregate(matrix, columns, work), matrix),)
