from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from ugcl.objectives import Correlation, correlation

RNG = np.random.default_rng(0)  # the objective draws nothing
SEEDS = st.integers(0, 1000)
WEIGHTS = st.floats(0.01, 3)

Pairs = Sequence[tuple[torch.Tensor, torch.Tensor]]


def views(count: int, size: int, width: int, seed: int = 0) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    drawn = torch.randn(count, size, width, generator=generator, dtype=torch.float64)
    return [view.requires_grad_() for view in drawn]


def loss_of(weight: float, pairs: Pairs) -> torch.Tensor:
    loss: torch.Tensor = Correlation(weight)(pairs, (), RNG)
    return loss


def slow_standard(rows: torch.Tensor) -> np.ndarray:
    """Columns of mean 0 and deviation 1, one by one."""
    columns = []
    for column in rows.detach().numpy().T:
        mean = sum(column) / len(column)
        variance = sum((x - mean) ** 2 for x in column) / (len(column) - 1)
        columns.append([(x - mean) / math.sqrt(variance) for x in column])
    return np.array(columns).T


def slow_repetition(z: np.ndarray) -> float:
    size, width = z.shape
    total = 0.0
    for i in range(width):
        for j in range(width):
            product = sum(z[v, i] * z[v, j] for v in range(size)) / size
            total += ((i == j) - product) ** 2
    return total


def slow(patch: torch.Tensor, context: torch.Tensor, weight: float) -> float:
    """CCA-SSG's Equation 4 in the scale of the authors' code, entry by entry."""
    u, c = slow_standard(patch), slow_standard(context)
    size, width = u.shape
    agreement = sum(u[v, i] * c[v, i] for v in range(size) for i in range(width)) / size
    return float(-agreement + weight * (slow_repetition(u) + slow_repetition(c)))


def white(size: int, width: int, seed: int = 0) -> torch.Tensor:
    """Columns of mean 0 that are orthogonal to one another."""
    (rows,) = views(1, size, width, seed)
    basis: torch.Tensor = torch.linalg.qr(rows.detach() - rows.detach().mean(dim=0)).Q
    return basis.requires_grad_()


@given(size=st.integers(2, 9), width=st.integers(1, 5), seed=SEEDS, weight=WEIGHTS)
def test_equals_equation_4_of_cca_ssg_entry_by_entry(
    size: int, width: int, seed: int, weight: float
) -> None:
    patch, context = views(2, size, width, seed)
    loss = loss_of(weight, [(patch, context)]).item()
    assert loss == pytest.approx(slow(patch, context, weight))


@given(size=st.integers(3, 7), seed=SEEDS, weight=WEIGHTS)
def test_several_pairs_have_the_mean_of_their_losses(size: int, seed: int, weight: float) -> None:
    """However often a view is among them, and whether or not it is one tensor."""
    a, b, c = views(3, size, 2, seed)
    several: list[Pairs] = [[(a, b), (b, a)], [(a, b), (b, c), (c, a)], [(a, a)], [(a, b), (a, c)]]
    for pairs in several:
        expected = np.mean([slow(patch, context, weight) for patch, context in pairs])
        assert loss_of(weight, pairs).item() == pytest.approx(expected)
        copies = [(patch.clone(), context.clone()) for patch, context in pairs]
        assert loss_of(weight, copies).item() == pytest.approx(expected)


