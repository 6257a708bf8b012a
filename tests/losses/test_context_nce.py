from __future__ import annotations

import math
import os
import subprocess
import sys

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import reference
from batches import random_rows
from ugcl.losses import Batch, ContextNCE, NormJSD
from ugcl.losses.context_nce import EPS, context_nce, same_node
from ugcl.methods.params import MIN_TEMPERATURE
from ugcl.nn import plain_formulas, unit_rows

STRIP = "ugcl.losses.info_nce.STRIP"
SEEDS = st.integers(0, 1000)
TEMPERATURES = st.floats(0.1, 3)

Nodes = tuple[torch.Tensor, torch.Tensor]

PAIRS = {
    "distinct": (range(8), range(8, 16)),
    "own contexts": (range(8), range(8)),
    "hub": (range(8), [0] * 8),
    "duplicates": ([0, 0, 0, 1, 1, 2, 3, 3], [1, 1, 0, 0, 2, 2, 3, 4]),
    "one node": ([5] * 8, [5] * 8),
    "mutual": (range(8), [1, 0, 3, 2, 5, 4, 7, 6]),
}
"""The nodes of eight rows and of their contexts."""

every_case = pytest.mark.parametrize("case", PAIRS)


def nodes_of(case: str) -> Nodes:
    one, other = (torch.tensor(list(nodes)) for nodes in PAIRS[case])
    return one, other


def random_nodes(size: int, seed: int) -> Nodes:
    """Few nodes, so that many occur more than once."""
    rng = np.random.default_rng(seed)
    one, other = (torch.from_numpy(rng.integers(0, max(2, size), size)) for _ in range(2))
    return one, other


