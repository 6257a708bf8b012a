from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import torch

import reference
from encoder_blocks import encoder_blocks
from ugcl.nn import DeepGCN
from ugcl.nn.deep import BATCH_MOMENTUM
from ugcl.scope import Component, Power, Scope, WholeGraph, lazy
from ugcl.sparse import SparseMatrix
from ugcl.views import View

FORMS = ("sparse", "dense", "aggregated")
VARIANTS: dict[str, dict[str, Any]] = {
    "relu": {"activation": "relu"},
    "prelu": {"activation": "prelu"},
    "batch norm": {"activation": "prelu", "batch_norm": True},
}
MASK = np.array([1.0, 0.0, 1.0, 0.0, 0.0])


def dense_parts(size: int = 12, features: int = 5, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """A normalised adjacency and features."""
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((size, size)) < 0.3, 1)
    adjacency = reference.normalised_adjacency((upper + upper.T).astype(float))
    return adjacency, rng.normal(size=(size, features)) * (rng.random((size, features)) < 0.5)


def make_view(
    adjacency: np.ndarray, x: np.ndarray, form: str = "sparse", mask: np.ndarray | None = None
) -> View:
    matrix = SparseMatrix.from_scipy(sp.csr_array(adjacency), symmetric=True, dtype=torch.float64)
    columns = None if mask is None else torch.from_numpy(mask)
    if form == "sparse":
        sparse = SparseMatrix.from_scipy(sp.csr_array(x), dtype=torch.float64)
        return View(matrix, sparse, None, matrix, columns)
    if form == "dense":
        return View(matrix, torch.from_numpy(x), None, matrix, columns)
    return View(matrix, None, matrix @ torch.from_numpy(x), matrix, columns)


def make_encoder(variant: str, widths: tuple[int, ...] = (6, 4), features: int = 5) -> DeepGCN:
    """An encoder whose biases, slopes and batch normalisation differ from their initial values."""
    generator = torch.Generator().manual_seed(1)
    encoder = DeepGCN(features, widths, generator=generator, **VARIANTS[variant]).double()
    with torch.no_grad():
        for bias in encoder.biases:
            bias.normal_(generator=generator)
        for norm in encoder.norms:
            norm.weight.normal_(generator=generator)
            norm.bias.normal_(generator=generator)
        for layer, activation in enumerate(encoder.activations):
            if isinstance(activation, torch.nn.PReLU):
                activation.weight.fill_(0.1 + 0.3 * layer)
    return encoder


