"""Features in their leading directions as embeddings, without training.

X is projected first and the narrow product is smoothed: `A^k (X V)` costs O(nnz(A) columns) a step,
whatever the width of X. The directions V are stored, so that graphs that arrive later have the same
columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from ugcl._utils.linalg import dense_rows, normalize_rows
from ugcl.graph import Graph
from ugcl.methods.models.model import ScaledModel
from ugcl.methods.models.structure import edges_key, structural_block
from ugcl.scope import normalised_adjacency
from ugcl.typing import Device, FeatureScaling
from ugcl.views import fast_smooth_features, leading_directions


class ProjectedFeatures(ScaledModel):
    """Base class for models of `X V`, with V the leading directions of the training graph's X.

    Args:
        num_features: columns of X.
        scaling: how X is scaled.
        columns: columns of V; at most those of X.
        self_loops: weight of the self-loops in the normalised adjacency.
    """

    def __init__(
        self, num_features: int, scaling: FeatureScaling, columns: int, self_loops: float
    ) -> None:
        super().__init__(num_features, scaling)
        self.self_loops = self_loops
        self.directions: Tensor
        self.register_buffer("directions", torch.zeros(num_features, min(columns, num_features)))

    def fit_buffers(self, graph: Graph) -> None:
        """Compute the column statistics and the leading directions of the training graph."""
        super().fit_buffers(graph)
        columns = self.directions.shape[1]
        directions = leading_directions(self.scaled(graph), columns, precision=np.float32)
        self.directions.copy_(torch.from_numpy(directions))

    def smoothed(self, graph: Graph, powers: Sequence[int]) -> Iterator[npt.NDArray[np.float32]]:
        """Yield `A^k X V` for each of the ascending powers k, computed on the CPU."""
        rows = dense_rows(self.scaled(graph) @ self.directions.cpu().numpy())
        adjacency = normalised_adjacency(graph.adjacency, self.self_loops)
        return (product for _, product in fast_smooth_features(adjacency, rows, powers))


class PrincipalComponents(ProjectedFeatures):
    """`(H + A^n H)/2` with `H = A^k X V`.

    Args:
        num_features: columns of X.
        scaling: how X is scaled.
        columns: columns of V.
        smoothing: k.
        scope: n.
        self_loops: weight of the self-loops.
    """

    def __init__(
        self,
        num_features: int,
        scaling: FeatureScaling,
        *,
        columns: int,
        smoothing: int,
        scope: int,
        self_loops: float,
    ) -> None:
        super().__init__(num_features, scaling, columns, self_loops)
        self.powers = smoothing, smoothing + scope

    def embed(self, graph: Graph, device: Device) -> npt.NDArray[np.float32]:
        """Return the mean of H and `A^n H`."""
        hidden, context = self.smoothed(graph, self.powers)
        mean = hidden + context
        mean *= np.float32(0.5)
        return mean


class FeatureBlocks(ProjectedFeatures):
    """Blocks `A^k X V` side by side, each with rows of norm 1, and a structural block beside them.

    Args:
        num_features: columns of X.
        scaling: how X is scaled.
        columns: columns of each block.
        powers: the ascending powers k.
        self_loops: weight of the self-loops.
        structure_columns: columns of the structural block; 0 for none.
        structure_weight: its weight.
    """

    def __init__(
        self,
        num_features: int,
        scaling: FeatureScaling,
        *,
        columns: int,
        powers: Sequence[int],
        self_loops: float,
        structure_columns: int = 0,
        structure_weight: float = 1.0,
    ) -> None:
        super().__init__(num_features, scaling, columns, self_loops)
        self.powers = tuple(powers)
        self.structure_columns, self.structure_weight = structure_columns, structure_weight
        self.trained_on: Tensor
        self.register_buffer("trained_on", torch.zeros(1, dtype=torch.int64))

    def fit_buffers(self, graph: Graph) -> None:
        """Compute the statistics and directions, and remember the edges of the training graph."""
        super().fit_buffers(graph)
        self.trained_on.fill_(edges_key(graph.adjacency))

    def embed(self, graph: Graph, device: Device) -> npt.NDArray[np.float32]:
        """Return the blocks; the structural one is zero for graphs that arrive later."""
        width, columns = self.directions.shape[1], self.structure_columns
        blocks = np.empty((graph.num_nodes, len(self.powers) * width + columns), dtype=np.float32)
        for index, rows in enumerate(self.smoothed(graph, self.powers)):
            blocks[:, index * width : (index + 1) * width] = normalize_rows(rows)
        if columns:
            structure = structural_block(graph.adjacency, columns, int(self.trained_on))
            last = blocks[:, -columns:]
            last[:] = normalize_rows(structure)
            last *= np.float32(self.structure_weight)
        return blocks