def unit_views(size: int, width: int = 4, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    patch, context = (unit_rows(rows.detach()) for rows in random_rows(2, size, width, seed))
    return patch.requires_grad_(), context.requires_grad_()


def batch_of(patch: torch.Tensor, context: torch.Tensor, nodes: Nodes) -> Batch:
    return Batch([patch, context], None, np.random.default_rng(0), nodes=nodes)


def negatives(v: int, nodes: Nodes) -> list[int]:
    """Rows of patches, then of contexts, that are of neither node of the pair v."""
    everything = [*nodes[0].tolist(), *nodes[1].tolist()]
    pair = int(nodes[0][v]), int(nodes[1][v])
    return [row for row, node in enumerate(everything) if node not in pair]


def slow_nce(patch: torch.Tensor, context: torch.Tensor, nodes: Nodes, temperature: float) -> float:
    """The formula, pair by pair."""
    rows = (view.detach().numpy() for view in (patch, context))
    owners = nodes[0].tolist(), nodes[1].tolist()
    return reference.context_nce(*rows, owners, temperature)


def slow_jsd(patch: torch.Tensor, context: torch.Tensor, nodes: Nodes) -> float:
    """SIGNA's loss, node by node; a node without negatives has the first term alone.

    Cosines are kept away from -1 and 1, where it is infinite.
    """
    z, c = patch.detach().numpy(), context.detach().numpy()
    y, total = [*z, *c], 0.0
    for v in range(len(z)):
        total -= math.log((1 + max(reference.cosine(z[v], c[v]), EPS - 1)) / 2)
        others = [
            math.log((1 - min(reference.cosine(z[v], y[row]), 1 - EPS)) / 2)
            for row in negatives(v, nodes)
        ]
        total -= sum(others) / max(len(others), 1)
    return total / len(z)


@every_case
@pytest.mark.parametrize("strip", [1, 3, 8, 100])
def test_negatives_are_the_rows_of_other_nodes(case: str, strip: int) -> None:
    nodes = nodes_of(case)
    for start in range(0, 8, strip):
        rows = slice(start, min(start + strip, 8))
        mask = same_node(*nodes, rows)
        assert mask.shape == (rows.stop - start, 16)
        for v in range(start, rows.stop):
            left = set(torch.nonzero(~mask[v - start]).ravel().tolist())
            assert left == {*negatives(v, nodes), 8 + v}


@pytest.mark.parametrize("plain", [True, False])
@every_case
def test_equals_the_formula_pair_by_pair(case: str, plain: bool) -> None:
    (patch, context), nodes = unit_views(8), nodes_of(case)
    with plain_formulas(plain):
        loss = context_nce(patch, context, *nodes, 0.4).item()
    assert loss == pytest.approx(slow_nce(patch, context, nodes, 0.4), abs=1e-12)


@pytest.mark.parametrize("plain", [True, False])
@given(size=st.integers(1, 12), width=st.integers(1, 6), seed=SEEDS, temperature=TEMPERATURES)
def test_equals_the_formula_for_any_nodes(
    plain: bool, size: int, width: int, seed: int, temperature: float
) -> None:
    (patch, context), nodes = unit_views(size, width, seed), random_nodes(size, seed)
    with plain_formulas(plain):
        loss = context_nce(patch, context, *nodes, temperature).item()
    assert loss == pytest.approx(slow_nce(patch, context, nodes, temperature), abs=1e-12)


@every_case
@pytest.mark.parametrize(
    ("strip", "width"), [(1, 1), (2, 2), (3, 2), (1, 5), (7, 2), (8, 4), (9, 9)]
)
def test_the_kernel_equals_the_plain_formula(
    monkeypatch: pytest.MonkeyPatch, case: str, strip: int, width: int
) -> None:
    """In strips of so many rows, but at least as many as columns."""
    monkeypatch.setattr(STRIP, strip)
    (patch, context), nodes = unit_views(8, width), nodes_of(case)
    losses, gradients = [], []
    for plain in (True, False):
        with plain_formulas(plain):
            losses.append(3 * context_nce(patch, context, *nodes, 0.4))
        gradients.append(torch.autograd.grad(losses[-1], (patch, context)))
    torch.testing.assert_close(losses[1], losses[0])
    torch.testing.assert_close(gradients[1], gradients[0])


@every_case
@pytest.mark.parametrize("strip", [3, 100])
@pytest.mark.parametrize("temperature", [1.0, 0.3])
def test_gradients_of_the_kernel_equal_finite_differences(
    monkeypatch: pytest.MonkeyPatch, case: str, strip: int, temperature: float
) -> None:
    """Rows need not have norm 1 here, since the kernel uses products as they are."""
    monkeypatch.setattr(STRIP, strip)
    nodes = nodes_of(case)
    assert torch.autograd.gradcheck(
        lambda z, c: context_nce(z, c, *nodes, temperature), unit_views(8, 3)
    )


@pytest.mark.parametrize("loss", [ContextNCE(0.5), NormJSD()], ids=["infonce", "jsd"])
@every_case
def test_gradients_of_the_modules_equal_finite_differences(case: str, loss: ContextNCE) -> None:
    """Of rows of any length, which the loss normalises."""
    nodes = nodes_of(case)
    rows = random_rows(2, 8, 5, seed=3)
    assert torch.autograd.gradcheck(lambda z, c: loss(batch_of(z, c, nodes)), rows)


@given(scale=st.floats(1e-3, 1e3), seed=SEEDS, temperature=TEMPERATURES)
def test_the_module_compares_directions(scale: float, seed: int, temperature: float) -> None:
    (patch, context), nodes = random_rows(2, 7, 4, seed), random_nodes(7, seed)
    loss = ContextNCE(temperature)(batch_of(scale * patch, context / scale, nodes)).item()
    assert loss == pytest.approx(slow_nce(patch, context, nodes, temperature), abs=1e-12)


@every_case
def test_jsd_equals_the_formula_pair_by_pair(case: str) -> None:
    (patch, context), nodes = random_rows(2, 8, 4), nodes_of(case)
    loss = NormJSD()(batch_of(patch, context, nodes)).item()
    assert loss == pytest.approx(slow_jsd(patch, context, nodes))


@given(size=st.integers(1, 12), width=st.integers(2, 6), seed=SEEDS)
def test_jsd_equals_the_formula_for_any_nodes(size: int, width: int, seed: int) -> None:
    (patch, context), nodes = random_rows(2, size, width, seed), random_nodes(size, seed)
    loss = NormJSD()(batch_of(patch, context, nodes)).item()
    assert loss == pytest.approx(slow_jsd(patch, context, nodes))


@pytest.mark.parametrize("plain", [True, False])
@pytest.mark.parametrize("loss", [ContextNCE(0.5), NormJSD()], ids=["infonce", "jsd"])
@pytest.mark.parametrize("which", ["patches", "contexts", "all", "equal", "opposite"])
def test_rows_of_zeros_and_extreme_cosines_have_finite_losses_and_gradients(
    which: str, loss: ContextNCE, plain: bool
) -> None:
    rows = [each.detach().float() for each in random_rows(2, 8, 4)]
    if which in ("patches", "all"):
        rows[0][:3] = 0
    if which in ("contexts", "all"):
        rows[1][2:] = 0
    if which in ("equal", "opposite"):
        rows[0][:] = rows[0][0]
        rows[1] = rows[0] if which == "equal" else -rows[0]
    patch, context = (each.clone().requires_grad_() for each in rows)
    with plain_formulas(plain):
        value = loss(batch_of(patch, context, nodes_of("duplicates")))
        value.backward()
    for tensor in (value, patch.grad, context.grad):
        assert tensor is not None
        assert torch.isfinite(tensor).all()


def test_the_minimum_temperature_stays_in_the_range_of_float32() -> None:
    axes = torch.eye(4).repeat(100, 1).requires_grad_()
    nodes = torch.arange(400), torch.arange(400, 800)
    for context in (axes, -axes):
        loss = context_nce(axes, context, *nodes, MIN_TEMPERATURE)
        (gradient,) = torch.autograd.grad(loss, axes)
        assert torch.isfinite(loss)
        assert torch.isfinite(gradient).all()


@given(seed=SEEDS)
def test_is_invariant_to_the_order_of_pairs_and_to_a_rotation(seed: int) -> None:
    (patch, context), nodes = unit_views(9, 4, seed), random_nodes(9, seed)
    order = torch.from_numpy(np.random.default_rng(seed).permutation(9))
    generator = torch.Generator().manual_seed(seed)
    rotation, _ = torch.linalg.qr(torch.randn(4, 4, generator=generator, dtype=torch.float64))
    for loss in (ContextNCE(0.5), NormJSD()):
        expected = loss(batch_of(patch, context, nodes)).item()
        permuted = batch_of(patch[order], context[order], (nodes[0][order], nodes[1][order]))
        assert loss(permuted).item() == pytest.approx(expected)
        rotated = batch_of(patch @ rotation, context @ rotation, nodes)
        assert loss(rotated).item() == pytest.approx(expected)


@pytest.mark.parametrize("loss", [ContextNCE(0.5), NormJSD()], ids=["infonce", "jsd"])
def test_is_lower_where_nodes_agree_with_their_contexts(loss: ContextNCE) -> None:
    patch, _ = unit_views(8)
    nodes = nodes_of("distinct")
    aligned, shifted = (
        loss(batch_of(patch, 0.99 * patch.roll(by, dims=0) + 0.01, nodes)).item() for by in (0, 1)
    )
    assert aligned < shifted - 0.1


def test_a_single_pair_has_no_negatives() -> None:
    patch, context = unit_views(1)
    nodes = torch.tensor([0]), torch.tensor([1])
    loss = context_nce(patch, context, *nodes, 0.5)
    assert loss.item() == pytest.approx(0, abs=1e-12)
    assert torch.autograd.grad(loss, patch)[0].abs().max() < 1e-12


@pytest.mark.slow
def test_an_environment_variable_selects_the_plain_formulas() -> None:
    code = """
import torch
from unittest.mock import patch
from ugcl.losses import context_nce as module
rows, nodes = torch.eye(3), torch.arange(3)
with patch.object(module, "plain_context_nce", return_value="plain"):
    print(module.context_nce(rows, rows, nodes, nodes + 3, 0.5))
"""
    for value, expected in (("1", "plain"), ("0", "tensor")):
        output = subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | {"UGCL_PLAIN": value},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        assert output.startswith(expected)


def test_without_gradients_the_kernel_needs_one_product() -> None:
    patch, context = unit_views(8)
    names: list[str] = []

    class Watch(torch.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
            names.append(func.__name__)
            return func(*args, **(kwargs or {}))

    with Watch(), torch.no_grad():
        loss = context_nce(patch.detach(), context.detach(), *nodes_of("hub"), 0.5)
    assert [name for name in names if "mm" in name] == ["mm.default"]
    assert loss == context_nce(patch, context, *nodes_of("hub"), 0.5)


def test_the_kernel_stores_no_square_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    """Saved for the backward pass are two matrices as large as the input."""
    monkeypatch.setattr(STRIP, 64)
    size, width = 600, 4
    patch, context = unit_views(size, width)
    nodes = torch.arange(size), torch.arange(size, 2 * size)
    largest = 0

    class Watch(torch.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
            nonlocal largest
            out = func(*args, **(kwargs or {}))
            if isinstance(out, torch.Tensor):
                largest = max(largest, out.numel())
            return out

    with Watch():
        context_nce(patch, context, *nodes, 0.5).backward()
    assert largest == 64 * 2 * size
