"""Methods of a user's own for tests: a file, and an installed package."""

from __future__ import annotations

from pathlib import Path

import pytest

from ugcl.methods import from_file, from_package

SOURCE = (Path(__file__).parents[1] / "examples/add_a_method.py").read_text("utf-8")
"""The file of a method 'mix'."""

PARAMS = {"hidden": 8, "epochs": 3}
"""Settings that make it fast."""


def write_method(path: Path, name: str = "mix", more: str = "") -> Path:
    """Write a file with a method of that name, and more code at its end."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(SOURCE.replace('name="mix"', f'name="{name}"') + more)
    return path


def write_package(
    folder: Path, name: str = "mix", value: str = "METHOD", package: str = ""
) -> Path:
    """Write an installed package with an entry point into a folder for `sys.path`."""
    package = package or f"{name}_package"
    write_method(folder / package / "own.py", name)
    (folder / package / "__init__.py").touch()
    about = folder / f"{package}-1.5.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.5\n")
    (about / "entry_points.txt").write_text(f"[ugcl.methods]\n{name} = {package}.own:{value}\n")
    return folder


def forget_methods(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget the methods that were loaded, as a new process has none."""
    monkeypatch.setattr(from_file, "_LOADED", {})
    monkeypatch.setattr(from_package, "_LOADED", {})
