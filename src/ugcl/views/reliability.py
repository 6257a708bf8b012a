"""Split-half reliability: how much of a graph's features and edges is signal, without labels.

A source of information is divided at random into two halves, each half describes the nodes, and the
agreement of the two descriptions is the reliability of the source: near 0 for noise, whatever its
size, and 1 for two halves that say the same. Agreement is measured by canonical correlations, which
find a weak signal among much noise, or by CKA, which depends on the lengths of the columns.

- features: the columns of X are divided; each half is reduced to its leading directions;
- neighbourhoods: the edges are divided; a node is described by the sum of its neighbours' features
  in each half, itself left out;
- structure: the edges are divided; each half is factorised by `structural_embedding`.

Where edges ignore the features, only the features are reliable; where features are noise, only the
structure; on most graphs the neighbourhoods are the most reliable of the three.

References: Spearman (1910) and Brown (1910) for split halves; Kornblith et al., "Similarity of
Neural Network Representations Revisited" (ICML 2019) for CKA; Song et al. (2012) for debiasing;
Hotelling (1936) for canonical correlations.
"""

from __future__ import annotations

from statistics import fmean
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ugcl._utils.linalg import normalize_rows, one_thread
from ugcl._utils.random import numpy_generator
from ugcl.typing import CSRMatrix, Features, FeatureScaling, NodeIndices
from ugcl.views.directions import MAX_ROWS
from ugcl.views.scaling import is_counts, scale_features
from ugcl.views.structure import structural_embedding
from ugcl.views.subspace import reduce_columns

COLUMNS = 128
"""Leading directions that describe features."""

STRUCTURE_COLUMNS = 64
"""Columns of the structural embeddings."""

MIN_NODES = 10
"""Nodes with edges in both halves below which edges are taken to be as reliable as features."""


CORRELATIONS = 5
"""Canonical correlations whose mean is the agreement of two descriptions."""

RIDGE = 1.0
"""Ridge of the canonical directions, in units of the mean variance of a column."""

Rows = npt.NDArray[np.float32]
Float64 = npt.NDArray[np.float64]


class Reliability(NamedTuple):
    """Reliability of each source, at least 0."""

    features: float
    neighbourhoods: float
    structure: float

    def weights(self, num_nodes: int | None = None) -> Reliability:
        """Return factors of blocks of unit rows: square roots of reliability, the largest 1.

        Inner products of weighted blocks then add up in proportion to the reliabilities.

        Args:
            num_nodes: the number of nodes; reliabilities below the standard error of that of noise
                are replaced by it. None to keep all.
        """
        least = 0.0
        if num_nodes is not None:
            least = float(1 / np.sqrt(CORRELATIONS * min(num_nodes, MAX_ROWS)))
        values = [max(value, least) for value in self]
        if max(values) == 0:
            return Reliability(1.0, 1.0, 1.0)
        return Reliability(*(float(np.sqrt(value / max(values))) for value in values))


