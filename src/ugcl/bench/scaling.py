"""How time and memory grow with each size of the problem, the others held fixed."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from ugcl.bench.child import in_fresh_process
from ugcl.bench.timing import exponent, medians
from ugcl.data import load_graph, sbm_graph
from ugcl.engine import kept_memory, new_optimizer, step
from ugcl.methods import METHODS, Shape, TrainedSettings

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Problem:
    """A synthetic graph of N nodes and E edges, and settings for it."""

    N: int = 20_000
    E: int = 400_000
    S: int = 2_000
    D: int = 256
    n: int = 4

    @property
    def given(self) -> dict[str, Any]:
        """The settings, all negatives."""
        return {"sample": self.S, "hidden": self.D, "scope": self.n, "negatives": "all"}

    def save(self, folder: Path) -> str:
        """Draw the graph into a folder."""
        path = folder / f"{self.N}-{self.E}.npz"
        if not path.exists():
            graph = sbm_graph(nodes=self.N, degree=2 * self.E / self.N, features=64, seed=0)
            graph.save(path, compressed=False)
        return str(path)


GROWTH: dict[str, tuple[int, ...]] = {
    "N": (20_000, 40_000, 80_000, 160_000, 320_000),
    "E": (100_000, 200_000, 400_000, 800_000, 1_600_000),
    "S": (1_000, 2_000, 4_000, 8_000),
    "D": (128, 256, 512, 1_024),
    "n": (2, 4, 8, 16, 32),
}

EDGES = (10**5, 10**6, 10**7, 4 * 10**7)
"""The blocks of the first fit into a core's cache, those of the last two into no cache."""


def bench_scaling(
    growth: dict[str, tuple[int, ...]] = GROWTH, tell: Tell = lambda text: None
) -> dict[str, Any]:
    """Seconds of a step and peak bytes as N, E, S, D and n grow one at a time.

    Steps of all sizes take turns in one process; memory is measured in a process for each. The
    exponent is that of the last three sizes.
    """
    result: dict[str, Any] = {"base": vars(Problem())}
    with tempfile.TemporaryDirectory() as folder:
        for name, sizes in growth.items():
            tell(f"as {name} grows from {sizes[0]:,} to {sizes[-1]:,}")
            problems = {size: Problem(**{**vars(Problem()), name: size}) for size in sizes}
            paths = {size: problem.save(Path(folder)) for size, problem in problems.items()}
            with kept_memory():
                times = medians(
                    {str(size): _step(paths[size], problems[size]) for size in sizes}, budget=4
                )
            peaks = [
                in_fresh_process(
                    "train",
                    graph=paths[size],
                    preset="fast",
                    given=problem.given,
                    threads=torch.get_num_threads(),
                )["peak_bytes"]
                for size, problem in problems.items()
            ]
            result[name] = _growth(list(sizes), list(times.values()), peaks)
    return result


def bench_embed(edges: tuple[int, ...] = EDGES, tell: Tell = lambda text: None) -> dict[str, Any]:
    """Seconds and bytes of embedding graphs with more and more edges: degree 20, width 128.

    Beside them `products_seconds`, those of its sparse products alone: out of cache an edge costs
    several times what it costs in cache, and no embedding grows more slowly than its products. So
    `beyond_cache_exponent` is that of the two largest, of which no more is in cache than is of the
    other.
    """
    times, peaks, products = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        for count in edges:
            tell(f"embedding a graph with {count:,} edges")
            measured = in_fresh_process(
                "embed",
                graph=Problem(N=count // 10, E=count).save(Path(folder)),
                preset="fast",
                given={"hidden": 128, "scope": 2},
                threads=torch.get_num_threads(),
            )
            times.append(measured["seconds"])
            peaks.append(measured["embed_bytes"])
            products.append(measured["products_seconds"])
    return _growth(list(edges), times, peaks) | {
        "products_seconds": products,
        "products_exponent": _last_exponent(list(edges), products),
        "beyond_cache_exponent": exponent([float(size) for size in edges[-2:]], times[-2:]),
    }


def _growth(sizes: list[int], times: list[float], peaks: list[int | None]) -> dict[str, Any]:
    known = [peak for peak in peaks if peak is not None]
    return {
        "sizes": sizes,
        "seconds": times,
        "peak_bytes": peaks,
        "seconds_exponent": _last_exponent(sizes, times),
        "bytes_exponent": _last_exponent(sizes, known) if len(known) == len(sizes) else None,
    }


def _last_exponent(sizes: list[int], values: Sequence[float]) -> float:
    """That of the last three sizes, where what grows has most weight."""
    return exponent([float(size) for size in sizes[-3:]], [float(value) for value in values[-3:]])


def _step(path: str, problem: Problem) -> Callable[[], object]:
    graph = load_graph(path)
    settings = METHODS["ugcl"].resolve("fast", graph, problem.given)
    assert isinstance(settings, TrainedSettings)
    model = METHODS["ugcl"].build(Shape.of(graph), settings, 0)
    loss_of, optimizer = model.loss_fn(graph, "cpu"), new_optimizer(model, settings)
    epochs = iter(range(2**62))
    return lambda: step(loss_of, optimizer, next(epochs))
