"""Run folders whose files are damaged, foreign, of earlier or of newer versions."""

from __future__ import annotations

import json
import re
import shutil
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from commands import fails, ugcl
from conftest import make_graph
from small_runs import small_run, trained_run, write_manifest
from ugcl import Graph, UGCLError, load_run
from ugcl.evaluation import evaluate_run
from ugcl.runs import Run, RunConfig, open_run, prepare, prepare_again, train_run

SMALL: dict[str, Any] = {"hidden": 8, "sample": 30, "negatives": 10, "epochs": 5, "scope": 2}
FORMATS = Path(__file__).parent / "formats"


@pytest.fixture
def run(graph_file: Path, tmp_path: Path) -> Run:
    return trained_run(graph_file, tmp_path / "run", SMALL)


@pytest.fixture
def old(run: Run) -> Run:
    """The run as an earlier version would have left it."""
    return without_manifest(run)


def without_manifest(run: Run) -> Run:
    (run.path / "manifest.json").unlink()
    config = run.path / "config.toml"
    config.write_text(config.read_text().replace("format = 2\n", ""))
    return load_run(run.path)


READERS: dict[str, Callable[[Run], object]] = {
    "config.toml": lambda run: run.path,
    "metrics.json": Run.metrics,
    "embeddings.npy": Run.embeddings,
    "embeddings.npz": Run.embeddings,
    "nodes.parquet": Run.nodes,
    "model.safetensors": Run.model,
    "log.jsonl": Run.losses,
    "names.json": lambda run: run.names("features"),
    "predictions.npy": Run.predictions,
    "held_out_edges.npy": Run.held_out,
}
"""What reads each file."""


def runs_with_all_files(folder: Path) -> list[Run]:
    """Three runs, which together have every file."""
    names = tuple(f"x{i}" for i in range(12))
    make_graph(90, classes=2, feature_names=names).save(folder / "graph.npz")
    graph = folder / "graph.npz"
    return [
        small_run(graph, folder / "ugcl", hold_out_edges=0.1),
        small_run(graph, folder / "gcn", "gcn"),
        small_run(graph, folder / "raw", "raw"),
    ]


