"""Slow, obvious versions of the formulas, written straight from the paper, all dense."""

from __future__ import annotations

import numpy as np


def normalised_adjacency(adjacency: np.ndarray, self_loops: float = 1.0) -> np.ndarray:
    """D^-1/2 (A + cI) D^-1/2, entry by entry."""
    looped = adjacency + self_loops * np.eye(len(adjacency))
    degree = looped.sum(axis=1)
    result = np.zeros_like(looped, dtype=float)
    for i in range(len(looped)):
        for j in range(len(looped)):
            if looped[i, j]:
                result[i, j] = looped[i, j] / np.sqrt(degree[i] * degree[j])
    return result


def cosine(a: np.ndarray, b: np.ndarray) -> float:
    return float(a @ b / (np.linalg.norm(a) * np.linalg.norm(b)))


def ugcl_loss(patch: np.ndarray, context: np.ndarray, temperature: float = 1.0) -> float:
    """The loss of UGCL, Equation 5, term by term."""
    size = len(patch)
    total = 0.0
    for v in range(size):
        positive = np.exp(cosine(patch[v], context[v]) / temperature)
        negative = sum(
            np.exp(cosine(patch[v], patch[u]) / temperature) for u in range(size) if u != v
        )
        total += -np.log(positive / negative)
    return total / size


def gcn(
    adjacency: np.ndarray, features: np.ndarray, weight: np.ndarray, bias: np.ndarray, slope: float
) -> np.ndarray:
    """PReLU(A X W + b)."""
    linear = adjacency @ features @ weight + bias
    return np.where(linear > 0, linear, slope * linear)


def netmf(adjacency: np.ndarray, window: int) -> np.ndarray:
    """log max(1, vol/T (W + ... + W^T) D^-1), entry by entry (Qiu et al., 2018, Equation 7)."""
    degree = adjacency.sum(axis=1)
    inverse = np.array([1 / d if d else 0.0 for d in degree])
    walk = inverse[:, None] * adjacency
    total = sum(np.linalg.matrix_power(walk, r) for r in range(1, window + 1))
    return np.log(np.maximum(1, degree.sum() / window * total * inverse[None, :]))


def context_nce(
    patch: np.ndarray,
    context: np.ndarray,
    nodes: tuple[list[int], list[int]],
    temperature: float,
) -> float:
    """The loss of the multi-scope method, node by node and negative by negative.

    Negatives of a pair are the rows, of patches and of contexts, of neither of its two nodes.
    """
    rows, owners, total = [*patch, *context], [*nodes[0], *nodes[1]], 0.0
    for v in range(len(patch)):
        positive = np.exp(cosine(patch[v], context[v]) / temperature)
        denominator = positive
        for row, owner in zip(rows, owners, strict=True):
            if owner not in (nodes[0][v], nodes[1][v]):
                denominator += np.exp(cosine(patch[v], row) / temperature)
        total -= np.log(positive / denominator)
    return float(total / len(patch))
