"""The manifest of a finished run: sizes and checksums of its files, written last."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from ugcl import __version__
from ugcl._utils.errors import UGCLError
from ugcl._utils.files import sha256, write_json
from ugcl._utils.formats import check_format, from_json

MANIFEST = "manifest.json"

FORMAT = 2
"""Version of the format of run folders; those of format 1 have no manifest."""

ALWAYS = 2**26
"""Bytes up to which the checksum of a file is compared whenever the file is read: 64 MB, which
takes a tenth of a second. Of larger files only the size is, except with `verify`."""


@dataclass(frozen=True)
class Manifest:
    """The files of a finished run.

    Attributes:
        folder: the run folder.
        files: the size (`bytes`) and the checksum (`sha256`) of each file.
        verified: what was compared before: names, times of the last change, checksums.
    """

    folder: Path
    files: dict[str, dict[str, Any]]
    verified: set[tuple[Any, ...]] = field(default_factory=set, repr=False)

    @classmethod
    def write(cls, folder: Path, names: Iterable[str]) -> None:
        """Write the manifest of those of these files that there are."""
        found = (name for name in dict.fromkeys(names) if (folder / name).is_file())
        cls(folder, {name: _entry(folder / name) for name in found})._write()

    def _write(self) -> None:
        values = {"format": FORMAT, "version": __version__, "files": self.files}
        write_json(self.folder / MANIFEST, values)

    @classmethod
    def read(cls, folder: Path, verified: set[tuple[Any, ...]] | None = None) -> Self | None:
        """Read the manifest; None where there is none."""
        path = folder / MANIFEST
        try:
            values = from_json(path.read_text("utf-8"))
            found, files = values["format"], values["files"]
            for file in files.values():
                if type(file["bytes"]) is not int or type(file["sha256"]) is not str:
                    raise TypeError("a size or a checksum is missing")
        except FileNotFoundError:
            return None
        except (AttributeError, KeyError, OSError, TypeError, ValueError) as error:
            raise UGCLError(
                f"{path} is damaged ({type(error).__name__}: {error}): restore it, or train again "
                "with another `out`"
            ) from error
        check_format(path, found, FORMAT)
        return cls(folder, files, set() if verified is None else verified)

    def add(self, name: str, source: str) -> None:
        """Add a file that was made from one of the results, whose checksum is its key."""
        self.files[name] = _entry(self.folder / name) | {"of": self.files[source]["sha256"]}
        self._write()

    def made_from(self, name: str, source: str) -> bool:
        """Return whether a file was made from this version of one of the results."""
        return name in self.files and self.files[name].get("of") == self.files[source]["sha256"]

    def check(self, name: str, *, whole: bool = False) -> None:
        """Raise a `ValueError` for a file that is not the one that training wrote.

        Args:
            name: the file; one that the manifest does not list is not checked.
            whole: compare the checksum also of a large file.
        """
        if name not in self.files:
            return
        expected, path = self.files[name], self.folder / name
        stat = path.stat()
        if stat.st_size != expected["bytes"]:
            raise ValueError(f"it has {stat.st_size:,} bytes, not {expected['bytes']:,}")
        key = (name, stat.st_mtime_ns, expected["sha256"])
        if key in self.verified or (stat.st_size > ALWAYS and not whole):
            return
        if sha256(path) != expected["sha256"]:
            raise ValueError(f"its checksum is not that of {MANIFEST}")
        self.verified.add(key)


def _entry(path: Path) -> dict[str, Any]:
    return {"bytes": path.stat().st_size, "sha256": sha256(path)}
