"""The widest scopes: a node's connected component, which is where `A^n H` ends, and the graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from scipy.sparse.csgraph import connected_components
from torch import Tensor

from ugcl._utils.errors import UGCLError
from ugcl.sparse import SparseMatrix

TOLERANCE = 1e-4
"""How far `(A v)_i / v_i` may be from 1: well above float32's rounding."""


@dataclass(frozen=True, eq=False)
class ComponentSubspace:
    """The subspace M of Theorem 1: all `V M`, with one column of V for each component.

    The column of component k is the unit vector v along `D^1/2 u_k`, where u_k is 1 at the nodes of
    the component and 0 elsewhere: the eigenvector of the eigenvalue 1. Components do not overlap,
    so V has one entry in each row, and `V V^T H` costs two sparse products with N entries.

    Attributes:
        basis: V, N x K.
    """

    basis: SparseMatrix

    @classmethod
    def of(cls, adjacency: SparseMatrix) -> ComponentSubspace:
        """The subspace of a normalised adjacency `D^-1/2 (A + c I) D^-1/2`, c > 0.

        `component_basis` tells how it is found. It has the device and the precision of A, which
        is what H must have to be multiplied by A. Cost: O(N + E), on the CPU.
        """
        return cls(
            SparseMatrix.from_scipy(
                component_basis(to_scipy(adjacency)),
                device=adjacency.matrix.device,
                dtype=adjacency.matrix.dtype,
            )
        )

    @property
    def count(self) -> int:
        """K, the number of connected components; an isolated node is one of them."""
        return self.basis.shape[1]

    @property
    def labels(self) -> Tensor:
        """N numbers from 0 to K - 1: the component of each node."""
        return self.basis.matrix.col_indices()

    @property
    def vector(self) -> Tensor:
        """N numbers: the entry of each node in the unit vector of its component."""
        return self.basis.matrix.values()

    def project(self, hidden: Tensor) -> Tensor:
        """`P H = V V^T H`, the point of the subspace that is nearest to H; with gradients.

        Cost: O(N D); neither P nor a dense V is formed.
        """
        return self.basis @ (self._transposed @ hidden)

    def rest(self, hidden: Tensor) -> Tensor:
        """`H - P H`, what the powers of A bring to zero."""
        return hidden - self.project(hidden)

    def distance(self, hidden: Tensor) -> Tensor:
        """`d_M(H) = ||H - P H||_F`, a float64 scalar with gradients; zero where H is in M.

        Summed in float64: in float32 PyTorch's norm of PubMed's H, 512 wide, is off by 4e-4.
        """
        norm: Tensor = torch.linalg.vector_norm(self.rest(hidden), dtype=torch.float64)
        return norm

    @property
    def _transposed(self) -> SparseMatrix:
        return SparseMatrix(self.basis.transpose, self.basis.matrix)


def component(adjacency: SparseMatrix, hidden: Tensor) -> Tensor:
    """The exact infinite power: the limit of `A^n H` for growing n, which is `V V^T H`.

    With d the row sums of `A + c I`, the row of node i in component C becomes

        sqrt(d_i) * sum_{j in C} sqrt(d_j) h_j / sum_{j in C} d_j.

    So within a component all rows have one direction, and their lengths go with sqrt(d_i). It
    differs from mean pooling (`mean`) by these square roots alone, on a connected graph: the sum
    weighs nodes by sqrt(d_j) instead of 1, and each row is scaled by sqrt(d_i), which a cosine does
    not see. Where all d are equal, as in a cycle, the two are the same.

    - n = 0 is the other end, H itself; each step in between comes closer, but on the usual graphs
      slowly (`second_eigenvalue`): on Cora `A^100 H` is still 14 % of the limit's length away from
      it, for random H.
    - An isolated node is a component of its own, and its row stays as it is.
    - Components do not mix: with several of them no power sees the whole graph.
    - Edge weights count through d, and c counts as the weight of one more edge.

    Cost: O(N + E) to find the components, O(N D) for the product. Where A stays the same, keep its
    `ComponentSubspace` and call `project`.

    Args:
        adjacency: `D^-1/2 (A + c I) D^-1/2` with c > 0.
        hidden: H, N x D, of the same precision.
    """
    return ComponentSubspace.of(adjacency).project(hidden)


def mean(hidden: Tensor) -> Tensor:
    """The whole graph as the scope: every row is the mean of all rows of H.

    Cost: O(N D); the N rows are one row in memory, so clone before writing to them.
    """
    return hidden.mean(dim=0, keepdim=True).expand_as(hidden)


def mean_of_pieces(hidden: Tensor, pieces: Tensor) -> Tensor:
    """For each row the mean of the rows of its piece.

    Args:
        hidden: H, N x D.
        pieces: N numbers from 0 on, the piece of each row.
    """
    sizes = torch.bincount(pieces).to(hidden.dtype)
    sums = hidden.new_zeros(sizes.numel(), hidden.shape[1]).index_add(0, pieces, hidden)
    return (sums / sizes[:, None])[pieces]


@torch.no_grad()
def distance_to_component_subspace(adjacency: SparseMatrix, hidden: Tensor) -> float:
    """`d_M(H)`, the distance of Theorem 1: how much of H is not yet `component(A, H)`.

    In the paper it is the infimum of `||H - p||_F` over p in M; the projection attains it.
    Cost: O(N + E + N D).
    """
    return ComponentSubspace.of(adjacency).distance(hidden).item()


def component_basis(matrix: Any) -> Any:
    """V, N x K, from the normalised adjacency alone: v_i is proportional to `A_ii^-1/2`.

    The diagonal is `A_ii = c / D_ii`, so D is known up to the factor c, which cancels when the part
    of each component is scaled to length 1. This holds for any weights and any c > 0.
    Whether `A v = v` is checked, at the cost of one product.

    Cost: O(N + E).

    Args:
        matrix: SciPy CSR, float64.

    Returns:
        SciPy CSR, float64, with one entry in each row.
    """
    diagonal = matrix.diagonal()
    if not (diagonal > 0).all():
        raise UGCLError(
            "the adjacency has nodes without self-loops, and without them the powers of a "
            "bipartite component do not converge: normalise it with self_loops above 0"
        )
    count, labels = connected_components(matrix, directed=False)
    degree = 1 / diagonal
    vector = np.sqrt(degree / np.bincount(labels, degree)[labels])
    if not np.allclose(matrix @ vector / vector, 1, rtol=0, atol=TOLERANCE):
        raise UGCLError(
            "the adjacency is not normalised by its own row sums, so its powers have another "
            "limit: give what normalised_adjacency makes of this very graph, not a part of it"
        )
    size = labels.size
    return sp.csr_array((vector, labels, np.arange(size + 1)), shape=(size, count))


def to_scipy(adjacency: SparseMatrix) -> Any:
    """A copy for SciPy: CSR, float64, without entries that are zero, which join no nodes."""
    held = adjacency.matrix.cpu()
    parts = held.values().double(), held.col_indices(), held.crow_indices()
    matrix = sp.csr_array(tuple(part.numpy() for part in parts), adjacency.shape, copy=True)
    matrix.eliminate_zeros()
    return matrix
