"""The runner of studies: it computes cells in worker processes and stores each result at once.

Results are lines of a JSONL file. A line is written when its cell is done, so a study that is
stopped or killed continues where it was; training itself continues from its checkpoint.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ugcl._utils.errors import UGCLError
from ugcl._utils.extras import required
from ugcl._utils.files import make_folder
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
                record = json.loads(line)
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
        missing = any(scores.get(name) != count for name, count in cell.scores.items())
        return None if missing or not set(cell.readouts) <= set(readouts) else record

    def result(self, cell: Cell) -> dict[str, Any] | None:
        """Return the result of a cell that was computed without an error."""
        record = self.get(cell)
        found: dict[str, Any] | None = None if record is None else record.get("result")
        return found

    def add(self, cell: Cell, outcome: Record) -> Record:
        """Store the outcome of a cell: one line, on disk when this returns."""
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


def merge(cells: Iterable[Cell], results: Results) -> list[Cell]:
    """Return cells without repetition: one training serves all scores that are asked of it."""
    merged: dict[str, Cell] = {}
    for cell in cells:
        key = results.key(cell)
        if key in merged:
            first = merged[key]
            cell = replace(
                first,
                scores={**first.scores, **cell.scores},
                readouts=tuple(dict.fromkeys([*first.readouts, *cell.readouts])),
            )
        merged[key] = cell
    return list(merged.values())


def run_cells(
    cells: Iterable[Cell],
    results: Results,
    *,
    jobs: int = 1,
    backend: Backend = "processes",
    budget: float | None = None,
    retry: bool = False,
    device: str = "auto",
    should_stop: Callable[[], bool] = lambda: False,
    on_progress: Callable[[Progress], None] = lambda progress: None,
) -> Progress:
    """Compute the cells that have no result, and store each as soon as it is done.

    Args:
        cells: the cells, in the order in which they are computed.
        results: where results are found and stored.
        jobs: worker processes, with one thread each.
        backend: "processes" of this machine, or a "dask" or "ray" cluster.
        budget: seconds after which no further cell is started; None: no limit.
        retry: compute cells that failed before once more.
        device: where workers compute.
        should_stop: called before each cell; True ends the study.
        on_progress: called at the start and after every cell.

    Returns:
        The final state.
    """
    make_folder(results.path.parent)
    pending = [
        cell
        for cell in merge(cells, results)
        if (stored := results.get(cell)) is None or (retry and "error" in stored)
    ]
    progress = Progress(0, 0, len(pending))
    on_progress(progress)
    started = time.monotonic()

    def due() -> Iterator[Cell]:
        for cell in pending:
            spent = time.monotonic() - started
            if should_stop() or (budget is not None and spent >= budget):
                return
            yield cell

    def place(cell: Cell) -> Place:
        runs = results.path.parent / "runs"
        return Place(runs / results.key(cell), results.data_root, device)

    for cell, outcome in _outcomes(due(), place, jobs, backend):
        results.add(cell, outcome)
        error = outcome.get("error", "")
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
        on_progress(progress)
    return progress


def _outcomes(
    cells: Iterator[Cell], place: Callable[[Cell], Place], jobs: int, backend: Backend
) -> Iterator[tuple[Cell, Record]]:
    """Yield cells with their outcomes, in the order in which they are done."""
    if jobs == 1 and backend == "processes":
        for cell in cells:
            yield cell, execute(cell, place(cell))
        return
    from joblib import Parallel, delayed

    with _configured(backend, jobs):
        workers = Parallel(return_as="generator_unordered", pre_dispatch="n_jobs", batch_size=1)
        yield from workers(delayed(_execute)(cell, place(cell)) for cell in cells)


def _execute(cell: Cell, place: Place) -> tuple[Cell, Record]:
    """Compute a cell in a worker, which leaves Ctrl-C to the main process."""
    with suppress(ValueError):  # not in the main thread of the worker
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    return cell, execute(cell, place)


@contextmanager
def _configured(backend: Backend, jobs: int) -> Iterator[None]:
    """Configure joblib: one thread for each worker."""
    from joblib import parallel_config

    options: Mapping[str, Any] = {"n_jobs": jobs}
    if backend == "processes":
        with parallel_config("loky", inner_max_num_threads=1, **options):
            yield
    elif backend == "dask":
        distributed = required("distributed", "the backend dask", "dask")
        address = os.environ.get("DASK_SCHEDULER_ADDRESS")
        local = {"n_workers": jobs, "threads_per_worker": 1, "dashboard_address": None}
        client = distributed.Client(address) if address else distributed.Client(**local)
        with client, parallel_config("dask", **options):
            yield
    else:
        ray = required("ray", "the backend ray", "ray")
        from ray.util.joblib import register_ray

        register_ray()
        if not ray.is_initialized():
            address = os.environ.get("RAY_ADDRESS")
            ray.init(address=address, num_cpus=None if address else jobs, log_to_driver=False)
        with parallel_config("ray", **options):
            yield
