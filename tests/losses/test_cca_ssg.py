from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from batches import Pair, batch_of, random_rows
from ugcl.losses import Batch, CCASSGLoss, cca_ssg
from ugcl.nn import plain_formulas

SEEDS = st.integers(0, 1000)
WEIGHTS = st.floats(0.01, 3)


def loss_of(weight: float, *pairs: Pair) -> torch.Tensor:
    loss: torch.Tensor = CCASSGLoss(weight)(batch_of(*pairs))
    return loss


def slow_standard(rows: torch.Tensor) -> np.ndarray:
    """Columns of mean 0 and deviation 1, one by one."""
    columns = []
    for column in rows.detach().numpy().T:
        mean = sum(column) / len(column)
        variance = sum((x - mean) ** 2 for x in column) / (len(column) - 1)
        columns.append([(x - mean) / math.sqrt(variance) for x in column])
    return np.array(columns).T


def slow_redundancy(z: np.ndarray) -> float:
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
    invariance = sum(u[v, i] * c[v, i] for v in range(size) for i in range(width)) / size
    return float(-invariance + weight * (slow_redundancy(u) + slow_redundancy(c)))


def white(size: int, width: int, seed: int = 0) -> torch.Tensor:
    """Orthogonal columns of mean 0."""
    (rows,) = random_rows(1, size, width, seed)
    basis: torch.Tensor = torch.linalg.qr(rows.detach() - rows.detach().mean(dim=0)).Q
    return basis.requires_grad_()


@given(size=st.integers(2, 9), width=st.integers(1, 5), seed=SEEDS, weight=WEIGHTS)
def test_equals_equation_4_of_cca_ssg_entry_by_entry(
    size: int, width: int, seed: int, weight: float
) -> None:
    patch, context = random_rows(2, size, width, seed)
    loss = loss_of(weight, (patch, context)).item()
    assert loss == pytest.approx(slow(patch, context, weight))


@given(size=st.integers(3, 7), seed=SEEDS, weight=WEIGHTS)
def test_several_pairs_have_the_mean_of_their_losses(size: int, seed: int, weight: float) -> None:
    """However often a view is among them, and whether or not it is one tensor."""
    a, b, c = random_rows(3, size, 2, seed)
    several: list[list[Pair]] = [
        [(a, b), (b, a)],
        [(a, b), (b, c), (c, a)],
        [(a, a)],
        [(a, b), (a, c)],
    ]
    for pairs in several:
        expected = np.mean([slow(patch, context, weight) for patch, context in pairs])
        assert loss_of(weight, *pairs).item() == pytest.approx(expected)
        copies = [(patch.clone(), context.clone()) for patch, context in pairs]
        assert loss_of(weight, *copies).item() == pytest.approx(expected)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_patches_as_contexts_are_pairs_of_consecutive_views(count: int) -> None:
    rows = random_rows(count, 5, 2)
    loss = CCASSGLoss(0.5)(Batch(rows, None, np.random.default_rng(0)))
    pairs = list(zip(rows, [*rows[1:], rows[0]], strict=True))
    expected = loss_of(0.5, *pairs)
    assert loss.item() == pytest.approx(expected.item())
    torch.testing.assert_close(torch.autograd.grad(loss, rows), torch.autograd.grad(expected, rows))


def test_the_redundancy_of_a_view_is_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[torch.Tensor] = []

    def record(rows: torch.Tensor) -> torch.Tensor:
        seen.append(rows)
        return rows.new_zeros(())

    monkeypatch.setattr(cca_ssg, "_redundancy", record)
    loss, (a, b, c) = CCASSGLoss(1), random_rows(3, 6, 3)
    loss(Batch([a, b, c], None, np.random.default_rng(0)))
    torch.testing.assert_close(seen, [loss.project(rows) for rows in (a, b, c)])


