"""Growth of time and memory with each size of the problem, the other sizes fixed."""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ugcl.bench.child import in_fresh_process
from ugcl.bench.timing import exponent, medians
from ugcl.data import load_graph, sbm_graph
from ugcl.engine import Trainer, keep_memory

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Problem:
    """A synthetic graph of N nodes and E edges, and settings for it."""

    N: int = 20_000
    E: int = 400_000
    S: int = 2_000
    D: int = 256
    n: int = 4

    @property
    def params(self) -> dict[str, Any]:
        """The settings, with all negatives."""
        return {"sample": self.S, "hidden": self.D, "scope": self.n, "negatives": "all"}

    def save(self, folder: Path) -> str:
        """Generate the graph into a folder and return its path."""
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


def bench_scaling(growth: dict[str, tuple[int, ...]] = GROWTH) -> dict[str, Any]:
    """Measure seconds and peak bytes of a step as N, E, S, D and n grow one at a time.

    Steps of all sizes take turns in one process; memory is measured in a fresh process for each.
    Exponents are those of the last three sizes.
    """
    result: dict[str, Any] = {"base": vars(Problem())}
    with tempfile.TemporaryDirectory() as folder:
        for name, sizes in growth.items():
            logger.info("as %s grows from %s to %s", name, f"{sizes[0]:,}", f"{sizes[-1]:,}")
            problems = [Problem(**{**vars(Problem()), name: size}) for size in sizes]
            cases = [(problem.save(Path(folder)), problem.params) for problem in problems]
            with keep_memory():
                steps = {str(size): _step(*case) for size, case in zip(sizes, cases, strict=True)}
                times = medians(steps, budget=4)
                del steps
            peaks = [
                in_fresh_process("train", path, preset="fast", params=params)["peak_bytes"]
                for path, params in cases
            ]
            result[name] = _growth(sizes, list(times.values()), peaks)
    return result


def bench_embed(edges: tuple[int, ...] = EDGES) -> dict[str, Any]:
    """Measure seconds and bytes of embedding as the edges grow: degree 20, width 128.

    `products_seconds` are those of its sparse products alone. Out of cache an edge costs several
    times more than in cache, so embedding grows faster than linearly until the blocks leave the
    cache; `beyond_cache_exponent` is that of the two largest graphs, both out of cache.
    """
    times, peaks, products = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        for count in edges:
            logger.info("embedding a graph with %s edges", f"{count:,}")
            path = Problem(N=count // 10, E=count).save(Path(folder))
            params = {"hidden": 128, "scope": 2}
            measured = in_fresh_process("embed", path, preset="fast", params=params)
            times.append(measured["seconds"])
            peaks.append(measured["embed_bytes"])
            products.append(measured["products_seconds"])
    return _growth(edges, times, peaks) | {
        "products_seconds": products,
        "products_exponent": _last_exponent(edges, products),
        "beyond_cache_exponent": exponent(edges[-2:], times[-2:]),
    }


def _growth(
    sizes: Sequence[int], times: Sequence[float], peaks: Sequence[int | None]
) -> dict[str, Any]:
    measured = [peak for peak in peaks if peak is not None]
    return {
        "sizes": list(sizes),
        "seconds": times,
        "peak_bytes": peaks,
        "seconds_exponent": _last_exponent(sizes, times),
        "bytes_exponent": _last_exponent(sizes, measured) if len(measured) == len(peaks) else None,
    }


def _last_exponent(sizes: Sequence[int], values: Sequence[float]) -> float:
    """Return the exponent of the last three sizes, where constant costs matter least."""
    return exponent(sizes[-3:], values[-3:])


def _step(path: str, params: dict[str, Any]) -> Callable[[], object]:
    return Trainer("ugcl", load_graph(path), preset="fast", device="cpu", **params).step
