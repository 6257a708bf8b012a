"""Tasks of the cells of a study: train and score a method, or measure a graph."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple, cast

import numpy as np
import torch
from threadpoolctl import threadpool_limits

from ugcl._utils.errors import UGCLError
from ugcl._utils.random import numpy_generator, torch_generator
from ugcl._utils.signals import raise_if_requested
from ugcl.data import load_graph, split_of
from ugcl.evaluation import evaluate_run
from ugcl.evaluation.classification import honest_outcomes, random_splits
from ugcl.evaluation.protocols import linear_probe
from ugcl.graph import Graph
from ugcl.runs import Run, open_run, prepare, train_run
from ugcl.scope import (
    edge_homophily,
    measured_decay,
    normalised_adjacency,
    second_eigenvalue,
    sparsity,
)
from ugcl.scope.component import ComponentSubspace
from ugcl.selection import survey
from ugcl.sparse import SparseMatrix, multiply
from ugcl.study.cell import Cell, preset_of
from ugcl.study.plan import Plan
from ugcl.study.tuned import tuned_study
from ugcl.study.variant import Variant
from ugcl.typing import CSRMatrix, Scoring

DECAY_COLUMNS = 64
"""Columns of the random H whose distance to the component subspace is measured."""

REPEATS = 20
"""Repetitions of a timed product; the median counts."""


@dataclass(frozen=True)
class Place:
    """Where a task computes.

    Attributes:
        folder: for its files, named after the cell's key; it is removed once the result is stored.
        data_root: the folder of raw data sets.
        device: where to compute.
    """

    folder: Path
    data_root: str | None = None
    device: str = "auto"


class Task(NamedTuple):
    """A task and the version of its results, which is raised when they change."""

    run: Callable[[Cell, Place], dict[str, Any]]
    version: int = 1


def execute(cell: Cell, place: Place) -> dict[str, Any]:
    """Compute a cell with one thread; an error is part of the result."""
    torch.set_num_threads(1)
    started, cpu = time.perf_counter(), time.process_time()
    _reset_peak()
    try:
        with threadpool_limits(1):
            outcome: dict[str, Any] = {"result": TASKS[cell.task].run(cell, place)}
    except Exception as error:  # one cell must not end a study
        raise_if_requested()
        kind = "" if isinstance(error, UGCLError) else f"{type(error).__name__}: "
        outcome = {"error": kind + next(iter(str(error).strip().splitlines()), "")}
    return outcome | {
        "peak_bytes": _peak_bytes(),
        "seconds": round(time.perf_counter() - started, 2),
        "cpu_seconds": round(time.process_time() - cpu, 2),
    }


def _reset_peak() -> None:
    """Let the peak memory of this process start anew; a worker computes several cells."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def _peak_bytes() -> int | None:
    """Return the peak memory of this process since then; None where it is not known."""
    with suppress(OSError, ValueError, IndexError):
        status = Path("/proc/self/status").read_text("utf-8")
        return 1024 * int(status.partition("VmHWM:")[2].split()[0])
    return None


def accuracy(cell: Cell, place: Place) -> dict[str, Any]:
    """Train a method, once, and score it by each protocol and at each readout scope."""
    params = cell.params
    prepared = prepare(
        cell.graph,
        method=params["method"],
        preset=params["preset"],
        params=params["settings"],
        seed=cell.seed,
        data_root=place.data_root,
        device=place.device,
        threads=1,
    )
    run = open_run(place.folder, prepared, resume=True, wait=True)
    cpu = time.process_time()
    train_run(run, prepared, wait=True)
    metrics = run.metrics()
    return {
        "settings": prepared.config.settings.values(),
        "epochs": metrics["epochs"],
        "training_seconds": metrics["training_seconds"],
        "run_cpu_seconds": round(time.process_time() - cpu, 2),
        "scores": {
            protocol: evaluate_run(
                run,
                cast(Scoring, protocol),
                splits=splits or None,
                data_root=place.data_root,
            ).to_json()
            for protocol, splits in cell.scores.items()
        },
        "readouts": _readouts(run, prepared.training_graph, cell),
    }


def _readouts(run: Run, graph: Graph, cell: Cell) -> dict[str, dict[str, float]]:
    """Return accuracies of one training at other readout scopes, by protocol."""
    labels = graph.labels
    if not cell.readouts:
        return {}
    assert labels is not None
    first = split_of(graph)[0]
    splits = random_splits(graph, cell.scores["honest"]) if cell.scores.get("honest") else []
    scores: dict[str, dict[str, float]] = {}
    for n in cell.readouts:
        rows = run.embed(graph, readout_scope=n)
        of_n = {}
        if "paper" in cell.scores:
            score = linear_probe(rows, labels, first, "paper", dataset=graph.name, seed=cell.seed)
            of_n["paper"] = score.accuracy
        if splits:
            of_n["honest"] = honest_outcomes(rows, graph, splits).accuracy().mean
        scores[str(n)] = {protocol: round(value, 4) for protocol, value in of_n.items()}
    return scores


def tuned(cell: Cell, place: Place) -> dict[str, Any]:
    """Tune the scopes of a method on validation nodes, over seeds."""
    params = cell.params
    place.folder.mkdir(parents=True, exist_ok=True)
    plan = Plan(
        cast(str, cell.graph),
        place.folder / "tuned.json",
        place.folder / "runs",
        method=params["method"],
        variants=[Variant(params["preset"], params["settings"])],
        seeds=params["seeds"],
        splits=params["splits"],
        data_root=place.data_root,
        device=place.device,
        threads=1,
    )
    return tuned_study(plan, params["training"], params["readout"])


