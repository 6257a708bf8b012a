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

from batches import batch_of, gradients_are_right, random_rows
from ugcl.losses import GMILoss, gmi, pairs
from ugcl.nn import plain_formulas

SEEDS = st.integers(0, 1000)
FRACTIONS = st.sampled_from([0.0, 0.3, 1.0])  # from no edges to all
WEIGHTS = st.floats(0.1, 5)


def adjacency(size: int, fraction: float = 0.3, seed: int = 0) -> np.ndarray:
    upper = np.triu(np.random.default_rng(seed).random((size, size)) < fraction, k=1)
    return (upper | upper.T).astype(float)


def edges_of(connected: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
    first, second = np.nonzero(np.triu(connected))
    return torch.from_numpy(first), torch.from_numpy(second)


def gmi_loss(weight: float, negatives: gmi.Count = "all", non_edges: gmi.Count = "all") -> GMILoss:
    return GMILoss(edge_weight=weight, negatives=negatives, non_edges=non_edges)


def sp(x: float) -> float:
    return math.log(1 + math.exp(x))


def slow_features(
    patch: torch.Tensor, context: torch.Tensor, others: Sequence[Sequence[int]] | None = None
) -> float:
    """J, pair by pair; each node is compared with all others or with the listed ones."""
    h, c = patch.detach().numpy(), context.detach().numpy()
    size = len(h)
    total = 0.0
    for v in range(size):
        compared_with = [k for k in range(size) if k != v] if others is None else others[v]
        total += sp(-1 / (1 + math.exp(-h[v] @ c[v])))
        for k in compared_with:
            total += sp(1 / (1 + math.exp(-h[v] @ c[k]))) / len(compared_with)
    return total / size


def slow_edges(patch: torch.Tensor, connected: np.ndarray) -> float:
    """B, pair by pair."""
    h, looped = patch.detach().numpy(), connected + np.eye(len(connected))
    size, half = len(h), looped.sum() / 2
    weight = (size**2 - half) / half
    total = 0.0
    for v in range(size):
        for k in range(size):
            total += weight * sp(-h[v] @ h[k]) if looped[v, k] else sp(h[v] @ h[k])
    return float(total / (size**2 - half))


@pytest.mark.parametrize("plain", [True, False])
@given(
    size=st.integers(1, 10), width=st.integers(1, 5), fraction=FRACTIONS, seed=SEEDS, weight=WEIGHTS
)
def test_equals_both_formulas_pair_by_pair(
    plain: bool, size: int, width: int, fraction: float, seed: int, weight: float
) -> None:
    patch, context = random_rows(2, size, width, seed)
    connected = adjacency(size, fraction, seed)
    with plain_formulas(plain):
        loss = gmi_loss(weight)(batch_of((patch, context), edges=edges_of(connected))).item()
    expected = slow_features(patch, context) + weight * slow_edges(patch, connected)
    assert loss == pytest.approx(expected)


@pytest.mark.parametrize("plain", [True, False])
@given(size=st.integers(3, 10), seed=SEEDS, data=st.data())
def test_sampled_negatives_come_from_the_random_generator_of_the_batch(
    plain: bool, size: int, seed: int, data: st.DataObject
) -> None:
    patch, context = random_rows(2, size, 3, seed)
    count = data.draw(st.integers(1, size - 2))
    with plain_formulas(plain):
        loss = gmi_loss(0, negatives=count)(batch_of((patch, context), seed=seed)).item()
    steps = np.random.default_rng(seed).integers(1, size, (size, count))
    others = (np.arange(size)[:, None] + steps) % size
    assert loss == pytest.approx(slow_features(patch, context, others.tolist()))


@pytest.mark.parametrize("count", [8, 20])
def test_as_many_negatives_as_other_nodes_are_all_negatives(count: int) -> None:
    patch, context = random_rows(2, 9, 3)
    batch = batch_of((patch, context), edges=edges_of(adjacency(9, 0.3, 0)))
    some, every = (
        gmi_loss(0.5, negatives=number, non_edges=number)(batch) for number in (count, "all")
    )
    assert some.item() == every.item()


@pytest.mark.parametrize("setting", ["negatives", "non_edges"])
@pytest.mark.parametrize(("count", "sampled"), [(7, True), (8, False), (20, False)])
def test_nothing_is_sampled_from_all_other_nodes(setting: str, count: int, sampled: bool) -> None:
    patch, context = random_rows(2, 9, 3)
    batch = batch_of((patch, context), edges=edges_of(adjacency(9, 0.3, 0)))
    before = batch.rng.bit_generator.state
    gmi_loss(0.5, **{"negatives": "all", "non_edges": "all", setting: count})(batch)
    assert (batch.rng.bit_generator.state != before) is sampled


@given(size=st.integers(2, 12), width=st.integers(1, 5), fraction=FRACTIONS, seed=SEEDS)
def test_the_edge_term_is_the_weighted_cross_entropy_of_the_authors_code(
    size: int, width: int, fraction: float, seed: int
) -> None:
    patch, _ = random_rows(2, size, width, seed)
    connected = adjacency(size, fraction, seed)
    looped = torch.from_numpy(connected + np.eye(size))
    half = looped.sum() / 2
    expected = binary_cross_entropy_with_logits(
        patch @ patch.T, looped, pos_weight=(size**2 - half) / half
    ) * (size**2 / (size**2 - half))
    edge_term = gmi_loss(1)._edge_term(patch, edges_of(connected), np.random.default_rng(0))
    torch.testing.assert_close(edge_term, expected)


@pytest.mark.parametrize("negatives", ["all", 3])
@pytest.mark.parametrize("non_edges", ["all", 2])
@pytest.mark.parametrize("strip", [1, 5, 11, 12, 100])
def test_the_kernels_equal_the_plain_formulas(
    monkeypatch: pytest.MonkeyPatch,
    negatives: gmi.Count,
    non_edges: gmi.Count,
    strip: int,
) -> None:
    monkeypatch.setattr(pairs, "STRIP", strip)
    patch, context = random_rows(2, 12, 4)
    edges = edges_of(adjacency(12))
    loss = gmi_loss(0.7, negatives, non_edges)
    losses, gradients = [], []
    for plain in (True, False):
        with plain_formulas(plain):
            losses.append(loss(batch_of((patch, context), edges=edges, seed=3)))
        gradients.append(torch.autograd.grad(losses[-1], (patch, context)))
    torch.testing.assert_close(losses[1], losses[0])
    torch.testing.assert_close(gradients[1], gradients[0])


@pytest.mark.parametrize("negatives", ["all", 1])
@pytest.mark.parametrize("non_edges", ["all", 1])
@pytest.mark.parametrize(("size", "width"), [(2, 1), (7, 3)])
def test_gradients_equal_finite_differences(
    monkeypatch: pytest.MonkeyPatch,
    negatives: gmi.Count,
    non_edges: gmi.Count,
    size: int,
    width: int,
) -> None:
    monkeypatch.setattr(pairs, "STRIP", 3)
    edges = edges_of(adjacency(size, 0.5))
    loss = gmi_loss(0.7, negatives, non_edges)
    assert gradients_are_right(
        loss,
        lambda patch, context: batch_of((patch, context), edges=edges),
        random_rows(2, size, width),
    )


@given(size=st.integers(2, 10), count=st.integers(1, 9), seed=SEEDS)
def test_each_node_is_compared_with_count_other_nodes_never_with_itself(
    size: int, count: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    nodes, others = gmi._sample_others(size, count, torch.device("cpu"), rng)
    assert torch.bincount(nodes).tolist() == [count] * size
    assert (nodes != others).all()
    assert others.min() >= 0
    assert others.max() < size


def test_all_other_nodes_are_sampled_equally_often() -> None:
    size, count = 5, 4000
    rng = np.random.default_rng(0)
    nodes, others = gmi._sample_others(size, count, torch.device("cpu"), rng)
    table = torch.zeros(size, size).index_put_((nodes, others), torch.ones(1), accumulate=True)
    probability = 1 / (size - 1)
    error = math.sqrt(count * probability * (1 - probability))
    off = (table - count * probability)[~torch.eye(size, dtype=torch.bool)]
    assert off.abs().max() < 4 * error


@pytest.mark.parametrize("plain", [True, False])
def test_the_mean_over_all_samples_of_non_edges_is_the_full_edge_term(
    monkeypatch: pytest.MonkeyPatch, plain: bool
) -> None:
    """Values and gradients, with one other node for each of four nodes, in all 81 ways."""
    size, rng = 4, np.random.default_rng(0)
    patch, _ = random_rows(2, size, 3)
    connected = adjacency(size, 0.5)
    nodes, results = torch.arange(size), []
    with plain_formulas(plain):
        for steps in product(range(1, size), repeat=size):
            sampled = nodes, (nodes + torch.tensor(steps)) % size
            monkeypatch.setattr(gmi, "_sample_others", lambda *_, sampled=sampled: sampled)
            loss = gmi_loss(1, non_edges=1)._edge_term(patch, edges_of(connected), rng)
            results.append((loss.detach(), *torch.autograd.grad(loss, patch)))
        full = gmi_loss(1)._edge_term(patch, edges_of(connected), rng)
    losses, gradients = (torch.stack(parts) for parts in zip(*results, strict=True))
    assert losses.std() > 0.01
    assert losses.mean().item() == pytest.approx(slow_edges(patch, connected))
    torch.testing.assert_close((gradients.mean(dim=0),), torch.autograd.grad(full, patch))


def test_sampled_non_edges_estimate_the_edge_term_without_bias() -> None:
    patch, _ = random_rows(2, 6, 3)
    connected = adjacency(6)
    loss, rng = gmi_loss(1, non_edges=2), np.random.default_rng(0)
    with torch.no_grad():
        estimates = torch.stack(
            [loss._edge_term(patch, edges_of(connected), rng) for _ in range(1000)]
        )
    expected = slow_edges(patch, connected)
    error = estimates.std().item() / math.sqrt(len(estimates))
    assert error < 0.01 * expected
    assert estimates.mean().item() == pytest.approx(expected, abs=3 * error)


@pytest.mark.parametrize("negatives", ["all", 3])
def test_with_weight_0_edges_are_not_needed(negatives: gmi.Count) -> None:
    patch, context = random_rows(2, 6, 3)
    losses = [
        gmi_loss(0, negatives)(batch_of((patch, context), edges=edges, seed=2))
        for edges in (None, edges_of(adjacency(6)))
    ]
    batch = batch_of((patch, context), seed=2)
    assert losses[0] == losses[1] == gmi_loss(0, negatives).pair_loss(batch.pairs()[0], batch)


def test_several_pairs_have_the_mean_of_their_losses() -> None:
    (first, second), (third, fourth) = random_rows(2, 6, 3), random_rows(2, 6, 3, seed=1)
    connected = adjacency(6)
    couples = [(first, second), (third, fourth)]
    loss = gmi_loss(2)(batch_of(*couples, edges=edges_of(connected))).item()
    expected = [slow_features(h, c) + 2 * slow_edges(h, connected) for h, c in couples]
    assert loss == pytest.approx(np.mean(expected))


@given(seed=SEEDS)
def test_is_invariant_to_the_order_of_nodes(seed: int) -> None:
    patch, context = random_rows(2, 9, 3, seed)
    connected, order = adjacency(9, seed=seed), np.random.default_rng(seed).permutation(9)
    permuted = edges_of(connected[np.ix_(order, order)])
    before, after = (
        gmi_loss(1)(batch).item()
        for batch in (
            batch_of((patch, context), edges=edges_of(connected)),
            batch_of((patch[order], context[order]), edges=permuted),
        )
    )
    assert after == pytest.approx(before)


def test_the_edge_term_attracts_neighbours_and_repels_other_nodes() -> None:
    """By the gradient of the edge term: nodes 0 and 1 are connected, 2 is isolated."""
    connected = np.zeros((3, 3))
    connected[0, 1] = connected[1, 0] = 1
    patch = torch.eye(3, dtype=torch.float64, requires_grad=True)
    loss = gmi_loss(1)._edge_term(patch, edges_of(connected), np.random.default_rng(0))
    (gradient,) = torch.autograd.grad(loss, patch)
    assert gradient[0, 1] < 0
    assert gradient[0, 2] > 0


def test_is_finite_where_scores_are_far_from_zero() -> None:
    far = torch.full((4, 3), 1e4).requires_grad_()
    edges = edges_of(adjacency(4, 0.5))
    for context in (far, -far):
        loss = gmi_loss(1)(batch_of((far, context), edges=edges))
        (gradient,) = torch.autograd.grad(loss, far)
        assert torch.isfinite(loss)
        assert torch.isfinite(gradient).all()
