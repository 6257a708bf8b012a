from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import make_graph
from ugcl import Graph, UGCLError, load_graph
from ugcl.data import split_of
from ugcl.data.splits import pool_of, resplits, selection_split
from ugcl.typing import SplitKind


@given(seed=st.integers(0, 10_000), kind=st.sampled_from(["per-class", "fraction"]))
def test_random_splits_are_disjoint_and_cover_the_labelled_nodes(seed: int, kind: str) -> None:
    labels = np.arange(200) % 5 - 1
    graph = make_graph(200, labels=labels, splits={})
    split, name = split_of(graph, kind, seed)
    assert name == f"{kind}, split seed {seed}"
    together = np.concatenate(list(split.values()))
    np.testing.assert_array_equal(np.sort(together), np.flatnonzero(labels >= 0))
    again, _ = split_of(graph, kind, seed)
    for part, nodes in split.items():
        np.testing.assert_array_equal(nodes, again[part])
    if kind == "per-class":
        assert np.bincount(labels[split["train"]]).tolist() == [20] * 4
        assert split["val"].size == 40
    else:
        assert split["train"].size == split["val"].size == 16


def test_fractions_divide_one_permutation() -> None:
    graph = make_graph(200, labels=np.arange(200) % 5 - 1, splits={})
    usual, _ = split_of(graph, "fraction", 3)
    swapped, name = split_of(graph, (0.1, 0.8), 3)
    pooled, _ = split_of(graph, (0.2, 0.0), 3)
    assert name == "random 10/80/10 %, split seed 3"
    assert {part: nodes.size for part, nodes in swapped.items()} == {
        "train": 16,
        "val": 128,
        "test": 16,
    }
    np.testing.assert_array_equal(swapped["train"], usual["train"])
    assert np.isin(swapped["test"], usual["test"]).all()
    np.testing.assert_array_equal(pooled["train"], pool_of(usual))
    assert pooled["val"].size == 0
    np.testing.assert_array_equal(pooled["test"], usual["test"])


def test_seeds_differ() -> None:
    graph = make_graph(100)
    one, other = (split_of(graph, "fraction", seed)[0]["train"] for seed in (1, 2))
    assert one.tolist() != other.tolist()


@pytest.mark.parametrize("kind", ["per-class", "fraction"])
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    "sample",
    [
        lambda rng: rng.permutation(10_000).argsort() < 5_000,
        lambda rng: np.isin(np.arange(10_000), rng.choice(10_000, 5_000, replace=False)),
        lambda rng: rng.integers(2, size=10_000),
    ],
    ids=["permutation", "choice", "integers"],
)
def test_splits_are_independent_of_labels_sampled_with_the_same_seed(
    kind: SplitKind, seed: int, sample: Callable[[np.random.Generator], np.ndarray]
) -> None:
    """A permutation by `default_rng(seed)` would put one class into training or validation."""
    labels = sample(np.random.default_rng(seed)).astype(np.int64)
    chain = np.stack([np.arange(9_999), np.arange(1, 10_000)], axis=1)
    split, _ = split_of(Graph.from_edges(chain, np.ones((10_000, 1)), labels=labels), kind, seed)
    for nodes in split.values():
        assert labels[nodes].mean() == pytest.approx(labels.mean(), abs=2 / np.sqrt(nodes.size))


def test_resplits_are_independent_of_groups_sampled_with_the_same_seed() -> None:
    pool = np.arange(10_000)
    group = np.random.default_rng(0).permutation(10_000).argsort() < 5_000
    split = {"train": pool[:1000], "val": pool[1000:]}
    (parts,) = resplits(np.zeros(10_000, dtype=np.int64), split, 1)
    assert group[parts["train"]].mean() == pytest.approx(0.5, abs=0.06)


def test_seeds_of_any_size_and_negative_ones() -> None:
    graph = make_graph(100)
    small, large = (split_of(graph, "fraction", seed)[0]["train"] for seed in (0, 2**63))
    assert small.tolist() != large.tolist()
    with pytest.raises(ValueError, match=r"^expected non-negative integer$"):
        split_of(graph, "fraction", -1)


def test_small_classes_leave_something_to_test_on() -> None:
    split, _ = split_of(make_graph(30), seed=0)
    assert (split["train"].size, split["val"].size, split["test"].size) == (15, 7, 8)


def test_defaults() -> None:
    citeseer = load_graph("citeseer")
    assert split_of(citeseer)[1] == "own"
    split, name = split_of(citeseer, seed=3)
    assert name == "per-class, split seed 3"
    assert (split["train"].size, split["val"].size) == (120, 500)
    assert split_of(make_graph(splits={}))[1] == "fraction, split seed 0"


def test_refuses() -> None:
    with pytest.raises(UGCLError, match="no labels"):
        split_of(make_graph(labels=None, splits={}))
    with pytest.raises(UGCLError, match="no labels"):
        split_of(make_graph(labels=np.full(40, -1), splits={}), "per-class")
    with pytest.raises(UGCLError, match="comes without a split: set `split` to"):
        split_of(make_graph(splits={}), "own")
    with pytest.raises(UGCLError, match="takes no seed: leave out `split_seed`"):
        split_of(make_graph(), "own", 1)
    with pytest.raises(UGCLError, match="did you mean 'per-class'"):
        split_of(make_graph(), "perclass", 1)


def test_a_graph_with_train_and_test_only_has_its_own_split() -> None:
    graph: Graph = make_graph(splits={"train": [0, 1], "test": [2]})
    assert set(split_of(graph)[0]) == {"train", "test"}


def test_the_pool_for_choices_is_what_the_selection_split_does_not_test() -> None:
    graph = make_graph(100)
    assert selection_split(graph) == dict(graph.splits)
    assert pool_of(selection_split(graph)).tolist() == sorted(
        [*graph.splits["train"], *graph.splits["val"]]
    )
    without = make_graph(100, splits={})
    drawn, expected = selection_split(without), split_of(without, "fraction", 0)[0]
    assert {k: v.tolist() for k, v in drawn.items()} == {k: v.tolist() for k, v in expected.items()}
    assert not np.isin(drawn["test"], pool_of(drawn)).any()


@given(seed=st.integers(0, 1000), count=st.integers(1, 4))
def test_resplits_stay_in_the_pool(seed: int, count: int) -> None:
    graph = make_graph(90, seed=seed, splits={})
    labels = graph.labels
    assert labels is not None
    split = split_of(graph, "per-class", seed)[0]
    drawn = resplits(labels, split, count)
    assert len(drawn) == count
    for parts in drawn:
        assert set(parts) == {"train", "val"}
        together = np.concatenate([parts["train"], parts["val"]])
        np.testing.assert_array_equal(np.sort(together), pool_of(split))
        wanted = np.bincount(labels[split["train"]], minlength=3)
        have = np.bincount(labels[pool_of(split)], minlength=3)
        got = np.bincount(labels[parts["train"]], minlength=3)
        np.testing.assert_array_equal(got, np.minimum(wanted, -(-have // 2)))
    assert [p["train"].tolist() for p in resplits(labels, split, count)] == [
        p["train"].tolist() for p in drawn
    ]


def test_a_split_without_validation_nodes_is_halved() -> None:
    graph = make_graph(60)
    assert graph.labels is not None
    parts = resplits(graph.labels, {"train": np.arange(30), "test": np.arange(30, 60)}, 1)[0]
    assert parts["train"].size == parts["val"].size == 15
    tiny = resplits(graph.labels, {"train": np.arange(3), "test": np.arange(3, 60)}, 1)[0]
    assert tiny["train"].tolist() == tiny["val"].tolist() == [0, 1, 2]
