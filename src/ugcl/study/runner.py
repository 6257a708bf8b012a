"""The runner of studies: it computes cells in worker processes and stores each result at once.

Results are lines of a JSONL file. A line is written when its cell is done, so a study that is
stopped or killed continues where it was; training itself continues from its checkpoint.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
import signal
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from math import inf
from pathlib import Path
from typing import Any

from ugcl._utils.errors import UGCLError
from ugcl._utils.extras import required
from ugcl._utils.files import make_folder
from ugcl._utils.formats import from_json
from ugcl._utils.provenance import source_commit
from ugcl.study.cell import Cell, key_of
from ugcl.study.names import Backend
from ugcl.study.tasks import Place, execute

logger = logging.getLogger(__name__)

Record = dict[str, Any]


@dataclass
class Results:
    """The results of a folder, by the key of their cell.

    Attributes:
        path: the JSONL file.
        data_root: the folder of raw data sets.
    """

    path: Path
    data_root: str | None = None
    records: dict[str, Record] = field(default_factory=dict)
    _end: int = 0
    _keys: dict[int, tuple[Cell, str]] = field(default_factory=dict, repr=False)

    @classmethod
    def open(cls, path: Path, data_root: str | None = None) -> Results:
        """Read the results of a file, none where it does not exist.

        The last line may be cut off by a kill while it was written; other damage is an error.
        """
        results = cls(path, data_root)
        lines = path.read_bytes().splitlines(keepends=True) if path.is_file() else []
        for number, line in enumerate(lines, 1):
            if not line.endswith(b"\n"):
                break
            try:
                record = from_json(line)
                results.records[record["key"]] = record
            except (KeyError, TypeError, ValueError) as error:
                raise UGCLError(
                    f"{path}, line {number}, is not a result of a study: remove the line, or "
                    "choose another `out`"
                ) from error
            results._end += len(line)
        return results

    def key(self, cell: Cell) -> str:
        """Return the key of a cell, which is computed once."""
        known = self._keys.get(id(cell))
        if known is None:
            known = cell, key_of(cell.identity(self.data_root))
            self._keys[id(cell)] = known
        return known[1]

    def get(self, cell: Cell) -> Record | None:
        """Return the stored record of a cell; None if it lacks a score that the cell asks for."""
        record = self.records.get(self.key(cell))
        if record is None or "error" in record:
            return record
        scores, readouts = record.get("scores", {}), record.get("readouts", [])
        complete = all(
            name in scores and count in (0, scores[name]) for name, count in cell.scores.items()
        )
        return record if complete and set(cell.readouts) <= set(readouts) else None

    def extended(self, cell: Cell) -> Cell:
        """Return the cell with the scores that its stored record has, so that none is lost."""
        record = self.records.get(self.key(cell), {})
        stored = Cell(
            cell.task,
            cell.graph,
            scores=record.get("scores", {}),
            readouts=tuple(record.get("readouts", ())),
        )
        return _with_scores_of(cell, stored)

    def result(self, cell: Cell) -> dict[str, Any] | None:
        """Return the result of a cell that was computed without an error.

        Its scores may be over another number of random splits (`splits`) than the cell asks for: a
        table shows what there is, and says so.
        """
        record = self.records.get(self.key(cell), {})
        counts = self.splits(cell)
        complete = all(
            counts.get(name, 0) > 0 if count else name in counts
            for name, count in cell.scores.items()
        )
        if not complete or not set(cell.readouts) <= set(record.get("readouts", [])):
            return None
        found: dict[str, Any] | None = record.get("result")
        return found

    def splits(self, cell: Cell) -> dict[str, int]:
        """Return the number of random splits of each protocol that the cell is scored by."""
        found: dict[str, int] = self.records.get(self.key(cell), {}).get("scores", {})
        return found

    def add(self, cell: Cell, outcome: Record) -> Record:
        """Store the outcome of a cell: one line, on disk when this returns.

        An error does not replace a result.
        """
        if "error" in outcome and "result" in self.records.get(self.key(cell), {}):
            logger.warning("%s: %s; the earlier result is kept", cell.name, outcome["error"])
            return self.records[self.key(cell)]
        record = {
            "key": self.key(cell),
            **cell.identity(self.data_root),
            "scores": dict(cell.scores),
            "readouts": list(cell.readouts),
            "commit": source_commit(),
            **outcome,
        }
        line = json.dumps(record, ensure_ascii=False, default=str).encode() + b"\n"
        try:
            with self.path.open("r+b" if self.path.exists() else "wb") as file:
                file.truncate(self._end)  # of a line that was cut off
                file.seek(self._end)
                file.write(line)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise UGCLError(
                f"cannot write {self.path} ({error.strerror}): make room, then run the same "
                "command again"
            ) from error
        self._end += len(line)
        self.records[record["key"]] = record
        return record


@dataclass(frozen=True)
class Progress:
    """The state of a study after a cell.

    Attributes:
        done: cells computed now, with their errors.
        failed: those of them that ended with an error.
        total: cells to compute.
        name: the last cell.
        error: why it failed; "" where it did not.
        remaining: estimated seconds; None before the first cell.
    """

    done: int
    failed: int
    total: int
    name: str = ""
    error: str = ""
    remaining: float | None = None


@dataclass(frozen=True)
class RunnerOptions:
    """How the cells of a study are computed.

    Attributes:
        jobs: worker processes, with one thread each.
        backend: "processes" of this machine, or a "dask" or "ray" cluster.
        budget: seconds after which no further cell is started; None: no limit.
        retry: compute cells that failed before once more.
        device: where workers compute.
        should_stop: called before each cell; True ends the study.
        on_progress: called at the start and after every cell.
    """

    jobs: int = 1
    backend: Backend = "processes"
    budget: float | None = None
    retry: bool = False
    device: str = "auto"
    should_stop: Callable[[], bool] = lambda: False
    on_progress: Callable[[Progress], None] = lambda progress: None


def merge(cells: Iterable[Cell], results: Results) -> list[Cell]:
    """Return cells without repetition: one training serves all scores that are asked of it."""
    merged: dict[str, Cell] = {}
    for cell in cells:
        key = results.key(cell)
        merged[key] = _with_scores_of(merged[key], cell) if key in merged else cell
    return list(merged.values())


def _with_scores_of(cell: Cell, other: Cell) -> Cell:
    """Return the cell with the other's scores and readouts, too; its own count, unless it is 0."""
    scores = {**other.scores, **{name: count for name, count in cell.scores.items() if count}}
    return replace(
        cell,
        scores={**cell.scores, **scores},
        readouts=tuple(dict.fromkeys([*cell.readouts, *other.readouts])),
    )


