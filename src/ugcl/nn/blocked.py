"""Kernel for graph convolution and propagation in blocks of columns that stay in cache.

The sparse products of an encoder are bound by memory traffic, not by arithmetic. Columns of H are
independent of each other from `X W` to `A^n H`, so they are computed in blocks: one block for each
thread, stacked and multiplied by the block-diagonal matrix diag(A, A, ...). Threads divide a sparse
product by rows, so each keeps the columns of its own block in its own cache throughout.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn.functional import leaky_relu

from ugcl._utils.buffers import new_empty
from ugcl.sparse import SparseMatrix, multiply
from ugcl.views import View

WIDTH = 64
"""Columns of a block that is propagated: sparse products are fastest with about this many."""

NARROW = 16
"""Minimum columns of a block; a machine may have more cores than there are such blocks."""

CACHE = 2**20
"""Maximum bytes of a block: two of them fit into a core's own cache."""

MIN_SLOPE = 1e-3
"""Minimum slope of PReLU for which its input is computed from its output, without underflow."""


def encode(view: View, weight: Tensor, bias: Tensor, slope: Tensor, n: int = 0) -> Tensor:
    """Return `A^n PReLU(A X W + b)`; the power is that of the view's `propagation` matrix.

    Cost: O(nnz(X) D + n nnz(A) D), backwards the same. Memory: one S x D array for n = 0, of which
    the gradient of PReLU is computed, too; else two, the result and `A X W`.
    """
    encoded: Tensor = _Encode.apply(weight, bias, slope, view, n)  # type: ignore[no-untyped-call]
    return encoded


@dataclass(frozen=True)
class Block:
    """Columns of an S x D array, handled as `stacks` narrower blocks stacked vertically."""

    start: int
    stacks: int
    width: int

    def of(self, array: Tensor) -> Tensor:
        """Return a view of these columns of an array, stacks x rows x width."""
        columns = array[..., self.start : self.start + self.stacks * self.width]
        return columns.view(*array.shape[:-1], self.stacks, self.width).movedim(-2, 0)

    def take(self, array: Tensor) -> Tensor:
        """Copy these columns into stacked blocks, (stacks rows) x width."""
        columns = self.of(array)
        return new_empty(array, columns.shape).copy_(columns).flatten(0, 1)

    def unstacked(self, stacked: Tensor) -> Tensor:
        """Return stacked blocks as stacks x rows x width."""
        return stacked.view(self.stacks, -1, self.width)

    def put(self, stacked: Tensor, array: Tensor) -> None:
        """Copy stacked blocks back into these columns of an array."""
        self.of(array).copy_(self.unstacked(stacked))


