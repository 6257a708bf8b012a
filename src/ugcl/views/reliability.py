"""Split-half reliability: how much of a graph's features and edges is signal, without labels.

A source of information is divided at random into two halves, each half describes the nodes, and the
similarity of the two descriptions (debiased linear CKA) is the reliability of the source: near 0
for noise, whatever its size, and 1 for two halves that say the same.

- features: the columns of X are divided; each half is reduced to its leading directions;
- neighbourhoods: the edges are divided; a node is described by the sum of its neighbours' features
  in each half, itself left out;
- structure: the edges are divided; each half is factorised by `structural_embedding`.

Where edges ignore the features, only the features are reliable; where features are noise, only the
structure; on most graphs the neighbourhoods are the most reliable of the three.

References: Spearman (1910) and Brown (1910) for split halves; Kornblith et al., "Similarity of
Neural Network Representations Revisited" (ICML 2019) for CKA; Song et al. (2012) for debiasing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ugcl._utils.random import numpy_generator
from ugcl.typing import CSRMatrix, Features, FeatureScaling
from ugcl.views.directions import leading_directions
from ugcl.views.scaling import is_counts, scale_features
from ugcl.views.structure import structural_embedding

COLUMNS = 128
"""Leading directions that describe features."""

STRUCTURE_COLUMNS = 64
"""Columns of the structural embeddings."""

MIN_NODES = 10
"""Nodes with edges in both halves below which edges are taken to be as reliable as features."""


class Reliability(NamedTuple):
    """Reliability of each source, at least 0."""

    features: float
    neighbourhoods: float
    structure: float

    def weights(self) -> Reliability:
        """Return factors of blocks of unit rows: square roots of reliability, the largest 1.

        Inner products of weighted blocks then add up in proportion to the reliabilities.
        """
        largest = max(self)
        if largest == 0:
            return Reliability(1.0, 1.0, 1.0)
        return Reliability(*(float(np.sqrt(value / largest)) for value in self))


def split_half_reliability(
    adjacency: CSRMatrix, features: Features, seed: int = 0, *, structure: bool = True
) -> Reliability:
    """Measure the reliability of features, neighbourhoods and structure.

    Args:
        adjacency: A, symmetric, without diagonal.
        features: X, scaled.
        seed: seed of the halves.
        structure: whether to measure the structure, the most expensive; 0 where not.
    """
    rng = numpy_generator("reliability", seed)
    order = rng.permutation(features.shape[1])
    halves = np.sort(order[: order.size // 2]), np.sort(order[order.size // 2 :])
    own = 0.0
    if halves[0].size:
        by_column = features.tocsc() if sp.issparse(features) else features
        one, two = (_described(by_column[:, columns], seed) for columns in halves)
        own = max(debiased_cka(one, two), 0.0)
    first, second = split_edges(adjacency, rng)
    both = (np.diff(first.indptr) > 0) & (np.diff(second.indptr) > 0)
    if both.sum() < MIN_NODES:
        return Reliability(own, own, own if structure else 0.0)
    rows = features @ leading_directions(features, COLUMNS, seed)
    around = [_unit(half @ rows)[both] for half in (first, second)]
    edges = 0.0
    if structure:
        parts = (structural_embedding(half, STRUCTURE_COLUMNS) for half in (first, second))
        edges = debiased_cka(*(_unit(part)[both] for part in parts))
    return Reliability(own, max(debiased_cka(*around), 0.0), max(edges, 0.0))


def auto_scaling(adjacency: CSRMatrix, features: Features, seed: int = 0) -> FeatureScaling:
    """Choose the scaling under which features and neighbourhoods are the most reliable in sum.

    The choice is between rows of norm 1 and, for counts, TF-IDF; for other features, which may be
    in unlike units, standardised columns.
    """
    others: FeatureScaling = "tfidf" if is_counts(features) else "standard"
    scores: dict[FeatureScaling, float] = {}
    for scaling in (others, "l2"):
        scaled = scale_features(features, scaling)
        scores[scaling] = sum(split_half_reliability(adjacency, scaled, seed, structure=False))
    return max(scores, key=lambda scaling: scores[scaling])


def split_edges(adjacency: CSRMatrix, rng: np.random.Generator) -> tuple[CSRMatrix, CSRMatrix]:
    """Divide the undirected edges at random into two graphs of the same nodes."""
    upper = sp.triu(adjacency, 1).tocoo()
    chosen = rng.random(upper.nnz) < 0.5
    first, second = (_symmetric(upper, part) for part in (chosen, ~chosen))
    return first, second


def debiased_cka(one: npt.NDArray[np.float32], two: npt.NDArray[np.float32]) -> float:
    """Return the debiased linear CKA of two descriptions of the same nodes.

    Independent descriptions have 0 on average, unlike plain CKA, which grows with their widths. It
    is 0 where it is not defined: for constant rows, and for fewer than 4 nodes.
    """
    if one.shape[0] < 4:
        return 0.0
    first, second = (rows - rows.mean(axis=0, dtype=np.float64) for rows in (one, two))
    scale = _hsic(first, first) * _hsic(second, second)
    return _hsic(first, second) / float(np.sqrt(scale)) if scale > 0 else 0.0


def _hsic(one: npt.NDArray[np.float64], two: npt.NDArray[np.float64]) -> float:
    """Return the unbiased HSIC of centred rows, times N (N - 3). Cost: O(N D^2)."""
    count = one.shape[0]
    norms = (one**2).sum(axis=1), (two**2).sum(axis=1)
    product = one.T @ two
    total = float((product**2).sum()) - count / (count - 2) * float(norms[0] @ norms[1])
    return float(total + norms[0].sum() * norms[1].sum() / ((count - 1) * (count - 2)))


def _described(columns: Features, seed: int) -> npt.NDArray[np.float32]:
    return _unit(columns @ leading_directions(columns, COLUMNS, seed))


def _symmetric(upper: sp.coo_array, part: npt.NDArray[np.bool_]) -> CSRMatrix:
    half = sp.coo_array((upper.data[part], (upper.row[part], upper.col[part])), upper.shape)
    return sp.csr_array(half + half.T)


def _unit(rows: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    from sklearn.preprocessing import normalize

    return np.asarray(normalize(rows), dtype=np.float32)