def test_every_file_has_a_checksum_and_every_changed_byte_is_found(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    seen = set()
    rng = np.random.default_rng(0)
    for run in runs_with_all_files(tmp_path):
        listed = json.loads((run.path / "manifest.json").read_text())["files"]
        assert {path.name for path in run.path.iterdir()} - {"manifest.json"} == set(listed)
        run.verify()
        for name in set(listed) - {"config.toml"}:
            seen.add(name)
            path, whole = run.path / name, (run.path / name).read_bytes()
            places = rng.integers(len(whole), size=8) if whole else []
            for place in places:
                changed = bytearray(whole)
                changed[place] ^= 1 << int(rng.integers(8))
                path.write_bytes(changed)
                expected = rf"{re.escape(str(path))} cannot be read \(its checksum is not that of m"
                with pytest.raises(UGCLError, match=expected):
                    READERS[name](load_run(run.path))
                with pytest.raises(UGCLError, match=expected):
                    load_run(run.path, verify=True)
            path.write_bytes(whole + b"\n")
            assert ugcl("train", "--out", run.path, "--resume") == 2
            assert f"ugcl: {path} cannot be read (" in capsys.readouterr().err
            path.write_bytes(whole + b"\n")
            with pytest.raises(UGCLError, match=r"\(it has [\d,]+ bytes, not [\d,]+\): train"):
                READERS[name](load_run(run.path))
            path.write_bytes(whole)
            READERS[name](load_run(run.path))
    assert seen == READERS.keys() - {"config.toml"}


def test_a_file_that_is_gone_is_an_error(run: Run) -> None:
    (run.path / "log.jsonl").unlink()
    with pytest.raises(UGCLError, match=r"log\.jsonl cannot be read \(No such file or directory\)"):
        load_run(run.path).losses()
    with pytest.raises(UGCLError, match=r"log\.jsonl cannot be read"):
        load_run(run.path, verify=True)
    (run.path / "manifest.json").unlink()
    with pytest.raises(UGCLError, match="is not finished: resume it"):
        load_run(run.path)


def test_names_that_are_gone_are_an_error(tmp_path: Path) -> None:
    run = runs_with_all_files(tmp_path)[0]
    (run.path / "names.json").unlink()
    with pytest.raises(UGCLError, match=r"names\.json cannot be read \(No such file"):
        load_run(run.path).names("features")


def test_of_a_large_file_the_size_is_compared_and_with_verify_the_checksum(
    run: Run, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("ugcl.runs.manifest.ALWAYS", 100)
    path = run.path / "embeddings.npy"
    rows = np.load(path)
    rows[3, 3] += 1
    np.save(path, rows)
    load_run(run.path).embeddings()
    commands = (
        ("neighbors", run.path, 3),
        ("embed", run.path, "--out", run.path.parent / "e.npy"),
        ("evaluate", run.path),
        ("report", run.path, "--out", run.path.parent / "page.html"),
    )
    for command in commands:
        sentence = fails(capsys, *command, "--verify")
        assert (
            "embeddings.npy cannot be read (its checksum is not that of manifest.json)" in sentence
        )
    assert ugcl(*commands[0]) == 0
    capsys.readouterr()
    path.write_bytes(path.read_bytes() + b"1")
    assert "bytes, not" in fails(capsys, *commands[0])


def test_only_files_that_are_read_are_compared_and_only_once(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []

    def sha256(path: Path) -> str:
        read.append(path.name)
        return original(path)

    from ugcl.runs.manifest import sha256 as original

    monkeypatch.setattr("ugcl.runs.manifest.sha256", sha256)
    opened = load_run(run.path)
    for node in range(3):
        opened.neighbors(node)
    assert sorted(read) == ["config.toml", "embeddings.npy", "metrics.json", "nodes.parquet"]


@pytest.mark.parametrize("manifest", [True, False])
def test_settings_that_were_changed_by_hand_are_one_sentence(
    run: Run, manifest: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    if not manifest:
        without_manifest(run)
    config = run.path / "config.toml"
    text = config.read_text()
    config.write_text(text.replace("hidden = 8", "hidden = 9"))
    sentence = fails(capsys, "evaluate", run.path)
    assert sentence == (
        f"ugcl: --hidden is 9 instead of 8 in {config}, which is not what its model was trained "
        f"with: restore the file, or train with --config {config} and another --out"
    )
    for changed in ("seed = 0", 'preset = "fast"', 'method = "ugcl"'):
        assert changed in text
        config.write_text(text.replace(changed, f"{changed[:-1]}1{changed[-1]}"))
        with pytest.raises(UGCLError, match="which is not what its model was trained with"):
            load_run(run.path)


def test_places_may_be_changed_by_hand_and_any_configuration_be_trained(
    run: Run, graph_file: Path, tmp_path: Path
) -> None:
    config = run.path / "config.toml"
    moved = graph_file.rename(tmp_path / "moved.npz")
    text = config.read_text().replace(str(graph_file), str(moved))
    config.write_text(text.replace("threads = 1", "threads = 2"))
    opened = load_run(run.path, verify=True)
    assert opened.config.threads == 2
    np.testing.assert_array_equal(opened.embed(opened.config.load_graph()), opened.embeddings())
    config.write_text(text.replace("hidden = 8", "hidden = 9"))
    assert ugcl("train", "--config", config, "--out", tmp_path / "wider") == 0
    assert load_run(tmp_path / "wider").embeddings().shape == (40, 9)


def test_the_model_of_another_run_is_refused(run: Run, graph_file: Path, tmp_path: Path) -> None:
    other = trained_run(graph_file, tmp_path / "other", SMALL, seed=1)
    shutil.copy(other.path / "model.safetensors", run.path)
    with pytest.raises(UGCLError, match=r"its checksum is not that of|seed is 0 instead of 1"):
        load_run(run.path).model()
    write_manifest(run)
    with pytest.raises(UGCLError, match=r"seed is 0 instead of 1 in .* not what its model was"):
        load_run(run.path).model()
    config = run.path / "config.toml"
    config.write_text(config.read_text().replace("format = 2\n", ""))
    (run.path / "manifest.json").unlink()
    with pytest.raises(UGCLError, match="seed is 0 instead of 1"):
        load_run(run.path)


def put_weights(path: Path, change: Callable[[torch.Tensor], torch.Tensor]) -> None:
    with safe_open(path, "pt") as file:
        metadata = file.metadata()
    weights = load_file(path)
    name = min(name for name, value in weights.items() if value.ndim == 2)
    weights[name] = change(weights[name]).contiguous()
    save_file(weights, path, metadata=metadata)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda value: value * np.nan, "is not finite"),
        (lambda value: value / 0, "is not finite"),
        (lambda value: value[:-1], "has the shape"),
        (lambda value: value.double(), "is of torch.float64, not torch.float32"),
        (lambda value: value.to(torch.int32), "is of torch.int32"),
    ],
)
def test_weights_are_checked_without_a_manifest(
    old: Run, change: Callable[[torch.Tensor], torch.Tensor], message: str
) -> None:
    put_weights(old.path / "model.safetensors", change)
    with pytest.raises(UGCLError, match=rf"model\.safetensors cannot be read \(.*{message}"):
        load_run(old.path).model()


@pytest.mark.parametrize(
    "values",
    [
        np.zeros((39, 8), np.float32),
        np.zeros((40, 8, 1), np.float32),
        np.zeros(40, np.float32),
        np.full((40, 8), "text"),
        np.zeros((40, 8), np.complex64),
        np.zeros((40, 8), np.float64),
        np.full((40, 8), np.inf, np.float32),
        np.full((40, 8), np.nan, np.float32),
    ],
    ids=lambda values: f"{values.shape} {values.dtype}",
)
def test_embeddings_are_checked_without_a_manifest(
    old: Run, values: np.ndarray, capsys: pytest.CaptureFixture[str]
) -> None:
    np.save(old.path / "embeddings.npy", values)
    assert "embeddings.npy cannot be read (it is" in fails(capsys, "neighbors", old.path, 3)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("nodes", "40"),
        ("nodes", 40.0),
        ("nodes", -1),
        ("nodes", True),
        ("features", None),
        ("classes", "x"),
        ("epochs", "x"),
    ],
)
def test_metrics_are_checked_without_a_manifest(old: Run, name: str, value: object) -> None:
    path = old.path / "metrics.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {name: value}))
    with pytest.raises(UGCLError, match=rf"metrics\.json cannot be read \({name} must be an i"):
        old.metrics()


