"""The paper's rule: the n just before Lemma 1's expression breaks strong homophily dominance."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ugcl._utils.errors import UGCLError
from ugcl.scope import average_degree, edge_homophily, lower_bounds
from ugcl.selection.choice import MAX_N, Choice

Degree = Literal["average", "paper"]
"""d = 2E/N, the average degree; or (E/N)(S/N), by which the paper's table was made."""

STRONG = 0.5
"""Dominance is strong while more than half of the scope is of the node's own class."""

LEAST_PAIRS = 10
"""Fewer pairs of training nodes tell nothing about homophily."""

FEW = 30
"""With fewer edges between training nodes their homophily is estimated from longer walks, too."""

Labels = npt.NDArray[np.int64]


def degree_of(adjacency: Any, sample: int | None = None, convention: Degree = "average") -> float:
    """The degree that enters Lemma 1; that of a random sample of S nodes is S/N of the graph's."""
    count = int(adjacency.shape[0])
    if sample is not None and not 1 <= sample <= count:
        raise UGCLError(f"a sample of {sample} is not between 1 and the graph's {count:,} nodes")
    degree = average_degree(adjacency) * (sample or count) / count
    return degree / 2 if convention == "paper" else degree


def entering(
    homophily: float, adjacency: Any, sample: int | None, convention: Degree
) -> tuple[float, float]:
    """P and d as they enter Lemma 1; the paper's table has P to three decimals."""
    degree = degree_of(adjacency, sample, convention)
    return (round(homophily, 3) if convention == "paper" else homophily), degree


def last_dominant(bounds: list[float], convention: Degree = "average") -> int:
    """The largest n whose bounds up to n all exceed 1/2; 0 where that of n = 1 does not.

    The paper counts by the two decimals of its table: 0.497, printed 0.50, still holds on PubMed.
    """
    holds = [
        round(bound, 2) >= STRONG if convention == "paper" else bound > STRONG for bound in bounds
    ]
    return holds.index(False) if False in holds else len(holds)


def by_homophily(
    rule: str,
    homophily: float,
    source: str,
    adjacency: Any,
    *,
    sample: int | None = None,
    convention: Degree = "average",
    max_n: int = MAX_N,
) -> Choice:
    """The rule, given the share of edges that join one class and where it is from."""
    homophily, degree = entering(homophily, adjacency, sample, convention)
    if degree == 0:
        return Choice(rule, 0, "the graph has no edges")
    n = last_dominant(lower_bounds(homophily, degree, max_n), convention)
    about = f"homophily {homophily:.3f} by {source} and degree {degree:.2f}"
    if n == 0:
        return Choice(rule, 0, f"{about} break strong dominance at once")
    if n == max_n:
        return Choice(rule, n, f"{about} hold strong dominance up to the largest n looked at")
    return Choice(rule, n, f"{about} hold strong dominance up to n = {n}")


def training_homophily(
    adjacency: Any, labels: Labels, train: npt.NDArray[np.int64]
) -> tuple[float | None, int]:
    """Homophily as the labels of training nodes tell it, and of how many pairs.

    Few training nodes have edges among them (Cora's 140: some tens). Where there are fewer than
    `FEW`, pairs joined by walks of two steps count, too: of those a share of

        q = h^2 + (1 - h)^2 / (C - 1)

    is of one class, if classes mix evenly. Of its two solutions for h, one above and one below 1/C,
    that is taken on whose side the edges are. None without any edge between training nodes.
    """
    classes = np.unique(labels[train]).size
    among = adjacency[train][:, train].tocoo()
    near = _same(among, labels[train])
    if near.size == 0 or near.size >= FEW or classes < 2:
        return (float(near.mean()) if near.size else None), near.size
    rows = adjacency[train].astype(bool).astype(np.float32)
    far = _same((rows @ rows.T).tocoo(), labels[train])
    pairs = near.size + far.size
    alike = bool(near.mean() >= 1 / classes)
    of_far = _solved(float(far.mean()), classes, alike) if far.size else 0.0
    return float(near.sum() + of_far * far.size) / pairs, pairs


def _same(pairs: Any, labels: Labels) -> npt.NDArray[np.bool_]:
    """Whether each pair above the diagonal is of one class."""
    upper = pairs.row < pairs.col
    same: npt.NDArray[np.bool_] = labels[pairs.row[upper]] == labels[pairs.col[upper]]
    return same


def _solved(share: float, classes: int, alike: bool) -> float:
    """The h of `share = h^2 + (1 - h)^2 / (C - 1)` that is above 1/C, or the one below."""
    excess = max(share - 1 / classes, 0.0)
    away = float(np.sqrt(excess * (classes - 1) / classes))
    return 1 / classes + away if alike else max(1 / classes - away, 0.0)


def paper_rule(
    adjacency: Any,
    labels: Labels | None,
    *,
    sample: int | None = None,
    convention: Degree = "average",
    max_n: int = MAX_N,
) -> Choice:
    """The paper's rule, with the edge homophily of all labels, test nodes' among them."""
    if labels is None:
        return Choice("paper", None, "the graph has no labels")
    homophily = edge_homophily(adjacency, labels)
    if homophily is None:
        return Choice("paper", None, "no edge joins two nodes with labels")
    how: dict[str, Any] = {"sample": sample, "convention": convention, "most": max_n}
    return by_homophily("paper", homophily, "all labels", adjacency, **how)


def training_labels_rule(
    adjacency: Any,
    labels: Labels | None,
    train: npt.NDArray[np.int64] | None,
    *,
    sample: int | None = None,
    convention: Degree = "average",
    max_n: int = MAX_N,
) -> Choice:
    """The same rule as somebody can use it who has the labels of training nodes alone."""
    if labels is None or train is None:
        missing = "labels" if labels is None else "training nodes"
        return Choice("train-labels", None, f"the graph has no {missing}")
    homophily, pairs = training_homophily(adjacency, labels, train)
    source = f"{pairs:,} pairs of training nodes"
    if homophily is None or pairs < LEAST_PAIRS:
        return Choice("train-labels", None, f"{source} are too few to tell homophily by")
    how: dict[str, Any] = {"sample": sample, "convention": convention, "most": max_n}
    return by_homophily("train-labels", homophily, source, adjacency, **how)
