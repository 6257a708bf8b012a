from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import numpy as np
import pytest

from conftest import make_graph
from own_methods import write_method
from ugcl import Graph, fit
from ugcl.cli import main
from ugcl.methods import METHODS

SMALL = ["--hidden", "8", "--epochs", "5", "--lr", "0.01"]


def ugcl(*arguments: object) -> int:
    return main([str(argument) for argument in arguments])


def fails(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    """Run a command that must fail, and return its one sentence."""
    assert ugcl(*arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    lines = captured.err.strip().splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("ugcl: ")
    return lines[0]


@pytest.fixture
def run(graph_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    assert ugcl("train", graph_file, "--out", tmp_path / "run", *SMALL) == 0
    capsys.readouterr()
    return tmp_path / "run"


def test_the_five_mistakes_that_a_newcomer_makes_first(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    new = tmp_path / "new"
    text = tmp_path / "graph.npz"
    text.write_text("a,b\n")
    sentence = fails(capsys, "train", "citeser", "--out", new)
    assert sentence == (
        "ugcl: there is no data set or file called 'citeser'; did you mean 'citeseer'?"
    )
    assert "exists already: choose another --out" in fails(
        capsys, "train", "citeseer", "--out", run
    )
    assert "--hidden must be an integer of at least 1, not '-5'" in fails(
        capsys, "train", "citeseer", "--out", new, "--hidden", "-5"
    )
    assert (
        "--scope must be an integer of at least 0, 'component', 'graph' or 'auto', not '-1'"
        in fails(capsys, "train", "citeseer", "--out", new, "--scope", "-1")
    )
    assert "is not a graph that ugcl can read" in fails(capsys, "train", text, "--out", new)
    assert not new.exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["train", "--out", "new"], "no graph given"),
        (["train", "citeseer"], "Missing option '--out'; see ugcl train --help"),
        (["train", "citeseer", "--out", "new", "--method", "ugc"], "did you mean 'ugcl'?"),
        (["train", "citeseer", "--out", "new", "--method", "GRCAE"], "did you mean 'grace'?"),
        (
            ["train", "citeseer", "--out", "new", "--method", "dgi", "--temperature", "0.5"],
            "--temperature is not a setting of dgi but of ugcl, ",
        ),
        (
            ["train", "citeseer", "--out", "new", "--method", "bgrl", "--preset", "authors"],
            "there is no preset called 'authors'; there are: fast, paper",
        ),
        (
            ["train", "citeseer", "--out", "new", "--preset", "quick"],
            "there are: fast, paper, authors",
        ),
        (["train", "citeseer", "--out", "new", "--sample", "9999"], "3,327 nodes of this graph"),
        (
            ["train", "citeseer", "--out", "new", "--seed", "-1"],
            "--seed must be an integer of at ",
        ),
        (
            ["train", "citeseer", "--out", "new", "--wide"],
            "no option --wide; see ugcl train",
        ),
        (["train", "citeseer", "--out", "new", "--config", "no.toml"], "there is no file no.toml"),
        (["train", "cora", "--out", "new", "--data-root", "."], "ind.cora.x"),
        (
            ["train", "citeseer", "--out", "new", "--device", "tpu"],
            "'tpu' is not one of 'auto', '",
        ),
        (["evaluate", "missing"], "missing is not a run folder"),
        (["embed", "missing", "citeseer", "--out", "x.npy"], "missing is not a run folder"),
        (
            ["embed", "missing", "citeseer", "--out", "x.doc"],
            "the extension of --out x.doc names no format",
        ),
        (["embed", "missing", "citeseer", "--out", "no/x.npy"], "the folder no does not exist"),
        (["train", "x" * 5000, "--out", "new"], "File name too long"),
        (["train", "citeseer", "--out", "x" * 5000], "File name too long"),
        (["train", "citeseer", "--out", "new", "--seed", "9" * 30], "--seed must be an integer"),
        (["train", "citeseer", "--out", "new", "--epochs", "nan"], "--epochs must be an int"),
        (["frobnicate"], "there is no command called 'frobnicate'; there are: check, train, "),
        (["evaluat"], "there is no command called 'evaluat'; did you mean 'evaluate'?"),
        (["train", "--dim", "64", "--out", "new"], "there is no option --dim, did you mean --hid"),
        (["train", "--size=64", "--out", "new"], "there is no option --size, did you mean --hidd"),
        (["train", "--ephocs", "6", "--out", "new"], "there is no option --ephocs, did you mean -"),
        (["train", "--settings", "fast"], "there is no option --settings, did you mean --preset?"),
        (["bench", "step"], "Missing argument 'GRAPH'; see ugcl bench step --help"),
        (
            ["bench", "step", "citeseer", "--projector", "8"],
            "is not a setting of ugcl but of ",
        ),
        (["bench", "memory", "a,,b", "--out", "x"], "graphs must be a comma-separated list, not"),
        (["bench", "memory", "a", "b", "--out", "x"], "items of a list are separated by commas"),
        (
            ["study", "citeseer", "--out", "x.json", "--tune-scopes", "1,-2"],
            "--tune-scopes must be a comma-separated list of integers of at least 0, 'component'",
        ),
        (
            ["study", "citeseer", "--out", "x.json", "--against", "fast", "--scopes", "3"],
            "--against and --scopes are two different studies: leave out one",
        ),
    ],
)
def test_other_mistakes_get_one_sentence(
    arguments: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert message in fails(capsys, *arguments)
    assert list(tmp_path.iterdir()) == []


def test_train_evaluate_and_embed(
    run: Path, graph_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ugcl("evaluate", run) == 0
    printed = capsys.readouterr().out
    for words in ("raw features", "smoothed features", "untrained encoder", "best control"):
        assert words in printed
    assert ugcl("evaluate", run, "--protocol", "paper", "--split-seed", "1", "--json") == 0
    result = json.loads(capsys.readouterr().out)
    assert {"accuracy", "validation", "controls"} <= set(result)
    assert set(result["controls"]) == {"raw", "smooth", "pca", "untrained"}
    assert ugcl("embed", run, graph_file, "--out", tmp_path / "again.npy", "--json") == 0
    assert json.loads(capsys.readouterr().out)["shape"] == [40, 8]
    np.testing.assert_array_equal(np.load(tmp_path / "again.npy"), np.load(run / "embeddings.npy"))


def test_embed_does_not_write_into_a_run_folder(
    run: Path, graph_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = (run / "embeddings.npy").read_bytes()
    assert "is a run folder" in fails(
        capsys, "embed", run, graph_file, "--out", run / "embeddings.npy"
    )
    assert (run / "embeddings.npy").read_bytes() == before


def test_training_that_stops_early_says_so(
    graph_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--patience", "2", "--lr", "1e-9", "--sample", "all", "--epochs", "50"]
    assert ugcl("train", graph_file, "--out", tmp_path / "run", *options) == 0
    assert ", stopped early" in capsys.readouterr().out


def test_train_prints_where_things_are(
    graph_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ugcl("train", graph_file, "--out", tmp_path / "a", *SMALL) == 0
    captured = capsys.readouterr()
    assert "40 nodes" in captured.err
    assert "epoch 5/5" in captured.err
    assert f"embeddings: {tmp_path / 'a' / 'embeddings.npy'}" in captured.out
    assert f"next: ugcl evaluate {tmp_path / 'a'}" in captured.out
    assert ugcl("train", graph_file, "--out", tmp_path / "b", *SMALL, "--json") == 0
    assert json.loads(capsys.readouterr().out)["epochs"] == 5


def test_a_collapsed_embedding_is_announced(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_graph(30, 1).save(tmp_path / "one-feature.npz")
    assert ugcl("train", tmp_path / "one-feature.npz", "--out", tmp_path / "run", *SMALL) == 0
    assert "warning: the embedding has collapsed" in capsys.readouterr().err


def test_config_repeats_and_flags_change(run: Path, tmp_path: Path) -> None:
    config = run / "config.toml"
    assert ugcl("train", "--config", config, "--out", tmp_path / "same") == 0
    for name in ("embeddings.npy", "model.safetensors", "config.toml"):
        assert (run / name).read_bytes() == (tmp_path / "same" / name).read_bytes()
    assert ugcl("train", "--config", config, "--seed", "1", "--out", tmp_path / "other") == 0
    assert (run / "embeddings.npy").read_bytes() != (tmp_path / "other/embeddings.npy").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "scope", "readout_scope"),
    [
        (["--method", "grace", "--scope", "3"], 3, 0),
        (["--method", "dgi", "--scope", "component", "--readout-scope", "5"], "component", 5),
        (["--method", "bgrl", "--readout-scope", "graph"], 0, "graph"),
        (["--scope", "component"], "component", "component"),
        (["--scope", "2", "--readout-scope", "4"], 2, 4),
    ],
)
def test_scopes_of_any_method_are_used_and_recorded(
    arguments: list[str],
    scope: int | str,
    readout_scope: int | str,
    graph: Graph,
    graph_file: Path,
    tmp_path: Path,
) -> None:
    out = tmp_path / "run"
    assert ugcl("train", graph_file, "--out", out, *SMALL, *arguments) == 0
    metrics = json.loads((out / "metrics.json").read_text())
    config = tomllib.loads((out / "config.toml").read_text())
    method = arguments[1] if "--method" in arguments else "ugcl"
    scopes = {"scope": scope, "readout_scope": readout_scope}
    for recorded in (metrics, config["settings"]):
        assert {name: recorded[name] for name in scopes} == scopes
    assert (metrics["method"], config["method"]) == (method, method)
    fitted = fit(method, graph, **scopes, epochs=5, hidden=8, lr=0.01)
    np.testing.assert_array_equal(np.load(out / "embeddings.npy"), fitted.embed(graph))


@pytest.mark.parametrize(("method", "readout_scope"), [("grace", 0), ("ugcl", 3)])
def test_the_scope_of_a_stored_configuration_is_changed_and_the_readouts_only_where_it_follows(
    method: str, readout_scope: int, graph_file: Path, tmp_path: Path
) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    assert ugcl("train", graph_file, "--method", method, "--out", first, *SMALL) == 0
    before = tomllib.loads((first / "config.toml").read_text())
    assert before["settings"]["scope"] != 3
    config = first / "config.toml"
    assert ugcl("train", "--config", config, "--scope", "3", "--out", second) == 0
    after = tomllib.loads((second / "config.toml").read_text())
    assert after["method"] == method
    changed = {"scope": 3, "readout_scope": readout_scope}
    assert after["settings"] == before["settings"] | changed
    weights = [(run / "model.safetensors").read_bytes() for run in (first, second)]
    assert weights[0] != weights[1]


def test_config_and_preset_contradict_each_other(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sentence = fails(
        capsys,
        "train",
        "--config",
        run / "config.toml",
        "--preset",
        "paper",
        "--out",
        tmp_path / "new",
    )
    assert "--preset paper contradicts the stored configuration, which has 'fast'" in sentence


def test_resume_starts_goes_on_and_ends(
    graph_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ("train", graph_file, "--out", tmp_path / "run", *SMALL, "--resume")
    assert ugcl(*arguments) == 0
    capsys.readouterr()
    assert ugcl(*arguments) == 0
    assert "was finished before: nothing to do" in capsys.readouterr().out
    assert ugcl("train", "--out", tmp_path / "run", "--resume") == 0
    capsys.readouterr()
    assert "cannot be resumed with --hidden 9 instead of 8" in fails(
        capsys, "train", "--out", tmp_path / "run", "--resume", "--hidden", "9"
    )


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_process_ended_at_epoch_20_and_resumed(tmp_path: Path, number: signal.Signals) -> None:
    """The real thing: another process, a real signal, the real data set."""
    options = ["--hidden", "64", "--sample", "600", "--epochs", "60", "--threads", "1"]
    command = [sys.executable, "-m", "ugcl", "train", "citeseer", *options, "--out"]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    log = tmp_path / "ended/log.jsonl"
    process = subprocess.Popen(
        [*command, str(tmp_path / "ended")],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 120
    while not (log.is_file() and log.read_text().count("\n") >= 20):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.005)
    process.send_signal(number)
    _, told = process.communicate(timeout=120)
    if number != signal.SIGKILL:
        assert process.returncode == 130
        assert re.search(r"stopped after epoch \d+; resume: ugcl train --out \S+ --resume", told)
    assert not (tmp_path / "ended/embeddings.npy").exists()
    for name, extra in (("ended", ["--resume"]), ("whole", [])):
        subprocess.run(
            [*command, str(tmp_path / name), *extra],
            env=environment,
            check=True,
            capture_output=True,
        )
    for name in ("embeddings.npy", "model.safetensors", "config.toml", "nodes.parquet"):
        assert (tmp_path / "ended" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_datasets_and_methods(capsys: pytest.CaptureFixture[str]) -> None:
    assert ugcl("datasets", "--json") == 0
    listed = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    assert len(listed) == 8
    assert listed["citeseer"]["embedded"]
    assert listed["ogbn-arxiv"]["page"] == "https://ogb.stanford.edu/docs/nodeprop/#ogbn-arxiv"
    assert listed["ogbn-arxiv"]["split"] == "time"
    assert ugcl("methods", "--json") == 0
    methods = json.loads(capsys.readouterr().out)
    assert [method["name"] for method in methods] == list(METHODS)
    for method in methods:
        assert {"name", "kind", "needs", "scope", "inductive", "paper"} <= set(method)
        assert method["kind"] in ("contrastive", "unsupervised", "supervised", "control")
        assert set(method["needs"]) <= {"X", "A", "Y"}
    for command in ("datasets", "methods"):
        assert ugcl(command) == 0
        assert capsys.readouterr().out


def test_methods_prints_every_method_and_its_presets(capsys: pytest.CaptureFixture[str]) -> None:
    assert ugcl("methods") == 0
    table, *parts = capsys.readouterr().out.split("\n\n")
    header, *rows, _ = table.splitlines()
    assert header.split() == ["name", "kind", "needs", "unseen", "nodes", "scope"]
    assert len(rows) == len(parts) == len(METHODS)
    for row, part, method in zip(rows, parts, METHODS.values(), strict=True):
        cells = [method.name, method.kind, ", ".join(method.needs)]
        cells += ["yes" if method.inductive else "no", method.scope]
        assert re.split(r"\s{2,}", row) == cells
        assert part.startswith(f"{method.name}: {method.paper}\n")
        assert re.findall(r"--preset (\w+):", part) == list(method.presets)


@pytest.mark.parametrize(
    "command",
    [
        *("train", "embed", "neighbors", "evaluate", "check", "scope", "study"),
        *("datasets", "methods"),
    ],
)
def test_every_command_has_help_with_an_example(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ugcl(command, "--help") == 0
    printed = capsys.readouterr().out
    head, examples = re.split(r"\nExamples?:\n", printed)
    assert f"  ugcl {command}" in examples
    assert "--json" in head
    assert not re.search(r" $", printed, re.MULTILINE)


def test_without_a_command_the_help_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert ugcl() == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "Usage: ugcl [OPTIONS] COMMAND" in captured.err


def options_of(help_text: str) -> list[str]:
    """The options that a help text lists, without arguments and example lines."""
    return re.findall(r"^\s+(?:-\w, )?(--[\w-]+)", help_text.split("\nExample")[0], re.MULTILINE)


def test_the_help_of_train_has_about_a_dozen_options(capsys: pytest.CaptureFixture[str]) -> None:
    assert ugcl("train", "--help") == 0
    listed = options_of(capsys.readouterr().out)
    assert {"--edges", "--out", "--method", "--preset", "--scope", "--hidden"} <= set(listed)
    assert len(listed) <= 15


def test_the_help_of_a_method_adds_its_settings_and_no_others(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert ugcl("train", "--help") == 0
    common = set(options_of(capsys.readouterr().out))
    for name in ("grace", "dgi", "deepwalk"):
        assert ugcl("train", "--method", name, "--help") == 0
        printed = capsys.readouterr().out
        settings = {"--" + setting.replace("_", "-") for setting in METHODS[name].params}
        listed = set(options_of(printed))
        assert settings <= listed
        assert listed - settings <= common - {"--scope", "--hidden", "--epochs"}
    assert ugcl("train", "--method", "grace", "--preset", "paper", "--help") == 0
    shown = " ".join(capsys.readouterr().out.split())
    base = METHODS["grace"].presets["paper"].base
    assert f"learning rate of the optimizer (default: {base['lr']})" in shown
    assert f"temperature of the loss (default: {base['temperature']})" in shown


def test_help_all_shows_every_option_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert ugcl("train", "--help-all") == 0
    listed = options_of(capsys.readouterr().out)
    assert len(listed) == len(set(listed))
    hidden = {"--source", "--split-column", "--ignore", "--device", "--threads", "--temperature"}
    assert hidden <= set(listed)
    assert ugcl("train", "--help") == 0
    assert not hidden & set(options_of(capsys.readouterr().out))


def test_lr_and_learning_rate_are_the_same_option(
    run: Path, graph_file: Path, tmp_path: Path
) -> None:
    options = ["--hidden", "8", "--epochs", "5", "--learning-rate", "0.01"]
    assert ugcl("train", graph_file, "--out", tmp_path / "other", *options) == 0
    for name in ("embeddings.npy", "config.toml"):
        assert (run / name).read_bytes() == (tmp_path / "other" / name).read_bytes()


def test_a_stored_run_has_the_options_of_its_method(
    graph_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--method", "grace", "--hidden", "4", "--projector", "4", "--epochs", "1"]
    assert ugcl("train", graph_file, "--out", tmp_path / "a", *options) == 0
    config = tmp_path / "a/config.toml"
    assert ugcl("train", "--config", config, "--projector", "5", "--out", tmp_path / "b") == 0
    assert tomllib.loads((tmp_path / "b/config.toml").read_text())["settings"]["projector"] == 5
    capsys.readouterr()
    said = fails(capsys, "train", f"--config={config}", "--sampling", "ball", "--out", "c")
    assert "--sampling is not a setting of grace but of ugcl" in said


def test_a_method_of_ones_own_from_a_file(
    graph_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write_method(tmp_path / "mine.py", "mine")
    assert ugcl("train", "--method", file, "--help") == 0
    assert "Settings of mine" in capsys.readouterr().out
    run = tmp_path / "run"
    options = ["--hidden", "8", "--epochs", "2", "--temperature", "0.7"]
    assert ugcl("train", graph_file, "--method", file, "--out", run, *options) == 0
    assert ugcl("train", "--out", run, "--resume") == 0
    assert ugcl("train", "--config", run / "config.toml", "--out", tmp_path / "again") == 0
    assert ugcl("embed", run, graph_file, "--out", tmp_path / "x.npy") == 0
    np.testing.assert_array_equal(np.load(tmp_path / "x.npy"), np.load(run / "embeddings.npy"))
    capsys.readouterr()
    assert ugcl("evaluate", run) == 0
    assert "mine, trained" in capsys.readouterr().out
    assert ugcl("methods", file) == 0
    assert capsys.readouterr().out.splitlines()[1].startswith("mine  contrastive  X, A")
    study = ["--preset", "fast:hidden=4,epochs=1", "--seeds", "1", "--splits", "2"]
    study += ["--out", tmp_path / "s.json", "--runs", tmp_path / "runs"]
    assert ugcl("study", graph_file, "--method", file, *study) == 0
    capsys.readouterr()
    assert "no-such.py does not exist" in fails(capsys, "train", "--method", "no-such.py")


FRESH = """
import sys
from ugcl.cli import main
code = main(sys.argv[1:])
heavy = {"torch", "scipy", "sklearn", "numpy", "pyarrow"} & set(sys.modules)
print(code, *sorted(heavy), file=sys.stderr)
"""


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--help"], 0),
        (["--version"], 0),
        (["train", "--help"], 0),
        (["train", "--method", "grace", "--help"], 0),
        (["train", "citeseer", "--out", "new", "--dim", "3"], 2),
        (["train", "citeseer", "--out", "new", "--hidden", "x"], 2),
        (["evaluate", "--task", "nothing", "run"], 2),
        (["bench", "step", "--help"], 0),
        (["study", "--help-all"], 0),
        (["frobnicate"], 2),
    ],
)
def test_help_and_usage_errors_import_no_numerical_library(arguments: list[str], code: int) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FRESH, *arguments], capture_output=True, text=True, check=True
    )
    assert done.stderr.splitlines()[-1] == str(code)


POLICY = """
import os, sys
import ugcl, ugcl.cli
before = os.environ.get("OMP_WAIT_POLICY")
ugcl.cli.main(["--version"])
print(before, os.environ.get("OMP_WAIT_POLICY"))
"""


@pytest.mark.parametrize(
    ("environment", "policy"),
    [({}, "None PASSIVE"), ({"OMP_WAIT_POLICY": "ACTIVE"}, "ACTIVE ACTIVE")],
)
def test_the_command_line_lets_idle_threads_sleep_unless_told_otherwise(
    environment: dict[str, str], policy: str
) -> None:
    names = ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME")
    inherited = {name: value for name, value in os.environ.items() if name not in names}
    done = subprocess.run(
        [sys.executable, "-c", POLICY],
        env=inherited | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines()[-1] == policy


def test_a_config_with_an_unknown_preset_is_told(
    graph_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = tmp_path / "first"
    options = ["--method", "dgi", "--hidden", "4", "--epochs", "1"]
    assert ugcl("train", graph_file, "--out", first, *options) == 0
    capsys.readouterr()
    config = first / "config.toml"
    config.write_text(config.read_text("utf-8").replace('"fast"', '"fsat"'), "utf-8")
    said = fails(capsys, "train", "--config", config, "--out", tmp_path / "second")
    assert "there is no preset called 'fsat'; did you mean 'fast'?" in said
