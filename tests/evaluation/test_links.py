from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.metrics import roc_auc_score

from conftest import make_graph
from small_runs import small_run, write_manifest
from ugcl import UGCLError
from ugcl.evaluation import evaluate_clusters, evaluate_links, evaluate_run
from ugcl.evaluation.controls import FEATURE_CONTROLS, FeatureControls
from ugcl.evaluation.links import LinkScore, _feature_controls, _LinkSplit
from ugcl.evaluation.similarity import (
    BLOCK,
    PENALTIES,
    Similarity,
    auc,
    best_similarity,
    fit_weights,
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


def ridge_weights(products: np.ndarray, edges: np.ndarray, penalty: float) -> np.ndarray:
    """Equal weights and scikit-learn's ridge regression of what they leave."""
    total = products.sum(axis=1, keepdims=True)
    equal = LinearRegression().fit(total, edges)
    gram = np.square(products - products.mean(axis=0)).sum()
    rest = edges - equal.predict(total)
    return equal.coef_[0] + Ridge(alpha=penalty * gram).fit(products, rest).coef_


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("similarity", ["cosine", "dot"])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_weights_are_a_ridge_fit_around_equal_weights(
    kind: type, similarity: Similarity, seed: int
) -> None:
    """With the penalty that is best on pairs outside one half, and the reverse."""
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((40, 5)).round(2)
    positive, negative = rng.integers(40, size=(2, 121, 2))
    rows[positive[::7]] += 1
    area, found = fit_weights(kind(rows), positive, negative, similarity)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True) if similarity == "cosine" else 1
    unit = rows / lengths
    products = np.array([unit[i] * unit[j] for i, j in [*positive, *negative]])
    edges = np.repeat([1.0, 0.0], 121)
    areas = [
        np.mean(
            [
                roc_auc_score(
                    edges[1 - half :: 2],
                    products[1 - half :: 2]
                    @ ridge_weights(products[half::2], edges[half::2], penalty),
                )
                for half in (0, 1)
            ]
        )
        for penalty in PENALTIES
    ]
    assert area == pytest.approx(100 * max(areas))
    best = [p for p, each in zip(PENALTIES, areas, strict=True) if each > max(areas) - 1e-9]
    expected = [ridge_weights(products, edges, penalty) for penalty in best]
    assert min(np.abs(found - weights).max() for weights in expected) < 1e-9
    weighted = pair_scores(kind(rows), positive, similarity, found)
    np.testing.assert_allclose(weighted, products[:121] @ found, atol=1e-12)


def test_weights_are_fitted_from_a_hundred_edges_on() -> None:
    rng = np.random.default_rng(0)
    rows, pairs = rng.standard_normal((30, 4)), rng.integers(30, size=(2, 100, 2))
    assert np.isfinite(fit_weights(rows, *pairs, "dot")[0])
    area, weights = fit_weights(rows, *pairs[:, :99], "dot")
    assert area == -np.inf
    assert (weights == 1).all()
    np.testing.assert_allclose(
        pair_scores(rows, pairs[0], "dot", weights), pair_scores(rows, pairs[0], "dot")
    )