def test_the_columns_of_a_view_are_compared_once(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[torch.Tensor] = []

    def kept(rows: torch.Tensor) -> float:
        compared.append(rows)
        return 0

    monkeypatch.setattr(correlation, "_repetition", kept)
    a, b, c = views(3, 6, 3)
    loss_of(1, [(a, b), (b, c), (c, a)])
    torch.testing.assert_close(compared, [Correlation(1).project(rows) for rows in (a, b, c)])


@pytest.mark.parametrize(("size", "width"), [(3, 1), (7, 3)])
def test_gradients_equal_finite_differences(size: int, width: int) -> None:
    def loss(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return loss_of(0.3, [(a, b), (b, a)])

    a, b = views(2, size, width)
    assert torch.autograd.gradcheck(loss, (a, b))
    assert torch.autograd.gradcheck(lambda one: loss_of(0.3, [(one, b.detach())]), a)
    assert torch.autograd.gradcheck(lambda one: loss_of(0.3, [(one, one)]), a)


def test_two_rows_are_told_apart_and_no_more() -> None:
    """Each column is then one half of the root of 2 up or down, and nothing moves it."""
    patch, context = views(2, 2, 3)
    z = Correlation(1).project(patch)
    torch.testing.assert_close(z.abs(), torch.full_like(z, math.sqrt(0.5)))
    for gradient in torch.autograd.grad(loss_of(1, [(patch, context)]), (patch, context)):
        assert gradient.abs().max() < 1e-9


@given(size=st.integers(2, 9), width=st.integers(1, 5), seed=SEEDS)
def test_projected_columns_have_mean_0_and_deviation_1(size: int, width: int, seed: int) -> None:
    (rows,) = views(1, size, width, seed)
    z = Correlation(1).project(5 + 3 * rows)
    torch.testing.assert_close(z.mean(dim=0), torch.zeros(width, dtype=torch.float64))
    torch.testing.assert_close(z.std(dim=0), torch.ones(width, dtype=torch.float64))


@given(seed=SEEDS, scale=st.floats(1e-3, 1e3), shift=st.floats(-10, 10), data=st.data())
def test_does_not_see_shifts_and_lengths_of_columns(
    seed: int, scale: float, shift: float, data: st.DataObject
) -> None:
    patch, context = views(2, 8, 3, seed)
    column = data.draw(st.integers(0, 2))
    moved = patch.detach().clone()
    moved[:, column] = scale * (moved[:, column] + shift)
    loss = loss_of(0.5, [(patch, context)]).item()
    assert loss_of(0.5, [(moved, context)]).item() == pytest.approx(loss)
    assert loss_of(0.5, [(context, moved)]).item() == pytest.approx(loss)


@given(seed=SEEDS)
def test_does_not_see_the_order_of_nodes_but_which_is_which(seed: int) -> None:
    patch, context = views(2, 8, 3, seed)
    order = torch.from_numpy(np.random.default_rng(seed).permutation(8))
    loss = loss_of(0.5, [(patch[order], context[order])]).item()
    assert loss == pytest.approx(loss_of(0.5, [(patch, context)]).item())
    aligned, rolled = (loss_of(0.5, [(patch, patch.roll(by, dims=0))]).item() for by in (0, 1))
    assert aligned < rolled


@given(seed=SEEDS)
def test_sees_the_sign_of_a_column_in_one_view_alone(seed: int) -> None:
    (patch,) = views(1, 8, 3, seed)
    signs = torch.tensor([1.0, -1.0, 1.0])
    loss = loss_of(0.5, [(patch, patch)]).item()
    assert loss_of(0.5, [(signs * patch, signs * patch)]).item() == pytest.approx(loss)
    assert loss_of(0.5, [(patch, signs * patch)]).item() == pytest.approx(loss + 2 * 7 / 8)


@given(size=st.integers(4, 9), width=st.integers(1, 3), seed=SEEDS, weight=WEIGHTS)
def test_is_least_where_views_agree_and_columns_do_not_repeat_one_another(
    size: int, width: int, seed: int, weight: float
) -> None:
    """`-D (S - 1) / S + 2 lambda D / S^2`, the deviation being that of a sample."""
    least = -width * (size - 1) / size + 2 * weight * width / size**2
    basis = white(size, width, seed)
    loss = loss_of(weight, [(basis, 3 * basis + 1)])
    (gradient,) = torch.autograd.grad(loss, basis)
    assert loss.item() == pytest.approx(least)
    assert gradient.abs().max() < 1e-9
    patch, context = views(2, size, width, seed)
    for pair in ((patch, context), (patch, patch)):
        assert loss_of(weight, [pair]).item() > least - 1e-12


@pytest.mark.parametrize("value", [0.0, 1.0, -0.3])
def test_a_constant_column_is_left_out(value: float) -> None:
    """It agrees with nothing, repeats nothing, and costs its one of the identity."""
    patch, context = views(2, 6, 3)
    constant = torch.full((6, 1), value, dtype=torch.float64)
    wider = [torch.cat([rows.detach(), constant], dim=1) for rows in (patch, context)]
    wider = [rows.requires_grad_() for rows in wider]
    loss, without = loss_of(0.5, [(wider[0], wider[1])]), loss_of(0.5, [(patch, context)])
    assert loss.item() == pytest.approx(without.item() + 2 * 0.5)
    found = torch.autograd.grad(loss, wider)
    expected = torch.autograd.grad(without, (patch, context))
    for gradient, of_others in zip(found, expected, strict=True):
        torch.testing.assert_close(gradient[:, :3], of_others)
        assert not gradient[:, 3].any()


@pytest.mark.parametrize("size", [1, 5])
def test_views_without_anything_that_varies_cost_the_identity(size: int) -> None:
    ones = torch.ones(size, 3, requires_grad=True)
    loss = loss_of(0.5, [(ones, 2 * ones)])
    (gradient,) = torch.autograd.grad(loss, ones)
    assert loss.item() == pytest.approx(2 * 3 * 0.5)
    assert not gradient.any()


def test_contexts_whose_rows_share_memory_are_the_same_rows_written_out() -> None:
    patch, context = views(2, 6, 3)
    row = context[:1].detach()
    found = []
    for rows in (row.expand(6, 3), row.repeat(6, 1)):
        loss = loss_of(0.5, [(patch, rows)])
        found.append((loss.detach(), *torch.autograd.grad(loss, patch)))
    torch.testing.assert_close(*found)


@pytest.mark.parametrize("size", [2, 7, 1001])
@pytest.mark.parametrize("value", [0.0, 0.1, 10.1, 1000.1])
def test_a_constant_column_is_one_in_float32_too(size: int, value: float) -> None:
    rows = torch.stack([torch.full((size,), value), torch.arange(size) * 1e-3], dim=1)
    found = Correlation(1.0).project(rows)
    assert found[:, 0].abs().max() == 0
    assert found[:, 1].std().item() == pytest.approx(1)


def test_a_column_may_be_small() -> None:
    rows = 1e-9 * torch.randn(20, 1, generator=torch.Generator().manual_seed(0))
    assert Correlation(1.0).project(rows).std().item() == pytest.approx(1)
