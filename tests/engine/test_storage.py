"""Files of trained models: contents, and errors for files that cannot be read."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from ugcl import Graph, UGCLError
from ugcl.engine import Fitted, fit, load_fitted, save_fitted
from ugcl.engine.storage import KEY
from ugcl.runs import open_run, prepare, train_run

PARAMS = {"epochs": 2, "hidden": 8}


@pytest.fixture
def fitted(graph: Graph) -> Fitted:
    return fit("dgi", graph, seed=4, device="cpu", **PARAMS)


@pytest.fixture
def path(fitted: Fitted, tmp_path: Path) -> Path:
    file = tmp_path / "model.safetensors"
    save_fitted(fitted, file, params={"preset": "fast", **PARAMS}, version="1.2.3")
    return file


def about(path: Path) -> dict[str, Any]:
    with safe_open(path, framework="pt") as file:
        return dict(json.loads(file.metadata()[KEY]))


def rewrite(path: Path, **changes: Any) -> None:
    """Change entries of the description; `...` removes one."""
    entries = {k: v for k, v in {**about(path), **changes}.items() if v is not ...}
    save_file(load_file(path), path, metadata={KEY: json.dumps(entries)})


def test_the_file_describes_the_model(path: Path, fitted: Fitted, graph: Graph) -> None:
    entries = about(path)
    assert entries["method"] == "dgi"
    assert entries["version"] == "1.2.3"
    assert entries["params"] == {"preset": "fast", **PARAMS}
    assert entries["settings"] == fitted.settings.values()
    assert entries["shape"] == {"nodes": 40, "features": 12, "classes": 3}
    assert entries["seed"] == 4
    loaded, params = load_fitted(path)
    assert params == {"preset": "fast", **PARAMS}
    for name in ("method", "settings", "history", "epochs", "loss", "seconds", "ended", "shape"):
        assert getattr(loaded, name) == getattr(fitted, name), name
    np.testing.assert_array_equal(loaded.embed(graph), fitted.embed(graph))


def test_a_missing_file_and_a_folder_are_errors(tmp_path: Path) -> None:
    with pytest.raises(UGCLError, match=r"none.safetensors does not exist; `load` takes a file"):
        load_fitted(tmp_path / "none.safetensors")
    with pytest.raises(UGCLError, match=r" is a folder: open a run with ugcl.load_run; `load` t"):
        load_fitted(tmp_path)


@pytest.mark.parametrize("size", [0, 5, 100, -1])
def test_a_damaged_file_is_an_error(path: Path, size: int) -> None:
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(UGCLError, match=r"^\S+model.safetensors cannot be read \(.*\): it is dam"):
        load_fitted(path)


def test_text_is_an_error(path: Path) -> None:
    path.write_text("source,target\n0,1\n")
    with pytest.raises(UGCLError, match=r"cannot be read \(.*\): it is damaged, or no file of "):
        load_fitted(path)


@pytest.mark.parametrize("metadata", [None, {"format": "pt"}])
def test_a_foreign_file_is_an_error(path: Path, metadata: dict[str, str] | None) -> None:
    save_file({"weight": torch.zeros(3)}, path, metadata=metadata)
    with pytest.raises(UGCLError, match=r"model.safetensors was not written by `save` of an est"):
        load_fitted(path)


def test_the_model_of_a_run_is_a_foreign_file(graph_file: Path, tmp_path: Path) -> None:
    prepared = prepare(str(graph_file), method="raw", params={})
    train_run(open_run(tmp_path / "run", prepared), prepared)
    with pytest.raises(UGCLError, match=r"was not written by `save` of an estimator"):
        load_fitted(tmp_path / "run/model.safetensors")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"settings": {"hidden": 8}}, r"cannot be read \(settings are incomplete: .*use ugcl 1.2"),
        ({"settings": {"width": 8}}, r"cannot be read \(there is no setting 'width': "),
        ({"shape": {"nodes": 3}}, r"cannot be read \("),
        ({"history": ...}, r"cannot be read \('history'\): it is damaged, or use ugcl 1.2.3, w"),
        ({"method": ...}, "model of the method 'None', which is not registered"),
        ({"method": "grace"}, r"cannot be read \(settings are incomplete: "),
    ],
)
def test_an_incomplete_description_is_an_error(
    path: Path, changes: dict[str, Any], message: str
) -> None:
    rewrite(path, **changes)
    with pytest.raises(UGCLError, match=message):
        load_fitted(path)


def test_a_file_that_names_a_python_file_does_not_run_it(path: Path, tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    (tmp_path / "evil.py").write_text(f"import pathlib; pathlib.Path({str(mark)!r}).touch()\n")
    rewrite(path, method=str(tmp_path / "evil.py"))
    with pytest.raises(UGCLError, match="which is not registered"):
        load_fitted(path)
    assert not mark.exists()


def test_weights_of_another_shape_are_an_error(path: Path) -> None:
    rewrite(path, shape={"nodes": 40, "features": 13, "classes": 3})
    with pytest.raises(UGCLError, match="is damaged: its weights do not fit its settings: "):
        load_fitted(path)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_weights_that_are_not_finite_are_an_error(path: Path, value: float) -> None:
    weights = load_file(path)
    name = min(weights)
    weights[name].reshape(-1)[0] = value
    entries = about(path)
    save_file(weights, path, metadata={KEY: json.dumps(entries)})
    with pytest.raises(UGCLError, match=f"is damaged: '{name}' is not finite; save the estimator"):
        load_fitted(path)


def test_weights_of_another_dtype_are_an_error(path: Path) -> None:
    weights = {name: value.double() for name, value in load_file(path).items()}
    save_file(weights, path, metadata={KEY: json.dumps(about(path))})
    with pytest.raises(UGCLError, match=r"is damaged: '.*' is of torch.float64, not torch.float32"):
        load_fitted(path)


def test_every_changed_byte_is_an_error(path: Path) -> None:
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    for place in [*range(0, len(whole), 97), *rng.integers(len(whole), size=40)]:
        damaged = bytearray(whole)
        damaged[place] ^= 1 << int(rng.integers(8))
        path.write_bytes(damaged)
        with pytest.raises(UGCLError, match=re.escape(str(path))):
            load_fitted(path)
    path.write_bytes(whole)
    load_fitted(path)


def test_a_newer_format_is_refused_and_files_without_one_are_read(path: Path) -> None:
    rewrite(path, format=2)
    with pytest.raises(UGCLError, match="has format 2 of a newer version of ugcl, and this one re"):
        load_fitted(path)
    rewrite(path, format=...)
    load_fitted(path)


def test_an_unwritable_path_is_an_error_and_an_old_file_is_kept(
    fitted: Fitted, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UGCLError, match="cannot write"):
        save_fitted(fitted, path.parent / "none/model.safetensors", params={}, version="")
    before = path.read_bytes()

    def fail(*_: Any, **__: Any) -> None:
        raise OSError("disk full")

    monkeypatch.setattr("ugcl._utils.files.tensor_bytes", fail)
    with pytest.raises(UGCLError, match="cannot write"):
        save_fitted(fitted, path, params={}, version="")
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_a_file_of_the_first_format_is_read() -> None:
    """Never change this file: it is what users have."""
    graph = Graph.load(Path(__file__).parents[1] / "runs/formats/graph.npz")
    fitted, params = load_fitted(Path(__file__).parent / "format_1.safetensors")
    assert (fitted.method.name, fitted.seed, params["epochs"]) == ("dgi", 4, 3)
    expected = [1.3994057, 1.2988554, 0.935798, 0.95088375]
    np.testing.assert_allclose(fitted.embed(graph).sum(axis=1)[:4], expected, atol=1e-5)
