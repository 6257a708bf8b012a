from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch import nn

from batches import random_rows
from ugcl.nn import ProjectionHead


def make_head(activation: nn.Module, seed: int = 0) -> ProjectionHead:
    generator = torch.Generator().manual_seed(seed)
    return ProjectionHead(4, 6, 3, activation, generator)


@pytest.mark.parametrize("activation", [nn.ELU(), nn.PReLU(), nn.Identity()])
def test_equals_the_formula_row_by_row(activation: nn.Module) -> None:
    head, (rows,) = make_head(activation).double(), random_rows(1, 5, 4)
    first, second = (weight.detach().numpy() for weight in head.weights)
    bias, shift = (value.detach().numpy() for value in head.biases)
    with torch.no_grad():
        hidden = [activation(torch.from_numpy(first @ row + bias)) for row in rows.numpy()]
        projected = head(rows).numpy()
    expected = [second @ row.numpy() + shift for row in hidden]
    np.testing.assert_allclose(projected, expected, rtol=1e-12, atol=1e-14)


def test_gradients_equal_finite_differences() -> None:
    head = make_head(nn.ELU()).double()
    names, values = zip(*head.named_parameters(), strict=True)

    def projection(rows: torch.Tensor, *tensors: torch.Tensor) -> torch.Tensor:
        parameters = dict(zip(names, tensors, strict=True))
        return torch.func.functional_call(head, parameters, (rows,))

    assert torch.autograd.gradcheck(projection, (*random_rows(1, 5, 4), *values))


def test_is_initialised_like_linear_layers_of_pytorch() -> None:
    """Uniform within one over the root of a layer's inputs, a function of the generator alone."""
    generator = torch.Generator().manual_seed(0)
    head = ProjectionHead(50, 80, 60, nn.ELU(), generator)
    assert [tuple(weight.shape) for weight in head.weights] == [(80, 50), (60, 80)]
    for weight, bias in zip(head.weights, head.biases, strict=True):
        bound = 1 / math.sqrt(weight.shape[1])
        for value in (weight, bias):
            assert 0.9 * bound < value.abs().max() <= bound
            assert value.min() < 0 < value.max()
    pairs = (make_head(nn.ELU(), seed).state_dict() for seed in (1, 1))
    torch.testing.assert_close(*pairs)
