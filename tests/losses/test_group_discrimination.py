from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from ugcl.objectives import GroupDiscrimination

RNG = np.random.default_rng(0)  # the objective draws nothing
SEEDS = st.integers(0, 1000)


def rows(count: int, size: int, width: int, seed: int = 0) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    drawn = torch.randn(count, size, width, generator=generator, dtype=torch.float64)
    return [view.requires_grad_() for view in drawn]


def group(width: int, seed: int = 0) -> GroupDiscrimination:
    return GroupDiscrimination(width, torch.Generator().manual_seed(seed)).double()


def slow(objective: GroupDiscrimination, context: torch.Tensor, corrupted: torch.Tensor) -> float:
    """GGD's Equation 5, node by node: binary cross entropy of the summed projection."""
    weight, bias = objective.weight.detach().numpy(), objective.bias.detach().numpy()

    def certainty(c: np.ndarray) -> float:
        projection = [sum(weight[i] * c) + bias[i] for i in range(len(bias))]
        return 1 / (1 + math.exp(-sum(projection)))

    total = 0.0
    for real, fake in zip(context.detach().numpy(), corrupted.detach().numpy(), strict=True):
        total += math.log(certainty(real)) + math.log(1 - certainty(fake))
    return -total / (2 * len(context))


@given(size=st.integers(1, 8), width=st.integers(1, 5), seed=SEEDS)
def test_equals_equation_5_of_ggd_node_by_node(size: int, width: int, seed: int) -> None:
    objective = group(width, seed)
    patch, context, corrupted = rows(3, size, width, seed)
    loss = objective.contrast(patch, context, corrupted, RNG).item()
    assert loss == pytest.approx(slow(objective, context, corrupted))


@pytest.mark.parametrize(("size", "width"), [(2, 1), (6, 4)])
def test_gradients_equal_finite_differences(size: int, width: int) -> None:
    objective = group(width)
    names, values = zip(*objective.named_parameters(), strict=True)
    patch, context, corrupted = rows(3, size, width)

    def loss(real: torch.Tensor, fake: torch.Tensor, *held: torch.Tensor) -> torch.Tensor:
        parameters = dict(zip(names, held, strict=True))
        pairs = [(patch, real)]
        found: torch.Tensor = torch.func.functional_call(
            objective, parameters, (pairs, [fake], RNG), strict=True
        )
        return found

    assert names == ("weight", "bias")
    assert torch.autograd.gradcheck(loss, (context, corrupted, *values))


def test_corrupted_contexts_are_told_from_contexts_and_patches_are_not_seen() -> None:
    objective = group(4)
    assert objective.of_contexts
    context, corrupted = rows(2, 6, 4)
    unseen = torch.full((6, 4), math.nan)
    loss = objective.contrast(unseen, context, corrupted, RNG)
    of_real, of_fake = torch.autograd.grad(loss, (context, corrupted))
    direction = objective.weight.sum(dim=0)
    assert (of_real @ direction < 0).all()
    assert (of_fake @ direction > 0).all()


def test_several_pairs_have_the_mean_of_their_losses() -> None:
    objective = group(4)
    first, second, third, fourth = rows(4, 6, 4)
    loss = objective([(first, second), (second, first)], [third, fourth], RNG).item()
    expected = [slow(objective, second, third), slow(objective, first, fourth)]
    assert loss == pytest.approx(np.mean(expected))


def test_each_pair_is_given_its_own_corrupted_contexts() -> None:
    seen: list[tuple[torch.Tensor | None, ...]] = []

    class Recorded(GroupDiscrimination):
        def contrast(
            self,
            patch: torch.Tensor,
            context: torch.Tensor,
            corrupted: torch.Tensor | None,
            rng: np.random.Generator,
        ) -> torch.Tensor:
            seen.append((patch, context, corrupted))
            return super().contrast(patch, context, corrupted, rng)

    objective = Recorded(4, torch.Generator().manual_seed(0)).double()
    first, second, third, fourth = rows(4, 6, 4)
    objective([(first, second), (second, first)], [third, fourth], RNG)
    torch.testing.assert_close(seen, [(first, second, third), (second, first, fourth)])


@given(seed=SEEDS)
def test_does_not_see_which_node_is_which(seed: int) -> None:
    objective = group(4, seed)
    patch, context, corrupted = rows(3, 7, 4, seed)
    order = torch.from_numpy(np.random.default_rng(seed).permutation(7))
    loss = objective.contrast(patch, context, corrupted, RNG).item()
    moved = objective.contrast(patch, context, corrupted[order], RNG).item()
    assert moved == pytest.approx(loss)


def test_starts_as_a_linear_layer_does() -> None:
    """Both uniform within one over the root of the width; where c is zero only b is seen."""
    objective = GroupDiscrimination(30, torch.Generator().manual_seed(0))
    again = GroupDiscrimination(30, torch.Generator().manual_seed(0))
    for value, same in zip(objective.parameters(), again.parameters(), strict=True):
        assert 0.9 / math.sqrt(30) < value.abs().max() <= 1 / math.sqrt(30)
        assert value.min() < 0 < value.max()
        assert torch.equal(value, same)
    zeros = torch.zeros(5, 30)
    offset = objective.bias.sum().item()
    loss = objective.contrast(zeros, zeros, zeros, RNG).item()
    expected = (math.log(1 + math.exp(-offset)) + math.log(1 + math.exp(offset))) / 2
    assert loss == pytest.approx(expected)


def test_contexts_whose_rows_share_memory_are_the_same_rows_written_out() -> None:
    objective = group(4)
    patch, context, corrupted = rows(3, 6, 4)
    row = context[:1].detach().requires_grad_()
    wanted = (row, corrupted, *objective.parameters())
    found = []
    for shared in (row.expand(6, 4), row.repeat(6, 1)):
        loss = objective.contrast(patch, shared, corrupted, RNG)
        found.append((loss.detach(), *torch.autograd.grad(loss, wanted)))
    torch.testing.assert_close(*found)


def test_is_finite_where_nodes_are_told_with_certainty() -> None:
    objective = group(3).float()
    far = torch.full((4, 3), 1e4).requires_grad_()
    losses = objective.contrast(far, far, -far, RNG) + objective.contrast(far, -far, far, RNG)
    (gradient,) = torch.autograd.grad(losses, far)
    assert torch.isfinite(losses)
    assert torch.isfinite(gradient).all()
