"""Time and memory of a training step of UGCL, in units of the matrix product that it needs."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from ugcl._utils.errors import UGCLError
from ugcl._utils.random import numpy_generator, torch_generator
from ugcl.bench.child import in_fresh_process
from ugcl.bench.naive import naive_loss
from ugcl.bench.timing import medians, seconds
from ugcl.data import load_graph
from ugcl.engine import Trainer, keep_memory
from ugcl.losses import Batch, cosine
from ugcl.losses.loss import sample_negatives
from ugcl.methods.models.ssl import SSLModel
from ugcl.methods.ugcl import UGCLSettings
from ugcl.typing import Features
from ugcl.views import Subsampler

logger = logging.getLogger(__name__)

PARTS = ("sample", "encode", "propagate", "loss", "backward", "optimizer")


@keep_memory()
def bench_step(
    graph: str,
    preset: str,
    *,
    params: Mapping[str, Any] | None = None,
    naive: bool = True,
    data_root: str | None = None,
) -> dict[str, Any]:
    """Measure a training step of UGCL on a graph.

    Args:
        graph: a data set's name or a path.
        preset: the preset.
        params: settings that differ from it.
        naive: whether to time the naive dense step, too.
        data_root: the folder of raw data sets.

    Returns:
        `mm_seconds`, the time of one bare product of S x D by D x S. In units of it: `step_mm`, the
        whole step; `loss_mm`, the loss with its gradient; `loss_unblocked_mm`, the same with all
        negatives as a single strip, which stores all S x S similarities; `naive_mm`, the naive
        step; `parts_mm`, the parts of the step. `peak_bytes`, the peak memory of training less
        that after importing (None except on Linux), and `peak_arrays`, the same in units of one
        S x D array.
    """
    params = dict(params or {})
    trainer = Trainer("ugcl", load_graph(graph, data_root), preset=preset, device="cpu", **params)
    settings = _settings(trainer)
    if not isinstance(settings.scope, int):
        raise UGCLError(f"`scope` must be an integer to time its powers, not {settings.scope!r}")
    size = trainer.graph.num_nodes if settings.sample == "all" else settings.sample
    hidden = settings.hidden
    logger.info("%s, %s: timing S %s, D %s, n %s", graph, preset, size, hidden, settings.scope)
    times = medians(_whole_step(trainer, size))
    unit = times["mm"]
    parts = _parts(trainer)
    if naive:
        logger.info("%s, %s: timing the naive step", graph, preset)
        times["naive"] = _naive(trainer)
    logger.info("%s, %s: measuring memory in a fresh process", graph, preset)
    peak = in_fresh_process("train", graph, preset=preset, params=params, data_root=data_root)[
        "peak_bytes"
    ]
    return {
        "graph": graph,
        "preset": preset,
        "params": params,
        "S": size,
        "D": hidden,
        "n": settings.scope,
        "negatives": settings.negatives,
        "mm_seconds": unit,
        "step_mm": times["step"] / unit,
        "loss_mm": times["loss"] / unit,
        "naive_mm": times["naive"] / unit if naive else None,
        "parts_mm": {name: value / unit for name, value in parts.items()},
        "loss_unblocked_mm": times["unblocked"] / unit if "unblocked" in times else None,
        "peak_bytes": peak,
        "peak_arrays": None if peak is None else peak / (4 * size * hidden),
    }


def _whole_step(trainer: Trainer, size: int) -> dict[str, Callable[[], object]]:
    """Return what is compared: the product, the step and the loss."""
    settings, generator = _settings(trainer), torch_generator("bench")
    patch, context = torch.randn(2, size, settings.hidden, generator=generator)
    loss = _loss_with_gradient(_model(trainer), patch.clone(), context)

    def unblocked() -> None:
        strip, cosine.STRIP = cosine.STRIP, size
        try:
            loss()
        finally:
            cosine.STRIP = strip

    functions: dict[str, Callable[[], object]] = {
        "mm": lambda: torch.mm(patch, patch.T),
        "step": trainer.step,
        "loss": loss,
    }
    return functions | ({"unblocked": unblocked} if settings.negatives == "all" else {})


def _loss_with_gradient(model: SSLModel, patch: Tensor, context: Tensor) -> Callable[[], object]:
    """Return the function that computes the loss of two S x D views and its gradient."""
    views = [patch.detach().requires_grad_(), context.detach().requires_grad_()]
    batch = Batch(patches=views[:1], contexts=views[1:], rng=numpy_generator("bench"))
    return lambda: torch.autograd.grad(model.loss(batch), views)


def _parts(trainer: Trainer) -> dict[str, float]:
    """Return the median seconds of each part of a step."""
    model, views, optimizer = _model(trainer), _bound_views(trainer), trainer.state.optimizer
    encoder, context_encoder = model.encoder, model.context_encoder
    assert context_encoder is not None
    assert optimizer is not None
    view = views.sample(model.rng(0)).views[0]
    patch, context = encoder(view), context_encoder.context(view, model.scope)
    gradients = torch.rand_like(patch), torch.rand_like(context)
    epochs = iter(range(2**62))

    def backward() -> None:
        optimizer.zero_grad()
        torch.autograd.backward((patch, context), gradients, retain_graph=True)

    times = medians(
        {
            "sample": lambda: views.sample(model.rng(next(epochs))),
            "encode": lambda: (encoder(view), context_encoder(view)),
            "encode and propagate": lambda: (
                encoder(view),
                context_encoder.context(view, model.scope),
            ),
            "loss": _loss_with_gradient(model, patch, context),
            "backward": backward,
        }
    )
    times |= medians({"optimizer": optimizer.step})
    times["propagate"] = max(times["encode and propagate"] - times["encode"], 0.0)
    return {name: times[name] for name in PARTS}


def _naive(trainer: Trainer) -> float:
    """Return the seconds of a naive step, the better of two: the first one allocates memory."""
    model, views, optimizer = _model(trainer), _bound_views(trainer), trainer.state.optimizer
    settings, parameters = _settings(trainer), dict(model.named_parameters())
    assert optimizer is not None

    def step() -> None:
        rng = model.rng(0)
        _, adjacency, features = views.cut(rng)
        x = _dense(features)
        negatives = sample_negatives(settings.negatives, x, rng)
        optimizer.zero_grad()
        loss = naive_loss(_dense(adjacency), x, parameters, settings, negatives)
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()

    return min(seconds(step) for _ in range(2))


def _settings(trainer: Trainer) -> UGCLSettings:
    assert isinstance(trainer.settings, UGCLSettings)
    return trainer.settings


def _model(trainer: Trainer) -> SSLModel:
    assert isinstance(trainer.model, SSLModel)
    return trainer.model


def _bound_views(trainer: Trainer) -> Subsampler:
    model, graph = _model(trainer), trainer.graph
    assert isinstance(model.views, Subsampler)
    return model.views.bind(graph.adjacency, model.scaled(graph), "cpu")


def _dense(matrix: Features) -> Tensor:
    """Return a SciPy matrix or an array as a dense tensor."""
    array = matrix.toarray() if sp.issparse(matrix) else np.asarray(matrix)
    return torch.from_numpy(array.astype(np.float32))