def test_no_more_pairs_are_fitted_than_the_maximum(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ugcl.evaluation.similarity.MAX_FITTED", 110)
    rng = np.random.default_rng(0)
    rows, pairs = rng.standard_normal((30, 4)), rng.integers(30, size=(2, 150, 2))
    found, expected = (fit_weights(rows, *some, "dot") for some in (pairs, pairs[:, :110]))
    assert found[0] == expected[0]
    np.testing.assert_array_equal(found[1], expected[1])


def test_columns_that_are_all_zero_have_no_weights() -> None:
    pairs = np.random.default_rng(0).integers(30, size=(2, 100, 2))
    area, weights = fit_weights(np.zeros((30, 4)), *pairs, "dot")
    assert area == 50
    assert not weights.any()


def test_weights_find_the_columns_that_say_something() -> None:
    rng = np.random.default_rng(0)
    groups = rng.integers(4, size=400)
    rows = np.hstack([np.eye(4)[groups], 3 * rng.standard_normal((400, 20))])
    pairs = rng.integers(400, size=(20000, 2))
    same = groups[pairs[:, 0]] == groups[pairs[:, 1]]
    positive, negative = pairs[same][:800], pairs[~same][:800]
    plain, similarity = best_similarity(rows, positive, negative)
    area, weights = fit_weights(rows, positive, negative, similarity)
    assert plain < 70 < 99 < area
    assert weights[:4].min() > 5 * np.abs(weights[4:]).max()
    few = fit_weights(rows, positive[:99], negative[:99], similarity)
    assert few[0] == -np.inf


def test_the_error_of_a_difference_is_that_of_delong() -> None:
    """Pair by pair, with more edges than negative pairs and ties."""
    rng = np.random.default_rng(0)
    draws = [(rng.integers(0, 9, 40) + 1.0, rng.integers(0, 9, 15) + 0.0) for _ in range(2)]
    parts: list[list[float]] = [[], []]
    for axis in (1, 0):
        wins = [
            np.array([[(e > o) + 0.5 * (e == o) for o in negative] for e in positive])
            for positive, negative in draws
        ]
        parts[1 - axis] = (wins[0] - wins[1]).mean(axis=axis).tolist()
    variance = sum(np.var(part, ddof=1) / len(part) for part in parts)
    one, other = (LinkScore.of(*draw, {}) for draw in draws)
    gain = one.gain_over(other)
    assert gain.mean == pytest.approx(one.auc - other.auc)
    assert gain.mean == pytest.approx(100 * np.mean(parts[0]))
    assert gain.error_nodes == pytest.approx(100 * np.sqrt(variance))
    half = norm.ppf(0.975) * gain.error_nodes
    assert (gain.low, gain.high) == pytest.approx((gain.mean - half, gain.mean + half))


def test_controls_have_the_settings_that_are_best_on_validation_pairs() -> None:
    graph = make_graph(90, classes=2)
    edges = np.argwhere(sp.triu(graph.adjacency).toarray())
    pairs = _LinkSplit.of(graph, np.random.default_rng(0).permutation(edges)[:60], 3)
    assert [len(part) for part in (*pairs.validation, *pairs.test)] == [15, 15, 45, 45]
    areas: dict[str, dict[str, float]] = {}
    for candidate, rows in FeatureControls(graph).candidates():
        area = best_similarity(rows, *pairs.validation)[0]
        areas.setdefault(candidate.control, {})[str(candidate.to_json())] = area
    found = _feature_controls(graph, pairs)
    assert set(found) == set(FEATURE_CONTROLS) == {*areas, "structure"}
    for control, by_settings in areas.items():
        chosen = {k: found[control].chosen[k] for k in ("scaling", "k")}
        assert by_settings[str(chosen)] == max(by_settings.values()) > min(by_settings.values())


def test_a_score_is_written_to_four_decimals() -> None:
    score = LinkScore(100 / 3, 200 / 3, {10: 50 / 7, 50: 60 / 7}, {"k": 2}, np.ones(1), np.ones(1))
    assert score.to_json() == {
        "auc": 33.3333,
        "average_precision": 66.6667,
        "hits": {"10": 7.1429, "50": 8.5714},
        "chosen": {"k": 2},
    }


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


def test_links_are_scored_on_edges_that_were_not_chosen_on(
    large_file: Path, tmp_path: Path
) -> None:
    run = small_run(large_file, tmp_path / "run", hold_out_edges=0.3)
    found = evaluate_links(run, seed=4)
    again = evaluate_links(run, seed=4)
    assert found.to_json() == again.to_json()
    assert evaluate_links(run, seed=5).to_json() != found.to_json()
    held_out = run.held_out()
    assert sum(found.counts.values()) == len(held_out)
    assert found.counts["chosen_on"] == round(0.25 * len(held_out))
    assert found.score.positive.size == found.score.negative.size == found.counts["scored"]
    similarity = found.score.chosen["similarity"]
    every = pair_scores(run.embeddings(), held_out, similarity)
    assert np.isin(found.score.positive.round(9), every.round(9)).all()
    assert found.score.auc == auc(found.score.positive, found.score.negative)
    assert list(found.controls) == [*FEATURE_CONTROLS, "untrained"]
    sign, structure = (found.controls[name].chosen for name in ("sign", "structure"))
    assert structure["k"] in ([], sign["k"])
    for name, gain in found.gains.items():
        assert gain.mean == pytest.approx(found.score.auc - found.controls[name].auc)


def test_negative_pairs_are_not_edges(large_file: Path, tmp_path: Path) -> None:
    run = small_run(large_file, tmp_path / "run", "raw", hold_out_edges=0.3)
    graph = run.config.load_graph()
    rows = graph.features.toarray()
    found = evaluate_links(run)
    dot = found.score.chosen["similarity"] == "dot"
    lengths = np.ones(90) if dot else np.linalg.norm(rows, axis=1)
    all_scores = (rows @ rows.T) / np.outer(lengths, lengths)
    free = (graph.adjacency.toarray() == 0) & ~np.eye(90, dtype=bool)
    taken = all_scores[~free & ~np.eye(90, dtype=bool)]
    assert found.score.negative.size == found.score.positive.size
    for score in found.score.negative:
        assert np.abs(all_scores[free] - score).min() < 1e-5
    assert all(np.abs(taken - score).min() < 1e-5 for score in found.score.positive)


def test_too_few_held_out_edges_are_an_error(large_file: Path, tmp_path: Path) -> None:
    run = small_run(large_file, tmp_path / "run", "raw", hold_out_edges=0.01)
    with pytest.raises(
        UGCLError, match=r"held out \d edges, too few to score: train it again with"
    ):
        evaluate_links(run)


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (np.arange(6), "it is not a table of edges"),
        (np.array([[0, 500]]), "its numbers are not all from 0 to 89"),
        (np.zeros((0, 2), int), r"it holds other edges than config\.toml says"),
    ],
)
def test_damaged_held_out_edges_are_an_error(
    large_file: Path, tmp_path: Path, damage: np.ndarray, reason: str
) -> None:
    run = small_run(large_file, tmp_path / "run", "raw", hold_out_edges=0.3)
    np.save(run.path / "held_out_edges.npy", damage)
    with pytest.raises(UGCLError, match=r"held_out_edges\.npy cannot be read \(it has "):
        evaluate_links(run)
    write_manifest(run)
    with pytest.raises(UGCLError, match=rf"held_out_edges\.npy cannot be read \({reason}"):
        evaluate_links(run)


