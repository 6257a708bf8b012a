"""Methods of a user's own from a Python file: its variable `METHOD`."""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import re
import sys
import traceback
from collections.abc import Collection
from dataclasses import dataclass
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from ugcl._utils.errors import UGCLError
from ugcl.methods.method import Method

logger = logging.getLogger(__name__)

VARIABLE = "METHOD"


@dataclass(frozen=True)
class MethodFile:
    """The file that a method was loaded from.

    Attributes:
        path: its absolute path.
        source: its contents when it was loaded.
    """

    path: Path
    source: bytes

    @property
    def sha256(self) -> str:
        """The SHA-256 of the contents."""
        return hashlib.sha256(self.source).hexdigest()


_LOADED: dict[Path, tuple[MethodFile, Method]] = {}


def is_path(name: str | Path) -> bool:
    """Return whether the name of a method is the path of a file."""
    if isinstance(name, Path):
        return True
    return name.endswith(".py") or any(mark in name for mark in filter(None, (os.sep, os.altsep)))


def load_file(path: str | Path, reserved: Collection[str] = (), sha256: str = "") -> Method:
    """Return the method of a file, which is run once in a process.

    Args:
        path: the file.
        reserved: names that the method must not have.
        sha256: the SHA-256 that the file must have.
    """
    resolved = Path(path).resolve()
    if resolved not in _LOADED:
        file = MethodFile(resolved, _read(Path(path)))
        if sha256 not in ("", file.sha256):
            raise UGCLError(f"{path} has just been changed: try again")
        _LOADED[resolved] = file, _load(file, str(path), reserved)
    file, method = _LOADED[resolved]
    if resolved.is_file() and resolved.read_bytes() != file.source:
        logger.warning("%s has changed since it was loaded: restart Python to use it", path)
    return method


def is_loaded(path: Path) -> bool:
    """Return whether the file was loaded in this process."""
    return path.resolve() in _LOADED


def current_sha256(path: Path) -> str | None:
    """Return the SHA-256 of a file, as it was when it was loaded; None if it does not exist."""
    resolved = path.resolve()
    if resolved in _LOADED:
        return _LOADED[resolved][0].sha256
    return MethodFile(resolved, resolved.read_bytes()).sha256 if resolved.is_file() else None


def method_file(method: Method) -> MethodFile | None:
    """Return the file that a method was loaded from; None if it is from no file."""
    return next((file for file, loaded in _LOADED.values() if loaded is method), None)


def loaded_method(name: str) -> Method | None:
    """Return the method of that name from a file that was loaded before; None without one."""
    found = [(file, method) for file, method in _LOADED.values() if method.name == name]
    if len(found) > 1:
        paths = " and ".join(str(file.path) for file, _ in found)
        raise UGCLError(f"there are methods called '{name}' in {paths}: pass the path of one")
    return found[0][1] if found else None


def error_reason(error: BaseException, path: Path | None = None) -> str:
    """Return type and message of an exception, and the line of a file that it comes from."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if path and frame.filename == str(path)]
    where = f", line {lines[-1]}" if lines else ""
    return f"{type(error).__name__}: {' '.join(str(error).split())}{where}"


def _read(path: Path) -> bytes:
    try:
        source = path.read_bytes()
    except OSError as error:
        problem = f"cannot be read ({error.strerror})"
        if not path.exists():
            problem = "does not exist"
        elif path.is_dir():
            problem = "is a folder"
        raise UGCLError(
            f"the method file {path} {problem}: check the path, or use one of ugcl methods"
        ) from error
    if path.suffix != ".py":
        raise UGCLError(f"the method file {path} must be a Python file, which ends in .py")
    return source


def _load(file: MethodFile, shown: str, reserved: Collection[str]) -> Method:
    """Run a file as a module of its own and return its method.

    The source is compiled here, because a cached `.pyc` might be older than the file.
    """
    digest = hashlib.sha256(os.fsencode(file.path)).hexdigest()[:12]
    name = f"ugcl_method_{re.sub(r'[^0-9A-Za-z]', '_', file.path.stem)}_{digest}"
    spec = spec_from_file_location(name, file.path)
    assert spec is not None
    module = module_from_spec(spec)
    sys.modules[name] = module  # dataclasses and pickle look there
    try:
        with contextlib.redirect_stdout(sys.stderr):  # standard output is for results
            exec(compile(file.source, str(file.path), "exec"), vars(module))
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        advice = "correct the file"
        if isinstance(error, ModuleNotFoundError):
            advice = "install that module (files beside the method file cannot be imported)"
        reason = error_reason(error, file.path)
        raise UGCLError(f"{shown} cannot be loaded ({reason}): {advice}") from error
    try:
        return _checked(vars(module), shown, reserved)
    except UGCLError:
        del sys.modules[name]
        raise


def _checked(values: dict[str, Any], shown: str, reserved: Collection[str]) -> Method:
    if VARIABLE not in values:
        raise UGCLError(f"{shown} has no {VARIABLE}: assign your ugcl.methods.Method to it")
    method = values[VARIABLE]
    if not isinstance(method, Method):
        kind = type(method).__name__
        raise UGCLError(f"{VARIABLE} in {shown} must be a ugcl.methods.Method, not {kind}")
    if method.name in reserved:
        raise UGCLError(
            f"the method in {shown} is called '{method.name}', as one of this library: give it "
            "another name"
        )
    if not re.fullmatch(r"[\w-]+", method.name):
        raise UGCLError(
            f"the method in {shown} is called '{method.name}': use letters, digits, '-' and '_'"
        )
    return method
