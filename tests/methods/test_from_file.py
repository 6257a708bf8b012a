"""Methods from a file: loaded once, usable like any other, and clear errors."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

from conftest import make_graph
from own_methods import PARAMS, SOURCE, forget_methods, write_method
from ugcl import Embedder, Graph, UGCLError, fit
from ugcl.methods import METHODS, get_method, method_file, method_reference
from ugcl.methods.method import Method


@pytest.fixture(autouse=True)
def _no_methods_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    forget_methods(monkeypatch)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write_method(tmp_path / "my-method.py")


def test_a_file_is_loaded_once(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    method = get_method(str(path))
    assert isinstance(method, Method)
    assert method.name == "mix"
    assert "mix" not in METHODS
    monkeypatch.chdir(path.parent)
    assert get_method(path) is get_method("my-method.py") is get_method("mix") is method
    assert not (path.parent / "__pycache__").exists()
    path.unlink()
    assert get_method(path) is method


def test_its_file_and_reference(path: Path) -> None:
    method, grace = get_method(path), get_method("grace")
    file = method_file(method)
    assert file is not None
    assert (file.path, file.source) == (path.resolve(), path.read_bytes())
    assert len(file.sha256) == 64
    assert method_file(grace) is None
    assert method_reference(method) == str(path.resolve())
    assert method_reference(grace) == "grace"


def test_it_is_fitted_like_any_other(path: Path, graph: Graph) -> None:
    fitted = fit(str(path), graph, seed=1, device="cpu", **PARAMS)
    assert fitted.embed(graph).shape == (40, 8)
    again = Embedder(str(path), epochs=3, hidden=8, seed=1, device="cpu").fit(graph)
    assert np.array_equal(again.embed(graph), fitted.embed(graph))
    other = fit("mix", make_graph(25, seed=9), device="cpu", **PARAMS)
    assert other.settings.values()["temperature"] == 0.5


def test_its_settings_can_be_pickled(path: Path, graph: Graph) -> None:
    method = get_method(path)
    settings = method.resolve("fast", graph, PARAMS)
    assert pickle.loads(pickle.dumps(settings)) == settings
    assert sys.modules[method.settings.__module__].__file__ == str(path.resolve())


def test_two_files_of_one_name_are_told_apart_by_their_paths(tmp_path: Path) -> None:
    one, two = (get_method(write_method(tmp_path / folder / "mix.py")) for folder in "ab")
    assert one is not two
    assert one.settings is not two.settings
    with pytest.raises(UGCLError, match=r"methods called 'mix' in .*a.mix\.py and .*b.mix\.py: "):
        get_method("mix")


BROKEN = "def build():\n    pass\nimport ugcl\n1 / 0\n"


@pytest.mark.parametrize(
    ("text", "message", "cause"),
    [
        ("", r"^(\S+)my\.py has no METHOD: assign your ugcl.methods.Method to it$", None),
        ("METHOD = 3", r"^METHOD in \S+ must be a ugcl.methods.Method, not int$", None),
        (
            BROKEN,
            r"my\.py cannot be loaded \(ZeroDivisionError: division by zero, line 4\): correct",
            ZeroDivisionError,
        ),
        (
            "METHOD =",
            r"cannot be loaded \(SyntaxError: .*line 1\)\): correct the file$",
            SyntaxError,
        ),
        ("import sys; sys.exit(1)", r"cannot be loaded \(SystemExit: 1, line 1\)", SystemExit),
        (
            "import no_such_module",
            r"\(ModuleNotFoundError: No module named 'no_such_module', line 1\): install that mod",
            ModuleNotFoundError,
        ),
        (
            SOURCE.replace('name="mix"', 'name="grace"'),
            r"^the method in \S+ is called 'grace', as one of this library: give it another name$",
            None,
        ),
        (
            SOURCE.replace('name="mix"', 'name="my mix"'),
            "is called 'my mix': use letters, digits, '-' and '_'$",
            None,
        ),
    ],
)
def test_errors_of_a_file(
    text: str, message: str, cause: type[BaseException] | None, tmp_path: Path
) -> None:
    path = tmp_path / "my.py"
    path.write_text(text)
    modules = set(sys.modules)
    with pytest.raises(UGCLError, match=message) as caught:
        get_method(path)
    if cause is not None:
        assert isinstance(caught.value.__cause__, cause)
    assert not {name for name in set(sys.modules) - modules if name.startswith("ugcl_method")}
    assert get_method(write_method(path)).name == "mix"  # the file was corrected


def test_a_file_that_has_changed_is_announced_and_prints_go_to_standard_error(
    path: Path, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    path.write_text(path.read_text() + "print('hello')\n")
    method = get_method(path)
    assert capsys.readouterr() == ("", "hello\n")
    path.write_text(path.read_text() + "# changed\n")
    assert get_method(path) is method
    assert "has changed since it was loaded: restart Python to use it" in caplog.text


@pytest.mark.parametrize("name", ["seed", "weight", "out"])
def test_a_setting_must_not_have_the_name_of_an_option(name: str, path: Path) -> None:
    text = path.read_text()
    line = f"    {name}: float = temperature()\n"
    path.write_text(text.replace("    temperature: float = temperature()\n", line))
    with pytest.raises(UGCLError, match=f"has a setting '{name}', which is an argument or option"):
        get_method(path)


def test_a_clone_has_the_same_method(path: Path) -> None:
    method = get_method(path)
    assert clone(Embedder(method)).method is method


def test_errors_of_a_path(tmp_path: Path) -> None:
    with pytest.raises(UGCLError, match=r"^the method file \S+no\.py does not exist: check the pa"):
        get_method(str(tmp_path / "no.py"))
    with pytest.raises(UGCLError, match=r"^the method file \S+ is a folder: check the path"):
        get_method(f"{tmp_path}/")
    (tmp_path / "method.txt").write_text(SOURCE)
    with pytest.raises(UGCLError, match=r"must be a Python file, which ends in \.py$"):
        get_method(tmp_path / "method.txt")


def test_a_method_that_only_this_process_has_cannot_be_found_by_another(path: Path) -> None:
    method = get_method(path)
    from_file_only = Method("lost", "", "", method.settings, method.presets, method.build)
    with pytest.raises(UGCLError, match="the method 'lost' exists in this process only"):
        method_reference(from_file_only)
