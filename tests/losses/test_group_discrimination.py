from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from batches import batch_of, gradients_are_right, random_rows
from ugcl.losses import Batch, GroupDiscrimination, Pair

SEEDS = st.integers(0, 1000)


def group(width: int, seed: int = 0) -> GroupDiscrimination:
    return GroupDiscrimination(width, torch.Generator().manual_seed(seed)).double()


def one_view(patch: torch.Tensor, context: torch.Tensor, negative: torch.Tensor) -> Batch:
    return batch_of((patch, context), negatives=[negative])


def slow(loss: GroupDiscrimination, context: torch.Tensor, negative: torch.Tensor) -> float:
    """GGD's Equation 5, node by node: binary cross entropy of the summed projection."""
    weight, bias = loss.weight.detach().numpy(), loss.bias.detach().numpy()

    def probability(c: np.ndarray) -> float:
        projection = [sum(weight[i] * c) + bias[i] for i in range(len(bias))]
        return 1 / (1 + math.exp(-sum(projection)))

    total = 0.0
    for real, fake in zip(context.detach().numpy(), negative.detach().numpy(), strict=True):
        total += math.log(probability(real)) + math.log(1 - probability(fake))
    return -total / (2 * len(context))


@given(size=st.integers(1, 8), width=st.integers(1, 5), seed=SEEDS)
def test_equals_equation_5_of_ggd_node_by_node(size: int, width: int, seed: int) -> None:
    loss, (patch, context, negative) = group(width, seed), random_rows(3, size, width, seed)
    value = loss(one_view(patch, context, negative)).item()
    assert value == pytest.approx(slow(loss, context, negative))


@pytest.mark.parametrize(("size", "width"), [(2, 1), (6, 4)])
def test_gradients_equal_finite_differences(size: int, width: int) -> None:
    patch, context, negative = random_rows(3, size, width)
    loss = group(width)
    assert [name for name, _ in loss.named_parameters()] == ["weight", "bias"]
    assert gradients_are_right(
        loss, lambda real, fake: one_view(patch, real, fake), [context, negative]
    )


def test_contexts_of_both_graphs_are_classified_and_patches_are_not_used() -> None:
    loss, (context, negative) = group(4), random_rows(2, 6, 4)
    assert loss.contextual_negatives
    unused = torch.full((6, 4), math.nan)
    value = loss(one_view(unused, context, negative))
    real_grad, fake_grad = torch.autograd.grad(value, (context, negative))
    direction = loss.weight.sum(dim=0)
    assert (real_grad @ direction < 0).all()
    assert (fake_grad @ direction > 0).all()


def test_several_pairs_have_the_mean_of_their_losses() -> None:
    loss, (first, second, third, fourth) = group(4), random_rows(4, 6, 4)
    expected = [slow(loss, second, third), slow(loss, first, fourth)]
    for batch in (
        batch_of((first, second), (second, first), negatives=[third, fourth]),
        Batch([first, second], None, np.random.default_rng(0), [third, fourth]),
    ):
        assert loss(batch).item() == pytest.approx(np.mean(expected))


def test_each_pair_has_the_negatives_of_its_own_view() -> None:
    seen: list[Pair] = []

    class Recorded(GroupDiscrimination):
        def pair_loss(self, pair: Pair, batch: Batch) -> torch.Tensor:
            seen.append(pair)
            return super().pair_loss(pair, batch)

    loss = Recorded(4, torch.Generator().manual_seed(0)).double()
    first, second, third, fourth = random_rows(4, 6, 4)
    loss(batch_of((first, second), (second, first), negatives=[third, fourth]))
    torch.testing.assert_close(seen, [Pair(first, second, third), Pair(second, first, fourth)])


@given(seed=SEEDS)
def test_is_invariant_to_the_order_of_negatives(seed: int) -> None:
    loss, (patch, context, negative) = group(4, seed), random_rows(3, 7, 4, seed)
    order = torch.from_numpy(np.random.default_rng(seed).permutation(7))
    value = loss(one_view(patch, context, negative)).item()
    permuted = loss(one_view(patch, context, negative[order])).item()
    assert permuted == pytest.approx(value)


def test_is_initialised_like_a_linear_layer() -> None:
    """Both uniform within one over the root of the width; for zero contexts only b matters."""
    loss = GroupDiscrimination(30, torch.Generator().manual_seed(0))
    again = GroupDiscrimination(30, torch.Generator().manual_seed(0))
    for value, same in zip(loss.parameters(), again.parameters(), strict=True):
        assert 0.9 / math.sqrt(30) < value.abs().max() <= 1 / math.sqrt(30)
        assert value.min() < 0 < value.max()
        assert torch.equal(value, same)
    zeros = torch.zeros(5, 30)
    offset = loss.bias.sum().item()
    value = loss(one_view(zeros, zeros, zeros)).item()
    expected = (math.log(1 + math.exp(-offset)) + math.log(1 + math.exp(offset))) / 2
    assert value == pytest.approx(expected)


def test_an_expanded_context_gives_the_same_result_as_a_repeated_one() -> None:
    loss, (patch, context, negative) = group(4), random_rows(3, 6, 4)
    row = context[:1].detach().requires_grad_()
    inputs = (row, negative, *loss.parameters())
    results = []
    for rows in (row.expand(6, 4), row.repeat(6, 1)):
        value = loss(one_view(patch, rows, negative))
        results.append((value.detach(), *torch.autograd.grad(value, inputs)))
    torch.testing.assert_close(*results)


def test_is_finite_where_nodes_are_classified_with_certainty() -> None:
    loss = group(3).float()
    far = torch.full((4, 3), 1e4).requires_grad_()
    total = loss(one_view(far, far, -far)) + loss(one_view(far, -far, far))
    (gradient,) = torch.autograd.grad(total, far)
    assert torch.isfinite(total)
    assert torch.isfinite(gradient).all()
