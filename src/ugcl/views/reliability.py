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

from collections.abc import Iterable, Iterator, Sequence
from statistics import fmean
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ugcl._utils.linalg import dense_rows, normalize_rows, one_thread
from ugcl._utils.random import numpy_generator
from ugcl._utils.rows import find, induced, take_rows
from ugcl.typing import CSRMatrix, Features, FeatureScaling, NodeIndices
from ugcl.views.directions import MAX_ROWS
from ugcl.views.node_sampling import grow_balls
from ugcl.views.propagation import propagated_embedding
from ugcl.views.scaling import ScaledRows, fit_scaling, is_counts
from ugcl.views.structure import structural_embedding
from ugcl.views.subspace import column_directions, reduce_columns

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

LARGE_GRAPH = 200_000
"""Nodes above which a sample of them is described."""

SAMPLE, MAX_NEIGHBOURS, BALLS = 20_000, 50, 20
"""Nodes of a large graph that are described, edges that describe each of them, and the balls whose
structure is."""

READ_ROWS = 8192
"""Rows of neighbours that are read at a time."""

Rows = npt.NDArray[np.float32]
Halves = tuple[NodeIndices, NodeIndices]
Pair = tuple[Rows, Rows] | None
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
    features: Features | ScaledRows,
    seed: int = 0,
    *,
    structure: bool = True,
    measure: Literal["correlations", "cka"] = "correlations",
) -> Reliability:
    """Measure the reliability of features, neighbourhoods and structure.

    At most `MAX_ROWS` nodes are described. A source that cannot be divided, a single feature or
    too few edges, is taken to be as reliable as another one.

    Of more than `LARGE_GRAPH` nodes, `SAMPLE` are described by their own features and by up to
    `MAX_NEIGHBOURS` of their edges, and the structure is that of the subgraph of `SAMPLE` nodes in
    `BALLS` balls around random nodes.

    Args:
        adjacency: A, symmetric, without diagonal.
        features: X, scaled, or `ScaledRows`.
        seed: seed of the halves.
        structure: whether to measure the structure, the most expensive; 0 where not.
        measure: how the agreement of two halves is measured.
    """
    rng = numpy_generator("reliability", seed)
    order = rng.permutation(features.shape[1])
    halves = np.sort(order[: order.size // 2]), np.sort(order[order.size // 2 :])
    count = min(CORRELATIONS, max(halves[0].size, 1))  # the same for all sources
    describe = _described_sample if adjacency.shape[0] > LARGE_GRAPH else _described

    def agreement(one: Rows, two: Rows) -> float:
        if measure == "cka":
            return max(debiased_cka(one, two), 0.0)
        return max(canonical_agreement(one, two, count, seed), 0.0)

    own, around, structural = (
        None if pair is None else agreement(*pair)
        for pair in describe(adjacency, ScaledRows.of(features), halves, rng, seed, structure)
    )
    own = (around or 0.0) if own is None else own
    around = own if around is None else around
    structural = (own if structure else 0.0) if structural is None else structural
    return Reliability(own, around, structural)


def auto_scaling(adjacency: CSRMatrix, features: Features, seed: int = 0) -> FeatureScaling:
    """Choose the scaling under which features and neighbourhoods are the most reliable in sum.

    The choice is between rows of norm 1 and, for counts, TF-IDF; for other features, which may be
    in unlike units, standardised columns. Agreement is CKA, because canonical correlations are
    almost the same for all scalings of the columns. Of more than `LARGE_GRAPH` nodes it is that of
    a sample, and so are the statistics of the columns.
    """
    some = features
    if adjacency.shape[0] > LARGE_GRAPH:
        rng = numpy_generator("reliability nodes", seed, 2)
        some = take_rows(features, np.sort(rng.choice(adjacency.shape[0], MAX_ROWS, replace=False)))
    others: FeatureScaling = "tfidf" if is_counts(some) else "standard"
    scores: dict[FeatureScaling, float] = {}
    for scaling in (others, "l2"):
        scaled = ScaledRows(features, scaling, fit_scaling(some, scaling))
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


def _described(
    adjacency: CSRMatrix,
    features: ScaledRows,
    halves: Halves,
    rng: np.random.Generator,
    seed: int,
    structure: bool,
) -> tuple[Pair, Pair, Pair]:
    """Describe nodes by two halves of the features, of their neighbourhoods and of the edges."""
    own = around = structural = None
    edges, scaled = split_edges(adjacency, rng), features.all()
    if halves[0].size:
        by_column = scaled.tocsc() if sp.issparse(scaled) else scaled
        nodes = _sampled(np.arange(adjacency.shape[0]), seed)
        rows = (reduce_columns(by_column[:, half], COLUMNS, MAX_ROWS)[nodes] for half in halves)
        own = _pair(_unit_or_one(each) for each in rows)
    both = np.flatnonzero(np.minimum(*(np.diff(half.indptr) for half in edges)))
    if both.size >= MIN_NODES:
        nodes = _sampled(both, seed)
        reduced = reduce_columns(scaled, COLUMNS, MAX_ROWS)
        around = _pair(_unit(half[nodes] @ reduced) for half in edges)
        if structure:
            parts = (structural_embedding(half, STRUCTURE_COLUMNS) for half in edges)
            structural = _pair(_unit(part[nodes]) for part in parts)
    return own, around, structural


def _described_sample(
    adjacency: CSRMatrix,
    features: ScaledRows,
    halves: Halves,
    rng: np.random.Generator,
    seed: int,
    structure: bool,
) -> tuple[Pair, Pair, Pair]:
    """Describe a sample of nodes by the same; only their rows and their edges are read."""
    own = around = structural = None
    size = min(SAMPLE, adjacency.shape[0])
    nodes = np.sort(rng.choice(adjacency.shape[0], size, replace=False))
    rows = features[nodes]
    if halves[0].size:
        by_column = rows.tocsc() if sp.issparse(rows) else rows
        own = _pair(_unit_or_one(reduce_columns(by_column[:, half], COLUMNS)) for half in halves)
    edges = [*_split_entries(_few_entries(adjacency, nodes, rng), rng)]
    both = np.flatnonzero(np.minimum(*(np.diff(half.indptr) for half in edges)))
    if both.size >= MIN_NODES:
        used, reduced = _reduced(features, column_directions(rows, COLUMNS), edges)
        around = _pair(_unit(_combined(half[both], used, reduced)) for half in edges)
    if structure and both.size >= MIN_NODES:
        ball = induced(adjacency, grow_balls(adjacency, size, min(BALLS, size), rng))
        parts = split_edges(ball, rng)
        inner = np.flatnonzero(np.minimum(*(np.diff(part.indptr) for part in parts)))
        if inner.size >= MIN_NODES:
            embedded = (propagated_embedding(part, STRUCTURE_COLUMNS) for part in parts)
            structural = _pair(_unit(each[inner]) for each in embedded)
    return own, around, structural


def _few_entries(adjacency: CSRMatrix, nodes: NodeIndices, rng: np.random.Generator) -> CSRMatrix:
    """Return rows of A, of each at most `MAX_NEIGHBOURS` entries, one of each equal part."""
    starts = adjacency.indptr[nodes].astype(np.int64)
    counts = adjacency.indptr[nodes + 1] - starts
    kept = np.minimum(counts, MAX_NEIGHBOURS)
    indptr = np.concatenate([[0], np.cumsum(kept)])
    place = np.arange(indptr[-1]) - np.repeat(indptr[:-1], kept)
    shift = np.where(counts > kept, rng.random(nodes.size), 0)
    step = np.repeat(counts / np.maximum(kept, 1), kept)
    entries = np.repeat(starts, kept) + ((place + np.repeat(shift, kept)) * step).astype(np.int64)
    parts = adjacency.data[entries], adjacency.indices[entries], indptr
    return sp.csr_array(parts, shape=(nodes.size, adjacency.shape[1]))


def _split_entries(rows: CSRMatrix, rng: np.random.Generator) -> Iterator[CSRMatrix]:
    """Divide the entries of rows at random; few edges have both ends in a sample."""
    chosen = rng.random(rows.nnz) < 0.5
    row = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    for part in (chosen, ~chosen):
        indptr = np.concatenate([[0], np.cumsum(np.bincount(row[part], minlength=rows.shape[0]))])
        yield sp.csr_array((rows.data[part], rows.indices[part], indptr), shape=rows.shape)


def _reduced(
    features: ScaledRows, directions: Rows | None, edges: Sequence[CSRMatrix]
) -> tuple[NodeIndices, Rows]:
    """Return the nodes in some columns, and their features in a few directions."""
    used = np.union1d(*(half.indices for half in edges)).astype(np.int64)
    parts = []
    for start in range(0, used.size, READ_ROWS):
        rows = features[used[start : start + READ_ROWS]]
        parts.append(dense_rows(rows if directions is None else rows @ directions))
    return used, np.concatenate(parts).astype(np.float32, copy=False)


def _combined(half: CSRMatrix, used: NodeIndices, reduced: Rows) -> Rows:
    """Return the product of rows of A with X, of which the rows of used nodes are given."""
    parts = half.data, find(used, half.indices)[0], half.indptr
    product: Rows = sp.csr_array(parts, shape=(half.shape[0], used.size)) @ reduced
    return product


def _pair(rows: Iterable[Rows]) -> Pair:
    one, two = rows
    return one, two


def _unit_or_one(rows: Rows) -> Rows:
    """Return rows of norm 1; a single column keeps its lengths."""
    return _unit(rows) if rows.shape[1] > 1 else rows


def _symmetric(upper: sp.coo_array, part: npt.NDArray[np.bool_]) -> CSRMatrix:
    half = sp.coo_array((upper.data[part], (upper.row[part], upper.col[part])), upper.shape)
    return sp.csr_array(half + half.T)


def _unit(rows: Rows) -> Rows:
    return np.asarray(normalize_rows(rows), dtype=np.float32)
