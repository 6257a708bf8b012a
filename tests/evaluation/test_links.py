from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm
from sklearn.metrics import roc_auc_score

from ugcl.evaluation.links import (
    BLOCK,
    LinkScore,
    Similarity,
    auc,
    best_similarity,
    pair_scores,
)

scores = st.lists(st.integers(0, 6), min_size=2, max_size=20).map(lambda x: np.array(x, float))


@given(scores, scores)
def test_the_area_is_how_often_an_edge_scores_higher(
    positive: np.ndarray, negative: np.ndarray
) -> None:
    higher = [1.0 if e > o else 0.5 if e == o else 0.0 for e in positive for o in negative]
    assert auc(positive, negative) == pytest.approx(100 * np.mean(higher))
    labels = [1] * positive.size + [0] * negative.size
    expected = roc_auc_score(labels, np.concatenate([positive, negative]))
    assert auc(positive, negative) == pytest.approx(100 * expected)


@given(scores, scores)
def test_hits_count_edges_above_the_kth_negative_pair(
    positive: np.ndarray, negative: np.ndarray
) -> None:
    score = LinkScore.of(positive, negative, {})
    assert set(score.hits) == {k for k in (10, 50, 100) if k <= negative.size}
    for k, fraction in score.hits.items():
        better = [sum(o >= e for o in negative) < k for e in positive]
        assert fraction == pytest.approx(100 * np.mean(better))


@pytest.mark.parametrize("similarity", ["cosine", "dot"])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_pairs_are_scored_one_by_one(kind: type, similarity: Similarity) -> None:
    rng = np.random.default_rng(0)
    rows = (rng.random((30, 7)) < 0.5) * rng.standard_normal((30, 7))
    rows[3] = 0
    pairs = rng.integers(30, size=(BLOCK + 17, 2))
    expected = []
    for i, j in pairs:
        value = float(rows[i] @ rows[j])
        lengths = np.linalg.norm(rows[i]) * np.linalg.norm(rows[j])
        expected.append(value / (lengths or 1.0) if similarity == "cosine" else value)
    np.testing.assert_allclose(pair_scores(kind(rows), pairs, similarity), expected, atol=1e-12)


def test_the_better_similarity_is_taken() -> None:
    angles, lengths = np.array([0.0, 0.05, 1.0, 1.05]), np.array([0.1, 5.0, 0.1, 5.0])
    rows = lengths[:, None] * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    positive, negative = np.array([[0, 1], [2, 3]]), np.array([[0, 2], [1, 3]])
    assert best_similarity(rows, positive, negative) == (100.0, "cosine")
    angles = np.array([0.0, 1.0, 0.1, 0.2])
    rows = np.array([9.0, 9.0, 0.1, 0.1])[:, None] * np.stack([np.cos(angles), np.sin(angles)], 1)
    assert best_similarity(rows, positive[:1], np.array([[0, 2], [2, 3]]))[1] == "dot"


def test_the_interval_of_a_difference_holds_the_truth_as_often_as_it_says() -> None:
    """DeLong's interval on many draws of two correlated scores whose areas are known."""
    rng, held = np.random.default_rng(0), 0
    shift = (1.0, 0.6)
    truth = 100 * (norm.cdf(shift[0] / np.sqrt(2)) - norm.cdf(shift[1] / np.sqrt(2)))
    for _ in range(300):
        shared = [rng.standard_normal(150) for _ in range(2)]
        link_scores = [
            LinkScore.of(
                *(
                    by + np.sqrt(0.6) * common + np.sqrt(0.4) * rng.standard_normal(150)
                    for by, common in zip((move, 0.0), shared, strict=True)
                ),
                {},
            )
            for move in shift
        ]
        gain = link_scores[0].gain_over(link_scores[1])
        held += gain.low <= truth <= gain.high
    assert 0.91 < held / 300 < 0.985


def test_what_is_the_same_is_no_gain() -> None:
    rng = np.random.default_rng(1)
    score = LinkScore.of(rng.random(20), rng.random(20), {})
    gain = score.gain_over(score)
    assert (gain.mean, gain.low, gain.high) == (0.0, 0.0, 0.0)
    assert not gain.clear
