from __future__ import annotations

import inspect
import json
import re
from pathlib import Path

import pytest

from ugcl import load_graph
from ugcl.cli import main
from ugcl.cli.generate import OPTIONS
from ugcl.data import FAMILIES, sbm_graph, synthetic_graph

SMALL = ["generate", "sbm", "--nodes", "200", "--degree", "6", "--features", "4"]


def test_writes_the_graph_and_says_what_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "sbm.npz"
    assert main([*SMALL, "--classes", "3", "--components", "2", "--out", str(out)]) == 0
    assert capsys.readouterr().out == (
        f"{out}: 200 nodes, 600 edges, 4 dense features, 3 classes, homophily 0.800, 2 components\n"
    )
    graph = load_graph(out)
    assert (graph.num_nodes, graph.num_edges, graph.name) == (200, 600, "sbm")


def test_prints_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "sbm.npz"
    options = ["--homophily", "0.25", "--degree-spread", "0", "--signal", "2", "--seed", "3"]
    assert main([*SMALL, *options, "--out", str(out), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "file": str(out),
        "nodes": 200,
        "edges": 600,
        "features": 4,
        "classes": 5,
        "homophily": 0.25,
        "components": 1,
        "seed": 3,
    }


def test_a_graph_without_edges(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "one.npz"
    options = ["--nodes", "1", "--degree", "0", "--classes", "1", "--out", str(out)]
    assert main(["generate", "sbm", *options]) == 0
    assert "no edges, 1 component\n" in capsys.readouterr().out
    assert main(["generate", "sbm", *options, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["homophily"] is None


def test_the_same_seed_gives_the_same_file(tmp_path: Path) -> None:
    for name, seed in (("a", "1"), ("b", "1"), ("c", "2")):
        assert main([*SMALL, "--seed", seed, "--out", str(tmp_path / f"{name}.npz")]) == 0
    one, same, other = ((tmp_path / f"{name}.npz").read_bytes() for name in "abc")
    assert one == same != other


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["generate", "sbn"], "there is no command called 'sbn'; did you mean 'sbm'?"),
        (["generate", "hubs-dominated"], "called 'hubs-dominated'; did you mean 'hub-dominated'?"),
        ([*SMALL, "--out", "x.npz", "--ring", "0"], "--ring must be a number of at least 1, not"),
        (["generate", "sbm", "--nodes", "9"], "Missing option '--out'; see ugcl generate sbm --h"),
        ([*SMALL, "--out", "sbm.csv"], "--out sbm.csv must end in .npz"),
        ([*SMALL, "--out", "no/sbm.npz"], "the folder no does not exist or is not writable"),
        ([*SMALL, "--out", "x.npz", "--degree", "many"], "--degree must be a number, not 'many'"),
        ([*SMALL, "--out", "x.npz", "--degree", "nan"], "--degree must be a number, not 'nan'"),
        ([*SMALL, "--out", "x.npz", "--classes", "0"], "--classes must be an integer of at"),
        ([*SMALL, "--out", "x.npz", "--homophily", "2"], "--homophily must be at most 1, not 2.0"),
        ([*SMALL, "--out", "x.npz", "--degree", "1"], "199, not 1: change --degree, --nodes"),
    ],
)
def test_mistakes_get_one_sentence_and_no_file(
    arguments: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    (line,) = captured.err.strip().splitlines()
    assert message in line
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", FAMILIES)
def test_writes_graphs_of_the_families(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "graph.npz"
    options = ["--nodes", "300", "--seed", "2", "--classes", "4", "--out", str(out)]
    assert main(["generate", name, *options, "--json"]) == 0
    printed, graph = json.loads(capsys.readouterr().out), load_graph(out)
    assert graph.fingerprint == synthetic_graph(name, nodes=300, seed=2, classes=4).fingerprint
    assert (graph.name, graph.num_classes, printed["seed"]) == (name, 4, 2)
    homophily = FAMILIES[name].params["homophily"]
    assert printed["homophily"] == pytest.approx(homophily or 1 / 4, abs=0.001)


def test_options_are_the_parameters_of_the_generator() -> None:
    """With the same defaults."""
    parameters = inspect.signature(sbm_graph).parameters
    defaults = {name: each.default for name, each in parameters.items() if name != "nodes"}
    assert {name: default for name, (_, default, _) in OPTIONS.items()} == defaults


@pytest.mark.parametrize("command", ["", "sbm", *FAMILIES])
def test_help_has_an_example(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["generate", *command.split(), "--help"]) == 0
    example = re.split("Examples?:", capsys.readouterr().out)[1]
    assert f"ugcl generate {command or 'sbm'} --nodes" in example
    if command in FAMILIES:
        assert main(["generate", "--help"]) == 0
        assert command in capsys.readouterr().out
