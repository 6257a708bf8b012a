from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from batches import random_rows
from ugcl.losses import pairs
from ugcl.losses.pairs import all_pairs, bounded_curve, scores, softplus_curve
from ugcl.nn import plain_formulas

CURVES = [softplus_curve, bounded_curve]
SEEDS = st.integers(0, 1000)


def random_pairs(size: int, count: int, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    """Pairs with sorted rows and unsorted columns, some repeated, some on the diagonal."""
    rows, columns = np.random.default_rng(seed).integers(0, size, (2, count))
    return torch.from_numpy(np.sort(rows)), torch.from_numpy(columns)


def slow_curve(curve: pairs.Curve, score: float) -> float:
    if curve is bounded_curve:
        score = 1 / (1 + math.exp(-score))
    return math.log(1 + math.exp(score))


def slow_all_pairs(left: torch.Tensor, right: torch.Tensor, curve: pairs.Curve) -> float:
    rows, columns = left.detach().numpy(), right.detach().numpy()
    total = 0.0
    for i in range(len(rows)):
        for j in range(len(columns)):
            if i != j:
                total += slow_curve(curve, rows[i] @ columns[j])
    return total


class Largest(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Record the size of the largest dense tensor that is created in this context."""

    numel = 0

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        for leaf in tree_leaves(result):
            if isinstance(leaf, torch.Tensor) and leaf.layout == torch.strided:
                self.numel = max(self.numel, leaf.numel())
        return result


def largest(
    plain: bool, compute: Callable[[], torch.Tensor], inputs: Sequence[torch.Tensor]
) -> int:
    """The size of the largest tensor of a computation and of its gradient."""
    with plain_formulas(plain), Largest() as recorder:  # type: ignore[no-untyped-call]
        torch.autograd.grad(compute().sum(), inputs)
    return int(recorder.numel)


@pytest.mark.parametrize("curve", CURVES)
@given(score=st.floats(-30, 30))
def test_curves_equal_their_formulas_and_slopes_are_their_derivatives(
    curve: pairs.Curve, score: float
) -> None:
    x = torch.tensor(score, dtype=torch.float64, requires_grad=True)
    value, slope = curve(x)
    assert value.item() == pytest.approx(slow_curve(curve, score), rel=1e-8, abs=1e-12)
    torch.testing.assert_close(slope, *torch.autograd.grad(value, x))


@pytest.mark.parametrize("plain", [True, False])
@pytest.mark.parametrize("curve", CURVES)
@given(size=st.integers(1, 12), width=st.integers(1, 6), seed=SEEDS)
def test_all_pairs_equal_the_sum_pair_by_pair(
    plain: bool, curve: pairs.Curve, size: int, width: int, seed: int
) -> None:
    left, right = random_rows(2, size, width, seed)
    with plain_formulas(plain):
        total = all_pairs(left, right, curve).item()
    assert total == pytest.approx(slow_all_pairs(left, right, curve))


@pytest.mark.parametrize("curve", CURVES)
@pytest.mark.parametrize("same", [False, True])
@pytest.mark.parametrize("strip", [1, 3, 19, 20, 21])
def test_the_kernel_of_all_pairs_equals_the_plain_formula(
    monkeypatch: pytest.MonkeyPatch, curve: pairs.Curve, same: bool, strip: int
) -> None:
    monkeypatch.setattr(pairs, "STRIP", strip)
    left, right = random_rows(2, 20, 4)
    inputs = (left,) if same else (left, right)
    totals, gradients = [], []
    for plain in (True, False):
        with plain_formulas(plain):
            totals.append(3 * all_pairs(left, left if same else right, curve))
        gradients.append(torch.autograd.grad(totals[-1], inputs))
    assert totals[0].item() == pytest.approx(3 * slow_all_pairs(left, inputs[-1], curve))
    torch.testing.assert_close(totals[1], totals[0])
    torch.testing.assert_close(gradients[1], gradients[0])


@pytest.mark.parametrize("curve", CURVES)
@pytest.mark.parametrize("size", [2, 9])
@pytest.mark.parametrize("strip", [2, 4, 100])
def test_gradients_of_all_pairs_equal_finite_differences(
    monkeypatch: pytest.MonkeyPatch, curve: pairs.Curve, size: int, strip: int
) -> None:
    monkeypatch.setattr(pairs, "STRIP", strip)
    assert torch.autograd.gradcheck(lambda a, b: all_pairs(a, b, curve), random_rows(2, size, 3))


def test_either_side_of_all_pairs_may_need_no_gradient() -> None:
    left, right = random_rows(2, 8, 3)
    of_left, of_right = torch.autograd.grad(all_pairs(left, right, softplus_curve), (left, right))
    alone = all_pairs(left, right.detach(), softplus_curve)
    torch.testing.assert_close(torch.autograd.grad(alone, left), (of_left,))
    alone = all_pairs(left.detach(), right, softplus_curve)
    torch.testing.assert_close(torch.autograd.grad(alone, right), (of_right,))
    assert not all_pairs(left.detach(), right.detach(), softplus_curve).requires_grad


@pytest.mark.parametrize("curve", CURVES)
@pytest.mark.parametrize("strip", [1, 7])
def test_all_pairs_are_never_stored_at_once(
    monkeypatch: pytest.MonkeyPatch, curve: pairs.Curve, strip: int
) -> None:
    monkeypatch.setattr(pairs, "STRIP", strip)
    size, width = 50, 3
    inputs = random_rows(2, size, width)
    bound = max(size * strip, size * width)
    assert largest(False, lambda: all_pairs(*inputs, curve), inputs) <= bound
    assert largest(True, lambda: all_pairs(*inputs, curve), inputs) == size**2


def test_the_kernel_sums_all_pairs_exactly_in_float32(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairs, "STRIP", 1)
    zeros = torch.zeros(2000, 1)
    with plain_formulas(False):
        total = all_pairs(zeros, zeros, softplus_curve)
    assert total.dtype == torch.float32
    assert total.item() == pytest.approx(2000 * 1999 * math.log(2), rel=2e-7)


def test_expanded_rows_give_the_same_result_as_repeated_ones() -> None:
    left, right = random_rows(2, 8, 3)
    row = right[:1].detach().requires_grad_()
    nodes = random_pairs(8, 20)
    results = []
    for rows in (row.expand(8, 3), row.repeat(8, 1)):
        total = all_pairs(left, rows, softplus_curve) + scores(left, rows, *nodes).exp().sum()
        results.append((total.detach(), *torch.autograd.grad(total, (left, row))))
    torch.testing.assert_close(*results)


def test_column_major_rows_give_the_same_result_as_row_major_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pairs, "STRIP", 3)
    rows, _ = random_rows(2, 8, 3)
    columns = rows.detach().T.contiguous().T.requires_grad_()
    nodes = random_pairs(8, 20)
    results = []
    for side in (rows, columns):
        total = all_pairs(side, side, softplus_curve) + scores(side, side, *nodes).exp().sum()
        results.append((total.detach(), *torch.autograd.grad(total, side)))
    torch.testing.assert_close(*results)


@pytest.mark.parametrize("plain", [True, False])
@given(size=st.integers(1, 9), width=st.integers(1, 6), seed=SEEDS, data=st.data())
def test_scores_are_the_products_of_the_pairs(
    plain: bool, size: int, width: int, seed: int, data: st.DataObject
) -> None:
    left, right = random_rows(2, size, width, seed)
    rows, columns = random_pairs(size, data.draw(st.integers(0, size**2)), seed)
    with plain_formulas(plain):
        values = scores(left, right, rows, columns).tolist()
    a, b = left.detach().numpy(), right.detach().numpy()
    expected = [a[i] @ b[j] for i, j in zip(rows, columns, strict=True)]
    assert values == pytest.approx(expected)


@pytest.mark.parametrize("same", [False, True])
@pytest.mark.parametrize("count", [1, 20, 49])
def test_the_kernel_of_scores_equals_the_plain_formula(same: bool, count: int) -> None:
    left, right = random_rows(2, 7, 4)
    rows, columns = random_pairs(7, count)
    inputs = (left,) if same else (left, right)
    values, gradients = [], []
    for plain in (True, False):
        with plain_formulas(plain):
            values.append(scores(left, left if same else right, rows, columns))
        gradients.append(torch.autograd.grad(values[-1].exp().sum(), inputs))
    torch.testing.assert_close(values[1], values[0])
    torch.testing.assert_close(gradients[1], gradients[0])


@pytest.mark.parametrize(("size", "width"), [(2, 1), (7, 4)])
def test_gradients_of_scores_equal_finite_differences(size: int, width: int) -> None:
    nodes = random_pairs(size, size**2)
    assert torch.autograd.gradcheck(lambda a, b: scores(a, b, *nodes), random_rows(2, size, width))


def test_rows_of_scored_pairs_are_never_gathered() -> None:
    size, width, count = 20, 8, 300
    nodes, inputs = random_pairs(size, count), random_rows(2, size, width)
    assert largest(False, lambda: scores(*inputs, *nodes), inputs) == count
    assert largest(True, lambda: scores(*inputs, *nodes), inputs) == count * width


def test_few_pairs_of_many_rows_need_no_matrix_of_all_rows() -> None:
    size, width, count = 200, 3, 10
    nodes, inputs = random_pairs(size, count), random_rows(2, size, width)
    assert largest(False, lambda: scores(*inputs, *nodes), inputs) == size * width


def test_no_pairs_have_no_scores_and_no_gradient() -> None:
    left, right = random_rows(2, 4, 3)
    none = torch.empty(0, dtype=torch.long)
    values = scores(left, right, none, none)
    assert values.shape == (0,)
    for gradient in torch.autograd.grad(values.sum(), (left, right)):
        assert not gradient.any()
