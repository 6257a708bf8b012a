from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from ugcl.objectives import Margin

SEEDS = st.integers(0, 1000)
MARGINS = st.floats(0.05, 2)


def views(size: int, width: int, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    patch, context = torch.randn(2, size, width, generator=generator, dtype=torch.float64)
    return patch.requires_grad_(), context.requires_grad_()


def order_of(size: int, seed: int) -> list[int]:
    """What the objective draws from a generator with this seed."""
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
    patch, context = views(size, width, seed)
    loss = Margin(margin).contrast(patch, context, None, np.random.default_rng(seed)).item()
    assert loss == pytest.approx(slow(patch, context, margin, order_of(size, seed)))


@pytest.mark.parametrize("margin", [0.1, 0.5, 2.0])
@pytest.mark.parametrize(("size", "width"), [(2, 1), (9, 3)])
def test_gradients_equal_finite_differences(margin: float, size: int, width: int) -> None:
    def loss(patch: torch.Tensor, context: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = Margin(margin)([(patch, context)], (), np.random.default_rng(1))
        return found

    assert torch.autograd.gradcheck(loss, views(size, width))


@given(size=st.integers(2, 9), seed=SEEDS, margin=st.floats(0.05, 0.45))
def test_where_margins_are_met_only_nodes_that_the_order_leaves_in_place_count(
    size: int, seed: int, margin: float
) -> None:
    """Own scores are 1 and those of others 1/2; a node is no better than itself."""
    axes = (10 * torch.eye(size, dtype=torch.float64)).requires_grad_()
    loss = Margin(margin).contrast(axes, axes.detach(), None, np.random.default_rng(seed))
    (gradient,) = torch.autograd.grad(loss, axes)
    alone = sum(v == w for v, w in enumerate(order_of(size, seed)))
    assert loss.item() == pytest.approx(2 * margin * alone / size)
    assert not gradient.any()


def test_is_zero_where_margins_are_met_and_no_node_is_left_in_place() -> None:
    assert order_of(2, seed=3) == [1, 0]
    axes = 10 * torch.eye(2)
    assert Margin(0.4).contrast(axes, axes, None, np.random.default_rng(3)) == 0
    assert Margin(0.6).contrast(axes, axes, None, np.random.default_rng(3)) > 0


@given(size=st.integers(1, 9), seed=SEEDS, margin=MARGINS)
def test_is_twice_the_margin_where_nodes_are_all_alike(size: int, seed: int, margin: float) -> None:
    alike = torch.ones(size, 3)
    loss = Margin(margin).contrast(alike, alike, None, np.random.default_rng(seed)).item()
    assert loss == pytest.approx(2 * margin)


@given(size=st.integers(2, 8), seed=SEEDS)
def test_a_context_is_compared_with_the_nodes_before_and_after_its_own_in_the_order(
    size: int, seed: int
) -> None:
    """Read off the gradient, whose coefficients of independent rows of h are slopes of scores."""
    patch, context = views(size, size, seed)
    loss = Margin(2).contrast(patch, context, None, np.random.default_rng(seed))
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


def test_each_pair_of_views_has_an_order_of_its_own() -> None:
    first, second = views(7, 3)
    loss = Margin(0.5)([(first, second), (second, first)], (), np.random.default_rng(0)).item()
    rng = np.random.default_rng(0)
    expected = [
        slow(patch, context, 0.5, rng.permutation(7).tolist())
        for patch, context in ((first, second), (second, first))
    ]
    assert loss == pytest.approx(np.mean(expected))


def test_a_view_in_two_pairs_is_projected_once() -> None:
    class Halved(Margin):
        seen: list[torch.Tensor]

        def project(self, rows: torch.Tensor) -> torch.Tensor:
            self.seen.append(rows)
            return rows / 2

    first, second = views(7, 3)
    objective = Halved(0.5)
    objective.seen = []
    loss = objective([(first, second), (second, first)], (), np.random.default_rng(0))
    assert [id(rows) for rows in objective.seen] == [id(first), id(second)]
    halves = first / 2, second / 2
    expected = Margin(0.5)([halves, halves[::-1]], (), np.random.default_rng(0))
    torch.testing.assert_close(loss, expected)


def test_contexts_whose_rows_share_memory_are_the_same_rows_written_out() -> None:
    patch, context = views(8, 4)
    row = context[:1].detach().requires_grad_()
    found = []
    for rows in (row.expand(8, 4), row.repeat(8, 1)):
        loss = Margin(0.5).contrast(patch, rows, None, np.random.default_rng(0))
        found.append((loss.detach(), *torch.autograd.grad(loss, (patch, row))))
    torch.testing.assert_close(*found)
