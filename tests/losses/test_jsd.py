from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from batches import batch_of, gradients_are_right, random_rows
from ugcl.losses import Batch, BilinearJSD


def bilinear(width: int, seed: int = 0) -> BilinearJSD:
    """A loss with weights and a bias far from zero."""
    generator = torch.Generator().manual_seed(seed)
    loss = BilinearJSD(width, generator).double()
    with torch.no_grad():
        loss.weight.normal_(generator=generator)
        loss.bias.fill_(0.3)
    return loss


def one_view(patch: torch.Tensor, context: torch.Tensor, negative: torch.Tensor) -> Batch:
    return batch_of((patch, context), negatives=[negative])


def sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def slow(
    loss: BilinearJSD, patch: torch.Tensor, context: torch.Tensor, negative: torch.Tensor
) -> float:
    """DGI's Equation 1, node by node: binary cross entropy of real and corrupted nodes."""
    weight, bias = loss.weight.detach().numpy(), loss.bias.item()
    total = 0.0
    views = (view.detach().numpy() for view in (patch, context, negative))
    for h, c, fake in zip(*views, strict=True):
        summary = np.array([sigmoid(x) for x in c])
        total += math.log(sigmoid(h @ weight @ summary + bias))
        total += math.log(1 - sigmoid(fake @ weight @ summary + bias))
    return -total / (2 * len(patch))


@given(size=st.integers(1, 8), width=st.integers(1, 5), seed=st.integers(0, 1000))
def test_equals_equation_1_of_dgi_node_by_node(size: int, width: int, seed: int) -> None:
    loss, views = bilinear(width, seed), random_rows(3, size, width, seed)
    assert loss(one_view(*views)).item() == pytest.approx(slow(loss, *views))


def test_the_loss_of_two_views_is_the_mean_with_contexts_of_the_other_view() -> None:
    """MVGRL: patches of one view, contexts of the other."""
    loss, (a, b, fake_a, fake_b) = bilinear(4), random_rows(4, 6, 4)
    batch = Batch([a, b], None, np.random.default_rng(0), [fake_a, fake_b])
    expected = (slow(loss, a, b, fake_a) + slow(loss, b, a, fake_b)) / 2
    assert loss(batch).item() == pytest.approx(expected)


def test_gradients_equal_finite_differences() -> None:
    assert gradients_are_right(bilinear(4), one_view, random_rows(3, 6, 4))


def test_an_expanded_context_gives_the_same_result_as_a_repeated_one() -> None:
    loss, (patch, context, negative) = bilinear(4), random_rows(3, 6, 4)
    summary = context[:1].detach().requires_grad_()
    inputs = (patch, summary, negative, *loss.parameters())
    results = []
    for rows in (summary.expand(6, 4), summary.repeat(6, 1)):
        value = loss(one_view(patch, rows, negative))
        results.append((value.detach(), *torch.autograd.grad(value, inputs)))
    torch.testing.assert_close(*results)


@pytest.mark.parametrize("expanded", [True, False])
def test_a_global_context_equals_its_explicit_expansion(expanded: bool) -> None:
    """Value and gradients, of the rows that the summary is computed from as well."""
    loss, (patch, hidden, negative) = bilinear(4), random_rows(3, 6, 4)
    inputs = (patch, hidden, negative, *loss.parameters())
    results = []
    for global_context in (True, False):
        mean = hidden.mean(dim=0)
        context = mean.expand(6, 4) if expanded else mean.repeat(6, 1)
        batch = batch_of((patch, context), negatives=[negative], global_context=global_context)
        value = loss(batch)
        results.append((value.detach(), *torch.autograd.grad(value, inputs)))
    torch.testing.assert_close(*results)
    summaries = hidden.mean(dim=0).expand(6, 4)
    assert results[0][0].item() == pytest.approx(slow(loss, patch, summaries, negative))


def test_a_global_context_is_transformed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    shapes: list[torch.Size] = []
    sigmoid = torch.sigmoid

    def record(rows: torch.Tensor) -> torch.Tensor:
        shapes.append(rows.shape)
        return sigmoid(rows)

    monkeypatch.setattr(torch, "sigmoid", record)
    loss, (patch, context, negative) = bilinear(4), random_rows(3, 6, 4)
    for global_context in (True, False):
        loss(batch_of((patch, context), negatives=[negative], global_context=global_context))
    assert shapes == [(1, 4), (6, 4)]


def test_the_discriminator_is_initialised_within_the_bound_of_the_public_code() -> None:
    """Representations of zeros have the loss log 2."""
    loss = BilinearJSD(30, torch.Generator().manual_seed(0))
    bound = math.sqrt(6 / (30 * 30 + 30))
    assert 0.95 * bound < loss.weight.abs().max().item() <= bound
    assert loss.bias.item() == 0
    zeros = torch.zeros(5, 30)
    assert loss(one_view(zeros, zeros, zeros)).item() == pytest.approx(math.log(2))


def test_is_finite_where_the_discriminator_is_certain() -> None:
    loss = bilinear(3).float()
    far = torch.full((4, 3), 1e4, requires_grad=True)
    total = loss(one_view(far, far, -far)) + loss(one_view(-far, far, far))
    total.backward()
    assert torch.isfinite(total)
    assert far.grad is not None
    assert torch.isfinite(far.grad).all()