def run_cells(
    cells: Iterable[Cell], results: Results, options: RunnerOptions | None = None
) -> Progress:
    """Compute the cells that have no result, and store each as soon as it is done.

    Args:
        cells: the cells, in the order in which they are computed.
        results: where results are found and stored.
        options: how they are computed.

    Returns:
        The final state.
    """
    options = options or RunnerOptions()
    make_folder(results.path.parent)
    pending = [
        results.extended(cell)
        for cell in merge(cells, results)
        if (record := results.get(cell)) is None or (options.retry and "error" in record)
    ]
    runs = results.path.parent / "runs"
    stored = {key for key, record in results.records.items() if "error" not in record}
    for key in stored - {results.key(cell) for cell in pending}:
        if (runs / key).is_dir():  # the study was killed after it had stored the result
            shutil.rmtree(runs / key, ignore_errors=True)
    progress = Progress(0, 0, len(pending))
    options.on_progress(progress)
    started = time.monotonic()
    budget = inf if options.budget is None else options.budget

    waiting, running = deque(pending), dict[str, Cell]()

    def due() -> Iterator[Cell]:
        while waiting:
            spent = time.monotonic() - started
            if options.should_stop() or spent >= budget:
                return
            cell = waiting.popleft()
            running[results.key(cell)] = cell
            yield cell

    def place(cell: Cell) -> Place:
        return Place(runs / results.key(cell), results.data_root, options.device)

    for key, outcome in _all_outcomes(due, running, place, options):
        cell = running.pop(key)
        results.add(cell, outcome)
        error = outcome.get("error", "")
        if not error:
            shutil.rmtree(place(cell).folder, ignore_errors=True)
        done = progress.done + 1
        spent = time.monotonic() - started
        progress = Progress(
            done,
            progress.failed + bool(error),
            len(pending),
            cell.name,
            error,
            spent / done * (len(pending) - done),
        )
        options.on_progress(progress)
    return progress


