from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression

from ugcl.evaluation import linear_probe
from ugcl.evaluation.probe import TrainingSpan, row_scalings


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
