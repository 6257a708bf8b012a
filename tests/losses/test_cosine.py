from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import reference
from batches import batch_of, random_rows
from ugcl.losses import Batch, CosineContrast, cosine, cosine_contrast
from ugcl.methods.params import MIN_TEMPERATURE
from ugcl.nn import plain_formulas


@given(
    size=st.integers(2, 12),
    width=st.integers(1, 6),
    seed=st.integers(0, 1000),
    temperature=st.floats(0.1, 3),
)
def test_equals_equation_5_term_by_term(
    size: int, width: int, seed: int, temperature: float
) -> None:
    patch, context = random_rows(2, size, width, seed)
    expected = reference.ugcl_loss(patch.detach().numpy(), context.detach().numpy(), temperature)
    assert cosine_contrast(patch, context, temperature).item() == pytest.approx(expected)


@pytest.mark.parametrize("temperature", [1.0, 0.3])
@pytest.mark.parametrize("width", [1, 5, 20])
@pytest.mark.parametrize("strip", [2, 4, 100])
def test_gradients_equal_finite_differences(
    monkeypatch: pytest.MonkeyPatch, temperature: float, width: int, strip: int
) -> None:
    """From widths where few similarities are stored for the gradient to widths where all are."""
    monkeypatch.setattr(cosine, "STRIP", strip)
    monkeypatch.setattr(cosine, "ROWS", strip)
    patch, context = random_rows(2, 9, width)
    assert torch.autograd.gradcheck(
        lambda h, c: cosine_contrast(h, c, temperature), (patch, context)
    )


def test_gradients_with_sampled_negatives_equal_finite_differences() -> None:
    patch, context = random_rows(2, 9, 5)
    negatives = torch.tensor([1, 4, 7])
    assert torch.autograd.gradcheck(
        lambda h, c: cosine_contrast(h, c, 0.7, negatives), (patch, context)
    )


@pytest.mark.parametrize("negatives", [None, torch.tensor([3, 0, 31, 8])])
@pytest.mark.parametrize("width", [2, 40])
def test_the_kernel_equals_the_plain_formula(
    monkeypatch: pytest.MonkeyPatch, negatives: torch.Tensor | None, width: int
) -> None:
    monkeypatch.setattr(cosine, "STRIP", 7)
    monkeypatch.setattr(cosine, "ROWS", 5)
    patch, context = random_rows(2, 50, width)
    with torch.no_grad():
        patch[3] = 0
        context[7] = 0
    losses, gradients = [], []
    for plain in (True, False):
        with plain_formulas(plain):
            losses.append(3 * cosine_contrast(patch, context, 0.4, negatives))
        gradients.append(torch.autograd.grad(losses[-1], (patch, context)))
    torch.testing.assert_close(losses[1], losses[0])
    torch.testing.assert_close(gradients[1], gradients[0])


def test_a_loss_that_needs_no_gradient_has_none() -> None:
    patch, context = random_rows(2, 6, 3)
    with torch.no_grad():
        assert not cosine_contrast(patch, context).requires_grad
    assert cosine_contrast(patch.detach(), context.detach()) == cosine_contrast(patch, context)