@pytest.mark.parametrize(
    "text",
    [
        None,
        b"",
        b"\xff\xfe",
        b'{"epoch": 1, "loss": NaN}\n' * 5,
        b'{"epoch": 1, "loss": "low"}\n' * 5,
        b"".join(b'{"epoch": %d, "loss": 1%s}\n' % (i, b"0" * 400) for i in range(1, 6)),
        b'{"epoch": 1, "loss": 1.0}\n' * 5,
        b"[1, 2]\n" * 5,
        b"text\n" * 5,
    ],
)
def test_the_log_is_checked_without_a_manifest(
    old: Run, text: bytes | None, capsys: pytest.CaptureFixture[str]
) -> None:
    log = old.path / "log.jsonl"
    if text is None:
        log.unlink()
    else:
        log.write_bytes(text)
    sentence = fails(capsys, "report", old.path, "--out", old.path.parent / "page.html")
    assert f"{log} cannot be read (" in sentence
    assert not (old.path.parent / "page.html").exists()


def test_tables_of_nodes_are_checked_without_a_manifest(old: Run) -> None:
    path = old.path / "nodes.parquet"
    whole = pq.read_table(path)
    shuffled = whole.take(pa.array(np.arange(40)[::-1]))
    unknown = whole.set_column(1, "label", pa.array([None, *whole["label"].to_pylist()[1:]]))
    for table in (shuffled, whole.slice(0, 39), whole.drop_columns(["node"]), unknown):
        pq.write_table(table, path)
        with pytest.raises(UGCLError, match=r"nodes\.parquet cannot be read"):
            old.nodes()


def test_archives_in_the_place_of_arrays_are_errors(tmp_path: Path) -> None:
    ugcl_run, gcn, _ = map(without_manifest, runs_with_all_files(tmp_path))
    for run, name in (
        (ugcl_run, "embeddings.npy"),
        (ugcl_run, "held_out_edges.npy"),
        (gcn, "predictions.npy"),
    ):
        with (run.path / name).open("wb") as stream:
            np.savez(stream, np.zeros(3))
        with pytest.raises(UGCLError, match=rf"{name} cannot be read \(it is an archive"):
            READERS[name](run)


