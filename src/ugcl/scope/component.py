"""The widest scopes: the connected component, the limit of `A^n H`, and the whole graph."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from ugcl._utils.errors import UGCLError
from ugcl.sparse import SparseMatrix
from ugcl.typing import CSRMatrix

TOLERANCE = 1e-4
"""Largest deviation of `(A v)_i / v_i` from 1, well above the rounding of float32."""


@dataclass(frozen=True, eq=False)
class ComponentSubspace:
    """The subspace M of Theorem 1, spanned by one unit vector for each connected component.

    The vector of component k is `D^1/2 u_k` scaled to norm 1, where u_k is 1 on the nodes of the
    component and 0 elsewhere: an eigenvector of A for the eigenvalue 1. Components are disjoint, so
    V has one entry in each row, and `V V^T H` costs two sparse products with N entries.

    Attributes:
        basis: V, N x K.
    """

    basis: SparseMatrix

    @classmethod
    def from_adjacency(cls, adjacency: SparseMatrix) -> ComponentSubspace:
        """Return the subspace of `D^-1/2 (A + c I) D^-1/2`, c > 0, on its device and in its dtype.

        Cost: O(N + E), on the CPU; see `component_basis`.
        """
        matrix = adjacency.matrix
        basis = component_basis(float64_matrix(adjacency))
        return cls(SparseMatrix.from_scipy(basis, device=matrix.device, dtype=matrix.dtype))

    @property
    def num_components(self) -> int:
        """K, the number of connected components, isolated nodes included."""
        return self.basis.shape[1]

    @property
    def labels(self) -> Tensor:
        """Component of each node, N integers from 0 to K - 1."""
        return self.basis.matrix.col_indices()

    @property
    def vector(self) -> Tensor:
        """Entry of each node in the unit vector of its component, N numbers."""
        return self.basis.matrix.values()

    def project(self, hidden: Tensor) -> Tensor:
        """Return the orthogonal projection `P H = V V^T H`; differentiable.

        Cost: O(N D); neither P nor a dense V is formed.
        """
        return self.basis @ (SparseMatrix(self.basis.transpose, self.basis.matrix) @ hidden)

    def residual(self, hidden: Tensor) -> Tensor:
        """Return `H - P H`, the part that the powers of A reduce to zero."""
        return hidden - self.project(hidden)

    def distance(self, hidden: Tensor) -> Tensor:
        """Return `d_M(H) = ||H - P H||_F`, a float64 scalar; differentiable.

        Summed in float64: in float32 PyTorch's norm of PubMed's H, 512 wide, is off by 4e-4.
        """
        norm: Tensor = torch.linalg.vector_norm(self.residual(hidden), dtype=torch.float64)
        return norm


def component(adjacency: SparseMatrix, hidden: Tensor) -> Tensor:
    """Return the limit of `A^n H` for n to infinity, `V V^T H`.

    With d the row sums of `A + c I`, the row of node i in component C is

        sqrt(d_i) * sum_{j in C} sqrt(d_j) h_j / sum_{j in C} d_j.

    Within a component all rows have the same direction, and their norms are proportional to
    sqrt(d_i). On a connected graph this is mean pooling (`mean`) up to the weights sqrt(d_j) and
    the factors sqrt(d_i), which the cosine ignores; with equal degrees the two are the same.

    - Convergence is slow on the usual graphs (`second_eigenvalue`): on Cora `A^100 H` differs from
      the limit by 14 % of the limit's norm, for random H.
    - The row of an isolated node is unchanged.
    - Components do not mix: on a disconnected graph no power covers the whole graph.
    - Edge weights enter through d, and c as the weight of one more edge.

    Cost: O(N + E) for the components, O(N D) for the product. To apply it repeatedly, keep the
    `ComponentSubspace` and call `project`.

    Args:
        adjacency: `D^-1/2 (A + c I) D^-1/2` with c > 0.
        hidden: H, N x D, of the same dtype.
    """
    return ComponentSubspace.from_adjacency(adjacency).project(hidden)


def mean(hidden: Tensor) -> Tensor:
    """Return the mean of all rows of H as N rows; they share memory. Cost: O(N D)."""
    return hidden.mean(dim=0, keepdim=True).expand_as(hidden)


def mean_of_pieces(hidden: Tensor, pieces: Tensor) -> Tensor:
    """Return for each row the mean over the rows of the same graph in a batch of graphs.

    Args:
        hidden: H, N x D.
        pieces: index of each row's graph, N integers from 0.
    """
    sizes = torch.bincount(pieces).to(hidden.dtype)
    sums = hidden.new_zeros(sizes.numel(), hidden.shape[1]).index_add(0, pieces, hidden)
    return (sums / sizes[:, None])[pieces]


@torch.no_grad()
def distance_to_component_subspace(adjacency: SparseMatrix, hidden: Tensor) -> float:
    """Return `d_M(H)`, the distance of Theorem 1 between H and `component(A, H)`.

    In the paper it is the infimum of `||H - p||_F` over p in M; the projection attains it.
    Cost: O(N + E + N D).
    """
    return ComponentSubspace.from_adjacency(adjacency).distance(hidden).item()


def component_basis(matrix: CSRMatrix) -> CSRMatrix:
    """Return V, N x K, of a normalised adjacency: v_i is proportional to `A_ii^-1/2`.

    The diagonal is `A_ii = c / D_ii`; the factor c cancels when each column is scaled to norm 1.
    Valid for any edge weights and any c > 0; `A v = v` is checked with one product.

    Cost: O(N + E).

    Args:
        matrix: normalised adjacency, float64.

    Returns:
        CSR, float64, with one entry in each row.
    """
    from scipy.sparse.csgraph import connected_components  # slow to import

    diagonal = matrix.diagonal()
    if not (diagonal > 0).all():
        raise UGCLError(
            "the adjacency has nodes without self-loops, and without them the powers of a "
            "bipartite component do not converge: normalise it with self_loops above 0"
        )
    num_components, labels = connected_components(matrix, directed=False)
    degree = 1 / diagonal
    vector = np.sqrt(degree / np.bincount(labels, degree)[labels])
    if not np.allclose(matrix @ vector / vector, 1, rtol=0, atol=TOLERANCE):
        raise UGCLError(
            "the adjacency is not normalised by its own row sums, so its powers have another "
            "limit: pass the normalised_adjacency of this graph, not a slice of a larger one"
        )
    size = labels.size
    return sp.csr_array((vector, labels, np.arange(size + 1)), shape=(size, num_components))


def float64_matrix(adjacency: SparseMatrix) -> CSRMatrix:
    """Copy to a SciPy CSR matrix, float64, without explicit zeros, which connect no nodes."""
    matrix = adjacency.to_scipy().astype(np.float64)
    matrix.eliminate_zeros()
    return matrix
