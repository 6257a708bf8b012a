from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import make_graph
from ugcl import Graph, UGCLError, load_graph
from ugcl.data import split_of


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


def test_seeds_differ() -> None:
    graph = make_graph(100)
    one, other = (split_of(graph, "fraction", seed)[0]["train"] for seed in (1, 2))
    assert one.tolist() != other.tolist()


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
    with pytest.raises(UGCLError, match="no split of its own"):
        split_of(make_graph(splits={}), "own")
    with pytest.raises(UGCLError, match="has no seed"):
        split_of(make_graph(), "own", 1)


def test_a_graph_with_train_and_test_only_has_its_own_split() -> None:
    graph: Graph = make_graph(splits={"train": [0, 1], "test": [2]})
    assert set(split_of(graph)[0]) == {"train", "test"}