def compare(cell: Cell, place: Place) -> dict[str, Any]:
    """Train several methods and compare each with the first one, node by node."""
    graph = load_graph(cell.graph, place.data_root)
    splits = random_splits(graph, cell.params["splits"])
    outcomes, seconds = [], []
    for method in cell.params["methods"]:
        prepared = prepare(
            cell.graph,
            method=method,
            preset=preset_of(method, cell.params["preset"]),
            seed=cell.seed,
            data_root=place.data_root,
            device=place.device,
            threads=1,
        )
        run = open_run(place.folder / prepared.config.method, prepared, resume=True, wait=True)
        train_run(run, prepared, wait=True)
        outcomes.append(honest_outcomes(run.embeddings(), graph, splits))
        seconds.append(run.metrics()["training_seconds"])
    return {
        "accuracy": [round(each.accuracy().mean, 4) for each in outcomes],
        "gains": [each.gain_over(outcomes[0]).to_json() for each in outcomes],
        "training_seconds": seconds,
    }


def statistics(cell: Cell, place: Place) -> dict[str, Any]:
    """Return the sizes of a graph, its homophily, sparsity and components."""
    graph = load_graph(cell.graph, place.data_root)
    homophily = None if graph.labels is None else edge_homophily(graph.adjacency, graph.labels)
    return {
        "nodes": graph.num_nodes,
        "edges": graph.num_edges,
        "features": graph.num_features,
        "classes": graph.num_classes,
        "homophily": None if homophily is None else round(homophily, 4),
        "sparsity": sparsity(graph.adjacency),
        "components": _components(graph.adjacency),
    }


def scopes(cell: Cell, place: Place) -> dict[str, Any]:
    """Return lower bounds and measured homophily for n = 1, 2, ..., and the n of each rule."""
    graph = load_graph(cell.graph, place.data_root)
    found = survey(graph, sample=cell.params["sample"], convention="paper").to_json()
    names = ("homophily", "lower_bound", "measured", "bound_degree", "chosen")
    return {name: found[name] for name in names}


def decay(cell: Cell, place: Place) -> dict[str, Any]:
    """Measure `d(A^n H) / d(H)` and its bound `lambda^n`, for a random H (Theorem 1)."""
    graph = load_graph(cell.graph, place.data_root)
    adjacency = SparseMatrix.from_scipy(
        normalised_adjacency(graph.adjacency, 1.0), symmetric=True, dtype=torch.float64
    )
    generator = torch_generator("decay", cell.seed)
    hidden = torch.randn(
        adjacency.shape[0], DECAY_COLUMNS, generator=generator, dtype=torch.float64
    )
    steps = measured_decay(adjacency, hidden, range(cell.params["max_n"] + 1))
    return {
        "components": ComponentSubspace.from_adjacency(adjacency).num_components,
        "lambda": second_eigenvalue(adjacency),
        "measured": [step.measured for step in steps],
        "bound": [step.bound for step in steps],
    }


def subsampling(cell: Cell, place: Place) -> dict[str, Any]:
    """Measure sparsity and `P_1` of random induced subgraphs (Proposition 1)."""
    graph = load_graph(cell.graph, place.data_root)
    assert graph.labels is not None
    rng = numpy_generator("subsampling", cell.seed)
    rows = []
    for size in cell.params["sizes"]:
        nodes = np.sort(rng.choice(graph.num_nodes, min(size, graph.num_nodes), replace=False))
        part = graph.adjacency[nodes][:, nodes]
        rows.append(
            {
                "size": int(nodes.size),
                "sparsity": sparsity(part) if part.nnz else 0.0,
                "homophily": edge_homophily(part, graph.labels[nodes]),
                "degree": part.nnz / nodes.size,
            }
        )
    return {
        "sparsity": sparsity(graph.adjacency),
        "homophily": edge_homophily(graph.adjacency, graph.labels),
        "degree": graph.adjacency.nnz / graph.num_nodes,
        "samples": rows,
    }


def power_time(cell: Cell, place: Place) -> dict[str, Any]:
    """Time `A^n H` of a sampled subgraph."""
    graph = load_graph(cell.graph, place.data_root)
    rng = numpy_generator("subsampling", cell.seed)
    size = min(cell.params["sample"], graph.num_nodes)
    nodes = np.sort(rng.choice(graph.num_nodes, size, replace=False))
    adjacency = SparseMatrix.from_scipy(normalised_adjacency(graph.adjacency[nodes][:, nodes], 1.0))
    hidden = torch.randn(size, cell.params["hidden"], generator=torch_generator("decay", cell.seed))
    seconds = []
    for _ in range(REPEATS + 1):
        started, rows = time.perf_counter(), hidden
        for _ in range(cell.params["n"]):
            rows = multiply(adjacency.matrix, rows)
        seconds.append(time.perf_counter() - started)
    return {"seconds": median(seconds[1:]), "sample": size, "repeats": REPEATS}


def _components(adjacency: CSRMatrix) -> int:
    from scipy.sparse.csgraph import connected_components

    return int(connected_components(adjacency, directed=False, return_labels=False))


TASKS = {
    "accuracy": Task(accuracy),
    "tuned": Task(tuned),
    "compare": Task(compare),
    "statistics": Task(statistics),
    "scopes": Task(scopes),
    "decay": Task(decay),
    "subsampling": Task(subsampling),
    "power_time": Task(power_time),
}
"""The tasks by name."""
