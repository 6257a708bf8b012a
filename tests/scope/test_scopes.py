from __future__ import annotations

import numpy as np
import scipy.sparse as sp
import torch

from ugcl.scope import Component, Power, WholeGraph, component, power, scope_of
from ugcl.sparse import SparseMatrix


def identity(size: int) -> SparseMatrix:
    return SparseMatrix.from_scipy(sp.csr_array(np.eye(size)), dtype=torch.float64)


def test_each_graph_of_a_batch_has_its_own_mean() -> None:
    """Pieces of 1, 2 and 3 rows, not in order, three times wider than there are pieces."""
    pieces = [2, 0, 1, 2, 1, 2]
    hidden = torch.randn(6, 9, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    found = WholeGraph().on(identity(6), torch.tensor(pieces))(hidden)
    for row, piece in zip(found, pieces, strict=True):
        own = [hidden[i] for i, other in enumerate(pieces) if other == piece]
        torch.testing.assert_close(row, sum(own) / len(own))
    everything = WholeGraph().on(identity(6))(hidden)
    torch.testing.assert_close(everything, hidden.mean(dim=0).expand(6, 9))


def test_the_power_of_a_scope_of_no_steps_is_the_node_itself() -> None:
    hidden = torch.randn(3, 2)
    assert Power(0).on(identity(3))(hidden) is hidden


def test_settings_name_scopes() -> None:
    assert scope_of(0) == Power(0)
    assert scope_of(7) == Power(7)
    assert scope_of("component") == Component()
    assert scope_of("graph") == WholeGraph()


def test_scopes_are_the_functions_of_their_names() -> None:
    """On a path of three nodes with self-loops."""
    path = np.array([[1, 1, 0], [1, 1, 1], [0, 1, 1]])
    scale = 1 / np.sqrt(path.sum(axis=1))
    matrix = sp.csr_array(scale[:, None] * path * scale)
    steps = SparseMatrix.from_scipy(matrix, symmetric=True, dtype=torch.float64)
    hidden = torch.arange(6, dtype=torch.float64).reshape(3, 2)
    for n in (1, 2, 3):
        torch.testing.assert_close(Power(n).on(steps)(hidden), power(steps, hidden, n))
    torch.testing.assert_close(Component().on(steps)(hidden), component(steps, hidden))
