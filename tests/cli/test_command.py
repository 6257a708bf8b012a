from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from commands import fails, ugcl
from ugcl.cli.command import CommaSeparated
from ugcl.cli.options import as_options
from ugcl.data import GraphFiles
from ugcl.methods import METHODS
from ugcl.runs.export import WRITERS


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
    for option, value, most in (
        ("--seed", "12345678901234567890123", "9,223,372,036,854,775,807"),
        ("--threads", "1000000", "1,024"),
    ):
        assert f"{option} must be at most {most}, not {value}" in fails(
            capsys, "train", "citeseer", "--out", new, option, value
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
            "there is no preset called 'authors'; there are: fast, paper (ugcl has 'authors')",
        ),
        (
            ["train", "citeseer", "--out", "new", "--method", "ugcl", "--preset", "quick"],
            "there are: fast, paper, authors",
        ),
        (
            ["train", "citeseer", "--out", "new", "--method", "ugcl", "--sample", "9999"],
            "3,327 nodes of this graph",
        ),
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
        (
            ["train", "citeseer", "--out", "new", "--seed", "9" * 30],
            "--seed must be at most 9,223,372,036,854,775,807",
        ),
        (["train", "citeseer", "--out", "new", "--epochs", "nan"], "--epochs must be an int"),
        (
            ["frobnicate"],
            "there is no command called 'frobnicate'; there are: check, convert, ",
        ),
        (["evaluat"], "there is no command called 'evaluat'; did you mean 'evaluate'?"),
        (["train", "--dim", "64", "--out", "new"], "there is no option --dim, did you mean --hid"),
        (["train", "--size=64", "--out", "new"], "there is no option --size, did you mean --hidd"),
        (["train", "--ephocs", "6", "--out", "new"], "there is no option --ephocs, did you mean -"),
        (["train", "x", "--out", "--json"], "Option '--out' needs a value; see ugcl train --help"),
        (["train", "x", "--out"], "Option '--out' requires an argument; see ugcl train --help"),
        (["neighbors", "run", "-5"], "there is no option -5 (write -- before an argument that"),
        (["datasets", "x"], "Got unexpected extra argument (x); see ugcl datasets --help"),
        (["train", "--settings", "fast"], "there is no option --settings, did you mean --preset?"),
        (["bench", "step"], "Missing argument 'GRAPH'; see ugcl bench step --help"),
        (
            ["bench", "step", "citeseer", "--projector", "8"],
            "is not a setting of multiscope but of ",
        ),
        (["bench", "memory", "a,,b", "--out", "x"], "graphs must be a comma-separated list, not"),
        (["bench", "memory", "a", "b", "--out", "x"], "items of a list are separated by commas"),
        (["study", "citeseer"], "citeseer is a graph: write ugcl study run citeseer"),
        (["study", "clasification"], "did you mean 'classification'?"),
        (["study", "hidden", "--out", "x", "--data", "nowhere"], "nowhere"),
        (
            ["study", "run", "citeseer", "--out", "x.json", "--tune-scopes", "1,-2"],
            "--tune-scopes must be a comma-separated list of integers of at least 0, 'component'",
        ),
        (
            ["study", "run", "citeseer", "--out", "x.json", "--against", "fast", "--scopes", "3"],
            "--against and --scopes are two different studies: leave out one",
        ),
        (
            ["study", "run", "citeseer", "--out", "x", "--against", "fast", "--protocol", "paper"],
            "--against scores by the honest probe: leave out --protocol",
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


@pytest.mark.parametrize(
    "command",
    [
        *("train", "embed", "neighbors", "evaluate", "check", "scope", "study run"),
        *("study hidden", "datasets", "methods"),
    ],
)
def test_every_command_has_help_with_an_example(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ugcl(*command.split(), "--help") == 0
    printed = capsys.readouterr().out
    head, examples = re.split(r"\nExamples?:\n", printed)
    assert f"  ugcl {command}" in examples
    assert "--json" in head
    assert not re.search(r" $", printed, re.MULTILINE)


@pytest.mark.parametrize("columns", ["50", "80", "200"])
def test_short_help_option_and_whole_examples_at_any_width(
    columns: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert ugcl("embed", "-h") == 0
    example = "ugcl embed runs/mine --edges later.csv --features later-features.csv --out later.csv"
    assert f"\n  {example}\n" in capsys.readouterr().out


def test_items_of_a_list_may_be_quoted() -> None:
    columns = ("name", "city, country", 'a "b"')
    words = as_options(GraphFiles(edges="e.csv", ignore=columns))
    assert CommaSeparated().convert(words[words.index("--ignore") + 1], None, None) == columns


def test_help_names_all_formats_and_presets(capsys: pytest.CaptureFixture[str]) -> None:
    assert ugcl("embed", "--help") == 0
    shown = capsys.readouterr().out
    assert all(f"{ending} " in shown or f"{ending}," in shown for ending in WRITERS)
    assert ugcl("bench", "step", "--help") == 0
    assert f"<{'|'.join(METHODS['ugcl'].presets)}>" in capsys.readouterr().out


def test_without_a_command_the_help_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert ugcl() == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "Usage: ugcl [OPTIONS] COMMAND" in captured.err


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
        (["study", "--help"], 0),
        (["study", "run", "--help-all"], 0),
        (["study", "classification", "--help"], 0),
        (["frobnicate"], 2),
    ],
)
def test_help_and_usage_errors_import_no_numerical_library(arguments: list[str], code: int) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FRESH, *arguments], capture_output=True, text=True, check=True
    )
    assert done.stderr.splitlines()[-1] == str(code)


