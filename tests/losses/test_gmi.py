from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.functional import binary_cross_entropy_with_logits
from ugcl.kernels import plain_formulas
from ugcl.objectives import GraphicalMI, graphical, pairs

SEEDS = st.integers(0, 1000)
SHARES = st.sampled_from([0.0, 0.3, 1.0])  # from no edges to all
WEIGHTS = st.floats(0.1, 5)


def views(size: int, width: int, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    patch, context = torch.randn(2, size, width, generator=generator, dtype=torch.float64)
    return patch.requires_grad_(), context.requires_grad_()


def adjacency(size: int, share: float = 0.3, seed: int = 0) -> np.ndarray:
    upper = np.triu(np.random.default_rng(seed).random((size, size)) < share, k=1)
    return (upper | upper.T).astype(float)


def edges_of(joined: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
    first, second = np.nonzero(np.triu(joined))
    return torch.from_numpy(first), torch.from_numpy(second)


def compared(
    weight: float, negatives: graphical.Count = "all", non_edges: graphical.Count = "all"
) -> GraphicalMI:
    return GraphicalMI(edge_weight=weight, negatives=negatives, non_edges=non_edges)


def sp(x: float) -> float:
    return math.log(1 + math.exp(x))


def slow_features(
    patch: torch.Tensor, context: torch.Tensor, others: Sequence[Sequence[int]] | None = None
) -> float:
    """J, pair by pair; each node is compared with all others, or with those that are named."""
    h, c = patch.detach().numpy(), context.detach().numpy()
    size = len(h)
    total = 0.0
    for v in range(size):
        compared_with = [k for k in range(size) if k != v] if others is None else others[v]
        total += sp(-1 / (1 + math.exp(-h[v] @ c[v])))
        for k in compared_with:
            total += sp(1 / (1 + math.exp(-h[v] @ c[k]))) / len(compared_with)
    return total / size


def slow_edges(patch: torch.Tensor, joined: np.ndarray) -> float:
    """B, pair by pair."""
    h, looped = patch.detach().numpy(), joined + np.eye(len(joined))
    size, half = len(h), looped.sum() / 2
    weight = (size**2 - half) / half
    total = 0.0
    for v in range(size):
        for k in range(size):
            total += weight * sp(-h[v] @ h[k]) if looped[v, k] else sp(h[v] @ h[k])
    return float(total / (size**2 - half))


@pytest.mark.parametrize("plain", [True, False])
@given(size=st.integers(1, 10), width=st.integers(1, 5), share=SHARES, seed=SEEDS, weight=WEIGHTS)
def test_equals_both_formulas_pair_by_pair(
    plain: bool, size: int, width: int, share: float, seed: int, weight: float
) -> None:
    patch, context = views(size, width, seed)
    joined = adjacency(size, share, seed)
    rng = np.random.default_rng(seed)
    with plain_formulas(plain):
        loss = compared(weight)([(patch, context)], (), rng, edges_of(joined)).item()
    expected = slow_features(patch, context) + weight * slow_edges(patch, joined)
    assert loss == pytest.approx(expected)


@pytest.mark.parametrize("plain", [True, False])
@given(size=st.integers(3, 10), seed=SEEDS, data=st.data())
def test_sampled_features_are_those_of_the_nodes_drawn_from_the_epochs_randomness(
    plain: bool, size: int, seed: int, data: st.DataObject
) -> None:
    patch, context = views(size, 3, seed)
    count = data.draw(st.integers(1, size - 2))
    with plain_formulas(plain):
        objective = compared(0, negatives=count)
        loss = objective.contrast(patch, context, None, np.random.default_rng(seed)).item()
    steps = np.random.default_rng(seed).integers(1, size, (size, count))
    drawn = (np.arange(size)[:, None] + steps) % size
    assert loss == pytest.approx(slow_features(patch, context, drawn.tolist()))


@pytest.mark.parametrize("count", [8, 20])
def test_as_many_as_there_are_others_are_all_of_them(count: int) -> None:
    patch, context = views(9, 3)
    joined, rng = edges_of(adjacency(9, 0.3, 0)), np.random.default_rng(0)
    some, every = (
        compared(0.5, negatives=asked, non_edges=asked)([(patch, context)], (), rng, joined)
        for asked in (count, "all")
    )
    assert some.item() == every.item()


@given(size=st.integers(2, 12), width=st.integers(1, 5), share=SHARES, seed=SEEDS)
def test_the_edge_term_is_the_weighted_cross_entropy_of_the_authors_code(
    size: int, width: int, share: float, seed: int
) -> None:
    patch, _ = views(size, width, seed)
    joined = adjacency(size, share, seed)
    looped = torch.from_numpy(joined + np.eye(size))
    half = looped.sum() / 2
    expected = binary_cross_entropy_with_logits(
        patch @ patch.T, looped, pos_weight=(size**2 - half) / half
    ) * (size**2 / (size**2 - half))
    found = compared(1)._edge_term(patch, edges_of(joined), np.random.default_rng(0))
    torch.testing.assert_close(found, expected)


@pytest.mark.parametrize("negatives", ["all", 3])
@pytest.mark.parametrize("non_edges", ["all", 2])
@pytest.mark.parametrize("strip", [1, 5, 11, 12, 100])
def test_the_kernels_equal_the_plain_formulas(
    monkeypatch: pytest.MonkeyPatch,
    negatives: graphical.Count,
    non_edges: graphical.Count,
    strip: int,
) -> None:
    monkeypatch.setattr(pairs, "STRIP", strip)
    patch, context = views(12, 4)
    edges = edges_of(adjacency(12))
    objective = compared(0.7, negatives, non_edges)
    losses, gradients = [], []
    for plain in (True, False):
        with plain_formulas(plain):
            losses.append(objective([(patch, context)], (), np.random.default_rng(3), edges))
        gradients.append(torch.autograd.grad(losses[-1], (patch, context)))
    torch.testing.assert_close(losses[1], losses[0])
    torch.testing.assert_close(gradients[1], gradients[0])


@pytest.mark.parametrize("negatives", ["all", 1])
@pytest.mark.parametrize("non_edges", ["all", 1])
@pytest.mark.parametrize(("size", "width"), [(2, 1), (7, 3)])
def test_gradients_equal_finite_differences(
    monkeypatch: pytest.MonkeyPatch,
    negatives: graphical.Count,
    non_edges: graphical.Count,
    size: int,
    width: int,
) -> None:
    monkeypatch.setattr(pairs, "STRIP", 3)
    edges = edges_of(adjacency(size, 0.5))
    objective = compared(0.7, negatives, non_edges)

    def loss(patch: torch.Tensor, context: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = objective([(patch, context)], (), np.random.default_rng(0), edges)
        return found

    assert torch.autograd.gradcheck(loss, views(size, width))


@given(size=st.integers(2, 10), count=st.integers(1, 9), seed=SEEDS)
def test_each_node_is_compared_with_as_many_others_as_asked_never_with_itself(
    size: int, count: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    nodes, others = graphical._drawn(size, count, torch.device("cpu"), rng)
    assert torch.bincount(nodes).tolist() == [count] * size
    assert (nodes != others).all()
    assert others.min() >= 0
    assert others.max() < size


def test_all_others_are_drawn_equally_often() -> None:
    size, count = 5, 4000
    rng = np.random.default_rng(0)
    nodes, others = graphical._drawn(size, count, torch.device("cpu"), rng)
    table = torch.zeros(size, size).index_put_((nodes, others), torch.ones(1), accumulate=True)
    share = 1 / (size - 1)
    error = math.sqrt(count * share * (1 - share))
    off = (table - count * share)[~torch.eye(size, dtype=torch.bool)]
    assert off.abs().max() < 4 * error


@pytest.mark.parametrize("plain", [True, False])
def test_the_mean_over_all_draws_of_non_edges_is_the_full_edge_term(
    monkeypatch: pytest.MonkeyPatch, plain: bool
) -> None:
    """Of values and of gradients; one other for each of four nodes, in all 81 ways."""
    size, rng = 4, np.random.default_rng(0)
    patch, _ = views(size, 3)
    joined = adjacency(size, 0.5)
    nodes, found = torch.arange(size), []
    with plain_formulas(plain):
        for steps in product(range(1, size), repeat=size):
            drawn = nodes, (nodes + torch.tensor(steps)) % size
            monkeypatch.setattr(graphical, "_drawn", lambda *_, drawn=drawn: drawn)
            loss = compared(1, non_edges=1)._edge_term(patch, edges_of(joined), rng)
            found.append((loss.detach(), *torch.autograd.grad(loss, patch)))
        full = compared(1)._edge_term(patch, edges_of(joined), rng)
    losses, gradients = (torch.stack(parts) for parts in zip(*found, strict=True))
    assert losses.std() > 0.01
    assert losses.mean().item() == pytest.approx(slow_edges(patch, joined))
    torch.testing.assert_close((gradients.mean(dim=0),), torch.autograd.grad(full, patch))


def test_sampled_non_edges_estimate_the_edge_term_without_bias() -> None:
    patch, _ = views(6, 3)
    joined = adjacency(6)
    objective, rng = compared(1, non_edges=2), np.random.default_rng(0)
    with torch.no_grad():
        draws = torch.stack(
            [objective._edge_term(patch, edges_of(joined), rng) for _ in range(1000)]
        )
    expected = slow_edges(patch, joined)
    error = draws.std().item() / math.sqrt(len(draws))
    assert error < 0.01 * expected
    assert draws.mean().item() == pytest.approx(expected, abs=3 * error)


@pytest.mark.parametrize("negatives", ["all", 3])
def test_without_a_weight_edges_are_not_needed(negatives: graphical.Count) -> None:
    patch, context = views(6, 3)
    losses = [
        compared(0, negatives)([(patch, context)], (), np.random.default_rng(2), edges)
        for edges in (None, edges_of(adjacency(6)))
    ]
    features = compared(0, negatives).contrast(patch, context, None, np.random.default_rng(2))
    assert losses[0] == losses[1] == features


def test_several_pairs_have_the_mean_of_their_losses() -> None:
    (first, second), (third, fourth) = views(6, 3), views(6, 3, seed=1)
    joined = adjacency(6)
    couples = [(first, second), (third, fourth)]
    loss = compared(2)(couples, (), np.random.default_rng(0), edges_of(joined)).item()
    expected = [slow_features(h, c) + 2 * slow_edges(h, joined) for h, c in couples]
    assert loss == pytest.approx(np.mean(expected))


@given(seed=SEEDS)
def test_does_not_see_the_order_of_nodes(seed: int) -> None:
    patch, context = views(9, 3, seed)
    joined, rng = adjacency(9, seed=seed), np.random.default_rng(seed)
    order = rng.permutation(9)
    before = compared(1)([(patch, context)], (), rng, edges_of(joined)).item()
    moved = edges_of(joined[np.ix_(order, order)])
    after = compared(1)([(patch[order], context[order])], (), rng, moved).item()
    assert after == pytest.approx(before)


def test_an_edge_draws_its_ends_together_and_others_apart() -> None:
    """By the gradient of the edge term: nodes 0 and 1 are joined, 2 is not."""
    joined = np.zeros((3, 3))
    joined[0, 1] = joined[1, 0] = 1
    patch = torch.eye(3, dtype=torch.float64, requires_grad=True)
    loss = compared(1)._edge_term(patch, edges_of(joined), np.random.default_rng(0))
    (gradient,) = torch.autograd.grad(loss, patch)
    assert gradient[0, 1] < 0
    assert gradient[0, 2] > 0


def test_is_finite_where_scores_are_far_from_zero() -> None:
    far = torch.full((4, 3), 1e4).requires_grad_()
    edges = edges_of(adjacency(4, 0.5))
    rng = np.random.default_rng(0)
    for context in (far, -far):
        loss = compared(1)([(far, context)], (), rng, edges)
        (gradient,) = torch.autograd.grad(loss, far)
        assert torch.isfinite(loss)
        assert torch.isfinite(gradient).all()
