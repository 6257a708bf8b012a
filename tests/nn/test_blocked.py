from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
import torch

import reference
from encoder_blocks import encoder_blocks
from ugcl.nn import GCN, blocked, plain_formulas
from ugcl.nn.blocked import encode
from ugcl.scope import Power, lazy
from ugcl.sparse import SparseMatrix
from ugcl.views import View


def make_view(
    size: int = 12, features: int = 5, sparse: bool = True, context: str = "power"
) -> View:
    """A view in float64 with a symmetric adjacency and sparse or dense features."""
    rng = np.random.default_rng(0)
    upper = np.triu(rng.random((size, size)) < 0.3, 1)
    adjacency = reference.normalised_adjacency((upper + upper.T).astype(float))
    x = rng.normal(size=(size, features)) * (rng.random((size, features)) < 0.5)
    matrix, propagation = (
        SparseMatrix.from_scipy(matrix, symmetric=True, dtype=torch.float64)
        for matrix in (sp.csr_array(adjacency), lazy(sp.csr_array(adjacency)))
    )
    propagation = propagation if context == "lazy" else matrix
    if sparse:
        columns = SparseMatrix.from_scipy(sp.csr_array(x), dtype=torch.float64)
        return View(matrix, columns, None, propagation)
    return View(matrix, None, matrix @ torch.from_numpy(x), propagation)


def without_aggregated(size: int = 12, features: int = 5) -> View:
    """A view with dense features, as those of a corrupted graph."""
    view = make_view(size, features)
    assert isinstance(view.features, SparseMatrix)
    return replace(view, features=view.features.matrix.to_dense())


def parameters(features: int, width: int, slope: float) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(1)
    weight = torch.randn(features, width, generator=generator, dtype=torch.float64)
    bias = torch.randn(width, generator=generator, dtype=torch.float64)
    values = [weight, bias, torch.full((1,), slope, dtype=torch.float64)]
    return [value.requires_grad_() for value in values]


@pytest.fixture(params=[1, 3], ids=lambda threads: f"{threads} threads")
def narrow_blocks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of 2 columns, in stacks of 1 or 3: of 7 columns one remains."""
    monkeypatch.setattr(blocked, "WIDTH", 2)
    monkeypatch.setattr(torch, "get_num_threads", lambda: request.param)


@pytest.mark.usefixtures("narrow_blocks")
@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize(("n", "context"), [(0, "power"), (3, "power"), (4, "lazy")])
@pytest.mark.parametrize("slope", [0.25, 0.0, -0.3, 1.5])
def test_the_kernel_equals_the_plain_formula(
    sparse: bool, n: int, context: str, slope: float
) -> None:
    view = make_view(sparse=sparse, context=context)
    encoder = GCN(5, 7, torch.Generator().manual_seed(0)).double()
    with torch.no_grad():
        encoder.slope.fill_(slope)
        encoder.bias.normal_(generator=torch.Generator().manual_seed(2))
    results = []
    for plain in (True, False):
        with plain_formulas(plain):
            hidden = encoder.context(view, Power(n))
        gradients = torch.autograd.grad((hidden**3).sum(), list(encoder.parameters()))
        results.append((hidden.detach(), *gradients))
    for expected, value in zip(*results, strict=True):
        torch.testing.assert_close(value, expected)


@pytest.mark.usefixtures("narrow_blocks")
@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_blocks_for_embedding_equal_the_plain_formula(sparse: bool, n: int) -> None:
    view = make_view(sparse=sparse)
    encoder = GCN(5, 7, torch.Generator().manual_seed(0)).double()
    results = []
    for plain in (True, False):
        hidden, context = torch.full((2, 12, 7), torch.nan, dtype=torch.float64)
        with plain_formulas(plain), torch.no_grad():
            for columns, patch_block, context_block in encoder_blocks(encoder, view, Power(n)):
                hidden[:, columns], context[:, columns] = patch_block, context_block
        results.append((hidden, context))
    for expected, value in zip(*results, strict=True):
        torch.testing.assert_close(value, expected)


@pytest.mark.usefixtures("narrow_blocks")
@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize(("n", "context"), [(0, "power"), (2, "lazy")])
def test_gradients_equal_finite_differences(sparse: bool, n: int, context: str) -> None:
    view = make_view(6, 3, sparse, context)
    assert torch.autograd.gradcheck(
        lambda *values: encode(view, *values, n), parameters(3, 7, 0.25)
    )


@pytest.mark.usefixtures("narrow_blocks")
@pytest.mark.parametrize("n", [0, 2])
def test_dense_features_without_their_aggregation_equal_sparse_ones(n: int) -> None:
    values = parameters(5, 7, 0.25)
    results = []
    for view in (make_view(), without_aggregated()):
        hidden = encode(view, *values, n)
        results.append((hidden, *torch.autograd.grad((hidden**3).sum(), values)))
    torch.testing.assert_close(*results)
    assert torch.autograd.gradcheck(
        lambda *each: encode(without_aggregated(6, 3), *each, n), parameters(3, 7, 0.25)
    )


@pytest.mark.parametrize(
    ("slope", "n", "of_result"),
    [(0.25, 0, True), (0.0, 0, False), (-0.3, 0, False), (0.25, 2, False)],
)
def test_saves_its_result_alone_where_that_is_enough(slope: float, n: int, of_result: bool) -> None:
    saved: list[int] = []

    def pack(tensor: torch.Tensor) -> torch.Tensor:
        saved.append(tensor.data_ptr())
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        hidden = encode(make_view(), *parameters(5, 7, slope), n)
    assert (saved == [hidden.data_ptr()]) == of_result


def test_threads_may_change_before_the_backward_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    view, values = make_view(), parameters(5, 7, 0.25)
    results = []
    for later in (1, 3):
        monkeypatch.setattr(torch, "get_num_threads", lambda: 1)
        hidden = encode(view, *values, 2)
        monkeypatch.setattr(torch, "get_num_threads", lambda later=later: later)
        results.append(torch.autograd.grad(hidden.sum(), values))
    torch.testing.assert_close(*results)


@pytest.mark.parametrize("size", [12, 300])
@pytest.mark.parametrize("columns", [1, 5, 64, 65, 700])
def test_blocks_contain_each_column_once(
    monkeypatch: pytest.MonkeyPatch, size: int, columns: int
) -> None:
    monkeypatch.setattr(blocked, "CACHE", 100 * 64 * 4)  # 300 nodes do not fit
    monkeypatch.setattr(torch, "get_num_threads", lambda: 3)
    view, weight = make_view(size), torch.empty(5, columns)
    for n in (0, 2):
        covered = [
            column
            for block in blocked._blocks(view, weight, n)
            for column in range(block.start, block.start + block.stacks * block.width)
        ]
        assert covered == list(range(columns))