def slow(encoder: DeepGCN, adjacency: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Layer by layer, column by column; with running statistics in evaluation mode."""
    hidden = x
    for layer, weight in enumerate(encoder.weights):
        hidden = adjacency @ hidden @ weight.detach().numpy()
        activation = encoder.activations[layer]
        if not encoder.norms:
            hidden = hidden + encoder.biases[layer].detach().numpy()
        else:
            norm = encoder.norms[layer]
            for column in range(hidden.shape[1]):
                values = hidden[:, column]
                mean, variance = values.mean(), ((values - values.mean()) ** 2).mean()
                if not encoder.training:
                    mean = norm.running_mean[column].item()
                    variance = norm.running_var[column].item()
                hidden[:, column] = (values - mean) / np.sqrt(variance + 1e-5) * norm.weight[
                    column
                ].item() + norm.bias[column].item()
        slope = activation.weight.item() if isinstance(activation, torch.nn.PReLU) else 0.0
        hidden = np.where(hidden > 0, hidden, slope * hidden)
    return hidden


@pytest.mark.parametrize("masked", [True, False], ids=["masked", "unmasked"])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("widths", [(4,), (6, 4), (3, 7, 2)])
@pytest.mark.parametrize("variant", VARIANTS)
def test_equals_the_dense_formula_in_training_and_in_evaluation(
    variant: str, widths: tuple[int, ...], form: str, masked: bool
) -> None:
    adjacency, x = dense_parts()
    encoder = make_encoder(variant, widths)
    assert encoder.width == widths[-1]
    mask = MASK if masked else None
    visible = x * MASK if masked else x
    view = make_view(adjacency, x, form, mask)
    for training in (True, False, True):
        encoder.train(training)
        expected = slow(encoder, adjacency, visible)
        np.testing.assert_allclose(encoder(view).detach().numpy(), expected, atol=1e-12)


def test_batch_normalisation_evaluates_with_moving_averages_over_views() -> None:
    encoder = make_encoder("batch norm", (4,))
    weight = encoder.weights[0].detach().numpy()
    mean, variance = np.zeros(4), np.ones(4)
    for seed in range(5):
        adjacency, x = dense_parts(seed=seed)
        encoder(make_view(adjacency, x))
        linear = adjacency @ x @ weight
        mean = (1 - BATCH_MOMENTUM) * mean + BATCH_MOMENTUM * linear.mean(axis=0)
        variance = (1 - BATCH_MOMENTUM) * variance + BATCH_MOMENTUM * linear.var(axis=0, ddof=1)
    norm = encoder.norms[0]
    np.testing.assert_allclose(norm.running_mean.numpy(), mean)
    np.testing.assert_allclose(norm.running_var.numpy(), variance)
    encoder.eval()
    encoder(make_view(*dense_parts(seed=9)))
    np.testing.assert_allclose(norm.running_mean.numpy(), mean)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("variant", VARIANTS)
def test_a_mask_of_columns_equals_zeros_in_these_columns(variant: str, form: str) -> None:
    adjacency, x = dense_parts()
    encoder = make_encoder(variant)
    results = []
    for view in (make_view(adjacency, x, form, MASK), make_view(adjacency, x * MASK, form)):
        hidden = encoder(view)
        gradients = torch.autograd.grad((hidden**3).sum(), list(encoder.parameters()))
        results.append((hidden.detach(), *gradients))
    torch.testing.assert_close(*results)
    first_weight_grad = results[0][1]
    assert (first_weight_grad[MASK == 0] == 0).all()
    assert (first_weight_grad[MASK == 1] != 0).any()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("masked", [True, False], ids=["masked", "unmasked"])
@pytest.mark.parametrize("variant", VARIANTS)
def test_gradients_equal_finite_differences(variant: str, masked: bool, form: str) -> None:
    view = make_view(*dense_parts(7), form, MASK if masked else None)
    encoder = make_encoder(variant, (4, 3))
    names, values = zip(*encoder.named_parameters(), strict=True)

    def hidden(*tensors: torch.Tensor) -> torch.Tensor:
        parameters = dict(zip(names, tensors, strict=True))
        return torch.func.functional_call(encoder, parameters, (view,))

    assert torch.autograd.gradcheck(hidden, values)


@pytest.mark.parametrize("scope", [Power(0), Power(3), Component(), WholeGraph()], ids=str)
def test_contexts_are_the_scope_of_its_own_representations(scope: Scope) -> None:
    adjacency, x = dense_parts()
    encoder, view = make_encoder("prelu"), make_view(adjacency, x)
    hidden = slow(encoder, adjacency, x)
    if isinstance(scope, Power):
        expected = np.linalg.matrix_power(adjacency, scope.n) @ hidden
    elif isinstance(scope, Component):
        expected = np.linalg.matrix_power(adjacency, 10_000) @ hidden
    else:
        expected = np.tile(hidden.mean(axis=0), (12, 1))
    np.testing.assert_allclose(encoder.context(view, scope).detach().numpy(), expected, atol=1e-9)
    patch, context = torch.full((2, *hidden.shape), torch.nan, dtype=torch.float64)
    for columns, *block in encoder_blocks(encoder, view, scope):
        patch[:, columns], context[:, columns] = block
    np.testing.assert_allclose(patch.numpy(), hidden, atol=1e-12)
    np.testing.assert_allclose(context.numpy(), expected, atol=1e-9)


def test_contexts_use_the_propagation_matrix_and_layers_the_adjacency() -> None:
    adjacency, x = dense_parts()
    view = make_view(adjacency, x)
    propagation = SparseMatrix.from_scipy(
        lazy(sp.csr_array(adjacency)), symmetric=True, dtype=torch.float64
    )
    encoder = make_encoder("prelu")
    lazy_view = View(view.adjacency, view.features, None, propagation)
    context = encoder.context(lazy_view, Power(2))
    half = (np.eye(12) + adjacency) / 2
    np.testing.assert_allclose(
        context.detach().numpy(), half @ half @ slow(encoder, adjacency, x), atol=1e-12
    )


def test_is_initialised_with_xavier_weights_zero_biases_and_a_slope_for_each_layer() -> None:
    encoder = DeepGCN(40, (30, 20), activation="prelu", generator=torch.Generator().manual_seed(0))
    for weight, shape in zip(encoder.weights, [(40, 30), (30, 20)], strict=True):
        assert weight.shape == shape
        bound = (6 / sum(shape)) ** 0.5
        assert 0.95 * bound < weight.abs().max().item() <= bound
    assert [bias.tolist() for bias in encoder.biases] == [[0.0] * 30, [0.0] * 20]
    slopes = [activation.weight for activation in encoder.activations]
    assert [slope.item() for slope in slopes] == [0.25, 0.25]
    assert slopes[0] is not slopes[1]
