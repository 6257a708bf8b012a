"""Downloading the raw files that the data root lacks."""

from __future__ import annotations

import contextlib
import hashlib
import http.client
import os
import shutil
import sys
import tempfile
import urllib.error
import urllib.request
import zipfile
import zlib
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import IO

from tqdm import tqdm

from ugcl._utils.errors import UGCLError
from ugcl._utils.files import atomic
from ugcl.data.catalogue import Dataset, RawFile

TIMEOUT = 30.0
"""Seconds without a byte after which a server is given up."""

CHUNK = 1 << 16


class _Failed(Exception):
    """Why a file could not be downloaded, in a few words."""


def raw_files(dataset: Dataset, root: Path) -> list[Path]:
    """The raw files of a data set under a data root, downloaded where they are missing."""
    missing = [file for file in dataset.source.files if not (root / file.path).is_file()]
    try:
        for url in dict.fromkeys(file.url for file in missing):
            _fetch(url, [file for file in missing if file.url == url], root)
    except (_Failed, OSError, UGCLError) as error:
        lacking = [file.path for file in missing if not (root / file.path).is_file()]
        if lacking:  # or another process has brought them meanwhile
            raise UGCLError(_sentence(dataset, root, lacking, error)) from error
    return [root / file.path for file in dataset.source.files]


def _sentence(dataset: Dataset, root: Path, lacking: list[str], error: Exception) -> str:
    folder = root / os.path.commonpath([Path(path).parent for path in lacking])
    names = ", ".join(str((root / path).relative_to(folder)) for path in lacking)
    cause = error.__cause__ if isinstance(error, UGCLError) else error
    reason = str(error)
    if isinstance(cause, OSError):
        reason = f"cannot write in {folder}: {cause.strerror or cause}"
    return (
        f"{dataset.name} is not complete: {names} missing in {folder}, and the download failed "
        f"({reason}); get the files from {dataset.source.page} and put them there, or name a "
        "folder that has them with --data-root or UGCL_DATA"
    )


def _fetch(url: str, files: list[RawFile], root: Path) -> None:
    """Download one address, and put the files that it holds into their places."""
    there = next(folder for folder in (root, *root.absolute().parents) if folder.exists())
    if not there.is_dir() or not os.access(there, os.W_OK):
        raise _Failed(f"cannot write in {there}")
    with tempfile.TemporaryFile() as download:
        _download(url, download)
        for file in files:
            download.seek(0)
            with _content(download, file) as content:
                _put(content, file, root / file.path)


def _download(url: str, target: IO[bytes]) -> None:
    with _asking(url):
        response = urllib.request.urlopen(url, timeout=TIMEOUT)
        size = int(response.headers.get("Content-Length") or 0)
    with response, _progress(url, size) as bar:
        while True:
            with _asking(url):
                chunk = response.read(CHUNK)
            if not chunk:
                break
            target.write(chunk)
            bar.update(len(chunk))
    if size and target.tell() != size:
        raise _Failed(f"{url} ended after {target.tell():,} of {size:,} bytes")


@contextlib.contextmanager
def _asking(url: str) -> Iterator[None]:
    """Tell what the network raises from what the disk raises: both raise `OSError`."""
    try:
        yield
    except urllib.error.HTTPError as error:
        error.close()
        raise _Failed(f"{url} answers {error.code} {error.reason}") from error
    except (OSError, http.client.HTTPException, ValueError) as error:
        reason = getattr(error, "reason", None) or error
        raise _Failed(f"{url} cannot be reached: {reason}") from error


def _progress(url: str, size: int) -> tqdm[None]:
    """A bar on a terminal, one line elsewhere."""
    terminal = sys.stderr.isatty()
    if not terminal:
        amount = f" ({size / 1e6:.1f} MB)" if size else ""
        print(f"downloading {url}{amount}", file=sys.stderr, flush=True)
    return tqdm(
        total=size or None,
        desc=url.rpartition("/")[2],
        unit="B",
        unit_scale=True,
        disable=not terminal,
    )


@contextlib.contextmanager
def _content(download: IO[bytes], file: RawFile) -> Iterator[IO[bytes]]:
    """The bytes of a file: those downloaded, or the archive's member of that very name.

    Names in an archive are only compared, never used as paths.
    """
    if not file.member:
        yield download
        return
    try:
        with zipfile.ZipFile(download) as archive, archive.open(file.member) as content:
            yield content
    except (EOFError, LookupError, RuntimeError, zipfile.BadZipFile, zlib.error) as error:
        raise _Failed(f"{file.url} is not an archive with {file.member}") from error


def _put(content: IO[bytes], file: RawFile, place: Path) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    with atomic(place) as temporary:
        with temporary.open("wb") as stream:
            shutil.copyfileobj(content, stream)
        if known := known_sums().get(file.path):
            with temporary.open("rb") as stream:
                found = hashlib.file_digest(stream, "sha256").hexdigest()
            if found != known:
                raise _Failed(f"the SHA-256 of {file.url} is {found}, not {known}")


def known_sums() -> dict[str, str]:
    """The SHA-256 of those raw files of which two copies were compared, by their paths."""
    lines = (resources.files("ugcl.data") / "SHA256SUMS").read_text("utf-8").splitlines()
    return {path: known for known, path in (line.split(maxsplit=1) for line in lines)}
