"""Features in their leading directions as embeddings, without training.

X is projected first and the narrow product is smoothed: `A^k (X V)` costs O(nnz(A) columns) a step,
whatever the width of X. The directions V are stored, so that graphs that arrive later have the same
columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch import Tensor

from ugcl._utils.linalg import normalize_rows
from ugcl._utils.workspace import Workspace, row_blocks
from ugcl.graph import Graph
from ugcl.methods.models.model import BlockModel, ScaledModel
from ugcl.methods.models.propagated import projected_rows, propagated_columns
from ugcl.methods.models.structure import edges_key, structural_block
from ugcl.scope import stored_adjacency
from ugcl.typing import FeatureScaling
from ugcl.views import leading_directions


class ProjectedFeatures(BlockModel, ScaledModel):
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

    def smoothed(
        self, graph: Graph, powers: Sequence[int], work: Workspace
    ) -> Iterator[tuple[int, slice, Tensor]]:
        """Yield columns of `A^k X V` for each of the ascending powers k, as indices of them."""
        width = self.directions.shape[1]
        work.block_width(graph.num_nodes, width)
        work.plan(width * (1 + max(powers, default=0)))
        directions = self.directions.cpu().numpy()
        rows = projected_rows(self.rows(graph), directions, work, "X V")
        work.advance(width, "features")
        if not any(powers):
            yield from ((index, slice(0, width), rows) for index in range(len(powers)))
            return
        adjacency = stored_adjacency(graph.adjacency, self.self_loops, work)
        yield from propagated_columns(adjacency, rows, powers, work, "A X V")


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

    def num_columns(self, graph: Graph) -> int:
        """Return the columns of V."""
        return int(self.directions.shape[1])

    def column_blocks(self, graph: Graph, work: Workspace) -> Iterator[tuple[int, Tensor]]:
        """Yield columns of the mean of H and `A^n H`."""
        hidden: Tensor | None = None
        for index, columns, rows in self.smoothed(graph, self.powers, work):
            if index == 0:
                hidden = rows if work.folder else rows.clone()
                continue
            assert hidden is not None
            name = f"mean {columns.start}-{columns.stop}"
            if work.has(name):
                yield columns.start, work.stored(name)
                continue
            mean = hidden
            if work.folder:  # mapped, and the buffers are free by now
                (mean,) = work.buffers(1, rows.shape, like=rows.flatten()[:0])
            for part in row_blocks(len(rows)):
                mean[part] = (hidden[part] + rows[part]).mul_(0.5)
            yield columns.start, work.result(name, mean)


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

    def num_columns(self, graph: Graph) -> int:
        """Return the columns of all blocks."""
        return len(self.powers) * self.directions.shape[1] + self.structure_columns

    def column_blocks(self, graph: Graph, work: Workspace) -> Iterator[tuple[int, Tensor]]:
        """Yield columns of the blocks; the structural one is zero for graphs that arrive later."""
        width = self.directions.shape[1]
        for index, columns, rows in self.smoothed(graph, self.powers, work):
            yield index * width + columns.start, rows
        if (columns_left := self.structure_columns) and work.first:
            block = structural_block(graph.adjacency, columns_left, int(self.trained_on), work)
            yield len(self.powers) * width, block

    def finish_rows(self, rows: Tensor) -> Tensor:
        """Return rows whose blocks have norm 1, the structural one its weight."""
        widths = [self.directions.shape[1]] * len(self.powers)
        if self.structure_columns:
            widths.append(self.structure_columns)
        blocks = [normalize_rows(part.numpy()) for part in torch.split(rows, widths, dim=1)]
        if self.structure_columns:
            blocks[-1] *= np.float32(self.structure_weight)
        return torch.from_numpy(np.hstack(blocks))