class _Encode(torch.autograd.Function):
    """Backward pass for a gradient G: `G <- A^n G * PReLU'`, then `X^T A G` for W.

    PReLU with a positive slope a keeps the sign, and `min(h, 0) / a` is the negative part of its
    input: without powers H is all that has to be saved.
    """

    @staticmethod
    def forward(
        ctx: Any, weight: Tensor, bias: Tensor, slope: Tensor, view: View, n: int
    ) -> Tensor:
        encoded = new_empty(weight, (view.adjacency.shape[0], weight.shape[1]))
        ctx.slope = slope.item()
        blocks, linears = list(_blocks(view, weight, n)), []
        for block in blocks:
            linear = _linear(view, block, weight, bias)
            if n:
                matrix = view.propagation.block_diagonal(block.stacks).matrix
                block.put(_steps(matrix, leaky_relu(linear, ctx.slope), n), encoded)
            else:
                torch.ops.aten.leaky_relu.out(
                    block.unstacked(linear), ctx.slope, out=block.of(encoded)
                )
            if ctx.slope < MIN_SLOPE or n:
                linears.append(linear)
        ctx.save_for_backward(*(linears or [encoded]))
        ctx.view, ctx.n, ctx.blocks, ctx.inputs_saved = view, n, blocks, bool(linears)
        return encoded

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        view, columns = ctx.view, grads[0].shape[1]
        weight_grad = grads[0].new_empty(view.num_features, columns)
        bias_grad, slope_grad = grads[0].new_empty(columns), grads[0].new_zeros(1)
        for index, block in enumerate(ctx.blocks):
            gradient = block.take(grads[0])
            if ctx.inputs_saved:
                matrix = view.propagation.block_diagonal(block.stacks).transpose
                gradient, rows = _steps(matrix, gradient, ctx.n), ctx.saved_tensors[index]
                slope_grad += torch.dot(rows.clamp(max=0).flatten(), gradient.flatten())
                _prelu_backward(gradient, rows, ctx.slope)
            else:
                rows = block.take(ctx.saved_tensors[0])
                _prelu_backward(gradient, rows, ctx.slope)
                negative = torch.dot(rows.clamp_(max=0).flatten(), gradient.flatten())
                slope_grad += negative / ctx.slope**2  # one factor a of each of the two
            block.of(bias_grad).copy_(block.unstacked(gradient).sum(dim=1))
            if view.aggregated is not None:
                block.of(weight_grad).copy_(view.aggregated.T @ block.unstacked(gradient))
                continue
            gradient = multiply(view.adjacency.block_diagonal(block.stacks).transpose, gradient)
            if isinstance(view.features, SparseMatrix):
                features = view.features.block_diagonal(block.stacks).transpose
                block.put(multiply(features, gradient), weight_grad)
            else:
                block.of(weight_grad).copy_(view.features.T @ block.unstacked(gradient))
        return weight_grad, bias_grad, slope_grad, None, None


def _linear(view: View, block: Block, weight: Tensor, bias: Tensor) -> Tensor:
    """Return `A X W + b` of a block: `(A X) W` where A X is stored, else `A (X W)`."""
    if view.aggregated is not None:
        linear = _dense_product(view.aggregated, block.of(weight))
    else:
        if isinstance(view.features, SparseMatrix):
            features = view.features.block_diagonal(block.stacks).matrix
            product = multiply(features, block.take(weight))
        else:
            assert view.features is not None
            product = _dense_product(view.features, block.of(weight))
        linear = multiply(view.adjacency.block_diagonal(block.stacks).matrix, product)
    block.unstacked(linear).add_(block.of(bias)[:, None])
    return linear


def _dense_product(rows: Tensor, weights: Tensor) -> Tensor:
    """Return the products with stacked weights as stacked blocks."""
    product = new_empty(rows, (weights.shape[0], rows.shape[0], weights.shape[2]))
    return torch.matmul(rows, weights, out=product).flatten(0, 1)


def _prelu_backward(gradient: Tensor, rows: Tensor, slope: float) -> None:
    """Multiply a gradient by PReLU', in place; only signs of the rows matter."""
    torch.ops.aten.leaky_relu_backward.grad_input(gradient, rows, slope, False, grad_input=gradient)


def _steps(matrix: Tensor, hidden: Tensor, n: int) -> Tensor:
    """Multiply n times, alternating between `hidden` and one other buffer."""
    other = new_empty(hidden, hidden.shape) if n else hidden
    for _ in range(n):
        multiply(matrix, hidden, out=other)
        hidden, other = other, hidden
    return hidden


def _blocks(view: View, weight: Tensor, n: int) -> Iterator[Block]:
    """Partition the columns: as many narrow blocks at a time as threads, then the rest.

    Blocks without propagation need not stay in cache for long, and wide ones are copied faster.
    """
    columns = weight.shape[1]
    rows = view.adjacency.shape[0]
    fits = weight.element_size() * rows * WIDTH <= CACHE
    stacks = min(torch.get_num_threads(), max(columns // NARROW, 1)) if fits else 1
    width = WIDTH if fits and n else 2 * WIDTH if fits else 4 * WIDTH
    if weight.device.type != "cpu":
        stacks, width = 1, 2**30 // rows  # as wide as indices of 32 bits allow
    start = 0
    while start < columns:
        left = columns - start
        if left < stacks:
            stacks, width = 1, left
        block = Block(start, stacks, min(width, left // stacks))
        yield block
        start += block.stacks * block.width
