from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from batches import random_rows
from ugcl.nn import plain_formulas, unit_rows
from ugcl.nn.rows import row_norms

SEEDS = st.integers(0, 1000)


@given(size=st.integers(1, 8), width=st.integers(1, 5), seed=SEEDS)
def test_rows_are_divided_by_their_norm_row_by_row(size: int, width: int, seed: int) -> None:
    (rows,) = random_rows(1, size, width, seed)
    norms = [math.sqrt(sum(x * x for x in row)) for row in rows.tolist()]
    assert row_norms(rows).tolist() == pytest.approx(norms)
    expected = [[x / norm for x in row] for row, norm in zip(rows.tolist(), norms, strict=True)]
    np.testing.assert_allclose(unit_rows(rows).detach(), expected, rtol=1e-12)


@given(scale=st.floats(1e-6, 1e6), seed=SEEDS)
def test_unit_rows_do_not_depend_on_norms(scale: float, seed: int) -> None:
    (rows,) = random_rows(1, 6, 3, seed)
    torch.testing.assert_close(unit_rows(scale * rows), unit_rows(rows))


@pytest.mark.parametrize("plain", [True, False])
def test_gradients_equal_finite_differences(plain: bool) -> None:
    with plain_formulas(plain):
        assert torch.autograd.gradcheck(unit_rows, random_rows(1, 5, 3))


@given(size=st.integers(1, 8), width=st.integers(1, 5), seed=SEEDS)
def test_the_kernel_equals_the_plain_formula(size: int, width: int, seed: int) -> None:
    rows, upstream = random_rows(2, size, width, seed)
    with torch.no_grad():
        rows[0] = 0
    results = []
    for plain in (True, False):
        with plain_formulas(plain):
            unit = unit_rows(rows)
        results.append((unit, *torch.autograd.grad(unit, rows, upstream)))
    torch.testing.assert_close(results[1], results[0])


def test_a_row_of_zeros_stays_zero_with_a_bounded_gradient() -> None:
    """Unlike `normalize`, which divides its gradient by 1e-12."""
    rows = torch.tensor([[0.0, 0.0], [3.0, 4.0]], requires_grad=True)
    unit = unit_rows(rows)
    assert unit.tolist() == [[0, 0], [pytest.approx(0.6), pytest.approx(0.8)]]
    assert row_norms(rows).tolist() == [1, 5]
    (gradient,) = torch.autograd.grad(unit[0].sum(), rows)
    assert gradient.abs().max() <= 1
    (other,) = torch.autograd.grad(torch.nn.functional.normalize(rows)[0].sum(), rows)
    assert other.abs().max() > 1e6
