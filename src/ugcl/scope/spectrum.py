"""How fast the powers converge: the second eigenvalue of Theorem 1, and the decay that it bounds.

The theorem says `d_M(A^n H) <= lambda d_M(A^(n-1) H)` with d_M the distance to the subspace of the
connected components (`ComponentSubspace`). It holds for the normalised adjacency with self-loops,
with lambda as `second_eigenvalue` computes it. Where the paper is less precise than that:

- lambda is called the second largest eigenvalue. It must be the largest modulus among the
  eigenvalues apart from the K ones, `max(lambda_{N-K}, -lambda_1)`, the spectral norm of Lambda.
  On K_{3,3} with one self-loop these eigenvalues are 1/4 and -1/2: there are H whose distance a
  step halves and no more, so 1/4 is no bound.
- The proof bounds by the Frobenius norm of Lambda and then by lambda. But `||Lambda||_F >= lambda`,
  and it may exceed 1 (on Cora it is 23), so this step is false as written. The proof is mended by
  `||Lambda X||_F <= ||Lambda||_2 ||X||_F`, and then lambda is the spectral norm, as above.
- lambda < 1 needs self-loops, which Theorem 1 does not ask for: without them a bipartite component
  has the eigenvalue -1, and its powers swing for ever.
- In the third item of Lemma 2 the vectors `D^1/2 u_k` belong to the eigenvalue 1, which is
  lambda_{N-K+1} to lambda_N, not to lambda_{N-K}; and u_k marks the k-th component, not the K-th.
  They must be scaled to length 1 before `V V^T` is a projection.
- With K = N, only isolated nodes, there is no lambda_{N-K}: M is the whole space and d_M is zero.
- The limit summarises a node's component (CiteSeer has 438), not the whole graph.
- A part of a normalised adjacency that is not normalised again has no eigenvalue 1 where an edge
  was cut: there the powers go to zero, and the theorem does not speak of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from scipy.sparse.linalg import LinearOperator, eigsh
from torch import Tensor

from ugcl._utils.errors import UGCLError
from ugcl.scope.component import ComponentSubspace, component_basis, to_scipy
from ugcl.sparse import SparseMatrix

DENSE = 500
"""Nodes up to which all eigenvalues are computed, which takes less than a tenth of a second."""

RESIDUAL = 1e-5
"""Residual of the eigenvector at which to stop. The eigenvalue is closer still, by its square."""

ZERO = 1e-12
"""What is not above this is rounding."""


def second_eigenvalue(adjacency: SparseMatrix) -> float:
    """Lambda of Theorem 1: the largest modulus of the eigenvalues, apart from the K ones.

    The eigenvalue 1 comes once for each component (438 times on CiteSeer), so it is taken out
    first: `B = A (I - P)` has the same eigenvalues with zeros for the ones, and Lanczos' method
    finds its largest. Up to `DENSE` nodes all are computed.

    Zero where nothing is left: only isolated nodes, or with c = 1 only complete components.
    In float64; right to 1e-6, and to 1e-8 unless the next eigenvalues are very close. The same
    start for every call, so the same result.

    Cost: some hundred products with a vector, O(N + E) each, at a time 20 vectors of N numbers;
    some thousand for long, thin graphs, where lambda is 1 but for 1e-5.
    """
    matrix = to_scipy(adjacency)
    basis = component_basis(matrix)
    transpose = basis.T.tocsr()
    size = basis.shape[0]

    def deflated(x: Any) -> Any:
        return matrix @ (x - basis @ (transpose @ x))

    if size <= DENSE:
        return float(np.abs(np.linalg.eigvalsh(deflated(np.eye(size)))).max())
    start = np.random.default_rng(0).normal(size=size)
    if np.linalg.norm(deflated(start)) <= ZERO * np.linalg.norm(start):
        return 0.0
    operator = LinearOperator((size, size), matvec=deflated, dtype=np.float64)
    largest = eigsh(operator, k=1, which="LM", v0=start, tol=RESIDUAL, return_eigenvectors=False)
    return float(abs(largest[0]))


@dataclass(frozen=True)
class Decay:
    """How far `A^n H` is from the component subspace, as a share of how far H is.

    Attributes:
        n: the scope.
        measured: `d_M(A^n H) / d_M(H)`.
        bound: `lambda^n`, which Theorem 1 says is never less.
    """

    n: int
    measured: float
    bound: float


@torch.no_grad()
def measured_decay(
    adjacency: SparseMatrix, hidden: Tensor, scopes: Iterable[int]
) -> tuple[Decay, ...]:
    """The decay of the distance with n beside the bound, in one pass through the powers.

    A and P commute, so `d_M(A^n H) = ||A^n (H - P H)||_F`: the steps are done on the rest alone,
    and what rounding puts back into the subspace is taken out at each of them. So small distances
    stay exact, where those of `A^n H` itself would end at the rounding of its much larger limit.

    Cost: O(max(scopes) (N + E) D), and once `second_eigenvalue`.

    Args:
        adjacency: `D^-1/2 (A + c I) D^-1/2` with c > 0.
        hidden: H, N x D, of the same precision; not in the subspace already.
        scopes: each n, from 0, in any order.

    Returns:
        One `Decay` for each n, ascending.
    """
    wanted = sorted(set(scopes))
    if wanted and wanted[0] < 0:
        raise UGCLError(f"a scope is a number of steps, and {wanted[0]} is not: give 0 or more")
    subspace = ComponentSubspace.of(adjacency)
    whole = subspace.distance(hidden).item()
    rounding = 100 * torch.finfo(hidden.dtype).eps
    if whole <= rounding * torch.linalg.vector_norm(hidden).item():
        raise UGCLError(
            "the representations are the same within each component but for their scale, so there "
            "is no distance to decay: give some that differ"
        )
    eigenvalue = second_eigenvalue(adjacency)
    decays, rest, done = [], subspace.rest(hidden), 0
    for n in wanted:
        for _ in range(n - done):
            rest = subspace.rest(adjacency @ rest)
        done = n
        decays.append(Decay(n, subspace.distance(rest).item() / whole, eigenvalue**n))
    return tuple(decays)
