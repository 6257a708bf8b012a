from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import reference
from batches import batch_of, gradients_are_right, random_rows
from ugcl.losses import Batch, InfoNCE
from ugcl.losses.info_nce import info_nce
from ugcl.methods.params import MIN_TEMPERATURE
from ugcl.nn import plain_formulas, unit_rows

STRIP = "ugcl.losses.info_nce.STRIP"
SEEDS = st.integers(0, 1000)
TEMPERATURES = st.floats(0.1, 3)


def views(size: int, width: int, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    """Two views in float64, rows of norm 1."""
    rows = random_rows(2, size, width, seed)
    patch, context = (unit_rows(view.detach()) for view in rows)
    return patch.requires_grad_(), context.requires_grad_()


def loss_module(width: int, *, projector: int, negatives: int | str = "all") -> InfoNCE:
    generator = torch.Generator().manual_seed(0)
    return InfoNCE(
        width, projector=projector, temperature=0.5, negatives=negatives, generator=generator
    )


def slow(
    patch: torch.Tensor,
    context: torch.Tensor,
    temperature: float,
    negatives: list[int] | None = None,
) -> float:
    """GRACE's Equation 1, pair by pair; sums over sampled nodes are scaled to all nodes."""
    u, c = patch.detach().numpy(), context.detach().numpy()
    size, total = len(u), 0.0
    for v in range(size):
        others = [k for k in (range(size) if negatives is None else negatives) if k != v]
        scale = (size - 1) / len(others)
        positive = math.exp(reference.cosine(u[v], c[v]) / temperature)
        denominator = positive
        for k in others:
            denominator += scale * math.exp(reference.cosine(u[v], c[k]) / temperature)
            denominator += scale * math.exp(reference.cosine(u[v], u[k]) / temperature)
        total -= math.log(positive / denominator)
    return total / size


@pytest.mark.parametrize("plain", [True, False])
@given(size=st.integers(2, 12), width=st.integers(1, 6), seed=SEEDS, temperature=TEMPERATURES)
def test_equals_equation_1_of_grace_pair_by_pair(
    plain: bool, size: int, width: int, seed: int, temperature: float
) -> None:
    patch, context = views(size, width, seed)
    with plain_formulas(plain):
        loss = info_nce(patch, context, temperature).item()
    assert loss == pytest.approx(slow(patch, context, temperature))


@pytest.mark.parametrize("plain", [True, False])
@given(size=st.integers(3, 12), seed=SEEDS, temperature=TEMPERATURES, data=st.data())
def test_sampled_negatives_equal_the_scaled_equation_pair_by_pair(
    plain: bool, size: int, seed: int, temperature: float, data: st.DataObject
) -> None:
    patch, context = views(size, 4, seed)
    chosen = data.draw(st.lists(st.integers(0, size - 1), min_size=2, max_size=size, unique=True))
    with plain_formulas(plain):
        loss = info_nce(patch, context, temperature, torch.tensor(chosen)).item()
    assert loss == pytest.approx(slow(patch, context, temperature, chosen))


@pytest.mark.parametrize("negatives", [None, [3, 0, 13, 8], [19, 4]])
@pytest.mark.parametrize("strip", [1, 3, 19, 20, 21])
def test_the_kernel_equals_the_plain_formula(
    monkeypatch: pytest.MonkeyPatch, negatives: list[int] | None, strip: int
) -> None:
    monkeypatch.setattr(STRIP, strip)
    patch, context = views(20, 4)
    chosen = None if negatives is None else torch.tensor(negatives)
    losses, gradients = [], []
    for plain in (True, False):
        with plain_formulas(plain):
            losses.append(3 * info_nce(patch, context, 0.4, chosen))
        gradients.append(torch.autograd.grad(losses[-1], (patch, context)))
    assert losses[0].item() == pytest.approx(3 * slow(patch, context, 0.4, negatives))
    torch.testing.assert_close(losses[1], losses[0])
    torch.testing.assert_close(gradients[1], gradients[0])


@pytest.mark.parametrize("negatives", [None, torch.tensor([1, 4, 7])])
@pytest.mark.parametrize("strip", [2, 4, 100])
@pytest.mark.parametrize("temperature", [1.0, 0.3])
def test_gradients_equal_finite_differences(
    monkeypatch: pytest.MonkeyPatch,
    negatives: torch.Tensor | None,
    strip: int,
    temperature: float,
) -> None:
    """Inputs need not have norm 1 here, since the kernel uses products as they are."""
    monkeypatch.setattr(STRIP, strip)
    assert torch.autograd.gradcheck(
        lambda u, c: info_nce(u, c, temperature, negatives), views(9, 3)
    )


@pytest.mark.parametrize("shared", [True, False])
def test_gradients_of_the_module_equal_finite_differences(shared: bool) -> None:
    """Both directions, with patches as contexts and with separate contexts."""

    def batch(a: torch.Tensor, b: torch.Tensor) -> Batch:
        rng = np.random.default_rng(0)
        return Batch([a, b], None, rng) if shared else batch_of((a, b), (b, a))

    loss = loss_module(3, projector=4).double()
    assert gradients_are_right(loss, batch, views(5, 3))


def test_the_module_is_the_mean_of_both_directions_after_the_projector() -> None:
    loss, (a, b) = loss_module(3, projector=4).double(), views(6, 3)
    u, c = loss.project(a), loss.project(b)
    expected = (slow(u, c, 0.5) + slow(c, u, 0.5)) / 2
    value = loss(Batch([a, b], None, np.random.default_rng(0))).item()
    assert value == pytest.approx(expected)
    assert loss(batch_of((a, b), (b, a))).item() == pytest.approx(expected)


def test_all_rows_as_sampled_negatives_are_all_negatives() -> None:
    patch, context = views(20, 4)
    order = torch.from_numpy(np.random.default_rng(0).permutation(20))
    torch.testing.assert_close(
        info_nce(patch, context, 0.5, order), info_nce(patch, context, 0.5), rtol=1e-12, atol=0
    )


def negative_sums(
    patch: torch.Tensor, context: torch.Tensor, negatives: list[int] | None
) -> torch.Tensor:
    """r_v without the term of v's own pair, for each v, at temperature 1.

    Computed from the gradient: where the rows of u are linearly independent, dL/dc_v has the
    coefficient (e^cos(u_v, c_v) / r_v - 1) / S of u_v.
    """
    chosen = None if negatives is None else torch.tensor(negatives)
    (gradient,) = torch.autograd.grad(info_nce(patch, context, 1.0, chosen), context)
    fraction = 1 + patch.shape[0] * (gradient @ torch.linalg.pinv(patch.detach())).diagonal()
    positive = (patch * context).sum(dim=1).exp().detach()
    return positive / fraction - positive


@pytest.mark.parametrize("plain", [True, False])
def test_sampled_negatives_estimate_the_sum_over_others_without_bias(plain: bool) -> None:
    size, count = 7, 3
    patch, context = views(size, size + 2)
    u, c = patch.detach(), context.detach()
    expected = sum((u @ rows.T).exp().fill_diagonal_(0).sum(dim=1) for rows in (u, c))
    subsets = [list(chosen) for chosen in combinations(range(size), count)]
    with plain_formulas(plain):
        torch.testing.assert_close(negative_sums(patch, context, None), expected)
        estimates = [negative_sums(patch, context, chosen) for chosen in subsets]
    # Each choice of K rows is equally likely; given whether v is among them, so is the estimate.
    for v in range(size):
        for among in (True, False):
            taken = [
                estimate[v]
                for estimate, chosen in zip(estimates, subsets, strict=True)
                if (v in chosen) is among
            ]
            assert torch.stack(taken).std() > 0.01
            torch.testing.assert_close(torch.stack(taken).mean(), expected[v])


@given(seed=SEEDS, sampled=st.booleans())
def test_is_invariant_to_the_order_of_nodes(seed: int, sampled: bool) -> None:
    patch, context = views(11, 4, seed)
    order = torch.from_numpy(np.random.default_rng(seed).permutation(11))
    before = torch.tensor([2, 5, 9]) if sampled else None
    after = None if before is None else torch.argsort(order)[before]
    loss = info_nce(patch[order], context[order], 0.5, after).item()
    assert loss == pytest.approx(info_nce(patch, context, 0.5, before).item())


@given(seed=SEEDS)
def test_depends_on_which_context_belongs_to_which_node(seed: int) -> None:
    patch, _ = views(11, 4, seed)
    aligned, shifted = (info_nce(patch, patch.roll(by, dims=0), 0.5).item() for by in (0, 1))
    assert aligned < shifted - 0.1


@given(seed=SEEDS, sampled=st.booleans())
def test_is_invariant_to_a_rotation_of_both_views(seed: int, sampled: bool) -> None:
    patch, context = views(11, 4, seed)
    generator = torch.Generator().manual_seed(seed)
    rotation, _ = torch.linalg.qr(torch.randn(4, 4, generator=generator, dtype=torch.float64))
    negatives = torch.tensor([2, 5, 9]) if sampled else None
    loss = info_nce(patch @ rotation, context @ rotation, 0.5, negatives).item()
    assert loss == pytest.approx(info_nce(patch, context, 0.5, negatives).item())


@given(seed=SEEDS)
def test_depends_on_a_rotation_of_one_of_two_views(seed: int) -> None:
    patch, _ = views(11, 4, seed)
    rotated = info_nce(patch, -patch, 0.5).item()
    assert rotated > info_nce(patch, patch, 0.5).item() + 0.1


@given(scale=st.floats(1e-3, 1e3), seed=SEEDS)
def test_the_projection_has_rows_of_norm_1(scale: float, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    loss = InfoNCE(4, projector=3, temperature=0.5, negatives="all", generator=generator)
    rows = scale * torch.randn(6, 4, generator=generator)
    torch.testing.assert_close(loss.project(rows).norm(dim=1), torch.ones(6))


def test_sampled_negatives_come_from_the_random_generator_of_the_batch() -> None:
    loss = loss_module(4, projector=4, negatives=3)
    patch, context = views(12, 4)
    batch = batch_of((patch, context), seed=5)
    value = loss.pair_loss(batch.pairs()[0], batch)
    chosen = np.random.default_rng(5).choice(12, 3, replace=False, shuffle=False)
    assert value.item() == pytest.approx(slow(patch, context, 0.5, chosen.tolist()))


def test_an_expanded_context_gives_the_same_result_as_a_repeated_one() -> None:
    patch, context = views(8, 4)
    row = context[:1].detach().requires_grad_()
    results = []
    for rows in (row.expand(8, 4), row.repeat(8, 1)):
        loss = info_nce(patch, rows, 0.5)
        results.append((loss.detach(), *torch.autograd.grad(loss, (patch, row))))
    torch.testing.assert_close(*results)


def test_the_minimum_temperature_stays_in_the_range_of_float32() -> None:
    axes = torch.eye(4).repeat(500, 1).requires_grad_()
    for context in (axes, -axes):
        loss = info_nce(axes, context, MIN_TEMPERATURE)
        (gradient,) = torch.autograd.grad(loss, axes)
        assert torch.isfinite(loss)
        assert torch.isfinite(gradient).all()
