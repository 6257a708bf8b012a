"""Download of raw files that are missing in the data root."""

from __future__ import annotations

import contextlib
import http.client
import logging
import os
import shutil
import sys
import tempfile
import urllib.error
import urllib.parse
import urllib.request
import zipfile
import zlib
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import IO, TYPE_CHECKING

from ugcl._utils.errors import UGCLError
from ugcl._utils.files import atomic, sha256
from ugcl.data.catalogue import Dataset, RawFile

if TYPE_CHECKING:
    from rich.progress import Progress

logger = logging.getLogger(__name__)

TIMEOUT = 30.0
"""Seconds without data after which a download fails."""

MAX_BYTES = 2**29
"""Size of a download, and of a file in it: the largest in the catalogue has a tenth of it."""

CHUNK = 1 << 16


class _DownloadError(Exception):
    """Reason why a file could not be downloaded."""


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follows redirections, but not from an encrypted connection to another one."""

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: http.client.HTTPMessage,
        newurl: str,
    ) -> urllib.request.Request | None:
        schemes = ("https",) if req.type == "https" else ("https", "http")
        if urllib.parse.urlsplit(newurl).scheme not in schemes:
            fp.close()
            raise ValueError(f"it redirects to {newurl}, which is not allowed")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


_OPENER = urllib.request.build_opener(_Redirects)


class _Limited:
    """A member of an archive that is read up to `MAX_BYTES`."""

    def __init__(self, content: IO[bytes], url: str) -> None:
        self._content, self._url, self._size = content, url, 0

    def read(self, size: int = -1, /) -> bytes:
        """Return up to so many bytes."""
        data = self._content.read(size)
        self._size += len(data)
        _check_size(self._url, self._size)
        return data


def _check_size(url: str, size: int) -> None:
    if size > MAX_BYTES:
        raise _DownloadError(f"{url} has more than {MAX_BYTES:,} bytes")


def raw_files(dataset: Dataset, root: Path) -> list[Path]:
    """Return the paths of a data set's raw files and download those that are missing."""
    missing = [file for file in dataset.source.files if not (root / file.path).is_file()]
    try:
        for url in dict.fromkeys(file.url for file in missing):
            _fetch(url, [file for file in missing if file.url == url], root)
    except (_DownloadError, OSError, UGCLError) as error:
        paths = [file.path for file in missing if not (root / file.path).is_file()]
        if paths:  # otherwise another process has downloaded them
            raise UGCLError(_message(dataset, root, paths, error)) from error
    return [root / file.path for file in dataset.source.files]


def _message(dataset: Dataset, root: Path, paths: list[str], error: Exception) -> str:
    folder = root / os.path.commonpath([Path(path).parent for path in paths])
    names = ", ".join(str((root / path).relative_to(folder)) for path in paths)
    cause = error.__cause__ if isinstance(error, UGCLError) else error
    reason = str(error)
    if isinstance(cause, OSError):
        reason = f"cannot write in {folder}: {cause.strerror or cause}"
    return (
        f"{dataset.name} is not complete: {names} missing in {folder}, and the download failed "
        f"({reason}); get the files from {dataset.source.page} and put them there, or set "
        "`data_root` or UGCL_DATA to a folder that has them"
    )


def _fetch(url: str, files: list[RawFile], root: Path) -> None:
    """Download a URL and store the files that it contains."""
    parent = next(folder for folder in (root, *root.absolute().parents) if folder.exists())
    if not parent.is_dir() or not os.access(parent, os.W_OK):
        raise _DownloadError(f"cannot write in {parent}")
    with tempfile.TemporaryFile() as download:
        _download(url, download)
        for file in files:
            download.seek(0)
            with _content(download, file) as content:
                _store(content, file, root / file.path)


def _download(url: str, target: IO[bytes]) -> None:
    with _network_errors(url):
        response = _OPENER.open(url, timeout=TIMEOUT)
        size = int(response.headers.get("Content-Length") or 0)
    if not sys.stderr.isatty():
        logger.info("downloading %s%s", url, f" ({size / 1e6:.1f} MB)" if size else "")
    with response, _progress_bar() as bar:
        task = bar.add_task(url.rpartition("/")[2], total=size or None)
        while True:
            with _network_errors(url):
                chunk = response.read(CHUNK)
            if not chunk:
                break
            target.write(chunk)
            _check_size(url, max(size, target.tell()))
            bar.advance(task, len(chunk))
    if size and target.tell() != size:
        raise _DownloadError(f"{url} ended after {target.tell():,} of {size:,} bytes")


@contextlib.contextmanager
def _network_errors(url: str) -> Iterator[None]:
    """Turn errors of the network into `_DownloadError`; those of the disk are `OSError` too."""
    try:
        yield
    except urllib.error.HTTPError as error:
        error.close()
        raise _DownloadError(f"{url} answers {error.code} {error.reason}") from error
    except (OSError, http.client.HTTPException, ValueError) as error:
        reason = getattr(error, "reason", None) or error
        raise _DownloadError(f"{url} cannot be reached: {reason}") from error


def _progress_bar() -> Progress:
    """Return a progress bar, which shows on a terminal only."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        DownloadColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        disable=not (sys.stderr.isatty() and logging.getLogger("ugcl").level <= logging.INFO),
    )


@contextlib.contextmanager
def _content(download: IO[bytes], file: RawFile) -> Iterator[IO[bytes]]:
    """Open a downloaded file, or the member of a downloaded archive.

    Names in the archive are only compared, never used as paths.
    """
    if not file.member:
        yield download
        return
    try:
        with zipfile.ZipFile(download) as archive, archive.open(file.member) as content:
            yield content
    except (EOFError, LookupError, RuntimeError, zipfile.BadZipFile, zlib.error) as error:
        raise _DownloadError(f"{file.url} is not an archive with {file.member}") from error


def _store(content: IO[bytes], file: RawFile, path: Path) -> None:
    """Write a file after comparing its checksum, if that is known."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic(path) as temporary:
        with temporary.open("wb") as stream:
            shutil.copyfileobj(_Limited(content, file.url), stream)
        if expected := sha256_sums().get(file.path):
            actual = sha256(temporary)
            if actual != expected:
                raise _DownloadError(f"the SHA-256 of {file.url} is {actual}, not {expected}")


def sha256_sums() -> dict[str, str]:
    """Return the SHA-256 of raw files by path, of those of which two copies were compared."""
    lines = (resources.files("ugcl.data") / "SHA256SUMS").read_text("utf-8").splitlines()
    return {path: digest for digest, path in (line.split(maxsplit=1) for line in lines)}
