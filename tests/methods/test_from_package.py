"""Methods of installed packages, found by their entry points."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest

from own_methods import PARAMS, forget_methods, write_package
from ugcl import Graph, UGCLError, fit
from ugcl.methods import METHODS, all_methods, get_method, method_reference, package_of


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for packages, on the path of Python."""
    forget_methods(monkeypatch)
    folder = tmp_path / "packages"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    before = set(sys.modules)
    yield folder
    for name in set(sys.modules) - before:
        if name.partition(".")[0].endswith("_package"):
            del sys.modules[name]


def test_a_method_of_a_package_is_a_name_like_any_other(packages: Path, graph: Graph) -> None:
    write_package(packages)
    method = get_method("mix")
    assert method.name == "mix"
    assert get_method("mix") is method
    assert method_reference(method) == "mix"
    package = package_of(method)
    assert package is not None
    assert (package.name, package.version) == ("mix_package", "1.5")
    assert package_of(get_method("grace")) is None
    assert fit("mix", graph, device="cpu", **PARAMS).embed(graph).shape == (40, 8)
    assert list(all_methods()) == [*METHODS, "mix"]
    assert "mix" not in METHODS


def test_its_name_is_suggested(packages: Path) -> None:
    write_package(packages, "mixture")
    with pytest.raises(UGCLError, match="did you mean 'mixture'"):
        get_method("mixtur")
    assert "mixture_package" not in sys.modules


def test_errors_name_the_package(packages: Path) -> None:
    write_package(packages, "lost", value="NOTHING")
    write_package(packages, "number", value="VALUES")
    write_package(packages, "other", value="METHOD")
    entry_points = packages / "other_package-1.5.dist-info" / "entry_points.txt"
    entry_points.write_text("[ugcl.methods]\nanother = other_package.own:METHOD\n")
    for name, message in {
        "lost": r"^the method 'lost' of the package lost_package cannot be loaded "
        r"\(AttributeError: .*NOTHING.*\): update or uninstall the package$",
        "number": "^the method 'number' of the package number_package must be a "
        "ugcl.methods.Method, not dict$",
        "another": "^the method 'another' of the package other_package calls itself 'other': its "
        "entry point must have the same name$",
    }.items():
        with pytest.raises(UGCLError, match=message):
            get_method(name)


def test_two_packages_with_one_name_are_an_error(packages: Path) -> None:
    write_package(packages, package="a_package")
    write_package(packages, package="b_package")
    with pytest.raises(UGCLError, match=r"packages [ab]_package and [ab]_package both have a meth"):
        get_method("mix")


def test_a_broken_package_does_not_break_the_list(
    packages: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write_package(packages, "lost", value="NOTHING")
    write_package(packages)
    write_package(packages, "grace")
    with caplog.at_level(logging.WARNING, logger="ugcl"):
        methods = all_methods()
    assert list(methods) == [*METHODS, "mix"]
    assert methods["grace"] is METHODS["grace"]
    messages = sorted(record.getMessage() for record in caplog.records)
    assert len(messages) == 2
    assert "a method 'grace' of an installed package has the name of one of this" in messages[0]
    assert "the method 'lost' of the package lost_package cannot be loaded" in messages[1]


LOOKUP = """
import sys
import ugcl.methods
assert not {"importlib.metadata", "numpy", "torch"} & set(sys.modules)
ugcl.methods.get_method("grace")
assert not {"importlib.metadata", "numpy", "torch", "mix_package"} & set(sys.modules)
print(ugcl.methods.get_method("mix").settings.__module__, *ugcl.methods.all_methods())
"""


def test_entry_points_are_looked_up_only_for_unknown_names(packages: Path) -> None:
    write_package(packages)
    path = os.pathsep.join(filter(None, (str(packages), os.environ.get("PYTHONPATH"))))
    result = subprocess.run(
        [sys.executable, "-c", LOOKUP],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.split() == ["mix_package.own", *METHODS, "mix"]
