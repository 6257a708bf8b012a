"""The paper's rule: the last n before Lemma 1's lower bound breaks strong homophily dominance."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ugcl._utils.errors import UGCLError
from ugcl.scope import average_degree, edge_homophily, lower_bounds
from ugcl.selection.choice import MAX_N, Choice
from ugcl.typing import CSRMatrix, Degree, LabelArray, NodeIndices

STRONG_DOMINANCE = 0.5
"""Dominance is strong if more than this fraction of the scope has the node's class."""

MIN_PAIRS = 10
"""Pairs of training nodes below which homophily is not estimated."""

MIN_EDGES = 30
"""Edges between training nodes below which walks of two steps are counted, too."""


def bound_degree(
    adjacency: CSRMatrix, sample: int | None = None, convention: Degree = "average"
) -> float:
    """Return the degree d for Lemma 1; a random sample of S nodes has S/N times the graph's."""
    num_nodes = int(adjacency.shape[0])
    if sample is not None and not 1 <= sample <= num_nodes:
        raise UGCLError(f"`sample` must be from 1 to {num_nodes:,}, the nodes, not {sample}")
    degree = average_degree(adjacency) * (sample or num_nodes) / num_nodes
    return degree / 2 if convention == "paper" else degree


def bound_inputs(
    homophily: float, adjacency: CSRMatrix, sample: int | None, convention: Degree
) -> tuple[float, float]:
    """Return P and d for Lemma 1; the paper's table rounds P to three decimals."""
    degree = bound_degree(adjacency, sample, convention)
    return (round(homophily, 3) if convention == "paper" else homophily), degree


def last_dominant_n(bounds: list[float], convention: Degree = "average") -> int:
    """Return the largest n up to which all bounds exceed 1/2; 0 if the first does not.

    The paper decides by the two decimals of its table: 0.497, printed as 0.50, holds on PubMed.
    """
    dominant = [
        round(bound, 2) >= STRONG_DOMINANCE if convention == "paper" else bound > STRONG_DOMINANCE
        for bound in bounds
    ]
    return dominant.index(False) if False in dominant else len(dominant)


def choose_by_homophily(
    rule: str,
    homophily: float,
    source: str,
    adjacency: CSRMatrix,
    sample: int | None = None,
    convention: Degree = "average",
    max_n: int = MAX_N,
) -> Choice:
    """Apply the rule to a known edge homophily; `source` says where it is from."""
    homophily, degree = bound_inputs(homophily, adjacency, sample, convention)
    if degree == 0:
        return Choice(rule, 0, "the graph has no edges")
    n = last_dominant_n(lower_bounds(homophily, degree, max_n), convention)
    inputs = f"homophily {homophily:.3f} by {source} and degree {degree:.2f}"
    if n == 0:
        return Choice(rule, 0, f"{inputs} give no strong dominance at n = 1")
    limit = ", the largest n tried" if n == max_n else ""
    return Choice(rule, n, f"{inputs} give strong dominance up to n = {n}{limit}")


def training_homophily(
    adjacency: CSRMatrix, labels: LabelArray, train: NodeIndices
) -> tuple[float | None, int]:
    """Estimate edge homophily from the labels of training nodes; return it and the pairs used.

    Few training nodes are adjacent (Cora's 140: some tens of edges). With fewer than `MIN_EDGES`
    edges, pairs of training nodes with a common neighbour count, too. If classes mix evenly, the
    fraction of them with the same class is

        q = h^2 + (1 - h)^2 / (C - 1).

    Of its two solutions for h, above and below 1/C, the one on the side of the edges' homophily is
    taken. Returns None if no two training nodes are adjacent.
    """
    num_classes = np.unique(labels[train]).size
    edges = _same_class(adjacency[train][:, train], labels[train])
    if edges.size == 0 or edges.size >= MIN_EDGES or num_classes < 2:
        return (float(edges.mean()) if edges.size else None), edges.size
    rows = adjacency[train].astype(bool).astype(np.float32)
    walks = _same_class(rows @ rows.T, labels[train])
    homophilous = bool(edges.mean() >= 1 / num_classes)
    from_walks = _solve(float(walks.mean()), num_classes, homophilous) if walks.size else 0.0
    num_pairs = edges.size + walks.size
    return float(edges.sum() + from_walks * walks.size) / num_pairs, num_pairs


def _same_class(pairs: CSRMatrix, labels: LabelArray) -> npt.NDArray[np.bool_]:
    """Whether the two nodes of each entry above the diagonal have the same class."""
    pairs = pairs.tocoo()
    upper = pairs.row < pairs.col
    same: npt.NDArray[np.bool_] = labels[pairs.row[upper]] == labels[pairs.col[upper]]
    return same


def _solve(fraction: float, num_classes: int, homophilous: bool) -> float:
    """Solve `fraction = h^2 + (1 - h)^2 / (C - 1)` for the h above 1/C, or below it."""
    chance = 1 / num_classes
    distance = float(np.sqrt(max(fraction - chance, 0.0) * (num_classes - 1) / num_classes))
    return chance + distance if homophilous else max(chance - distance, 0.0)


def paper_rule(
    adjacency: CSRMatrix,
    labels: LabelArray | None,
    *,
    sample: int | None = None,
    convention: Degree = "average",
    max_n: int = MAX_N,
) -> Choice:
    """Select n by the paper's rule, with the edge homophily of all labels, test nodes included."""
    if labels is None:
        return Choice("paper", None, "the graph has no labels")
    homophily = edge_homophily(adjacency, labels)
    if homophily is None:
        return Choice("paper", None, "no edge connects two labelled nodes")
    return choose_by_homophily(
        "paper", homophily, "all labels", adjacency, sample, convention, max_n
    )


def training_labels_rule(
    adjacency: CSRMatrix,
    labels: LabelArray | None,
    train: NodeIndices | None,
    *,
    sample: int | None = None,
    convention: Degree = "average",
    max_n: int = MAX_N,
) -> Choice:
    """Select n by the same rule, with the homophily estimated from the labels of `train` alone."""
    rule = "train-labels"
    if labels is None or train is None:
        missing = "labels" if labels is None else "training nodes"
        return Choice(rule, None, f"the graph has no {missing}")
    homophily, num_pairs = training_homophily(adjacency, labels, train)
    source = f"{num_pairs:,} pairs of training nodes"
    if homophily is None or num_pairs < MIN_PAIRS:
        return Choice(rule, None, f"{source} are too few to estimate homophily")
    return choose_by_homophily(rule, homophily, source, adjacency, sample, convention, max_n)
