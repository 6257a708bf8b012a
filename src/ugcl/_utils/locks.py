"""Locks of folders: two processes never write into one."""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from ugcl._utils.errors import UGCLError

if TYPE_CHECKING:
    from filelock import BaseFileLock

logger = logging.getLogger(__name__)

LOCK = ".lock"
"""The file whose lock says that a process writes into the folder; it holds the process's id."""


@contextlib.contextmanager
def locked(folder: Path, doing: str, *, wait: bool = False) -> Iterator[None]:
    """Let no other process write into a folder; the system frees the lock of a killed process.

    Args:
        folder: the folder.
        doing: what another process does there, for the error, as in "another study writes into".
        wait: wait for the other process instead of raising an error.
    """
    from filelock import FileLock, Timeout

    path = folder / LOCK
    while True:
        lock = FileLock(path)
        try:
            lock.acquire(timeout=0)
        except Timeout as error:
            if wait:
                logger.info("%s %s%s: waiting for it to end", doing, folder, _process_of(path))
                lock.acquire()
                lock.release()
                continue
            raise UGCLError(
                f"{doing} {folder}{_process_of(path)}: wait until it has ended, or choose another "
                "`out`"
            ) from error
        except OSError as error:
            raise UGCLError(
                f"cannot lock {folder} ({error.strerror or error}): choose another `out`"
            ) from error
        if _is_at(lock, path):
            break
        lock.release()  # of a file that its last owner has removed meanwhile
    try:
        with contextlib.suppress(OSError):
            path.write_text(f"{os.getpid()}\n", encoding="utf-8")
        yield
    finally:
        with contextlib.suppress(OSError):
            path.unlink()  # while it is locked, so that nobody else's is removed
        lock.release()


def _is_at(lock: BaseFileLock, path: Path) -> bool:
    """Return whether the locked file is the one at the path; old versions of filelock do not."""
    handle = lock._context.lock_file_fd
    try:
        return handle is not None and os.path.samestat(os.fstat(handle), path.stat())
    except FileNotFoundError:
        return False


def _process_of(path: Path) -> str:
    """Return which process holds a lock, in brackets, as far as that is known."""
    try:
        return f" (process {int(path.read_text(encoding='utf-8'))})"
    except (OSError, ValueError):
        return ""