@pytest.mark.parametrize(("size", "width"), [(3, 1), (7, 3)])
def test_gradients_equal_finite_differences(size: int, width: int) -> None:
    def loss(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return loss_of(0.3, (a, b), (b, a))

    a, b = random_rows(2, size, width)
    assert torch.autograd.gradcheck(loss, (a, b))
    assert torch.autograd.gradcheck(lambda one: loss_of(0.3, (one, b.detach())), a)
    assert torch.autograd.gradcheck(lambda one: loss_of(0.3, (one, one)), a)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_the_kernels_equal_the_plain_formulas(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """In strips of rows, the last of them smaller, and with a constant column."""
    monkeypatch.setattr(cca_ssg, "STRIP", 4)
    rows = random_rows(count, 11, 3)
    results = []
    for plain in (True, False):
        views = [torch.cat([each, torch.ones_like(each[:, :1])], dim=1) for each in rows]
        with plain_formulas(plain):
            loss = CCASSGLoss(0.5)(Batch(views, None, np.random.default_rng(0)))
            results.append((loss.detach(), *torch.autograd.grad(loss, rows)))
    torch.testing.assert_close(*results)


def test_two_rows_have_standardised_columns_without_gradient() -> None:
    """Each entry is plus or minus the root of 1/2, whatever the rows are."""
    patch, context = random_rows(2, 2, 3)
    z = CCASSGLoss(1).project(patch)
    torch.testing.assert_close(z.abs(), torch.full_like(z, math.sqrt(0.5)))
    for gradient in torch.autograd.grad(loss_of(1, (patch, context)), (patch, context)):
        assert gradient.abs().max() < 1e-9


@given(size=st.integers(2, 9), width=st.integers(1, 5), seed=SEEDS)
def test_projected_columns_have_mean_0_and_deviation_1(size: int, width: int, seed: int) -> None:
    (rows,) = random_rows(1, size, width, seed)
    z = CCASSGLoss(1).project(5 + 3 * rows)
    torch.testing.assert_close(z.mean(dim=0), torch.zeros(width, dtype=torch.float64))
    torch.testing.assert_close(z.std(dim=0), torch.ones(width, dtype=torch.float64))


@given(seed=SEEDS, scale=st.floats(1e-3, 1e3), shift=st.floats(-10, 10), data=st.data())
def test_is_invariant_to_shifts_and_scales_of_columns(
    seed: int, scale: float, shift: float, data: st.DataObject
) -> None:
    patch, context = random_rows(2, 8, 3, seed)
    column = data.draw(st.integers(0, 2))
    moved = patch.detach().clone()
    moved[:, column] = scale * (moved[:, column] + shift)
    loss = loss_of(0.5, (patch, context)).item()
    assert loss_of(0.5, (moved, context)).item() == pytest.approx(loss)
    assert loss_of(0.5, (context, moved)).item() == pytest.approx(loss)


@given(seed=SEEDS)
def test_is_invariant_to_the_order_of_nodes_but_not_to_their_pairing(seed: int) -> None:
    patch, context = random_rows(2, 8, 3, seed)
    order = torch.from_numpy(np.random.default_rng(seed).permutation(8))
    loss = loss_of(0.5, (patch[order], context[order])).item()
    assert loss == pytest.approx(loss_of(0.5, (patch, context)).item())
    aligned, rolled = (loss_of(0.5, (patch, patch.roll(by, dims=0))).item() for by in (0, 1))
    assert aligned < rolled


@given(seed=SEEDS)
def test_depends_on_the_sign_of_a_column_in_one_of_two_views(seed: int) -> None:
    (patch,) = random_rows(1, 8, 3, seed)
    signs = torch.tensor([1.0, -1.0, 1.0])
    loss = loss_of(0.5, (patch, patch)).item()
    assert loss_of(0.5, (signs * patch, signs * patch)).item() == pytest.approx(loss)
    assert loss_of(0.5, (patch, signs * patch)).item() == pytest.approx(loss + 2 * 7 / 8)


@given(size=st.integers(4, 9), width=st.integers(1, 3), seed=SEEDS, weight=WEIGHTS)
def test_is_minimal_where_views_agree_and_columns_are_uncorrelated(
    size: int, width: int, seed: int, weight: float
) -> None:
    """`-D (S - 1) / S + 2 lambda D / S^2`, with the sample standard deviation."""
    minimum = -width * (size - 1) / size + 2 * weight * width / size**2
    basis = white(size, width, seed)
    loss = loss_of(weight, (basis, 3 * basis + 1))
    (gradient,) = torch.autograd.grad(loss, basis)
    assert loss.item() == pytest.approx(minimum)
    assert gradient.abs().max() < 1e-9
    patch, context = random_rows(2, size, width, seed)
    for pair in ((patch, context), (patch, patch)):
        assert loss_of(weight, pair).item() > minimum - 1e-12


@pytest.mark.parametrize("value", [0.0, 1.0, -0.3])
def test_a_constant_column_counts_as_zeros(value: float) -> None:
    """It adds nothing but the 1 of the identity, and has no gradient."""
    patch, context = random_rows(2, 6, 3)
    constant = torch.full((6, 1), value, dtype=torch.float64)
    wider = [torch.cat([rows.detach(), constant], dim=1) for rows in (patch, context)]
    wider = [rows.requires_grad_() for rows in wider]
    loss, without = loss_of(0.5, (wider[0], wider[1])), loss_of(0.5, (patch, context))
    assert loss.item() == pytest.approx(without.item() + 2 * 0.5)
    gradients = torch.autograd.grad(loss, wider)
    expected = torch.autograd.grad(without, (patch, context))
    for gradient, other_columns in zip(gradients, expected, strict=True):
        torch.testing.assert_close(gradient[:, :3], other_columns)
        assert not gradient[:, 3].any()


@pytest.mark.parametrize("size", [1, 5])
def test_constant_views_have_the_redundancy_of_the_identity(size: int) -> None:
    ones = torch.ones(size, 3, requires_grad=True)
    loss = loss_of(0.5, (ones, 2 * ones))
    (gradient,) = torch.autograd.grad(loss, ones)
    assert loss.item() == pytest.approx(2 * 3 * 0.5)
    assert not gradient.any()


def test_an_expanded_context_gives_the_same_result_as_a_repeated_one() -> None:
    patch, context = random_rows(2, 6, 3)
    row = context[:1].detach()
    results = []
    for rows in (row.expand(6, 3), row.repeat(6, 1)):
        loss = loss_of(0.5, (patch, rows))
        results.append((loss.detach(), *torch.autograd.grad(loss, patch)))
    torch.testing.assert_close(*results)


@pytest.mark.parametrize("size", [2, 7, 1001])
@pytest.mark.parametrize("value", [0.0, 0.1, 10.1, 1000.1])
def test_a_constant_column_is_recognised_in_float32(size: int, value: float) -> None:
    rows = torch.stack([torch.full((size,), value), torch.arange(size) * 1e-3], dim=1)
    standardised = CCASSGLoss(1.0).project(rows)
    assert standardised[:, 0].abs().max() == 0
    assert standardised[:, 1].std().item() == pytest.approx(1)


def test_a_small_column_is_standardised() -> None:
    rows = 1e-9 * torch.randn(20, 1, generator=torch.Generator().manual_seed(0))
    assert CCASSGLoss(1.0).project(rows).std().item() == pytest.approx(1)


@pytest.mark.parametrize("size", [20, 5000])
@pytest.mark.parametrize(("deviation", "expected"), [(3e-5, 1), (3e-6, 0)])
def test_which_columns_are_constant_does_not_depend_on_the_number_of_rows(
    size: int, deviation: float, expected: float
) -> None:
    """Only on the deviation relative to the size, the line at 1e-5."""
    noise = torch.randn(size, 1, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    rows = 7 * (1 + deviation * noise)
    standardised = CCASSGLoss(1.0).project(rows)
    assert standardised.std().item() == pytest.approx(expected)
    torch.testing.assert_close(standardised, cca_ssg.plain_standardise(rows), rtol=0, atol=1e-6)


def test_the_gradient_of_the_projection_is_right_for_any_loss() -> None:
    """This one's gradient has columns of mean 0, unlike these weights."""
    rows, weights = random_rows(2, 6, 3)
    weights = weights.detach() + 2
    assert torch.autograd.gradcheck(lambda x: (weights * CCASSGLoss(1).project(x)).sum(), rows)
