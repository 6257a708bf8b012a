"""The step of training, in units of the one matrix product that it cannot do without."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from ugcl._utils.errors import UGCLError
from ugcl.bench.child import in_fresh_process
from ugcl.bench.naive import naive_loss
from ugcl.bench.timing import medians, seconds
from ugcl.data import load_graph
from ugcl.engine import kept_memory, new_optimizer, step
from ugcl.graph import Graph
from ugcl.losses import cosine, cosine_contrast
from ugcl.methods import METHODS, RecipeModel, Shape
from ugcl.methods.ugcl import UGCLSettings
from ugcl.selection import resolve_scope
from ugcl.views import Subsampler

PARTS = ("sample", "encode", "propagate", "objective", "backward", "optimiser")


@kept_memory()
def bench_step(
    graph: str,
    preset: str,
    *,
    given: Mapping[str, Any] | None = None,
    naive: bool = True,
    data_root: str | None = None,
    tell: Callable[[str], None] = lambda text: None,
) -> dict[str, Any]:
    """Measure a step of UGCL on a graph with the settings of a preset.

    Args:
        graph: a data set's name or a path.
        preset: which preset.
        given: settings that differ from it.
        naive: also time the naive dense step.
        data_root: the folder of raw data sets.
        tell: is told what takes time.

    Returns:
        `mm_seconds`, the time of one bare product of S x D by D x S; `step_mm`, `objective_mm` and
        `naive_mm`, the times of the whole step, of the objective with its gradient and of the naive
        step in units of it; `parts_mm`, those of the parts of the step; `peak_bytes`, the most
        memory that a process held in training above what it held after importing (None where the
        operating system is not Linux), and `peak_arrays`, the same in units of one S x D array;
        `objective_unblocked_mm`, with all negatives, the time of the objective as a single strip,
        which holds all S x S similarities.
    """
    loaded = load_graph(graph, data_root)
    method = METHODS["ugcl"]
    method.check(loaded)
    settings, _ = resolve_scope(method.resolve(preset, loaded, given or {}), loaded)
    model = method.build(Shape.of(loaded), settings, 0)
    assert isinstance(settings, UGCLSettings)
    if not isinstance(settings.scope, int):
        raise UGCLError("the steps of a scope are measured: give --scope a number")
    assert isinstance(model, RecipeModel)
    size = loaded.num_nodes if settings.sample == "all" else settings.sample
    tell(f"{graph}, {preset}: timing the step at S {size}, D {settings.hidden}, n {settings.scope}")
    times = medians(_whole(model, loaded, settings, size))
    unit = times["mm"]
    parts = _parts(model, loaded, settings)
    if naive:
        tell(f"{graph}, {preset}: timing the naive step")
        times["naive"] = _naive(model, loaded, settings)
    tell(f"{graph}, {preset}: measuring memory in a process of its own")
    peak = in_fresh_process(
        "train",
        graph=graph,
        preset=preset,
        given=dict(given or {}),
        data_root=data_root,
        threads=torch.get_num_threads(),
    )["peak_bytes"]
    return {
        "graph": graph,
        "settings": preset,
        "changes": dict(given or {}),
        "S": size,
        "D": settings.hidden,
        "n": settings.scope,
        "negatives": settings.negatives,
        "mm_seconds": unit,
        "step_mm": times["step"] / unit,
        "objective_mm": times["objective"] / unit,
        "naive_mm": times["naive"] / unit if naive else None,
        "parts_mm": {name: value / unit for name, value in parts.items()},
        "objective_unblocked_mm": (times["unblocked"] / unit if "unblocked" in times else None),
        "peak_bytes": peak,
        "peak_arrays": None if peak is None else peak / (4 * size * settings.hidden),
    }


def _whole(
    model: RecipeModel[UGCLSettings], graph: Graph, settings: UGCLSettings, size: int
) -> dict[str, Callable[[], object]]:
    """What is compared: the product, the step, the objective."""
    loss_of, optimizer = model.loss_fn(graph, "cpu"), new_optimizer(model, settings)
    epochs = iter(range(2**62))
    generator = torch.Generator().manual_seed(0)
    patch, context = torch.randn(2, size, settings.hidden, generator=generator)
    views = patch.clone().requires_grad_(), context.requires_grad_()
    negatives = _negatives(settings, size)

    def objective() -> None:
        torch.autograd.grad(cosine_contrast(*views, settings.temperature, negatives), views)

    def unblocked() -> None:
        before, cosine.STRIP = cosine.STRIP, size
        try:
            objective()
        finally:
            cosine.STRIP = before

    compared: dict[str, Callable[[], object]] = {
        "mm": lambda: torch.mm(patch, patch.T),
        "step": lambda: step(loss_of, optimizer, next(epochs)),
        "objective": objective,
    }
    return compared if negatives is not None else compared | {"unblocked": unblocked}


def _parts(
    model: RecipeModel[UGCLSettings], graph: Graph, settings: UGCLSettings
) -> dict[str, float]:
    """The median time of each part of a step, in seconds."""
    subsampler = model.views(graph, "cpu")
    optimizer = new_optimizer(model, settings)
    view = subsampler.draw(subsampler.rng(0)).views[0]
    primary, auxiliary = model.primary, model.auxiliary
    assert auxiliary is not None
    assert optimizer is not None
    patch, context = primary(view), auxiliary.context(view, model.scope)
    negatives = _negatives(settings, patch.shape[0])
    views = patch.detach().requires_grad_(), context.detach().requires_grad_()
    gradients = torch.rand_like(patch), torch.rand_like(context)
    epochs = iter(range(2**62))

    def objective() -> None:
        torch.autograd.grad(cosine_contrast(*views, settings.temperature, negatives), views)

    def backward() -> None:
        optimizer.zero_grad()
        torch.autograd.backward((patch, context), gradients, retain_graph=True)

    with_steps = "with steps"
    times = medians(
        {
            "sample": lambda: subsampler.draw(subsampler.rng(next(epochs))),
            "encode": lambda: (primary(view), auxiliary(view)),
            with_steps: lambda: (primary(view), auxiliary.context(view, model.scope)),
            "objective": objective,
            "backward": backward,
        }
    )
    times |= medians({"optimiser": optimizer.step})
    times["propagate"] = max(times.pop(with_steps) - times["encode"], 0.0)
    return {name: times[name] for name in PARTS}


def _naive(model: RecipeModel[UGCLSettings], graph: Graph, settings: UGCLSettings) -> float:
    """The time of a naive step, the better of two: the first one pays for fresh memory."""
    subsampler, optimizer = model.views(graph, "cpu"), new_optimizer(model, settings)
    assert isinstance(subsampler, Subsampler)
    parameters = dict(model.named_parameters())
    negatives = _negatives(settings, subsampler.size)

    def naive(epoch: int) -> Tensor:
        _, adjacency, features = subsampler.cut(subsampler.rng(epoch))
        return naive_loss(dense(adjacency), dense(features), parameters, settings, negatives)

    return min(seconds(lambda: step(naive, optimizer, 0)) for _ in range(2))


def dense(matrix: Any) -> Tensor:
    """A SciPy matrix or an array as a dense tensor."""
    array = matrix.toarray() if sp.issparse(matrix) else np.asarray(matrix)
    return torch.from_numpy(array.astype(np.float32))


def _negatives(settings: UGCLSettings, size: int) -> Tensor | None:
    if settings.negatives == "all":
        return None
    rng = np.random.default_rng(0)
    return torch.from_numpy(rng.choice(size, settings.negatives, replace=False))
