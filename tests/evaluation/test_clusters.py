from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from conftest import make_graph
from small_runs import small_run
from ugcl import Graph, UGCLError
from ugcl.evaluation import FeatureControls, evaluate_clusters
from ugcl.evaluation.clusters import BLOCKS, cluster_agreement, cluster_score

partitions = st.integers(2, 25).flatmap(
    lambda n: st.tuples(
        *(st.lists(st.integers(0, 3), min_size=n, max_size=n).map(np.array) for _ in range(2))
    )
)


@given(partitions)
def test_the_matching_is_the_best_of_all(both: tuple[np.ndarray, np.ndarray]) -> None:
    clusters, labels = both
    best = max((np.array(names)[clusters] == labels).mean() for names in permutations(range(4)))
    assert cluster_agreement(clusters, labels)["accuracy"] == pytest.approx(100 * best)


@given(partitions, st.permutations(range(4)))
def test_names_of_clusters_do_not_matter(
    both: tuple[np.ndarray, np.ndarray], names: list[int]
) -> None:
    clusters, labels = both
    assert cluster_agreement(np.array(names)[clusters], labels) == pytest.approx(
        cluster_agreement(clusters, labels)
    )
    assert cluster_agreement(labels, labels) == pytest.approx(
        {"nmi": 100, "ari": 100, "accuracy": 100}
    )


def blobs(count: int = 60) -> tuple[np.ndarray, np.ndarray]:
    labels = np.arange(count) % 3
    rng = np.random.default_rng(0)
    return np.eye(3, 8)[labels] * 5 + 0.1 * rng.standard_normal((count, 8)), labels


def with_wide_indices(rows: np.ndarray) -> sp.csr_array:
    """Sparse, with indices of 64 bits, which k-means of scikit-learn does not take."""
    matrix = sp.csr_array(rows)
    wide = (matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64))
    return sp.csr_array((matrix.data, *wide), shape=matrix.shape)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array, with_wide_indices])
def test_clusters_that_are_there_are_found(kind: type) -> None:
    rows, labels = blobs()
    score = cluster_score(kind(rows), labels)
    assert score.values == pytest.approx({"nmi": 100, "ari": 100, "accuracy": 100})


def test_nodes_without_a_label_are_clustered_but_not_compared() -> None:
    rows, labels = blobs()
    labels = np.where(np.arange(60) < 30, labels, -1)
    assert cluster_score(rows, labels).values["accuracy"] == pytest.approx(100)


def test_the_length_of_rows_does_not_matter() -> None:
    rows, labels = blobs()
    scale = np.linspace(0.01, 100, 60)[:, None]
    assert cluster_score(rows * scale, labels).values["nmi"] == pytest.approx(100)


def test_one_seed_gives_one_result_and_the_tightest_start_counts() -> None:
    rng = np.random.default_rng(0)
    rows, labels = rng.standard_normal((80, 5)), np.arange(80) % 6
    one, again = (cluster_score(rows, labels, starts=6) for _ in range(2))
    assert one == again
    assert one.deviations["nmi"] > 0
    single = [cluster_score(rows, labels, starts=1, seed=seed) for seed in range(6)]
    assert one.values in [score.values for score in single]
    assert single[0].deviations == {"nmi": 0, "ari": 0, "accuracy": 0}


def test_clusters_are_those_of_the_embeddings(large_file: Path, tmp_path: Path) -> None:
    run = small_run(large_file, tmp_path / "run")
    graph = run.config.load_graph()
    assert graph.labels is not None
    found = evaluate_clusters(run, starts=3, seed=2)
    assert found.score == cluster_score(run.embeddings(), graph.labels, starts=3, seed=2)
    assert found.clusters == 2
    raw = cluster_score(graph.features, graph.labels, starts=3, seed=2)
    assert found.controls["raw"] == raw
    for candidate, matrix in FeatureControls(graph).candidates(BLOCKS):
        expected = cluster_score(matrix, graph.labels, starts=3, seed=2)
        assert found.controls[candidate.control] == expected


def test_a_graph_without_labels_has_no_clusters_to_compare(tmp_path: Path) -> None:
    path = tmp_path / "plain.npz"
    make_graph(30, labels=None, splits={}).save(path)
    with pytest.raises(UGCLError, match=r"the graph has fewer than 2: pass the same graph with"):
        evaluate_clusters(small_run(path, tmp_path / "run"))


@pytest.mark.parametrize(("starts", "seed"), [(0, 0), (2, -1), (1.5, 0)])
def test_invalid_starts_and_seeds_are_errors(
    starts: Any, seed: Any, large_file: Path, tmp_path: Path
) -> None:
    run = small_run(large_file, tmp_path / "run", "raw")
    with pytest.raises(UGCLError, match="must be an integer of at least"):
        evaluate_clusters(run, starts=starts, seed=seed)


def test_a_graph_without_edges_is_clustered(tmp_path: Path) -> None:
    path = tmp_path / "no-edges.npz"
    Graph.from_edges([], np.eye(6), labels=np.arange(6) % 2).save(path)
    found = evaluate_clusters(small_run(path, tmp_path / "run", "raw"), starts=1)
    assert found.controls["smooth"] == found.controls["raw"]
    assert set(found.score.deviations.values()) == {0}


def test_fewer_distinct_rows_than_classes_are_clustered(tmp_path: Path) -> None:
    path = tmp_path / "same.npz"
    replace(make_graph(30), features=np.ones((30, 2))).save(path)
    found = evaluate_clusters(small_run(path, tmp_path / "run", "raw"), starts=2)
    assert found.score.values["nmi"] == 0