def _all_outcomes(
    due: Callable[[], Iterator[Cell]],
    running: Mapping[str, Cell],
    place: Callable[[Cell], Place],
    options: RunnerOptions,
) -> Iterator[tuple[str, Record]]:
    """Yield keys and outcomes; the cells of a worker that was killed failed, others go on."""
    while True:
        try:
            yield from _outcomes(due(), place, options.jobs, options.backend)
        except Exception as error:
            if type(error).__name__ not in ("TerminatedWorkerError", "BrokenProcessPool"):
                raise
            for key in list(running):
                yield key, {"error": "a worker process was killed, perhaps out of memory"}
        else:
            return


def _outcomes(
    cells: Iterator[Cell], place: Callable[[Cell], Place], jobs: int, backend: Backend
) -> Iterator[tuple[str, Record]]:
    """Yield the keys of cells and their outcomes, in the order in which they are done."""
    if jobs == 1 and backend == "processes":
        for cell in cells:
            yield place(cell).folder.name, execute(cell, place(cell))
        return
    if backend == "ray":
        yield from _on_ray(cells, place, jobs)
        return
    from joblib import Parallel, delayed

    with _configured(backend, jobs):
        workers = Parallel(return_as="generator_unordered", pre_dispatch="n_jobs", batch_size=1)
        yield from workers(delayed(_execute)(cell, place(cell)) for cell in cells)


def _on_ray(
    cells: Iterator[Cell], place: Callable[[Cell], Place], jobs: int
) -> Iterator[tuple[str, Record]]:
    """Compute cells on a Ray cluster, whose backend of joblib returns all results at the end."""
    ray = required("ray", "the backend ray", "ray")
    if not ray.is_initialized():
        address = os.environ.get("RAY_ADDRESS")
        ray.init(address=address, num_cpus=None if address else jobs, log_to_driver=False)
    remote, tasks = ray.remote(_execute), []
    for cell in cells:
        tasks.append(remote.remote(cell, place(cell)))
        if len(tasks) == jobs:
            done, tasks = ray.wait(tasks)
            yield from ray.get(done)
    while tasks:
        done, tasks = ray.wait(tasks)
        yield from ray.get(done)


def _execute(cell: Cell, place: Place) -> tuple[str, Record]:
    """Compute a cell in a worker, which leaves Ctrl-C to the main process."""
    with suppress(ValueError):  # not in the main thread of the worker
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    return place.folder.name, execute(cell, place)


@contextmanager
def _configured(backend: Backend, jobs: int) -> Iterator[None]:
    """Configure joblib: one thread for each worker."""
    from joblib import parallel_config

    options: Mapping[str, Any] = {"n_jobs": jobs}
    if backend == "processes":
        with parallel_config("loky", inner_max_num_threads=1, **options):
            yield
        return
    distributed = required("distributed", "the backend dask", "dask")
    address = os.environ.get("DASK_SCHEDULER_ADDRESS")
    local = {"n_workers": jobs, "threads_per_worker": 1, "dashboard_address": None}
    with (
        distributed.Client(address) if address else distributed.Client(**local),
        parallel_config("dask", **options),
    ):
        yield
