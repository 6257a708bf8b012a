"""A small graph's arrays, and the comparison of graphs, for tests of graphs."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ugcl import Graph

TRIANGLE = [[0, 1], [1, 2], [2, 0]]

X = np.eye(4)


def assert_same(one: Graph, other: Graph) -> None:
    assert one.fingerprint == other.fingerprint
    assert one.weighted == other.weighted
    assert sp.issparse(one.features) == sp.issparse(other.features)
    for mine, theirs in ((one.labels, other.labels), (one.ids, other.ids)):
        assert (mine is None) == (theirs is None)
        if mine is not None and theirs is not None:
            np.testing.assert_array_equal(mine, theirs)
    assert set(one.splits) == set(other.splits)
    for part, nodes in one.splits.items():
        np.testing.assert_array_equal(nodes, other.splits[part])
