"""Convergence of `A^n H`: the second eigenvalue of Theorem 1 and the decay that it bounds.

The theorem says `d_M(A^n H) <= lambda d_M(A^(n-1) H)` with d_M the distance to the subspace of the
connected components (`ComponentSubspace`). It holds for the normalised adjacency with self-loops,
with lambda as `second_eigenvalue` computes it. Corrections to the paper:

- lambda is called the second largest eigenvalue. It must be the largest modulus of the eigenvalues
  other than the K ones, `max(lambda_{N-K}, -lambda_1)`, the spectral norm of Lambda. On K_{3,3}
  with self-loops of weight 1 these eigenvalues are 1/4 and -1/2, and for some H a step only halves
  the distance: 1/4 is not a bound.
- The proof bounds by the Frobenius norm of Lambda and then by lambda. But `||Lambda||_F >= lambda`,
  and it can exceed 1 (23 on Cora). `||Lambda X||_F <= ||Lambda||_2 ||X||_F` repairs the proof, with
  lambda the spectral norm as above.
- lambda < 1 needs self-loops, which Theorem 1 does not require: without them a bipartite component
  has the eigenvalue -1, and its powers oscillate.
- In the third item of Lemma 2 the vectors `D^1/2 u_k` belong to the eigenvalue 1, lambda_{N-K+1} to
  lambda_N, not to lambda_{N-K}; u_k is the indicator of the k-th component, not the K-th. They must
  be scaled to norm 1 for `V V^T` to be a projection.
- With K = N, only isolated nodes, there is no lambda_{N-K}: M is the whole space and d_M is zero.
- The limit summarises a node's component (CiteSeer has 438), not the whole graph.
- A slice of a normalised adjacency that is not renormalised has no eigenvalue 1 where an edge was
  cut: its powers go to zero, and the theorem does not apply.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from ugcl._utils.errors import UGCLError
from ugcl._utils.random import numpy_generator
from ugcl.scope.component import ComponentSubspace, component_basis, float64_matrix
from ugcl.sparse import SparseMatrix

MAX_DENSE_NODES = 500
"""Nodes up to which all eigenvalues are computed, in less than a tenth of a second."""

RESIDUAL = 1e-5
"""Residual of the eigenvector at convergence; the error of the eigenvalue is about its square."""

ZERO = 1e-12
"""Relative norms up to this are rounding errors."""


def second_eigenvalue(adjacency: SparseMatrix) -> float:
    """Return lambda of Theorem 1, the largest modulus of the eigenvalues other than the K ones.

    The eigenvalue 1 has multiplicity K (438 on CiteSeer) and is deflated first: `B = A (I - P)`
    has the same eigenvalues with zeros for the ones, and Lanczos' method finds its largest. Up to
    `MAX_DENSE_NODES` nodes all eigenvalues are computed.

    Zero if no others exist: only isolated nodes, or with c = 1 only complete components.
    In float64, accurate to 1e-6, and to 1e-8 unless the next eigenvalues are very close.
    Deterministic: the start vector is fixed.

    Cost: some hundred products with a vector, O(N + E) each, and 20 vectors of N numbers; some
    thousand products for long, thin graphs with 1 - lambda near 1e-5.
    """
    from scipy.sparse.linalg import LinearOperator, eigsh  # slow to import

    matrix = float64_matrix(adjacency)
    basis = component_basis(matrix)
    transpose = basis.T.tocsr()
    size = basis.shape[0]

    def deflated(x: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        product: npt.NDArray[np.float64] = matrix @ (x - basis @ (transpose @ x))
        return product

    if size <= MAX_DENSE_NODES:
        return float(np.abs(np.linalg.eigvalsh(deflated(np.eye(size)))).max())
    start = numpy_generator("lanczos").normal(size=size)
    if np.linalg.norm(deflated(start)) <= ZERO * np.linalg.norm(start):
        return 0.0
    operator = LinearOperator((size, size), matvec=deflated, dtype=np.float64)
    largest = eigsh(operator, k=1, which="LM", v0=start, tol=RESIDUAL, return_eigenvectors=False)
    return float(abs(largest[0]))


@dataclass(frozen=True)
class Decay:
    """Distance of `A^n H` to the component subspace, relative to that of H.

    Attributes:
        n: the scope.
        measured: `d_M(A^n H) / d_M(H)`.
        bound: `lambda^n`, the upper bound of Theorem 1.
    """

    n: int
    measured: float
    bound: float


@torch.no_grad()
def measured_decay(
    adjacency: SparseMatrix, hidden: Tensor, scopes: Iterable[int]
) -> tuple[Decay, ...]:
    """Measure the decay of the distance with n in one pass, with the bound of Theorem 1.

    A and P commute, so `d_M(A^n H) = ||A^n (H - P H)||_F`: the products are taken with the residual
    alone, and it is projected again at each step. So small distances stay accurate, where those of
    `A^n H` itself would end at the rounding error of its much larger limit.

    Cost: O(max(scopes) (N + E) D), and once `second_eigenvalue`.

    Args:
        adjacency: `D^-1/2 (A + c I) D^-1/2` with c > 0.
        hidden: H, N x D, of the same dtype, not in the subspace.
        scopes: the values of n, from 0, in any order.

    Returns:
        One `Decay` for each n, ascending.
    """
    ns = sorted(set(scopes))
    if ns and ns[0] < 0:
        raise UGCLError(f"scopes must be at least 0, not {ns[0]}")
    subspace = ComponentSubspace.from_adjacency(adjacency)
    distance = subspace.distance(hidden).item()
    rounding = 100 * torch.finfo(hidden.dtype).eps
    if distance <= rounding * torch.linalg.vector_norm(hidden).item():
        raise UGCLError(
            "hidden is already in the component subspace (rows of a component differ only in "
            "scale), so there is no distance to decay"
        )
    eigenvalue = second_eigenvalue(adjacency)
    decays, residual, done = [], subspace.residual(hidden), 0
    for n in ns:
        for _ in range(n - done):
            residual = subspace.residual(adjacency @ residual)
        done = n
        decays.append(Decay(n, subspace.distance(residual).item() / distance, eigenvalue**n))
    return tuple(decays)
