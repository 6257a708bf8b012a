from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from conftest import make_graph
from ugcl import Graph
from ugcl.cli import main
from ugcl.cli.scope import _listed
from ugcl.data import sbm_graph
from ugcl.scope import contextual_homophily, edge_homophily, lower_bound
from ugcl.selection import choose_scope, survey


@pytest.fixture
def labelled(tmp_path: Path) -> Path:
    graph = sbm_graph(nodes=240, degree=6, homophily=0.8, features=16, components=2, signal=2)
    graph.save(tmp_path / "sbm.npz")
    return tmp_path / "sbm.npz"


def test_json_has_what_is_promised(labelled: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["scope", str(labelled), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    graph = sbm_graph(nodes=240, degree=6, homophily=0.8, features=16, components=2, signal=2)
    assert graph.labels is not None
    assert (found["nodes"], found["edges"], found["components"]) == (240, 720, 2)
    assert found["sparsity"] == pytest.approx(2 * 720 / 240**2)
    homophily = edge_homophily(graph.adjacency, graph.labels)
    assert homophily is not None
    assert found["homophily"] == homophily
    assert found["lower_bound"] == pytest.approx(
        [lower_bound(homophily, 6.0, n) for n in range(1, 21)]
    )
    measured = contextual_homophily(graph.adjacency, graph.labels, 20)
    assert found["measured"] == pytest.approx(measured.mean().tolist())
    assert set(found["chosen"]) == {"paper", "train-labels", "label-free"}
    assert found["chosen"]["label-free"] == choose_scope(graph).n
    assert all(isinstance(n, int) for n in found["chosen"].values())
    below = [n for n in range(2, 21) if found["measured"][n - 1] < found["lower_bound"][n - 1]]
    assert found["below_bound"] == below


def test_without_labels_homophily_is_null(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_graph(60, labels=None, splits={}).save(tmp_path / "g.npz")
    assert main(["scope", str(tmp_path / "g.npz"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    for name in ("homophily", "lower_bound", "measured", "below_bound"):
        assert found[name] is None
    assert found["chosen"]["paper"] is None
    assert found["chosen"]["train-labels"] is None
    assert found["chosen"]["label-free"] is not None
    assert main(["scope", str(tmp_path / "g.npz"), "--plot", str(tmp_path / "p.png")]) == 0
    assert "no labels" in capsys.readouterr().out
    assert (tmp_path / "p.png").stat().st_size > 10_000


def test_people_see_a_table_and_a_picture(
    labelled: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plot = tmp_path / "scope.svg"
    assert main(["scope", str(labelled), "--plot", str(plot), "--deep"]) == 0
    shown = capsys.readouterr().out
    assert "240 nodes, 720 edges, 2 components (the largest has 120 nodes)" in shown
    assert "measured P_n" in shown
    assert "trained masked-features" in shown
    assert "--scope auto takes masked-features: n = " in shown
    assert plot.read_text().startswith("<?xml")
    assert main(["scope", str(labelled), "--plot", str(tmp_path / "scope.what")]) == 2
    assert "ends in .png, .svg, .pdf" in capsys.readouterr().err


def test_scores_that_the_choice_does_not_need_are_not_computed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    graph = sbm_graph(nodes=1000, degree=20, homophily=0.6, features=16, signal=5)
    path = tmp_path / "g.npz"
    graph.save(path)
    found = []
    for options in ([], ["--all-scores"]):
        assert main(["scope", str(path), "--json", *options]) == 0
        found.append(json.loads(capsys.readouterr().out)["rules"]["masked-features"])
    some, every = (rule["scores"] for rule in found)
    assert found[0]["n"] == found[1]["n"]
    assert found[0]["why"] == found[1]["why"]
    assert len(some) == len(every) == 21
    assert None not in every
    known = [score for score in some if score is not None]
    assert some == known + [None] * (21 - len(known))
    assert f"of n = 0 to {len(known) - 1}, " in found[0]["why"]
    assert 3 <= len(known) < 21
    assert main(["scope", str(path), "--plot", str(tmp_path / "p.svg")]) == 0
    assert capsys.readouterr().out.count("not computed") == 21 - len(known)


def test_conventions_change_the_bound(labelled: Path, capsys: pytest.CaptureFixture[str]) -> None:
    degrees, below = [], []
    for options in ([], ["--sample", "120"], ["--sample", "120", "--degree", "paper"]):
        assert main(["scope", str(labelled), "--json", *options]) == 0
        found = json.loads(capsys.readouterr().out)
        assert found["degree"] == 6.0
        degrees.append(found["bound_degree"])
        below.append(found["below_bound"] is not None)
    assert degrees == pytest.approx([6.0, 3.0, 1.5])
    assert below == [True, False, False]  # what is measured is the whole graph
    assert main(["scope", str(labelled), "--sample", "241"]) == 2


@pytest.mark.parametrize("edges", [np.zeros((0, 2), dtype=int), np.array([[0, 1]])])
def test_odd_graphs_are_surveyed(edges: np.ndarray) -> None:
    for nodes in (2, 60):
        graph = Graph.from_edges(
            edges, np.random.default_rng(0).random((nodes, 3)), labels=np.arange(nodes) % 2
        )
        found = survey(graph, train=np.arange(nodes)).to_json()
        assert found["components"] == nodes - len(edges)
        assert found["chosen"]["label-free"] is not None
        json.dumps(found, allow_nan=False)


def test_labels_without_an_edge_between_them_are_measured_all_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ring = np.column_stack([np.arange(60), (np.arange(60) + 1) % 60])
    labels = np.where(np.arange(60) % 2, -1, np.arange(60) // 30)
    features = np.random.default_rng(0).random((60, 3))
    Graph.from_edges(ring, features, labels=labels).save(tmp_path / "g.npz")
    assert main(["scope", str(tmp_path / "g.npz"), "--plot", str(tmp_path / "g.png")]) == 0
    shown = capsys.readouterr().out
    assert "no edge connects two labelled nodes, so homophily is unknown" in shown
    assert "measured P_n" in shown
    assert "no labels" not in shown


def test_one_node_is_surveyed() -> None:
    graph = Graph.from_edges(np.zeros((0, 2), dtype=int), np.ones((1, 3)))
    assert survey(graph).to_json()["chosen"]["label-free"] == 0


def test_runs_of_numbers_are_short() -> None:
    assert _listed([2, 3, 4, 7]) == "2 to 4, 7"
