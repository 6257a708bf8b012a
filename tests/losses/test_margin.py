from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from batches import batch_of, gradients_are_right, random_rows
from ugcl.losses import Batch, MarginLoss

SEEDS = st.integers(0, 1000)
MARGINS = st.floats(0.05, 2)


def order_of(size: int, seed: int) -> list[int]:
    """The permutation that the loss samples from a generator with this seed."""
    order: list[int] = np.random.default_rng(seed).permutation(size).tolist()
    return order


def slow(patch: torch.Tensor, context: torch.Tensor, margin: float, order: Sequence[int]) -> float:
    """SubG-Con's Equation 8, node by node, in both roles of the two nodes."""
    h, s = patch.detach().numpy(), context.detach().numpy()

    def score(v: int, of: int) -> float:
        return 1 / (1 + math.exp(-h[v] @ s[of]))

    total = 0.0
    for v, w in enumerate(order):
        total += max(0, margin - score(v, v) + score(w, v))
        total += max(0, margin - score(w, w) + score(v, w))
    return total / len(h)


@given(size=st.integers(1, 12), width=st.integers(1, 6), seed=SEEDS, margin=MARGINS)
def test_equals_equation_8_of_subg_con_node_by_node(
    size: int, width: int, seed: int, margin: float
) -> None:
    patch, context = random_rows(2, size, width, seed)
    loss = MarginLoss(margin)(batch_of((patch, context), seed=seed)).item()
    assert loss == pytest.approx(slow(patch, context, margin, order_of(size, seed)))


@pytest.mark.parametrize("margin", [0.1, 0.5, 2.0])
@pytest.mark.parametrize(("size", "width"), [(2, 1), (9, 3)])
def test_gradients_equal_finite_differences(margin: float, size: int, width: int) -> None:
    assert gradients_are_right(
        MarginLoss(margin),
        lambda patch, context: batch_of((patch, context), seed=1),
        random_rows(2, size, width),
    )


@given(size=st.integers(2, 9), seed=SEEDS, margin=st.floats(0.05, 0.45))
def test_where_margins_are_met_only_fixed_points_of_the_permutation_count(
    size: int, seed: int, margin: float
) -> None:
    """A node's score with its own context is 1, with others 1/2."""
    axes = (10 * torch.eye(size, dtype=torch.float64)).requires_grad_()
    loss = MarginLoss(margin)(batch_of((axes, axes.detach()), seed=seed))
    (gradient,) = torch.autograd.grad(loss, axes)
    fixed = sum(v == w for v, w in enumerate(order_of(size, seed)))
    assert loss.item() == pytest.approx(2 * margin * fixed / size)
    assert not gradient.any()


def test_is_zero_where_margins_are_met_and_the_permutation_has_no_fixed_point() -> None:
    assert order_of(2, seed=3) == [1, 0]
    axes = 10 * torch.eye(2)
    assert MarginLoss(0.4)(batch_of((axes, axes), seed=3)) == 0
    assert MarginLoss(0.6)(batch_of((axes, axes), seed=3)) > 0


@given(size=st.integers(1, 9), seed=SEEDS, margin=MARGINS)
def test_is_twice_the_margin_where_all_nodes_are_equal(size: int, seed: int, margin: float) -> None:
    equal = torch.ones(size, 3)
    loss = MarginLoss(margin)(batch_of((equal, equal), seed=seed)).item()
    assert loss == pytest.approx(2 * margin)


@given(size=st.integers(2, 8), seed=SEEDS)
def test_a_context_is_compared_with_the_nodes_permuted_to_and_from_its_own(
    size: int, seed: int
) -> None:
    """From the gradient, whose coefficients of independent rows of h are slopes of scores."""
    patch, context = random_rows(2, size, size, seed)
    loss = MarginLoss(2)(batch_of((patch, context), seed=seed))
    (gradient,) = torch.autograd.grad(loss, context)
    slopes = size * torch.linalg.solve(patch.detach(), gradient, left=False).numpy()
    expected = np.zeros((size, size))
    for v, w in enumerate(order_of(size, seed)):
        if v != w:
            expected[v, v] -= 1
            expected[v, w] += 1
            expected[w, w] -= 1
            expected[w, v] += 1
    score = torch.sigmoid(context @ patch.T).detach().numpy()
    np.testing.assert_allclose(slopes, expected * score * (1 - score), atol=1e-8)


def test_each_pair_has_a_permutation_of_its_own() -> None:
    first, second = random_rows(2, 7, 3)
    loss = MarginLoss(0.5)(batch_of((first, second), (second, first))).item()
    rng = np.random.default_rng(0)
    expected = [
        slow(patch, context, 0.5, rng.permutation(7).tolist())
        for patch, context in ((first, second), (second, first))
    ]
    assert loss == pytest.approx(np.mean(expected))


def test_a_view_in_two_pairs_is_projected_once() -> None:
    class Halved(MarginLoss):
        seen: list[torch.Tensor]

        def project(self, rows: torch.Tensor) -> torch.Tensor:
            self.seen.append(rows)
            return rows / 2

    first, second = random_rows(2, 7, 3)
    loss = Halved(0.5)
    loss.seen = []
    value = loss(Batch([first, second], None, np.random.default_rng(0)))
    assert [id(rows) for rows in loss.seen] == [id(first), id(second)]
    halves = first / 2, second / 2
    torch.testing.assert_close(value, MarginLoss(0.5)(batch_of(halves, halves[::-1])))


def test_an_expanded_context_gives_the_same_result_as_a_repeated_one() -> None:
    patch, context = random_rows(2, 8, 4)
    row = context[:1].detach().requires_grad_()
    results = []
    for rows in (row.expand(8, 4), row.repeat(8, 1)):
        loss = MarginLoss(0.5)(batch_of((patch, rows), seed=0))
        results.append((loss.detach(), *torch.autograd.grad(loss, (patch, row))))
    torch.testing.assert_close(*results)