def test_unfinished_run_is_an_error(large_file: Path, tmp_path: Path) -> None:
    one, other = (
        small_run(large_file, tmp_path / m, m, hold_out_edges=0.3) for m in ("raw", "ugcl")
    )
    for file in ("held_out_edges.npy", "metrics.json"):
        (other.path / file).unlink()
    with pytest.raises(UGCLError, match=r"is not finished: resume it \(ugcl train"):
        evaluate_links(one, against=other)


def test_run_without_held_out_edges_is_an_error(large_file: Path, tmp_path: Path) -> None:
    run = small_run(large_file, tmp_path / "run")
    message = r"trained on all edges, so links cannot .* again with `hold_out_edges` 0\.1$"
    with pytest.raises(UGCLError, match=message):
        evaluate_links(run)


def test_runs_that_held_out_other_edges_are_not_compared(large_file: Path, tmp_path: Path) -> None:
    one, other, without = (
        small_run(large_file, tmp_path / name, **asked)
        for name, asked in {
            "one": {"hold_out_edges": 0.3},
            "other": {"hold_out_edges": 0.3, "split_seed": 1},
            "without": {},
        }.items()
    )
    with pytest.raises(UGCLError, match=r"held out other edges than .*same `hold_out_edges` and"):
        evaluate_links(one, against=other)
    for task in (evaluate_run, evaluate_clusters):
        for another in (other, without):
            with pytest.raises(UGCLError, match="held out other edges than"):
                task(one, against=another)


def test_two_runs_are_compared_on_the_same_pairs(large_file: Path, tmp_path: Path) -> None:
    one, other = (
        small_run(large_file, tmp_path / method, method, hold_out_edges=0.3)
        for method in ("ugcl", "smooth")
    )
    found = evaluate_links(one, against=other)
    assert found.other is not None
    alone = evaluate_links(other)
    assert found.other[0].to_json() == alone.score.to_json()
    assert found.other[1].mean == pytest.approx(found.score.auc - alone.score.auc)
