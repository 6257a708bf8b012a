from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from graph_helpers import TRIANGLE, X
from ugcl import Graph, UGCLError


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"edges": [[0, 4]]}, "have an endpoint that does not exist"),
        ({"edges": [0, 1, 2]}, "must be an E x 2 array"),
        ({"features": X[0]}, "must be a table"),
        ({"features": np.empty((0, 3)), "edges": []}, "at least one row"),
        ({"features": [["a", "b"]], "edges": []}, "must be a table of numbers"),
        ({"features": np.where(X, np.nan, 0)}, "4 feature value.*node 0, column 0"),
        ({"features": sp.csr_array(np.diag([1, np.inf, 1, 1]))}, "1 feature.*node 1, column 1"),
        ({"labels": [0, 1]}, r"4 nodes but the labels have the shape \(2,\)"),
        ({"labels": [0.5, 1, 2, 3]}, "integers from 0, not float64"),
        ({"labels": [0, -2, 1, 1]}, "one of them is -2"),
        ({"splits": {"train": [0, 1], "test": [1, 2]}}, "share 1 node.*being 1"),
        ({"splits": {"train": [0, 9]}}, "contains node 9"),
        ({"splits": {"train": [True, False]}}, "mask of split part 'train'"),
        ({"splits": {"train": [0, 1, 1, 0]}}, "contains a node twice"),
        ({"splits": {"train": [0.5]}}, "must hold node indices or a boolean mask"),
        ({"splits": {"train": ["a"]}}, "must hold node indices or a boolean mask"),
        ({"edges": [[0, 1], [2]]}, "must be an E x 2 array"),
        ({"features": None}, "must be a table"),
        ({"features": np.full((4, 2), 1e39)}, "8 feature value.* are NaN or infinite"),
        ({"splits": {"dev": [1]}}, "no split part 'dev'"),
        ({"splits": {"val": [3]}, "labels": [0, 0, 1, -1]}, "without a label"),
        ({"ids": ["a", "b"]}, "4 nodes but 2 ids"),
        ({"ids": ["a", "b", "a", "c"]}, "2 nodes have the id 'a'"),
        ({"weights": [1, 2]}, "3 edges but 2 weights"),
    ],
)
def test_invalid_arguments_are_errors(change: dict, message: str) -> None:
    arguments = {"edges": TRIANGLE, "features": X} | change
    with pytest.raises(UGCLError, match=message):
        Graph.from_edges(arguments.pop("edges"), arguments.pop("features"), **arguments)


def test_matrices_with_invalid_indices_are_errors() -> None:
    broken = sp.csr_array((4, 4))
    broken.indptr, broken.indices = np.array([0, 1, 1, 1, 1]), np.array([50_000_000])
    broken.data = np.ones(1)
    with pytest.raises(UGCLError, match="sparse features are not well formed"):
        Graph.from_edges(TRIANGLE, broken)
    with pytest.raises(UGCLError):
        Graph(broken, X)
    with pytest.raises(UGCLError, match="must be a SciPy matrix"):
        Graph("adjacency", X)


def test_adjacency_of_another_size_is_an_error() -> None:
    with pytest.raises(UGCLError, match="but there are features of 4"):
        Graph(sp.eye_array(3), X)


@pytest.mark.parametrize("ids", [["a\0", "a", "b", "c"], np.array(["a\0b", "a", "b", "c"])])
def test_ids_with_nul_characters_are_refused(ids: object) -> None:
    """NumPy would drop them at the end, so that different ids become equal."""
    with pytest.raises(UGCLError, match=r"the id 'a\\x00b?' contains a NUL character"):
        Graph.from_edges(TRIANGLE, X, ids=ids)


def test_errors_have_one_line_and_no_control_characters() -> None:
    assert str(UGCLError("the id\n\x1b[1m 'é'")) == r"the id \x1b[1m 'é'"