def test_messages_of_other_libraries_are_part_of_one_sentence(
    old: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    path = old.path / "nodes.parquet"
    whole = path.read_bytes()
    length = int.from_bytes(whole[-8:-4], "little")  # of the footer, in Thrift's format
    path.write_bytes(whole[: -8 - length] + b"\xff" * length + whole[-8:])
    assert "nodes.parquet cannot be read (Couldn't" in fails(capsys, "neighbors", old.path, 3)


def test_embeddings_with_more_bytes_are_found_without_a_manifest(old: Run) -> None:
    path = old.path / "embeddings.npy"
    whole = path.read_bytes()
    path.write_bytes(whole[:200] + b"12345678" + whole[200:])
    with pytest.raises(UGCLError, match=r"embeddings\.npy cannot be read \(it has "):
        load_run(old.path).embeddings()


def test_other_arrays_are_checked_without_a_manifest(tmp_path: Path) -> None:
    ugcl_run, gcn, _ = map(without_manifest, runs_with_all_files(tmp_path))
    edges = np.load(ugcl_run.path / "held_out_edges.npy")
    for wrong in (edges * 1.0, edges[:, :1], edges + 90, -1 - edges, edges.astype(str)):
        np.save(ugcl_run.path / "held_out_edges.npy", wrong)
        with pytest.raises(UGCLError, match=r"held_out_edges\.npy cannot be read"):
            ugcl_run.held_out()
    classes = np.load(gcn.path / "predictions.npy")
    for wrong in (classes + 2, classes - 2, classes * 1.0, classes[:-1]):
        np.save(gcn.path / "predictions.npy", wrong)
        with pytest.raises(UGCLError, match=r"predictions\.npy cannot be read"):
            gcn.predictions()
    for names in ({"features": ["a"]}, {"features": [1] * 12}, []):
        (gcn.path / "names.json").write_text(json.dumps(names))
        with pytest.raises(UGCLError, match=r"names\.json cannot be read"):
            gcn.names("features")


@pytest.mark.parametrize("name", ["config.toml", "manifest.json", "metrics.json", "log.jsonl"])
@pytest.mark.parametrize("manifest", [True, False])
def test_files_that_are_nested_too_deeply_are_errors(
    name: str, manifest: bool, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    if not manifest:
        without_manifest(run)
    nested = b"[" * 20_000 + b"]" * 20_000
    (run.path / name).write_bytes(b"a = " + nested if name.endswith("toml") else nested)
    sentence = fails(capsys, "report", run.path, "--out", run.path.parent / "page.html")
    assert str(run.path / name) in sentence


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"format": 2, "files": {"x": 1}}', '{"format": "2", "files": {}}']
)
def test_a_damaged_manifest_is_an_error(run: Run, text: str) -> None:
    (run.path / "manifest.json").write_text(text)
    with pytest.raises(UGCLError, match=r"manifest\.json is damaged"):
        load_run(run.path)


def test_newer_run_folders_are_refused(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    expected = "has format 3 of a newer version of ugcl, and this one reads up to 2: update ugcl"
    manifest, config = run.path / "manifest.json", run.path / "config.toml"
    values = json.loads(manifest.read_text())
    manifest.write_text(json.dumps(values | {"format": 3}))
    assert f"{manifest} {expected}" in fails(capsys, "neighbors", run.path, 1)
    config.write_text(config.read_text().replace("format = 2", "format = 3\nlater = 1"))
    assert f"{config} {expected}" in fails(capsys, "neighbors", run.path, 1)
    assert f"{config} {expected}" in fails(capsys, "train", "--out", run.path, "--resume")


@pytest.mark.parametrize("version", [1, 2])
def test_run_folders_of_earlier_versions_are_read(
    version: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Never change the files of this test: they are what users have."""
    graph = Graph.load(FORMATS / "graph.npz")
    folder = tmp_path / "run"
    shutil.copytree(FORMATS / str(version), folder)
    run = load_run(folder)
    assert run.config.format == version
    assert run.ids().tolist() == [f"n{i}" for i in range(24)]
    assert len(run.losses()) == 4
    np.testing.assert_allclose(run.embed(graph), run.embeddings(), atol=1e-5)
    assert evaluate_run(run, graph=str(FORMATS / "graph.npz")).to_json()
    for command in (
        ("neighbors", folder, "n3"),
        ("embed", folder, "--out", tmp_path / "e.csv"),
        ("report", folder, "--out", tmp_path / "page.html", "--splits", 2),
    ):
        assert ugcl(*command) == 0
    capsys.readouterr()
    if version == 1:
        assert "written by an earlier version of ugcl, without checksums: leave out --verify" in (
            fails(capsys, "neighbors", folder, "n3", "--verify")
        )
    else:
        assert ugcl("neighbors", folder, "n3", "--verify") == 0
    again = prepare_again(
        RunConfig.read(folder / "config.toml"), {}, graph=str(FORMATS / "graph.npz")
    )
    repeated = open_run(tmp_path / "again", again)
    train_run(repeated, again)
    np.testing.assert_allclose(repeated.embeddings(), run.embeddings(), atol=1e-4)


def test_an_unfinished_run_of_an_earlier_version_is_finished(
    graph_file: Path, tmp_path: Path
) -> None:
    prepared = prepare(str(graph_file), method="ugcl", params=SMALL)
    run = open_run(tmp_path / "run", prepared)
    config = run.path / "config.toml"
    config.write_text(config.read_text().replace("format = 2\n", ""))
    opened = open_run(run.path, prepared, resume=True)
    assert not opened.finished
    train_run(opened, prepared)
    load_run(run.path).verify()


def test_a_header_that_claims_to_be_huge_is_an_error(old: Run) -> None:
    path = old.path / "model.safetensors"
    path.write_bytes(struct.pack("<Q", 2**62) + b"{}")
    with pytest.raises(UGCLError, match=r"model\.safetensors cannot be read"):
        Run.open(old.path)
