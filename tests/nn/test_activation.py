from __future__ import annotations

import pytest
import torch
from torch import nn

from batches import random_rows
from ugcl.nn import plain_formulas
from ugcl.nn.activation import prelu

slopes = pytest.mark.parametrize("slope", [0.25, 0.0, 1.5, -0.5])


@slopes
def test_the_kernel_equals_the_plain_formula(slope: float) -> None:
    (hidden,) = random_rows(1, 6, 5)
    upstream, results = torch.linspace(-1, 1, 30, dtype=torch.float64).reshape(5, 6).T, []
    for plain in (True, False):
        parameter = torch.tensor([slope], dtype=torch.float64, requires_grad=True)
        with plain_formulas(plain):
            activated = prelu(hidden, parameter)
        gradients = torch.autograd.grad(activated, (hidden, parameter), upstream)
        results.append((activated, *gradients))
    for kernel, expected in zip(results[1], results[0], strict=True):
        assert kernel.shape == expected.shape
        torch.testing.assert_close(kernel, expected)


@slopes
def test_gradients_of_the_kernel_equal_finite_differences(slope: float) -> None:
    parameter = torch.tensor([slope], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(prelu, (*random_rows(1, 4, 3), parameter))


def test_zero_has_the_gradient_of_pytorch() -> None:
    hidden, slope = torch.zeros(1, 2, requires_grad=True), torch.tensor([0.25])
    (ours,) = torch.autograd.grad(prelu(hidden, slope).sum(), hidden)
    (theirs,) = torch.autograd.grad(nn.functional.prelu(hidden, slope).sum(), hidden)
    assert ours.tolist() == theirs.tolist()
