from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import reference
from batches import batch_of, gradients_are_right, random_rows
from ugcl.losses import Batch, BootstrapLoss


def bootstrap(width: int, seed: int = 0) -> BootstrapLoss:
    generator = torch.Generator().manual_seed(seed)
    return BootstrapLoss(width, predictor=5, generator=generator).double()


def slow(loss: BootstrapLoss, patch: torch.Tensor, context: torch.Tensor) -> float:
    """BGRL's Equation 3, node by node, shifted by 2 so that a perfect prediction is 0."""
    first, second = (value.detach().numpy() for value in loss.predictor.weights)
    bias, shift = (value.detach().numpy() for value in loss.predictor.biases)
    slope = loss.predictor.activation.weight.item()
    total = 0.0
    for h, c in zip(patch.detach().numpy(), context.detach().numpy(), strict=True):
        hidden = first @ h + bias
        prediction = second @ np.where(hidden > 0, hidden, slope * hidden) + shift
        total += reference.cosine(prediction, c)
    return 2 - 2 * total / len(patch)


@given(size=st.integers(1, 8), width=st.integers(1, 5), seed=st.integers(0, 1000))
def test_equals_equation_3_of_bgrl_node_by_node(size: int, width: int, seed: int) -> None:
    loss = bootstrap(width, seed)
    patch, context = random_rows(2, size, width, seed)
    value = loss(batch_of((patch, context))).item()
    assert value == pytest.approx(slow(loss, patch, context), abs=1e-12)


def test_both_directions_are_2_minus_two_mean_cosines() -> None:
    loss, (first, second) = bootstrap(4), random_rows(2, 6, 4)
    cosines = (2 - slow(loss, first, second)) / 2 + (2 - slow(loss, second, first)) / 2
    for batch in (
        batch_of((first, second), (second, first)),
        Batch([first, second], None, np.random.default_rng(0)),
    ):
        assert loss(batch).item() == pytest.approx(2 - cosines)


def test_gradients_equal_finite_differences() -> None:
    patch, context = random_rows(2, 6, 4)
    assert gradients_are_right(
        bootstrap(4), lambda rows: batch_of((rows, context.detach())), [patch]
    )


def test_targets_get_no_gradient() -> None:
    loss, (patch, context) = bootstrap(4), random_rows(2, 6, 4)
    loss(batch_of((patch, context))).backward()
    assert context.grad is None
    for value in (patch, *loss.parameters()):
        assert value.grad is not None
        assert value.grad.abs().max() > 0


@given(scale=st.floats(1e-3, 1e3))
def test_is_invariant_to_the_norms_of_targets(scale: float) -> None:
    loss, (patch, context) = bootstrap(4), random_rows(2, 6, 4)
    scaled = loss(batch_of((patch, scale * context))).item()
    assert scaled == pytest.approx(loss(batch_of((patch, context))).item())


def test_expanded_targets_give_the_same_loss_as_repeated_ones() -> None:
    loss, (patch, context) = bootstrap(4), random_rows(2, 6, 4)
    row = context[:1].detach()
    losses = [loss(batch_of((patch, rows))) for rows in (row.expand(6, 4), row.repeat(6, 1))]
    torch.testing.assert_close(*losses)
    assert losses[0].item() != pytest.approx(loss(batch_of((patch, context))).item())
