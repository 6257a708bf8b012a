from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from ugcl.objectives import BilinearJSD, Bootstrap, Objective

import reference

RNG = np.random.default_rng(0)  # neither objective draws anything


def rows(count: int, size: int, width: int, seed: int = 0) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    drawn = torch.randn(count, size, width, generator=generator, dtype=torch.float64)
    return [view.requires_grad_() for view in drawn]


def bilinear(width: int, seed: int = 0) -> BilinearJSD:
    """With weights and a bias that are far from zero."""
    generator = torch.Generator().manual_seed(seed)
    objective = BilinearJSD(width, generator).double()
    with torch.no_grad():
        objective.weight.normal_(generator=generator)
        objective.bias.fill_(0.3)
    return objective


def bootstrap(width: int, seed: int = 0) -> Bootstrap:
    generator = torch.Generator().manual_seed(seed)
    return Bootstrap(width, predictor=5, generator=generator).double()


def sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def slow_dgi(
    objective: BilinearJSD, patch: np.ndarray, context: np.ndarray, corrupted: np.ndarray
) -> float:
    """DGI's Equation 1, node by node: binary cross entropy of real and corrupted nodes."""
    weight, bias = objective.weight.detach().numpy(), objective.bias.item()
    total = 0.0
    for h, c, fake in zip(patch, context, corrupted, strict=True):
        summary = np.array([sigmoid(x) for x in c])
        total += math.log(sigmoid(h @ weight @ summary + bias))
        total += math.log(1 - sigmoid(fake @ weight @ summary + bias))
    return -total / (2 * len(patch))


def slow_bgrl(objective: Bootstrap, patch: np.ndarray, context: np.ndarray) -> float:
    """BGRL's Equation 3, node by node, shifted by 2 so that a perfect prediction is 0."""
    first, second = (value.detach().numpy() for value in objective.predictor.weights)
    bias, shift = (value.detach().numpy() for value in objective.predictor.biases)
    slope = objective.predictor.activation.weight.item()
    total = 0.0
    for h, c in zip(patch, context, strict=True):
        hidden = first @ h + bias
        prediction = second @ np.where(hidden > 0, hidden, slope * hidden) + shift
        total += reference.cosine(prediction, c)
    return 2 - 2 * total / len(patch)


def gradients_are_right(
    objective: Objective, views: list[torch.Tensor], *, corrupted: torch.Tensor | None = None
) -> bool:
    """Of a pair of views, of the corrupted view if there is one, and of all parameters."""
    names, values = zip(*objective.named_parameters(), strict=True)
    inputs = [*views] if corrupted is None else [*views, corrupted]

    def loss(*held: torch.Tensor) -> torch.Tensor:
        parameters = dict(zip(names, held[-len(names) :], strict=True))
        patch, context, *others = held[: -len(names)]
        pairs = [(patch, context)]
        return torch.func.functional_call(objective, parameters, (pairs, others, RNG), strict=True)

    return torch.autograd.gradcheck(loss, (*inputs, *values))


@given(size=st.integers(1, 8), width=st.integers(1, 5), seed=st.integers(0, 1000))
def test_dgis_loss_equals_its_equation_node_by_node(size: int, width: int, seed: int) -> None:
    objective, views = bilinear(width, seed), rows(3, size, width, seed)
    patch, context, corrupted = views
    loss = objective.contrast(patch, context, corrupted, RNG).item()
    expected = slow_dgi(objective, *(view.detach().numpy() for view in views))
    assert loss == pytest.approx(expected)


def test_gradients_of_dgis_loss_equal_finite_differences() -> None:
    patch, context, corrupted = rows(3, 6, 4)
    assert gradients_are_right(bilinear(4), [patch, context], corrupted=corrupted)


def test_a_summary_whose_rows_share_memory_is_the_same_rows_written_out() -> None:
    objective = bilinear(4)
    patch, context, corrupted = rows(3, 6, 4)
    summary = context[:1].detach().requires_grad_()
    wanted = (patch, summary, corrupted, *objective.parameters())
    found = []
    for shared in (summary.expand(6, 4), summary.repeat(6, 1)):
        loss = objective.contrast(patch, shared, corrupted, RNG)
        found.append((loss.detach(), *torch.autograd.grad(loss, wanted)))
    torch.testing.assert_close(*found)


def test_dgis_discriminator_starts_within_the_bound_of_the_public_code() -> None:
    """Where it knows nothing the loss is log 2."""
    objective = BilinearJSD(30, torch.Generator().manual_seed(0))
    bound = math.sqrt(6 / (30 * 30 + 30))
    assert 0.95 * bound < objective.weight.abs().max().item() <= bound
    assert objective.bias.item() == 0
    zeros = torch.zeros(5, 30)
    loss = objective.contrast(zeros, zeros, zeros, RNG)
    assert loss.item() == pytest.approx(math.log(2))


def test_dgis_loss_is_finite_where_the_discriminator_is_certain() -> None:
    objective = bilinear(3).float()
    far = torch.full((4, 3), 1e4, requires_grad=True)
    loss = objective.contrast(far, far, -far, RNG) + objective.contrast(-far, far, far, RNG)
    loss.backward()
    assert torch.isfinite(loss)
    assert far.grad is not None
    assert torch.isfinite(far.grad).all()


@given(size=st.integers(1, 8), width=st.integers(1, 5), seed=st.integers(0, 1000))
def test_bgrls_loss_equals_its_equation_node_by_node(size: int, width: int, seed: int) -> None:
    objective = bootstrap(width, seed)
    patch, context = rows(2, size, width, seed)
    loss = objective.contrast(patch, context, None, RNG).item()
    expected = slow_bgrl(objective, patch.detach().numpy(), context.detach().numpy())
    assert loss == pytest.approx(expected, abs=1e-12)


def test_both_directions_of_bgrl_are_2_minus_two_mean_cosines() -> None:
    objective = bootstrap(4)
    first, second = rows(2, 6, 4)
    a, b = first.detach().numpy(), second.detach().numpy()
    cosines = (2 - slow_bgrl(objective, a, b)) / 2 + (2 - slow_bgrl(objective, b, a)) / 2
    loss = objective([(first, second), (second, first)], (), RNG).item()
    assert loss == pytest.approx(2 - cosines)


def test_gradients_of_bgrls_loss_equal_finite_differences() -> None:
    patch, context = rows(2, 6, 4)
    assert gradients_are_right(bootstrap(4), [patch, context.detach()])


def test_bgrls_target_gets_no_gradient() -> None:
    objective = bootstrap(4)
    patch, context = rows(2, 6, 4)
    objective.contrast(patch, context, None, RNG).backward()
    assert context.grad is None
    for value in (patch, *objective.parameters()):
        assert value.grad is not None
        assert value.grad.abs().max() > 0


@given(scale=st.floats(1e-3, 1e3))
def test_bgrls_loss_does_not_see_lengths_of_targets(scale: float) -> None:
    objective = bootstrap(4)
    patch, context = rows(2, 6, 4)
    loss = objective.contrast(patch, scale * context, None, RNG).item()
    assert loss == pytest.approx(objective.contrast(patch, context, None, RNG).item())


def test_bgrls_shared_target_rows_are_the_same_rows_written_out() -> None:
    objective = bootstrap(4)
    patch, context = rows(2, 6, 4)
    row = context[:1].detach()
    losses = [
        objective.contrast(patch, shared, None, RNG)
        for shared in (row.expand(6, 4), row.repeat(6, 1))
    ]
    torch.testing.assert_close(*losses)
    assert losses[0].item() != pytest.approx(objective.contrast(patch, context, None, RNG).item())