@pytest.mark.parametrize("needs_grad", [True, False])
@pytest.mark.parametrize(("size", "strip", "width"), [(4, 4, 4), (9, 2, 4), (9, 2, 1), (9, 3, 20)])
def test_similarities_are_computed_twice_only_where_they_do_not_fit(
    size: int, strip: int, width: int, needs_grad: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Into the S x D numbers that are kept for the gradient."""
    computed: list[int] = []
    exponentials = cosine._exponentials

    def record(*args: object) -> torch.Tensor:
        found = exponentials(*args)
        computed.append(found.numel())
        return found

    monkeypatch.setattr(cosine, "STRIP", strip)
    monkeypatch.setattr(cosine, "_exponentials", record)
    patch, context = random_rows(2, size, width)
    cosine_contrast(patch.requires_grad_(needs_grad), context.detach())
    count = -(-size // strip)
    assert len(computed) >= count
    once, again = computed[:count], computed[count:]
    starts = range(0, size, strip)
    assert once == [(size - start) * min(strip, size - start) for start in starts]
    if needs_grad:
        kept = sum(once) - sum(again)
        assert kept <= size * width
        assert all(strip > size * width - kept for strip in again)
    else:
        assert not again


def test_the_temperature_of_the_paper_is_1() -> None:
    patch, context = random_rows(2, 6, 3)
    assert cosine_contrast(patch, context) == cosine_contrast(patch, context, 1.0)


def test_all_rows_as_sampled_negatives_are_all_negatives() -> None:
    patch, context = random_rows(2, 20, 4)
    torch.testing.assert_close(
        cosine_contrast(patch, context, 0.5, torch.arange(20)),
        cosine_contrast(patch, context, 0.5),
    )


def test_sampled_negatives_estimate_the_denominator_without_bias() -> None:
    size, count = 7, 3
    patch, _ = random_rows(2, size, 4)
    anchors = cosine.unit_rows(patch).detach()
    similarities = (anchors @ anchors.T).exp().fill_diagonal_(0)
    estimates = [
        cosine._sampled_negatives(anchors, torch.ones(size), 1.0, torch.tensor(chosen))[0].exp()
        for chosen in combinations(range(size), count)
    ]
    # Each choice of K rows is equally likely; given whether v is among them, so is the estimate.
    for v in range(size):
        for among in (True, False):
            taken = [
                estimate[v]
                for estimate, chosen in zip(
                    estimates, combinations(range(size), count), strict=True
                )
                if (v in chosen) is among
            ]
            torch.testing.assert_close(torch.stack(taken).mean(), similarities[v].sum())


def test_the_minimum_temperature_stays_in_the_range_of_float32() -> None:
    axes = torch.eye(4).repeat(500, 1).requires_grad_()
    for context in (axes, -axes):
        loss = cosine_contrast(axes, context, MIN_TEMPERATURE)
        (gradient,) = torch.autograd.grad(loss, axes)
        assert torch.isfinite(loss)
        assert torch.isfinite(gradient).all()


@given(scale=st.floats(1e-3, 1e3), seed=st.integers(0, 100))
def test_is_invariant_to_norms(scale: float, seed: int) -> None:
    patch, context = random_rows(2, 8, 4, seed)
    loss = cosine_contrast(patch * scale, context / scale).item()
    assert loss == pytest.approx(cosine_contrast(patch, context).item())


@given(seed=st.integers(0, 100))
def test_is_invariant_to_the_order_of_nodes(seed: int) -> None:
    patch, context = random_rows(2, 11, 4, seed)
    order = torch.from_numpy(np.random.default_rng(seed).permutation(11))
    loss = cosine_contrast(patch[order], context[order]).item()
    assert loss == pytest.approx(cosine_contrast(patch, context).item())


def test_a_zero_row_has_a_small_gradient() -> None:
    patch, context = random_rows(2, 6, 3)
    with torch.no_grad():
        patch[2] = 0
    cosine_contrast(patch, context).backward()
    assert patch.grad is not None
    assert patch.grad.abs().max() < 1


@pytest.mark.parametrize("negatives", ["all", 4])
def test_the_module_computes_the_loss_of_its_settings(negatives: int | str) -> None:
    patch, context = random_rows(2, 9, 3)
    loss = CosineContrast(0.4, negatives)(batch_of((patch, context), seed=5))
    chosen = None
    if negatives != "all":
        chosen = torch.from_numpy(np.random.default_rng(5).choice(9, 4, False, shuffle=False))
    assert loss.item() == cosine_contrast(patch, context, 0.4, chosen).item()
    assert not list(CosineContrast(0.4, negatives).parameters())


def test_a_patch_may_be_its_own_context() -> None:
    (patch,) = random_rows(1, 9, 3)
    loss = CosineContrast(0.4, "all")(Batch([patch], None, np.random.default_rng(0)))
    rows = patch.detach().numpy()
    assert loss.item() == pytest.approx(reference.ugcl_loss(rows, rows, 0.4))
