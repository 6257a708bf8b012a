"""Try the second-degree expansion of exp in the contrast's denominator, its remainder sampled.

UGCL_DATA=DIR python tools/try_expansion.py --out docs/bench/expansion.json [--epochs 150]

With `x = cos / t`, `sum_j exp(x_ij) = sum_j (1 + x_ij + x_ij^2 / 2) + sum_j r(x_ij)`: the first sum
is exact through `sum_j z_j` and `Z^T Z`, in O(S D^2), the second one is estimated from K columns.
PubMed at S 7,000: the error of the gradient and its time against sampled and against all negatives,
then, for width 128 and temperature 1, validation accuracy after training with each. One thread.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import fmean
from typing import Any

import torch
from torch import Tensor

import ugcl.methods.ugcl
from ugcl import UGCL, Graph, load_graph
from ugcl._utils.files import write_json
from ugcl.data.splits import resplits, selection_split
from ugcl.evaluation.probe import validation_accuracy
from ugcl.losses import cosine_contrast
from ugcl.losses.cosine import unit_rows

Loss = Callable[..., Tensor]

SIZE, SCOPE, DRAWS, SEEDS, SPLITS = 7_000, 10, 3, 3, 8


def expanded(patch: Tensor, context: Tensor, temperature: float, columns: Tensor) -> Tensor:
    """The contrast with its denominator expanded; `columns` serve the remainder."""
    rows = unit_rows(patch)
    positive = (rows * unit_rows(context)).sum(1) / temperature
    linear = rows @ rows.sum(0) - 1
    square = ((rows @ (rows.T @ rows)) * rows).sum(1) - 1
    others = len(rows) - 1
    x = rows @ rows[columns].T / temperature
    itself = torch.arange(len(rows))[:, None] == columns
    remainder = (x.exp() - 1 - x - x * x / 2).masked_fill(itself, 0).sum(1)
    share = others / (~itself).sum(1)
    total = others + linear / temperature + square / (2 * temperature**2) + share * remainder
    return (total.log() - positive).mean()


OBJECTIVES: dict[str, Loss] = {"sampled": cosine_contrast, "expanded": expanded}


def gradients(graph: Graph, width: int, temperature: float) -> Iterator[dict[str, Any]]:
    """Relative error of the gradient of H, and seconds of loss and gradient, for each objective."""
    fitted = UGCL("authors", hidden=width, epochs=10, negatives=256, sample=SIZE).fit(graph)
    model: Any = fitted.model_
    subsampler = model.subsampler(graph, "cpu")
    view = subsampler.draw(subsampler.rng(99))
    patch = model.primary(view).detach().requires_grad_()
    context = model.auxiliary(view, model.settings.scope, 0.5).detach()
    generator = torch.Generator().manual_seed(0)

    def gradient(objective: Loss, columns: Tensor | None) -> tuple[Tensor, float]:
        started = time.perf_counter()
        found = torch.autograd.grad(objective(patch, context, temperature, columns), patch)[0]
        return found, time.perf_counter() - started

    about = {"width": width, "temperature": temperature}
    gradient(cosine_contrast, None)
    exact, seconds = gradient(cosine_contrast, None)
    yield {**about, "objective": "all", "columns": SIZE, "error": 0.0, "seconds": seconds}
    for name, columns in (("sampled", 256), ("sampled", 1024), ("expanded", 64), ("expanded", 256)):
        drawn = [torch.randperm(SIZE, generator=generator)[:columns] for _ in range(DRAWS)]
        found = [gradient(OBJECTIVES[name], each) for each in drawn]
        errors = [float((each - exact).norm() / exact.norm()) for each, _ in found]
        fastest = min(taken for _, taken in found)
        yield {
            **about,
            "objective": name,
            "columns": columns,
            "error": fmean(errors),
            "seconds": fastest,
        }


def trained(graph: Graph, name: str, columns: int, epochs: int) -> dict[str, Any]:
    """Validation accuracy after training at width 128 and temperature 1."""
    assert graph.labels is not None
    splits = resplits(graph.labels, selection_split(graph), SPLITS)
    scores = []
    for seed in range(SEEDS):
        with training_by(OBJECTIVES[name]):
            model = UGCL(
                "fast",
                hidden=128,
                sample=SIZE,
                sampling="random",
                temperature=1.0,
                scope=SCOPE,
                epochs=epochs,
                negatives=columns,
                seed=seed,
            ).fit(graph)
        embeddings = model.embed(graph)
        scores.append(fmean(validation_accuracy(embeddings, graph.labels, s) for s in splits))
    return {"objective": name, "columns": columns, "validation": scores, "mean": fmean(scores)}


@contextmanager
def training_by(objective: Loss) -> Iterator[None]:
    """UGCL with another objective, while this lasts."""
    module: Any = ugcl.methods.ugcl
    module.cosine_contrast = objective
    try:
        yield
    finally:
        module.cosine_contrast = cosine_contrast


def main() -> None:
    """Measure and write everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", required=True, type=Path)
    parser.add_argument("--epochs", type=int, default=150)
    asked = parser.parse_args()
    torch.set_num_threads(1)
    graph = load_graph("pubmed")
    result: dict[str, Any] = {
        "sample": SIZE,
        "epochs": asked.epochs,
        "gradients": [],
        "trained": [],
    }
    for width in (128, 512):
        for temperature in (1.0, 0.2):
            for row in gradients(graph, width, temperature):
                result["gradients"].append(row)
                print(row, flush=True)
    for name, columns in (("sampled", 64), ("sampled", 256), ("expanded", 64)):
        result["trained"].append(trained(graph, name, columns, asked.epochs))
        print(result["trained"][-1], flush=True)
        write_json(asked.out, result)


if __name__ == "__main__":
    main()
