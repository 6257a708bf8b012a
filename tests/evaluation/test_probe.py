from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression

from ugcl.evaluation import linear_probe
from ugcl.evaluation.probe import (
    INVERSE_REGULARISATION,
    TrainingSpan,
    predicted_score,
    row_scalings,
    validation_accuracy,
)


def problem(
    size: int = 120, width: int = 6, seed: int = 0
) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    rng = np.random.default_rng(seed)
    labels = rng.integers(3, size=size)
    embeddings = rng.normal(size=(size, width)).astype(np.float32)
    embeddings[np.arange(size), labels] += 2
    train, val, test = np.split(np.arange(size), [size // 3, size // 2])
    return embeddings, labels, {"train": train, "val": val, "test": test}


@pytest.mark.parametrize("width", [6, 300])
def test_the_span_of_the_training_rows_loses_nothing(width: int) -> None:
    embeddings, labels, split = problem(width=width)
    rows = {part: embeddings[nodes] for part, nodes in split.items()}
    span = TrainingSpan(embeddings, split["train"])
    reduced = {part: span(nodes) for part, nodes in split.items()}
    assert reduced["train"].shape[1] <= max(6, split["train"].size)
    mean = rows["train"].mean(axis=0)
    scale = np.sqrt(((rows["train"] - mean) ** 2).sum(axis=1).mean())
    probes = [LogisticRegression(C=0.7, tol=1e-8, max_iter=2000) for _ in range(2)]
    plain = probes[0].fit((rows["train"] - mean) / scale, labels[split["train"]])
    small = probes[1].fit(reduced["train"], labels[split["train"]])
    np.testing.assert_allclose(
        plain.predict_proba((rows["test"] - mean) / scale),
        small.predict_proba(reduced["test"]),
        atol=1e-4,
    )


@pytest.mark.parametrize("protocol", ["honest", "paper"])
@pytest.mark.parametrize("width", [6, 300])
def test_sparse_and_dense_embeddings_score_the_same(protocol: str, width: int) -> None:
    embeddings, labels, split = problem(width=width)
    embeddings[embeddings < 0.5] = 0
    dense = linear_probe(embeddings, labels, split, protocol)
    sparse = linear_probe(sp.csr_array(embeddings), labels, split, protocol)
    assert dense == sparse


@pytest.mark.parametrize("sparse", [True, False])
def test_rows_of_equal_length_are_not_normalised_again(sparse: bool) -> None:
    embeddings, labels, split = problem()
    unit = embeddings / np.linalg.norm(embeddings, axis=1, keepdims=True)
    plain, scaled = (sp.csr_array(rows) if sparse else rows for rows in (embeddings, 3 * unit))
    assert row_scalings(plain, split) == (False, True)
    assert row_scalings(scaled, split) == (False,)
    assert not linear_probe(scaled, labels, split).chosen["row_normalised"]


def test_the_honest_probe_chooses_without_the_test_nodes() -> None:
    embeddings, labels, split = problem()
    score = linear_probe(embeddings, labels, split)
    shuffled = labels.copy()
    shuffled[split["test"]] = np.random.default_rng(1).permutation(labels[split["test"]])
    other = linear_probe(embeddings, shuffled, split)
    assert other.chosen == score.chosen
    assert other.validation == score.validation
    assert other.accuracy < score.accuracy


def test_the_honest_probe_does_not_see_scale_or_offset() -> None:
    embeddings, labels, split = problem()
    scores = [
        linear_probe(changed, labels, split).accuracy
        for changed in (embeddings, embeddings * 1e-3, embeddings * 1e3)
    ]
    assert max(scores) - min(scores) < 2
    assert min(scores) > 70


def test_separable_classes_score_100_and_noise_scores_by_chance() -> None:
    embeddings, labels, split = problem(300)
    perfect = np.eye(3)[labels]
    for protocol in ("honest", "paper"):
        assert linear_probe(perfect, labels, split, protocol).accuracy == 100
    noise = np.random.default_rng(5).normal(size=embeddings.shape)
    assert 15 < linear_probe(noise, labels, split).accuracy < 52


def slow_probe(
    embeddings: np.ndarray, labels: np.ndarray, split: dict[str, np.ndarray]
) -> tuple[float, float, dict[str, object]]:
    """All values of C on rows as they are and of length 1; the first of the best counts."""
    best: tuple[float, float, dict[str, object]] = (-1.0, -1.0, {})
    for unit in (False, True):
        rows = embeddings.astype(float)
        if unit:
            rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        rows = rows - rows[split["train"]].mean(axis=0)
        rows = rows / np.sqrt(np.mean(np.sum(rows[split["train"]] ** 2, axis=1)))
        for exponent in np.arange(-3, 5.5, 0.5):
            probe = LogisticRegression(C=10.0**exponent, tol=1e-4, max_iter=5000)
            right = probe.fit(rows[split["train"]], labels[split["train"]]).predict(rows) == labels
            validation = 100 * right[split["val"]].mean()
            if validation > best[1]:
                chosen = {"C": round(10.0**exponent, 6), "row_normalised": unit}
                best = 100 * right[split["test"]].mean(), validation, chosen
    return best


@pytest.mark.parametrize("seed", range(8))
def test_the_honest_probe_is_a_grid_search(seed: int) -> None:
    embeddings, labels, split = problem(60, width=4 + seed % 3, seed=seed)
    lengths = np.random.default_rng(seed).lognormal(size=(60, 1))
    embeddings *= lengths if seed % 2 else 1
    score = linear_probe(embeddings, labels, split)
    assert (score.accuracy, score.validation, score.chosen) == slow_probe(embeddings, labels, split)
    assert score.accuracy == 100 * score.correct.mean()


def test_the_path_of_C_ends_after_four_values_in_a_row_below_the_best(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    embeddings, labels, split = problem(60, seed=4)
    accuracies: list[list[float]] = []

    class Recorded(LogisticRegression):
        def score(self, inputs: np.ndarray, targets: np.ndarray) -> float:
            accuracies[-1].append(super().score(inputs, targets))
            return accuracies[-1][-1]

    def scalings(*_: object) -> Iterator[bool]:
        for row_normalised in (False, True):
            accuracies.append([])
            yield row_normalised

    monkeypatch.setattr("ugcl.evaluation.probe.LogisticRegression", Recorded)
    monkeypatch.setattr("ugcl.evaluation.probe.row_scalings", scalings)
    linear_probe(embeddings, labels, split)
    assert len(accuracies) == 2
    for path in accuracies:
        falls = [all(x < max(path[:i]) for x in path[i : i + 4]) for i in range(1, len(path) - 3)]
        assert falls.index(True) == len(path) - 5
        assert 5 <= len(path) < len(INVERSE_REGULARISATION)


@pytest.mark.parametrize("width", [6, 300])
def test_inputs_are_centred_and_of_mean_squared_length_1(width: int) -> None:
    embeddings, _, split = problem(width=width)
    for unit in (False, True):
        inputs = TrainingSpan(5 + 3 * embeddings, split["train"], unit)(split["train"])
        assert inputs.dtype == np.float32
        np.testing.assert_allclose(inputs.mean(axis=0), 0, atol=1e-5)
        assert np.square(inputs).sum(axis=1).mean() == pytest.approx(1, rel=1e-4)


def test_equal_training_rows_are_no_inputs() -> None:
    span = TrainingSpan(np.ones((6, 3)), np.arange(4))
    assert not span(np.arange(6)).any()


def test_predictions_are_scored_on_test_and_validation_nodes() -> None:
    labels = np.array([0, 1, 2, 0, 1])
    predicted = np.array([0, 1, 1, 2, 1])
    split = {"train": np.array([0]), "val": np.array([3, 4]), "test": np.array([1, 2, 4])}
    score = predicted_score(predicted, labels, split)
    assert score.accuracy == pytest.approx(100 * 2 / 3)
    assert score.validation == 50
    assert score.correct.tolist() == [True, False, True]
    del split["val"]
    assert predicted_score(predicted, labels, split).validation is None


def test_selection_sees_the_validation_accuracy() -> None:
    embeddings, labels, split = problem()
    expected = linear_probe(embeddings, labels, split).validation
    assert validation_accuracy(embeddings, labels, split) == expected
