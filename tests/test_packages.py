"""Packages that import their modules on first use."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

LAZY = ("ugcl.losses", "ugcl.nn", "ugcl.selection", "ugcl.views")
LIGHT = ("ugcl", "ugcl.methods", "ugcl.cli")


def stub_names(package: str) -> list[str]:
    """The names that the stub of a package declares."""
    path = Path(importlib.import_module(package).__file__ or "").with_name("__init__.pyi")
    imports = [
        node for node in ast.parse(path.read_text()).body if isinstance(node, ast.ImportFrom)
    ]
    return [alias.asname or alias.name for node in imports for alias in node.names]


@pytest.mark.parametrize("package", LAZY)
def test_importing_a_package_does_not_import_torch(package: str) -> None:
    code = (
        f"import sys, {package}\n"
        "heavy = {'torch', 'sklearn', 'scipy', 'torch_geometric'} & set(sys.modules)\n"
        f"loaded = [name for name in sys.modules if name.startswith('{package}.')]\n"
        "print(sorted(heavy), loaded)\n"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert result.stdout.split("\n")[0] == "[] []"


@pytest.mark.parametrize("package", LAZY)
def test_every_name_of_the_stub_can_be_imported(package: str) -> None:
    module, names = importlib.import_module(package), stub_names(package)
    assert names
    assert sorted(names) == sorted(set(names))
    assert set(names) <= set(module.__all__)
    assert set(names) <= set(dir(module))
    for name in names:
        assert getattr(module, name) is not None


@pytest.mark.parametrize("package", LAZY)
def test_a_name_that_the_stub_does_not_have_is_an_attribute_error(package: str) -> None:
    with pytest.raises(AttributeError, match="no_such_name"):
        importlib.import_module(package).no_such_name  # noqa: B018


@pytest.mark.parametrize("package", LIGHT)
def test_a_light_package_imports_no_numerical_library(package: str) -> None:
    code = (
        f"import sys, {package}\n"
        "print(sorted({'torch', 'sklearn', 'scipy', 'numpy', 'pyarrow'} & set(sys.modules)))\n"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip() == "[]"


def test_the_names_of_selection_need_neither_scikit_learn_nor_scipy_stats() -> None:
    code = (
        "import sys, ugcl.selection\n"
        "for name in ugcl.selection.__all__: getattr(ugcl.selection, name)\n"
        "print(sorted({'sklearn', 'scipy.stats'} & set(sys.modules)))\n"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert result.stdout == "[]\n"
