from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch

from batches import batch_of, random_rows
from ugcl.losses import Batch, Loss, Pair
from ugcl.losses.loss import sample_negatives

EDGES = torch.tensor([0, 1]), torch.tensor([2, 2])


class Distance(Loss):
    """Squared distance after a projection; records the pairs that it is called with."""

    def __init__(self) -> None:
        super().__init__()
        self.projected: list[torch.Tensor] = []
        self.pairs: list[Pair] = []
        self.batches: list[Batch] = []

    def project(self, rows: torch.Tensor) -> torch.Tensor:
        self.projected.append(rows)
        return 2 * rows

    def pair_loss(self, pair: Pair, batch: Batch) -> torch.Tensor:
        self.pairs.append(pair)
        self.batches.append(batch)
        return (pair.patch - pair.context).square().sum()


def make_batch(count: int, *, contexts: bool, negatives: bool = False, **fields: Any) -> Batch:
    rows = random_rows(3 * count, 4, 2)
    return Batch(
        patches=rows[:count],
        contexts=rows[count : 2 * count] if contexts else None,
        rng=np.random.default_rng(0),
        negatives=rows[2 * count :] if negatives else (),
        **fields,
    )


def is_same(pairs: list[Pair], expected: list[tuple[torch.Tensor | None, ...]]) -> bool:
    """Whether the pairs hold the very tensors that are expected."""
    return [[id(rows) for rows in pair] for pair in pairs] == [
        [id(rows) for rows in pair] for pair in expected
    ]


@pytest.mark.parametrize("negatives", [True, False])
@pytest.mark.parametrize("contexts", [True, False])
def test_contexts_of_a_pair_are_those_of_the_next_view(contexts: bool, negatives: bool) -> None:
    batch = make_batch(3, contexts=contexts, negatives=negatives)
    a, b, c = batch.patches if batch.contexts is None else batch.contexts
    fakes = batch.negatives if negatives else (None, None, None)
    assert is_same(batch.pairs(), list(zip(batch.patches, (b, c, a), fakes, strict=True)))


@pytest.mark.parametrize("contexts", [True, False])
def test_a_single_view_has_its_own_contexts(contexts: bool) -> None:
    batch = make_batch(1, contexts=contexts)
    (pair,) = batch.pairs()
    assert pair.patch is batch.patches[0]
    assert pair.context is (batch.patches if batch.contexts is None else batch.contexts)[0]
    assert pair.negative is None


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("contexts", [True, False])
def test_map_applies_a_function_once_to_each_tensor(contexts: bool, count: int) -> None:
    batch, seen = make_batch(count, contexts=contexts, negatives=True), []

    def double(rows: torch.Tensor) -> torch.Tensor:
        seen.append(id(rows))
        return 2 * rows

    mapped = batch.map(double)
    inputs = [*batch.patches, *(batch.contexts or ())]
    assert sorted(seen) == sorted(id(rows) for rows in inputs)
    assert len(mapped.patches) == count
    torch.testing.assert_close(list(mapped.patches), [2 * rows for rows in batch.patches])
    if batch.contexts is None:
        assert mapped.contexts is None
    else:
        assert mapped.contexts is not None
        torch.testing.assert_close(list(mapped.contexts), [2 * rows for rows in batch.contexts])


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("contexts", [True, False])
def test_map_keeps_the_pairing_and_leaves_the_rest_as_it_is(contexts: bool, count: int) -> None:
    batch = make_batch(count, contexts=contexts, negatives=True, edges=EDGES, global_context=True)
    mapped = batch.map(lambda rows: 2 * rows)
    for before, after in zip(batch.pairs(), mapped.pairs(), strict=True):
        torch.testing.assert_close(after.patch, 2 * before.patch)
        torch.testing.assert_close(after.context, 2 * before.context)
        assert after.negative is before.negative
    assert mapped.rng is batch.rng
    assert mapped.edges is EDGES
    assert mapped.global_context
    if not contexts and count > 1:
        for pair, following in pairwise(mapped.pairs()):
            assert pair.context is following.patch


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("contexts", [True, False])
def test_the_loss_of_a_batch_is_the_mean_over_projected_pairs(contexts: bool, count: int) -> None:
    batch, loss = make_batch(count, contexts=contexts), Distance()
    value = loss(batch)
    distances = [4 * (pair.patch - pair.context).square().sum() for pair in batch.pairs()]
    torch.testing.assert_close(value, torch.stack(distances).mean())
    assert value.shape == ()
    assert len(loss.projected) == (2 * count if contexts else count)


def test_the_loss_of_a_pair_has_the_batch_as_it_was_given() -> None:
    batch, loss = make_batch(2, contexts=True, negatives=True, edges=EDGES), Distance()
    loss(batch)
    assert all(given is batch for given in loss.batches)
    assert [id(pair.negative) for pair in loss.pairs] == [id(rows) for rows in batch.negatives]


def test_by_default_there_is_no_projection_and_negatives_are_patches() -> None:
    class Plain(Loss):
        def pair_loss(self, pair: Pair, batch: Batch) -> torch.Tensor:
            return pair.patch.sum()

    rows = random_rows(1, 4, 2)[0]
    assert Plain().project(rows) is rows
    assert not Plain().contextual_negatives


def test_a_loss_has_to_define_the_loss_of_a_pair() -> None:
    with pytest.raises(TypeError, match="pair_loss"):
        Loss()  # type: ignore[abstract]


def test_all_negatives_need_no_sample() -> None:
    rng = np.random.default_rng(0)
    assert sample_negatives("all", torch.zeros(5, 2), rng) is None
    assert sample_negatives(6, torch.zeros(5, 2), rng) is None
    assert rng.random() == np.random.default_rng(0).random()


def test_sampled_negatives_are_distinct_rows_and_depend_on_the_generator() -> None:
    rows = torch.zeros(50, 2)
    samples = [sample_negatives(20, rows, np.random.default_rng(seed)) for seed in (0, 0, 1)]
    for sample in samples:
        assert sample is not None
        assert sample.unique().numel() == 20
        assert 0 <= sample.min() <= sample.max() < 50
    assert torch.equal(samples[0], samples[1])
    assert not torch.equal(samples[0], samples[2])


def test_every_row_is_sampled_equally_often() -> None:
    """Within five standard deviations."""
    rng, counts = np.random.default_rng(0), torch.zeros(10)
    for _ in range(2000):
        counts[sample_negatives(3, torch.zeros(10, 1), rng)] += 1
    assert (counts / 2000 - 0.3).abs().max() < 5 * np.sqrt(0.3 * 0.7 / 2000)


def test_batches_of_the_tests_have_the_given_pairs() -> None:
    """The helper of the other tests."""
    a, b, c, d = random_rows(4, 3, 2)
    batch = batch_of((a, b), (c, d), negatives=[b, d])
    assert is_same(batch.pairs(), [(a, b, b), (c, d, d)])
