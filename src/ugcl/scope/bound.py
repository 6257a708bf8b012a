"""Lower bound of the contextual homophily rate (Lemma 1), and the average degree and sparsity.

    P_n >= sum_k (d P)^k / sum_k d^k,    k = 1 to n,

with P the homophily rate of the graph and d its average degree. It is the expectation of P^K for a
distance K with probability d^K / sum_k d^k: a fraction P^k of the nodes at distance k is assumed to
have the node's class.

It is a branching heuristic, not a bound on real graphs. It assumes that

- the neighbourhood is a tree in which every node has d children. In real graphs neighbourhoods
  overlap, which makes them smaller than d^k (even in a tree one of the d neighbours is the parent),
  and neighbours have more neighbours than average nodes, which makes them larger;
- every node has the rate P, whatever its degree and its class;
- a node of the same class is reached only through nodes of the same class. This assumption alone
  errs on the safe side.

On Amazon Photo the measured mean of P_n lies below it for n = 2 to 9. (For large n it falls to 0
if d > 1, the measured rate to the fraction of the node's class.) At n = 1 it is not the published
strict inequality but an equality: both sides are P.

The paper's four properties hold for every d > 0, strictly if 0 < P < 1:

1. It decreases with n: every n adds a power of P below all earlier ones to the mean.
2. It increases with P, also up to P = 0 and P = 1.
3. It decreases with d for n >= 2 (for n = 1 it is P). The published proof lets the weights
   M_k = d^k / sum_k d^k decrease with d, but they sum to 1. In fact dM_k/dd = M_k (k - E[K]) / d:
   weight moves from shorter to longer distances, and the derivative of the bound, Cov(K, P^K) / d,
   is negative because P^k decreases with k.
4. It decreases with the sparsity T = d/N for n >= 2 and fixed N: property 3 again. T alone is not
   enough, since the bound depends on d = T N. A random sample of S nodes has the graph's T
   (Proposition 1) but an average degree of d S/N, and so a higher bound.

The lemma is stated for d >= 1. If d < 1, as in a small sample of a sparse graph, the tree dies out,
long distances have almost no weight, and the expression falls to P (1 - d) / (1 - d P), not to 0.
"""

from __future__ import annotations

import math

import numpy as np

from ugcl._utils.errors import UGCLError
from ugcl.typing import CSRMatrix


def lower_bound(homophily: float, degree: float, n: int) -> float:
    """Return `sum_k (d P)^k / sum_k d^k` for k = 1 to n, the right-hand side of Lemma 1.

    Computed by the recursion of `lower_bounds`: Lemma 1's closed form is 0/0 if d or d P is 1 and
    overflows for large n. Cost: O(n).

    Args:
        homophily: P, from 0 to 1.
        degree: d, above 0.
        n: the power of A, at least 1.
    """
    return lower_bounds(homophily, degree, n)[-1]


def lower_bounds(homophily: float, degree: float, max_n: int) -> list[float]:
    """Return `lower_bound` for n = 1 to `max_n`.

    With q_n = d^n / sum_k d^k the weight of the longest distance and z = d q_(n-1),

        q_n = z / (1 + z),    B_n = (B_(n-1) + z P^n) / (1 + z),    q_1 = 1,    B_1 = P.

    There is no subtraction and no term exceeds d, so nothing cancels or overflows. Cost: O(max_n).
    """
    if not 0 <= homophily <= 1:
        raise UGCLError(f"homophily must be a fraction from 0 to 1, not {homophily}")
    if not (math.isfinite(degree) and degree > 0):
        raise UGCLError(
            f"degree must be a finite number above 0, not {degree}: without edges there is no "
            "context"
        )
    if max_n < 1:
        raise UGCLError(f"n must be at least 1, not {max_n}")
    rate, weight = float(homophily), 1.0
    bound = rate
    bounds = [bound]
    for n in range(2, max_n + 1):
        ratio = degree * weight
        weight = ratio / (1 + ratio)
        bound = (bound + ratio * rate**n) / (1 + ratio)
        bounds.append(bound)
    return bounds


def average_degree(adjacency: CSRMatrix) -> float:
    """Return `d = 2E/N` with E the number of undirected edges without self-loops."""
    return int(adjacency.nnz - np.count_nonzero(adjacency.diagonal())) / int(adjacency.shape[0])


def sparsity(adjacency: CSRMatrix) -> float:
    """Return `T = d/N` (Definition 2), the fraction of the entries of A that are not zero.

    The paper writes `T = E/(N N)` with E = N d: it counts each undirected edge twice.
    """
    return average_degree(adjacency) / int(adjacency.shape[0])