def canonical_agreement(one: Rows, two: Rows, count: int = CORRELATIONS, seed: int = 0) -> float:
    """Return the mean of the largest canonical correlations of two descriptions of the same nodes.

    Directions are found on one half of the nodes and correlated on the other, and vice versa, so
    that independent descriptions have 0 on average, whatever their widths. It is 0 where it is not
    defined: for constant rows, and for fewer than 4 nodes. Cost: O(N D^2).
    """
    if one.shape[0] < 4:
        return 0.0
    order = numpy_generator("reliability nodes", seed).permutation(one.shape[0])
    parts = order[: order.size // 2], order[order.size // 2 :]
    correlations: list[float] = []
    for found, tested in (parts, parts[::-1]):
        with one_thread():
            axes = _canonical_axes(one[found], two[found], count)
        scores = (rows[tested] @ axis for rows, axis in zip((one, two), axes, strict=True))
        first, second = (each - each.mean(axis=0) for each in scores)
        scale = np.linalg.norm(first, axis=0) * np.linalg.norm(second, axis=0)
        correlations += ((first * second).sum(axis=0) / np.maximum(scale, 1e-12)).tolist()
    return fmean(correlations) if correlations else 0.0


def _canonical_axes(one: Rows, two: Rows, count: int) -> tuple[Float64, Float64]:
    """Return the directions of the `count` largest canonical correlations, by ridge CCA."""
    centred = [rows - rows.mean(axis=0, dtype=np.float64) for rows in (one, two)]
    whitening = []
    for rows in centred:
        values, vectors = np.linalg.eigh(rows.T @ rows)
        kept = values > max(1e-6 * values.max(initial=0), 1e-12)
        ridge = RIDGE * values.clip(min=0).mean() if values.size else 0.0
        whitening.append(vectors[:, kept] / np.sqrt(values[kept] + ridge))
    left, _, right = np.linalg.svd(whitening[0].T @ (centred[0].T @ centred[1]) @ whitening[1])
    count = min(count, len(left), len(right))
    return whitening[0] @ left[:, :count], whitening[1] @ right[:count].T


def split_half_reliability(
    adjacency: CSRMatrix,
    features: Features,
    seed: int = 0,
    *,
    structure: bool = True,
    measure: Literal["correlations", "cka"] = "correlations",
) -> Reliability:
    """Measure the reliability of features, neighbourhoods and structure.

    At most `MAX_ROWS` nodes are described. A source that cannot be divided, a single feature or
    too few edges, is taken to be as reliable as another one.

    Args:
        adjacency: A, symmetric, without diagonal.
        features: X, scaled.
        seed: seed of the halves.
        structure: whether to measure the structure, the most expensive; 0 where not.
        measure: how the agreement of two halves is measured.
    """
    rng = numpy_generator("reliability", seed)
    order = rng.permutation(features.shape[1])
    halves = np.sort(order[: order.size // 2]), np.sort(order[order.size // 2 :])
    edges = split_edges(adjacency, rng)
    count = min(CORRELATIONS, max(halves[0].size, 1))  # the same for all sources

    def agreement(one: Rows, two: Rows) -> float:
        if measure == "cka":
            return max(debiased_cka(one, two), 0.0)
        return max(canonical_agreement(one, two, count, seed), 0.0)

    own = around = structural = None
    if halves[0].size:
        by_column = features.tocsc() if sp.issparse(features) else features
        nodes = _sampled(np.arange(adjacency.shape[0]), seed)
        own = agreement(*(_described(by_column[:, half], nodes) for half in halves))
    both = np.flatnonzero(np.minimum(*(np.diff(half.indptr) for half in edges)))
    if both.size >= MIN_NODES:
        nodes = _sampled(both, seed)
        rows = reduce_columns(features, COLUMNS, MAX_ROWS)
        around = agreement(*(_unit(half[nodes] @ rows) for half in edges))
        if structure:
            parts = (structural_embedding(half, STRUCTURE_COLUMNS) for half in edges)
            structural = agreement(*(_unit(part[nodes]) for part in parts))
    own = (around or 0.0) if own is None else own
    around = own if around is None else around
    structural = (own if structure else 0.0) if structural is None else structural
    return Reliability(own, around, structural)


def auto_scaling(adjacency: CSRMatrix, features: Features, seed: int = 0) -> FeatureScaling:
    """Choose the scaling under which features and neighbourhoods are the most reliable in sum.

    The choice is between rows of norm 1 and, for counts, TF-IDF; for other features, which may be
    in unlike units, standardised columns. Agreement is CKA, because canonical correlations are
    almost the same for all scalings of the columns.
    """
    others: FeatureScaling = "tfidf" if is_counts(features) else "standard"
    scores: dict[FeatureScaling, float] = {}
    for scaling in (others, "l2"):
        scaled = scale_features(features, scaling)
        scores[scaling] = sum(
            split_half_reliability(adjacency, scaled, seed, structure=False, measure="cka")
        )
    return max(scores, key=lambda scaling: scores[scaling])


def split_edges(adjacency: CSRMatrix, rng: np.random.Generator) -> tuple[CSRMatrix, CSRMatrix]:
    """Divide the undirected edges at random into two graphs of the same nodes."""
    upper = sp.triu(adjacency, 1).tocoo()
    chosen = rng.random(upper.nnz) < 0.5
    first, second = (_symmetric(upper, part) for part in (chosen, ~chosen))
    return first, second


def debiased_cka(one: Rows, two: Rows) -> float:
    """Return the debiased linear CKA of two descriptions of the same nodes.

    Independent descriptions have 0 on average, unlike plain CKA, which grows with their widths. It
    is 0 where it is not defined: for constant rows, and for fewer than 4 nodes.
    """
    if one.shape[0] < 4:
        return 0.0
    first, second = (rows - rows.mean(axis=0, dtype=np.float64) for rows in (one, two))
    scale = _hsic(first, first) * _hsic(second, second)
    return _hsic(first, second) / float(np.sqrt(scale)) if scale > 0 else 0.0


def _hsic(one: Float64, two: Float64) -> float:
    """Return the unbiased HSIC of centred rows, times N (N - 3). Cost: O(N D^2)."""
    count = one.shape[0]
    norms = (one**2).sum(axis=1), (two**2).sum(axis=1)
    product = one.T @ two
    total = float((product**2).sum()) - count / (count - 2) * float(norms[0] @ norms[1])
    return float(total + norms[0].sum() * norms[1].sum() / ((count - 1) * (count - 2)))


def _sampled(nodes: NodeIndices, seed: int) -> NodeIndices:
    """Return the nodes, or `MAX_ROWS` of them at random."""
    if nodes.size <= MAX_ROWS:
        return nodes
    rng = numpy_generator("reliability nodes", seed, 1)
    return np.sort(rng.choice(nodes, MAX_ROWS, replace=False))


def _described(columns: Features, nodes: NodeIndices) -> Rows:
    """Describe nodes by the leading directions of columns; a single column keeps its lengths."""
    rows = reduce_columns(columns, COLUMNS, MAX_ROWS)[nodes]
    return _unit(rows) if rows.shape[1] > 1 else rows


def _symmetric(upper: sp.coo_array, part: npt.NDArray[np.bool_]) -> CSRMatrix:
    half = sp.coo_array((upper.data[part], (upper.row[part], upper.col[part])), upper.shape)
    return sp.csr_array(half + half.T)


def _unit(rows: Rows) -> Rows:
    return np.asarray(normalize_rows(rows), dtype=np.float32)
