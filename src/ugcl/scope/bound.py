"""The lower bound of the contextual homophily rate (Lemma 1), and what it is computed from.

    P_n >= sum_k (d P)^k / sum_k d^k,    k = 1 to n,

with P the homophily rate of the graph and d its average degree. It is the mean of P^K for a
distance K that has the chance d^K / sum_k d^k: of the nodes at distance k a share of P^k is taken
to be of the right class.

It is a branching heuristic, not a bound on real graphs. It takes for granted that

- the neighbourhood is a tree in which every node has d children. Neighbourhoods overlap, so that
  distances are fewer than d^k (even in a tree one of the d neighbours is the way back), and a
  neighbour has more neighbours than an average node, so that they are more;
- P is every node's own rate, whatever its degree, its class and the class of those around it;
- nothing but the right class leads to the right class. This alone errs on the safe side: a
  wrong-class node's neighbours may be of the right class again.

On Amazon Photo the measured mean of P_n lies below it for n = 2 to 9. (For large n it falls to 0
where d > 1, the measured rate to the share of the node's class.) At n = 1 it is not the strict
inequality that is published but an equality: both sides are P.

The paper's four properties hold for every d > 0, strictly where 0 < P < 1:

1. It drops as n rises: every n adds a power below all that the mean has had so far.
2. It rises with P, also up to P = 0 and P = 1 themselves.
3. It drops as d rises, for n >= 2 (for n = 1 it is P whatever d is). The published proof is not
   one: it has the weights M_k = d^k / sum_k d^k fall with d, but they always sum to 1. In truth
   dM_k/dd = M_k (k - E[K]) / d, so that weight moves from the shorter distances to the longer ones,
   and the derivative of the bound, Cov(K, P^K) / d, is below zero since P^k falls with k.
4. It drops as the sparsity T = d/N rises, for n >= 2 and a fixed N: this is property 3 again. T
   alone says nothing: the bound depends on d = T N. In particular a random sample of S nodes has
   the graph's T (Proposition 1) but d S/N neighbours for a node, and so a higher bound.

The lemma is stated for d >= 1. Where d < 1, as in a small sample of a sparse graph, a node has less
than one neighbour on average and the tree dies out; long distances weigh next to nothing and the
expression falls to P (1 - d) / (1 - d P) instead of to 0 as n rises.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ugcl._utils.errors import UGCLError


def lower_bound(homophily: float, degree: float, n: int) -> float:
    """`sum_k (d P)^k / sum_k d^k` for k = 1 to n, the right-hand side of Lemma 1.

    Lemma 1's closed form is 0/0 where d or d P is 1 and overflows for large n; `lower_bounds` says
    how this does not. Cost: O(n).

    Args:
        homophily: P, from 0 to 1.
        degree: d, above 0.
        n: the power of A, at least 1.
    """
    return lower_bounds(homophily, degree, n)[-1]


def lower_bounds(homophily: float, degree: float, max_n: int) -> list[float]:
    """`lower_bound` for n = 1 to `most`.

    With q_n = d^n / sum_k d^k the weight of the longest distance and z = d q_(n-1),

        q_n = z / (1 + z),    B_n = (B_(n-1) + z P^n) / (1 + z),    q_1 = 1,    B_1 = P.

    Nothing is subtracted and nothing exceeds d, so that nothing cancels or overflows, whatever d
    and d P are. Cost: O(most).
    """
    if not 0 <= homophily <= 1:
        raise UGCLError(f"the homophily rate is a share from 0 to 1, not {homophily}")
    if not (math.isfinite(degree) and degree > 0):
        raise UGCLError(
            f"the average degree must be a number above 0, not {degree}: without edges there is "
            "no context"
        )
    if max_n < 1:
        raise UGCLError(f"n must be at least 1, not {max_n}: a scope reaches 1 hop or more")
    rate, weight = float(homophily), 1.0
    bound = rate
    bounds = [bound]
    for n in range(2, max_n + 1):
        ratio = degree * weight
        weight = ratio / (1 + ratio)
        bound = (bound + ratio * rate**n) / (1 + ratio)
        bounds.append(bound)
    return bounds


def average_degree(adjacency: Any) -> float:
    """`d = 2E/N` with E the number of undirected edges, self-loops not counted.

    Args:
        adjacency: A, symmetric, N x N, SciPy sparse.
    """
    return int(adjacency.nnz - np.count_nonzero(adjacency.diagonal())) / int(adjacency.shape[0])


def sparsity(adjacency: Any) -> float:
    """`T = d/N` (Definition 2), the share of the N x N entries of A that are not zero.

    The paper writes `T = E/(N N)` and takes E for N d: its E counts each edge in both directions,
    twice the number of undirected edges.
    """
    return average_degree(adjacency) / int(adjacency.shape[0])
