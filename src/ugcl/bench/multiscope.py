"""Time and memory of a training step of multiscope, in units of the products that it needs."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.optim import Optimizer

from ugcl._utils.errors import UGCLError
from ugcl._utils.random import torch_generator
from ugcl.bench.child import in_fresh_process
from ugcl.bench.timing import medians
from ugcl.data import load_graph
from ugcl.engine import Trainer, keep_memory
from ugcl.losses import Batch
from ugcl.methods.models.multiscope import MultiScopeModel
from ugcl.nn import MLP
from ugcl.sparse import SparseMatrix, multiply
from ugcl.views import Sample, WalkContexts

logger = logging.getLogger(__name__)

PARTS = ("sample", "encode", "loss", "backward", "optimizer")

Rows = SparseMatrix | Tensor

EPOCHS = 1000
"""More than are timed."""


@keep_memory()
def bench_multiscope(
    graph: str,
    preset: str,
    *,
    params: Mapping[str, Any] | None = None,
    data_root: str | None = None,
) -> dict[str, Any]:
    """Measure a training step of multiscope on a graph.

    Args:
        graph: a data set's name or a path.
        preset: the preset.
        params: settings that differ from it.
        data_root: the folder of raw data sets.

    Returns:
        `floor_seconds`, the time of the bare products of a step (see `products`), which take turns
        with the step. In units of it: `step`, the whole step, and `parts`, its parts. `peak_bytes`,
        the peak memory of training less that after importing (None except on Linux).
    """
    params = dict(params or {})
    values = params | {"epochs": EPOCHS}
    trainer = Trainer(
        "multiscope", load_graph(graph, data_root), preset=preset, device="cpu", **values
    )
    model, optimizer = trainer.model, trainer.state.optimizer
    assert isinstance(model, MultiScopeModel)
    assert optimizer is not None
    if model.settings.encoder == "deep":
        raise UGCLError("the floor is that of one layer: set `encoder` to 'mlp'")
    views = model.training_views(trainer.graph, "cpu")
    sample = views.sample(model.rng(0))
    assert sample.nodes is not None
    size, hidden, scope = sample.nodes[0].numel(), model.settings.hidden, views.scope
    logger.info("%s, %s: timing S %s, D %s, n %s", graph, preset, size, hidden, scope)
    encoder, rows = model.encoder, [view.features for view in sample.views]
    assert isinstance(encoder, MLP)
    floor = products([each for each in rows if each is not None], encoder.weights[0].detach())
    parts = _parts(model, views, sample, optimizer)
    times = medians({"floor": floor, "step": trainer.step} | parts)
    times |= medians({"optimizer": optimizer.step})
    logger.info("%s, %s: measuring memory in a fresh process", graph, preset)
    measured = in_fresh_process(
        "train", graph, method="multiscope", preset=preset, params=params, data_root=data_root
    )
    unit = times["floor"]
    return {
        "method": "multiscope",
        "graph": graph,
        "preset": preset,
        "params": params,
        "S": size,
        "D": hidden,
        "n": scope,
        "floor_seconds": unit,
        "step": times["step"] / unit,
        "parts": {name: times[name] / unit for name in PARTS},
        "peak_bytes": measured["peak_bytes"],
    }


def products(views: Sequence[Rows], weight: Tensor) -> Callable[[], None]:
    """Return a function that computes the bare products of a step, and nothing else.

    `X W` and `X^T G` for the rows X of both views; for the loss S x D by D x 2S, and both products
    of the gradient, S x 2S by 2S x D and 2S x S by S x D.

    Args:
        views: sampled and masked rows of X of anchors and contexts, sparse or dense.
        weight: W, the weights of the encoder.
    """
    size, hidden = views[0].shape[0], weight.shape[1]
    generator = torch_generator("bench")
    both = torch.randn(2 * size, hidden, generator=generator)
    gradient = torch.randn(size, 2 * size, generator=generator)
    anchors = both[:size]

    def compute() -> None:
        for rows in views:
            if isinstance(rows, SparseMatrix):
                multiply(rows.matrix, weight)
                multiply(rows.transpose, anchors)
            else:
                torch.mm(rows, weight)
                torch.mm(rows.T, anchors)
        torch.mm(anchors, both.T)
        torch.mm(gradient, both)
        torch.mm(gradient.T, anchors)

    return compute


def _parts(
    model: MultiScopeModel, views: WalkContexts, sample: Sample, optimizer: Optimizer
) -> dict[str, Callable[[], object]]:
    """Return the parts of a step but the optimizer, which changes what backward has saved."""
    hidden = [model.encoder(view) for view in sample.views]
    gradients = [torch.rand_like(rows) for rows in hidden]
    leaves = [rows.detach().requires_grad_() for rows in hidden]
    batch = Batch(patches=leaves, contexts=None, rng=model.rng(0), nodes=sample.nodes)
    epochs = iter(range(2**62))

    def backward() -> None:
        optimizer.zero_grad()
        torch.autograd.backward(hidden, gradients, retain_graph=True)

    return {
        "sample": lambda: views.sample(model.rng(next(epochs))),
        "encode": lambda: [model.encoder(view) for view in sample.views],
        "loss": lambda: torch.autograd.grad(model.loss(batch), leaves),
        "backward": backward,
    }
