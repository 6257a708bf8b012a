"""Arrays of a long computation: in memory, or in files that survive a kill."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from ugcl._utils.buffers import mapped_tensor, new_empty
from ugcl._utils.errors import UGCLError
from ugcl._utils.files import write_json
from ugcl._utils.sizes import size

WIDTH = 64
"""Columns of a block in memory: sparse products of small graphs are fastest with this many."""

MAX_WIDTH = 128
"""Maximum columns of a block of a large graph: wider rows are not fetched faster."""

MIN_WIDTH = 16
"""Minimum columns of a block: the numbers of one cache line."""

LARGE = 2**26
"""Bytes of a block of `WIDTH` columns from which wider ones are used where memory allows."""

RESERVE = 2**29
"""Bytes for everything but the blocks of columns."""

ROWS = 2**16
"""Rows that are handled at a time."""

KEY = "key.json"

Shape = tuple[int, ...]
Progress = Callable[[float, str], None]
"""Takes the finished fraction and what is being done."""


class Workspace:
    """Where a computation keeps its arrays, and how wide its blocks of columns are.

    With a folder, arrays that are kept are files, which are mapped. A file has its name once it is
    complete, so a computation that was killed finds what it had finished; one of another key is
    deleted first. Buffers are always in memory.

    Args:
        folder: where files are; None to keep arrays in memory.
        memory: bytes of anonymous memory that the process may use; None for no limit.
        key: what the stored arrays depend on.
        device: where arrays in memory are.
        progress: called as the computation proceeds.
        part: which of the blocks of the result are computed here, those of `own_blocks`; None for
            all of them.
        parts: the number of processes that share the blocks.
    """

    def __init__(
        self,
        folder: Path | None = None,
        *,
        memory: int | None = None,
        key: Mapping[str, Any] | None = None,
        device: str | torch.device = "cpu",
        progress: Progress | None = None,
        part: int | None = None,
        parts: int = 1,
    ) -> None:
        self.part, self.parts = part, parts
        self.folder, self.memory, self.device = folder, memory, torch.device(device)
        self.progress, self.done, self.total = progress, 0.0, 0.0
        self.dtype: torch.dtype | None = None
        self._buffers: list[Tensor] = []
        self._writer = ThreadPoolExecutor(1) if folder else None
        self._written: list[Future[None]] = []
        self._used = anonymous_memory() if memory is not None else 0
        if folder is not None:
            self._open(folder, dict(key or {}))

    def _open(self, folder: Path, key: dict[str, Any]) -> None:
        try:
            stored = json.loads((folder / KEY).read_text("utf-8"))
        except (OSError, ValueError):
            stored = None
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for file in folder.glob("*.partial" if stored == key else "*.npy*"):
                file.unlink()
            if stored != key:
                write_json(folder / KEY, key)
        except OSError as error:
            raise UGCLError(_cannot_write(folder, error)) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        """Wait for the disk; the files stay until `delete`."""
        if self._writer is not None:
            self._writer.shutdown()
        if error is None:
            self.finish()

    def finish(self) -> None:
        """Wait until all files are on the disk."""
        wait(self._written)
        self.check()

    def check(self) -> None:
        """Raise an error where a file could not be written to the disk."""
        done = [written for written in self._written if written.done()]
        self._written = [written for written in self._written if not written.done()]
        for written in done:
            try:
                written.result()
            except OSError as error:
                raise UGCLError(_cannot_write(self.folder, error)) from error

    def delete(self) -> None:
        """Delete the files, also those that are still being written."""
        if self.folder is not None and self._writer is not None:
            self._writer.shutdown(cancel_futures=True)
            self._written = []
            shutil.rmtree(self.folder, ignore_errors=True)

    def block_width(self, rows: int, columns: int, buffers: int = 2, held: int = 0) -> int:
        """Return how many columns are computed at a time; a multiple of 16 unless it is all.

        Args:
            rows: N.
            columns: columns of the result.
            buffers: N x width arrays in memory at a time.
            held: bytes of what else is in memory meanwhile.
        """
        width = min(WIDTH, columns)
        if self.device.type != "cpu":
            return min(4 * WIDTH, columns)
        if self.memory is None:
            return width
        column = 4 * rows * buffers
        fits = (self.memory - self._used - RESERVE - held) // max(column, 1)
        if fits < min(MIN_WIDTH, columns):
            needed = self._used + RESERVE + held + column * min(MIN_WIDTH, columns)
            raise UGCLError(
                f"`memory` {size(self.memory)} is too little to embed {rows:,} nodes: allow at "
                f"least {size(needed)}"
            )
        wide = MAX_WIDTH if 4 * rows * WIDTH >= LARGE else WIDTH
        if columns <= min(fits, wide):
            return columns
        fits = min(fits, wide) // MIN_WIDTH * MIN_WIDTH  # whole cache lines
        even = -(-columns // -(-columns // fits))
        return -(-even // MIN_WIDTH) * MIN_WIDTH

    def blocks(self, rows: int, columns: int, buffers: int = 2) -> Iterator[slice]:
        """Yield slices of columns of `block_width`."""
        width = self.block_width(rows, columns, buffers)
        for first in range(0, columns, width):
            yield slice(first, min(first + width, columns))

    def own_blocks(self, rows: int, columns: int, buffers: int = 2) -> Iterator[slice]:
        """Yield those of the blocks of a result that this process computes.

        Of several processes, none has fewer than `MIN_WIDTH` columns: products with fewer columns
        may have other bits.
        """
        if self.parts == 1:
            yield from self.blocks(rows, columns, buffers)
            return
        width = min(self.block_width(rows, columns, buffers), -(-columns // self.parts))
        width = max(width // MIN_WIDTH, 1) * MIN_WIDTH
        starts = list(range(0, max(columns - MIN_WIDTH, 0) + 1, width))
        for index, (first, last) in enumerate(zip(starts, [*starts[1:], columns], strict=True)):
            if self.part is None or index % self.parts == self.part:
                yield slice(first, last)

    @property
    def first(self) -> bool:
        """Whether this process computes the parts of a result that have no blocks."""
        return not self.part

    def buffers(self, count: int, shape: Sequence[int], like: Tensor | None = None) -> list[Tensor]:
        """Return uninitialised arrays in memory; those of an earlier call are used again."""
        like = torch.empty(0, device=self.device) if like is None else like[:0]
        needed = int(np.prod(shape))
        found = []
        for index in range(count):
            if index < len(self._buffers):
                buffer = self._buffers[index]
                if buffer.dtype != like.dtype or buffer.numel() < needed:
                    self._buffers[index] = like  # freed before the next is made
                    self._buffers[index] = new_empty(like, (needed,))
            else:
                self._buffers.append(new_empty(like, (needed,)))
            found.append(self._buffers[index][:needed].view(*shape))
        return found

    def release(self) -> None:
        """Free the buffers."""
        self._buffers = []

    def has(self, name: str) -> bool:
        """Return whether an array is stored in a file."""
        return self.folder is not None and self._file(name).is_file()

    def stored(self, name: str) -> Tensor:
        """Return the array of a file, mapped."""
        return _mapped(self._file(name))

    def keep(self, name: str, rows: Tensor, dtype: torch.dtype | None = None) -> Tensor:
        """Store an array, and return it; in memory it is returned as it is."""
        if self.folder is None:
            return rows
        dtype = dtype or rows.dtype
        kind = torch.empty(0, dtype=dtype).numpy().dtype
        parts = (
            (rows[first : first + ROWS].to(dtype).numpy(),) for first in range(0, len(rows), ROWS)
        )
        (array,) = self.arrays({name: (tuple(rows.shape), kind)}, parts)
        return array

    def result(self, name: str, rows: Tensor) -> Tensor:
        """Keep columns of the result, in `dtype`."""
        return self.keep(name, rows, self.dtype)

    def arrays(
        self,
        specs: Mapping[str, tuple[Shape, npt.DTypeLike]],
        parts: Iterable[tuple[npt.NDArray[Any], ...]],
    ) -> list[Tensor]:
        """Return arrays that are filled by parts, one after another.

        Args:
            specs: shape and dtype of each by its name.
            parts: the next rows of each; not used where all are stored.
        """
        if all(map(self.has, specs)):
            return [self.stored(name) for name in specs]
        if self.folder is None:
            arrays = [_empty(shape, dtype) for shape, dtype in specs.values()]
            starts = [0] * len(arrays)
            for part in parts:
                for index, rows in enumerate(part):
                    arrays[index][starts[index] : starts[index] + len(rows)] = rows
                    starts[index] += len(rows)
            return [torch.from_numpy(array).to(self.device) for array in arrays]
        streams: list[BinaryIO] = []
        try:
            streams += (self._partial(name).open("wb") for name in specs)
            for stream, (shape, dtype) in zip(streams, specs.values(), strict=True):
                header = {
                    "descr": np.lib.format.dtype_to_descr(np.dtype(dtype)),
                    "fortran_order": False,
                    "shape": shape,
                }
                np.lib.format.write_array_header_2_0(stream, header)
            for part in parts:
                for stream, rows, (_, dtype) in zip(streams, part, specs.values(), strict=True):
                    stream.write(np.ascontiguousarray(rows, dtype=dtype).data)
            for stream in streams:
                stream.flush()
        except BaseException as error:
            for name, stream in zip(specs, streams, strict=False):
                with suppress(OSError):
                    stream.close()
                self._partial(name).unlink(missing_ok=True)
            if isinstance(error, OSError):
                raise UGCLError(_cannot_write(self.folder, error)) from error
            raise
        found = []
        assert self._writer is not None
        for name, stream in zip(specs, streams, strict=True):
            partial = self._partial(name)
            found.append(_mapped(partial))
            written = self._writer.submit(_complete, stream, partial, self._file(name))
            written.add_done_callback(lambda _, stream=stream: stream.close())  # type: ignore[misc]
            self._written.append(written)
        return found

    def assembled(
        self, name: str, shape: tuple[int, int], blocks: Iterable[tuple[slice, Tensor]]
    ) -> Tensor:
        """Return an array in rows of blocks of its columns, which are not used where it is stored.

        Args:
            name: its name.
            shape: rows and columns.
            blocks: slices of columns and their values, which may be overwritten afterwards.
        """
        if self.has(name):
            return self.stored(name)
        if self.folder is None:
            whole: Tensor | None = None
            for columns, block in blocks:
                if whole is None:
                    whole = new_empty(block, shape)
                whole[:, columns] = block
            return torch.empty(shape, device=self.device) if whole is None else whole
        names, parts = [], []
        for columns, block in blocks:
            if block.shape[1] == shape[1]:
                return self.keep(name, block)
            names.append(f"{name} {columns.start}-{columns.stop}")
            parts.append(self.keep(names[-1], block))
        rows = ((torch.cat([part[r] for part in parts], 1).numpy(),) for r in row_blocks(shape[0]))
        (array,) = self.arrays({name: (shape, parts[0].numpy().dtype)}, rows)
        for each in names:
            self.drop(each)
        return array

    def drop(self, name: str) -> None:
        """Delete a stored array that is not needed any more."""
        if self.folder is not None:
            self.finish()
            self._file(name).unlink(missing_ok=True)

    def plan(self, total: float) -> None:
        """Set the cost of the whole computation, in any unit."""
        self.done, self.total = 0.0, max(total, 1e-9)

    def advance(self, cost: float, what: str) -> None:
        """Report progress."""
        self.done += cost
        if self.progress is not None:
            self.progress(min(self.done / self.total, 1.0) if self.total else 0.0, what)

    def _file(self, name: str) -> Path:
        assert self.folder is not None
        return self.folder / f"{re.sub('[^A-Za-z0-9.]+', '-', name)}.npy"

    def _partial(self, name: str) -> Path:
        return self._file(name).with_suffix(".npy.partial")


def _complete(stream: BinaryIO, partial: Path, file: Path) -> None:
    """Give a file its name once its bytes are on the disk."""
    os.fsync(stream.fileno())
    partial.replace(file)


def _mapped(file: Path) -> Tensor:
    """Return the array of a file; an empty one cannot be mapped."""
    mode: Any = "r" if file.stat().st_size > 2**10 else None
    return mapped_tensor(np.asarray(np.load(file, mmap_mode=mode, allow_pickle=False)))


def _empty(shape: Shape, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    like = torch.from_numpy(np.empty(0, dtype))
    return new_empty(like, shape).numpy()


def _cannot_write(folder: Path | None, error: OSError) -> str:
    return (
        f"cannot write {folder} ({error.strerror or error}): make room, then run the command again"
    )


def row_blocks(count: int) -> Iterator[slice]:
    """Yield slices of `ROWS` rows."""
    for first in range(0, count, ROWS):
        yield slice(first, min(first + ROWS, count))


def anonymous_memory() -> int:
    """Return the bytes of anonymous memory of this process; 0 where the system does not say."""
    try:
        for line in Path("/proc/self/status").read_text("utf-8").splitlines():
            if line.startswith("RssAnon:"):
                return 1024 * int(line.split()[1])
    except (OSError, ValueError):
        pass
    return 0