LOADED = """
import sys
from ugcl.cli import main
assert main(sys.argv[1:]) == 0
slow = ("linalg", "stats", "sparse.csgraph", "sparse.linalg")
heavy = {"torch", "torch._dynamo", "sklearn", "pandas", *(f"scipy.{name}" for name in slow)}
heavy &= set(sys.modules)
print(*sorted(heavy), file=sys.stderr)
"""


def loaded_by(*arguments: object) -> list[str]:
    """The slow imports of a command."""
    words = [str(argument) for argument in arguments]
    done = subprocess.run(
        [sys.executable, "-c", LOADED, *words], capture_output=True, text=True, check=True
    )
    return done.stderr.splitlines()[-1].split()


def test_commands_without_a_model_do_not_import_torch(run: Path, tmp_path: Path) -> None:
    assert loaded_by("datasets") == []
    assert loaded_by("neighbors", run, 0) == []
    for ending in (".npy", ".csv", ".parquet"):
        assert loaded_by("embed", run, "--out", tmp_path / f"embeddings{ending}") == []


@pytest.mark.parametrize("method", ["multiscope", "ugcl", "dgi"])
def test_training_imports_what_it_needs(method: str, tmp_path: Path) -> None:
    words = ("train", "citeseer", "--method", method, "--out", tmp_path / "run", "--epochs", 1)
    decompositions = ["scipy.linalg"] if method == "multiscope" else []
    assert loaded_by(*words, "--hidden", 8) == [*decompositions, "torch"]


POLICY = """
import os, sys
import ugcl, ugcl.cli
before = os.environ.get("OMP_WAIT_POLICY")
ugcl.cli.main(["--version"])
names = "OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "OPENBLAS_THREAD_TIMEOUT"
print(before, *(os.environ.get(name) for name in names))
"""


@pytest.mark.parametrize(
    ("environment", "policy"),
    [
        ({}, "None PASSIVE 5000 10"),
        ({"OMP_WAIT_POLICY": "ACTIVE"}, "ACTIVE ACTIVE None 10"),
        ({"OPENBLAS_THREAD_TIMEOUT": "26"}, "None PASSIVE 5000 26"),
    ],
)
def test_the_command_line_lets_idle_threads_sleep_unless_told_otherwise(
    environment: dict[str, str], policy: str
) -> None:
    names = ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME", "OPENBLAS_THREAD_TIMEOUT")
    inherited = {name: value for name, value in os.environ.items() if name not in names}
    done = subprocess.run(
        [sys.executable, "-c", POLICY],
        env=inherited | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines()[-1] == policy


def test_sizes_that_overflow_are_one_sentence(
    graph_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UGCL_FORCE_MEMORY", "1")
    words = ("train", graph_file, "--method", "grace", "--out", tmp_path / "run")
    assert ugcl(*words, "--hidden", 10**18) == 2
