from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ugcl import UGCLError
from ugcl.graph.edges import EdgeList, is_simple, simple_adjacency

edge_lists = st.lists(
    st.tuples(st.integers(0, 7), st.integers(0, 7), st.sampled_from([0.0, 0.5, 1.0, 2.0])),
    max_size=30,
)


def adjacency_of(edges: list[tuple[int, int, float]], *, weighted: bool = True) -> np.ndarray:
    sources, targets, weights = zip(*edges, strict=True) if edges else ((), (), ())
    result, _ = simple_adjacency(EdgeList(sources, targets, weights if weighted else None), 8)
    return result.toarray()


@given(edge_lists)
def test_is_symmetric_without_diagonal(edges: list[tuple[int, int, float]]) -> None:
    adjacency = adjacency_of(edges)
    np.testing.assert_array_equal(adjacency, adjacency.T)
    assert not adjacency.diagonal().any()


@given(edge_lists)
def test_joins_the_nodes_that_were_listed(edges: list[tuple[int, int, float]]) -> None:
    expected = np.zeros((8, 8), dtype=bool)
    for a, b, _ in edges:
        if a != b:
            expected[a, b] = expected[b, a] = True
    np.testing.assert_array_equal(adjacency_of(edges, weighted=False), expected)


@given(edge_lists)
def test_building_twice_changes_nothing(edges: list[tuple[int, int, float]]) -> None:
    listed = EdgeList([a for a, _, _ in edges], [b for _, b, _ in edges], [w for *_, w in edges])
    once, _ = simple_adjacency(listed, 8)
    entries = once.tocoo()
    twice, notes = simple_adjacency(EdgeList(*entries.coords, entries.data), 8)
    np.testing.assert_array_equal(once.toarray(), twice.toarray())
    assert notes == ()


def test_sums_the_weights_of_duplicates() -> None:
    adjacency = adjacency_of([(0, 1, 1.0), (0, 1, 2.0), (1, 0, 0.5), (2, 3, 1.0)])
    assert adjacency[0, 1] == adjacency[1, 0] == 3.5
    assert adjacency[2, 3] == 1


def test_one_missing_direction_does_not_change_the_other_edges() -> None:
    both = [(0, 1, 1.0), (1, 0, 1.0), (1, 2, 1.0), (2, 1, 1.0)]
    adjacency = adjacency_of([*both, (2, 3, 1.0)])
    assert adjacency[0, 1] == adjacency[1, 2] == adjacency[2, 3] == 1


def test_the_order_of_sums_does_not_decide_whether_directions_agree() -> None:
    forward, backward = [0.1, 0.2, 0.3], [0.3, 0.2, 0.1]
    adjacency = adjacency_of([*((0, 1, w) for w in forward), *((1, 0, w) for w in backward)])
    assert adjacency[0, 1] == pytest.approx(0.6)


def test_takes_a_list_of_both_directions_as_it_is() -> None:
    adjacency = adjacency_of([(0, 1, 2.0), (1, 0, 2.0), (2, 3, 0.5), (3, 2, 0.5)])
    assert adjacency[0, 1] == 2
    assert adjacency[3, 2] == 0.5


def test_says_what_it_changed() -> None:
    _, notes = simple_adjacency(EdgeList([0, 0, 1, 2, 4], [1, 1, 1, 3, 5], [1, 1, 1, 1, 0]), 8)
    assert notes == (
        "removed 1 self-loop",
        "removed 1 edge of weight zero",
        "symmetrised 2 edges listed in one direction only",
        "merged 1 duplicate edge, summing their weights",
    )
    _, notes = simple_adjacency(EdgeList([0, 1], [1, 0], [1, 3]), 8)
    assert notes == ("added the two directions of 1 edge listed with different weights",)


@given(edge_lists, st.sampled_from([np.int32, np.int64, np.uint8, np.uint64]))
def test_says_what_it_changed_without_weights(
    edges: list[tuple[int, int, float]], kind: type[np.integer]
) -> None:
    listed = [(a, b) for a, b, _ in edges if a != b]
    distinct = set(listed)
    counts = {
        "removed {} self-loop": len(edges) - len(listed),
        "symmetrised {} edge": sum((b, a) not in distinct for a, b in distinct),
        "merged {} duplicate edge": len(listed) - len(distinct),
    }
    sources, targets = (np.array([edge[i] for edge in edges], dtype=kind) for i in (0, 1))
    adjacency, notes = simple_adjacency(EdgeList(sources, targets, None), 8)
    expected = [words.format(count) for words, count in counts.items() if count]
    assert len(notes) == len(expected)
    for note, words in zip(notes, expected, strict=True):
        assert note.startswith(words)
    assert adjacency.dtype == np.float32
    assert adjacency.has_canonical_format


@pytest.mark.parametrize(
    ("sources", "targets", "weights", "message"),
    [
        ([0, 9], [1, 2], None, r"1 edge\(s\) have an endpoint that does not exist.*\(9, 2\)"),
        ([0, -1], [1, 2], None, r"\(-1, 2\): the graph has 8 nodes"),
        ([0.5], [1], None, "are of type float64"),
        (["a"], ["b"], None, "give integers"),
        ([0, 1], [1], None, "2 sources but 1 targets"),
        ([0, 1], [1, 2], [1.0], "2 edges but 1 weights"),
        ([0, 1], [1, 2], [1.0, np.nan], r"NaN or infinite, the first being edge 1"),
        ([0, 1], [1, 2], [np.inf, 1], r"NaN or infinite, the first being edge 0"),
        ([0, 1], [1, 2], ["a", "b"], "edge weights must be numbers"),
        ([0, 1], [1, 2], [1, 1e39], "between 1.2e-38 and 3.4e.38, but one is 1.0e.39"),
        ([0, 1], [1, 2], [1, 1e-60], "but one is 1.0e-60: rescale them"),
        ([0, 1], [1, 2], [1, -2], r"negative, the first being edge 1 \(-2.0\)"),
    ],
)
def test_refuses(sources: list, targets: list, weights: list | None, message: str) -> None:
    with pytest.raises(UGCLError, match=message):
        simple_adjacency(EdgeList(sources, targets, weights), 8)


@given(edge_lists)
def test_a_simple_adjacency_is_known_as_such(edges: list[tuple[int, int, float]]) -> None:
    listed = EdgeList([a for a, _, _ in edges], [b for _, b, _ in edges], [w for *_, w in edges])
    adjacency, _ = simple_adjacency(listed, 8)
    assert is_simple(adjacency)
    loop, one_way, uneven = adjacency.tolil(), adjacency.tolil(), adjacency.tolil()
    loop[3, 3] = 1
    one_way[2, 5], one_way[5, 2] = 1, 0
    uneven[2, 5], uneven[5, 2] = 1, 2
    for other in (loop, one_way, uneven):
        assert not is_simple(other.tocsr())
    assert not is_simple(adjacency.astype(np.float64))
    assert not is_simple(adjacency.tocoo())


@given(edge_lists)
def test_directed_entries_add_up(edges: list[tuple[int, int, float]]) -> None:
    listed = EdgeList(
        [a for a, _, _ in edges], [b for _, b, _ in edges], [w for *_, w in edges], directed=True
    )
    expected = np.zeros((8, 8))
    for a, b, weight in edges:
        if a != b:
            expected[a, b] += weight
            expected[b, a] += weight
    np.testing.assert_array_equal(simple_adjacency(listed, 8)[0].toarray(), expected)
