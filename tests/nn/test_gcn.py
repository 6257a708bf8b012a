from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import torch

import reference
from encoder_blocks import encoder_blocks
from ugcl.nn import GCN, plain_formulas
from ugcl.scope import Component, Power, Scope, WholeGraph, lazy
from ugcl.sparse import SparseMatrix
from ugcl.views import View

FORMS = ("sparse", "dense", "aggregated")
SCOPES = [Power(0), Power(3), Component(), WholeGraph()]
MASK = np.array([1.0, 0.0, 1.0, 0.0, 0.0])


def dense_parts(size: int = 12, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """A normalised adjacency and features."""
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((size, size)) < 0.3, 1)
    adjacency = reference.normalised_adjacency((upper + upper.T).astype(float))
    return adjacency, rng.normal(size=(size, 5)) * (rng.random((size, 5)) < 0.5)


def make_view(form: str, *, masked: bool = False, propagation: Any = None) -> View:
    adjacency, x = dense_parts()
    matrix, steps = (
        SparseMatrix.from_scipy(sp.csr_array(part), symmetric=True, dtype=torch.float64)
        for part in (adjacency, adjacency if propagation is None else propagation)
    )
    mask = torch.from_numpy(MASK) if masked else None
    if form == "sparse":
        columns = SparseMatrix.from_scipy(sp.csr_array(x), dtype=torch.float64)
        return View(matrix, columns, None, steps, mask)
    if form == "dense":
        return View(matrix, torch.from_numpy(x), None, steps, mask)
    return View(matrix, None, matrix @ torch.from_numpy(x), steps, mask)


def make_encoder(slope: float = 0.3) -> GCN:
    generator = torch.Generator().manual_seed(0)
    encoder = GCN(5, 7, generator).double()
    with torch.no_grad():
        encoder.bias.normal_(generator=generator)
        encoder.slope.fill_(slope)
    return encoder


def slow(encoder: GCN, adjacency: np.ndarray, x: np.ndarray) -> np.ndarray:
    weight, bias = encoder.weight.detach().numpy(), encoder.bias.detach().numpy()
    return reference.gcn(adjacency, x, weight, bias, encoder.slope.item())


def slow_context(adjacency: np.ndarray, hidden: np.ndarray, scope: Scope) -> np.ndarray:
    if isinstance(scope, WholeGraph):
        return np.tile(hidden.mean(axis=0), (len(hidden), 1))
    n = scope.n if isinstance(scope, Power) else 10_000
    return np.linalg.matrix_power(adjacency, n) @ hidden


@pytest.mark.parametrize("plain", [True, False])
@pytest.mark.parametrize("masked", [True, False])
@pytest.mark.parametrize("form", FORMS)
def test_equals_the_dense_formula(form: str, masked: bool, plain: bool) -> None:
    adjacency, x = dense_parts()
    encoder = make_encoder()
    with plain_formulas(plain):
        hidden = encoder(make_view(form, masked=masked)).detach().numpy()
    expected = slow(encoder, adjacency, x * MASK if masked else x)
    np.testing.assert_allclose(hidden, expected, atol=1e-12)
    assert encoder.width == 7


@pytest.mark.parametrize("plain", [True, False])
@pytest.mark.parametrize("scope", SCOPES, ids=str)
@pytest.mark.parametrize("form", FORMS)
def test_contexts_are_the_scope_of_the_representations(
    form: str, scope: Scope, plain: bool
) -> None:
    """In one tensor, and block by block."""
    adjacency, x = dense_parts()
    encoder, view = make_encoder(), make_view(form)
    hidden = slow(encoder, adjacency, x)
    expected = slow_context(adjacency, hidden, scope)
    patches, contexts = np.full((2, 12, 7), np.nan)
    with plain_formulas(plain):
        whole = encoder.context(view, scope).detach().numpy()
        for columns, patch, context in encoder_blocks(encoder, view, scope):
            patches[:, columns], contexts[:, columns] = patch.detach(), context.detach()
    np.testing.assert_allclose(whole, expected, atol=1e-9)
    np.testing.assert_allclose(patches, hidden, atol=1e-12)
    np.testing.assert_allclose(contexts, expected, atol=1e-9)


@pytest.mark.parametrize("plain", [True, False])
@pytest.mark.parametrize("form", FORMS)
def test_contexts_use_the_propagation_matrix(form: str, plain: bool) -> None:
    adjacency, x = dense_parts()
    half = lazy(sp.csr_array(adjacency)).toarray()
    encoder, view = make_encoder(), make_view(form, propagation=half)
    with plain_formulas(plain):
        context = encoder.context(view, Power(2)).detach().numpy()
    np.testing.assert_allclose(context, half @ half @ slow(encoder, adjacency, x), atol=1e-12)


@pytest.mark.parametrize("masked", [True, False])
@pytest.mark.parametrize("scope", SCOPES, ids=str)
@pytest.mark.parametrize("form", FORMS)
def test_gradients_equal_finite_differences(form: str, scope: Scope, masked: bool) -> None:
    encoder, view = make_encoder(), make_view(form, masked=masked)

    class Context(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.encoder = encoder

        def forward(self) -> torch.Tensor:
            return encoder.context(view, scope)

    module = Context()
    names, values = zip(*module.named_parameters(), strict=True)

    def context(*tensors: torch.Tensor) -> torch.Tensor:
        parameters = dict(zip(names, tensors, strict=True))
        return torch.func.functional_call(module, parameters, ())

    assert torch.autograd.gradcheck(context, values)


def test_is_initialised_with_xavier_weights_zero_bias_and_one_slope() -> None:
    encoder = GCN(40, 30, torch.Generator().manual_seed(0))
    bound = (6 / 70) ** 0.5
    assert encoder.weight.shape == (40, 30)
    assert 0.95 * bound < encoder.weight.abs().max().item() <= bound
    assert encoder.bias.tolist() == [0.0] * 30
    assert encoder.slope.tolist() == [0.25]
    again = GCN(40, 30, torch.Generator().manual_seed(0))
    assert torch.equal(encoder.weight, again.weight)
