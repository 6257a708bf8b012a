from __future__ import annotations

import json
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from conftest import make_graph
from ugcl import UGCLError
from ugcl.bench import bench_peers, peer_child, peers
from ugcl.bench.child import ChildKilled, ask_fresh_process
from ugcl.bench.libraries.peer import Peer, Run
from ugcl.bench.libraries.registry import PEERS, get_peer, selected
from ugcl.bench.peer_child import LIMITS, bounded_splits
from ugcl.cli import main
from ugcl.data import sbm_graph
from ugcl.engine import fit
from ugcl.evaluation import Score
from ugcl.graph import Graph
from ugcl.methods import METHODS
from ugcl.typing import Embeddings


def identity(graph: Graph, run: Run) -> Graph:
    return graph


def features(graph: Graph, run: Run) -> Embeddings:
    return np.asarray(graph.adjacency @ graph.features, dtype=np.float32)


def fake(name: str, module: str = "numpy", embed: Callable[..., Embeddings] = features) -> Peer:
    return Peer(name, "numpy", module, "about", identity, embed)


@pytest.fixture
def labelled(tmp_path: Path) -> str:
    path = tmp_path / "labelled.npz"
    sbm_graph(nodes=120, classes=3, features=8).save(path)
    return str(path)


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int, int]]:
    """Let two fake peers and one that is not installed be all; return the requests.

    The probe gives 50 %, and garbage is not collected: both take most of the time.
    """
    monkeypatch.setattr(peer_child, "gc", SimpleNamespace(collect=lambda: 0))
    monkeypatch.setattr(peer_child, "linear_probe", lambda *_: Score(50.0, None))
    monkeypatch.setattr("ugcl.bench.libraries.registry.OURS", ("smooth",))
    for name in list(PEERS):
        monkeypatch.delitem(PEERS, name)
    monkeypatch.setitem(PEERS, "first", fake("first"))
    monkeypatch.setitem(PEERS, "second", fake("second"))
    monkeypatch.setitem(PEERS, "absent", fake("absent", module="no_such_library"))
    asked: list[tuple[str, int, int]] = []

    def ask(request: dict[str, Any], environment: dict[str, str]) -> dict[str, Any]:
        asked.append((request["peer"], request["threads"], request["seed"]))
        assert set(environment.values()) == {str(request["threads"])}
        return ask_fresh_process(request, environment)

    monkeypatch.setattr(peers, "ask_fresh_process", ask)
    return asked


@pytest.mark.usefixtures("same_process")
def test_methods_take_turns_and_are_measured_once(
    labelled: str, calls: list[tuple[str, int, int]], tmp_path: Path
) -> None:
    out = tmp_path / "peers"
    result = bench_peers([labelled], out, threads=(1,), repeats=2, splits=2)
    names = ["smooth", "first", "second"]
    assert calls == [(name, 1, repeat) for repeat in range(2) for name in names]
    assert "no_such_library" not in result["skipped"]["absent"]
    assert result["skipped"] == {"absent": "numpy is not installed: pip install 'ugcl[peers]'"}
    rows = [json.loads(line) for line in (out / "peers.jsonl").read_text().splitlines()]
    assert rows == result["rows"]
    for row in rows:
        assert row["cpu_seconds"] >= 0
        assert row["seconds"] > 0
        assert row["peak_bytes"] == 1000
        assert row["accuracy"] == [50, 50]
        assert (row["nodes"], row["width"], row["reason"]) == (120, 8, None)
        assert row["machine"]["cores"]
    assert "| `absent`" not in (text := (out / "peers.md").read_text())
    assert "- `absent` is skipped: numpy is not installed" in text
    assert (out / "peers.png").read_bytes().startswith(b"\x89PNG")
    calls.clear()
    again = bench_peers([labelled], out, threads=(1,), repeats=3, splits=2)
    assert calls == [(name, 1, 2) for name in names]
    assert again["rows"][:6] == rows


@pytest.mark.usefixtures("same_process")
def test_table_on_screen(
    labelled: str,
    calls: list[tuple[str, int, int]],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    figure, out = tmp_path / "front.png", tmp_path / "some.jsonl"
    command = ["bench", "peers", labelled, "--out", str(out), "--figure", str(figure)]
    command += ["--threads", "1", "--repeats", "1", "--splits", "1", "--methods", "none"]
    assert main([*command, "--peers", "first,absent"]) == 0
    printed = capsys.readouterr().out
    assert "first" in printed
    assert "absent is skipped: numpy is not installed" in printed
    assert [name for name, *_ in calls] == ["first"]
    assert figure.is_file()
    assert (tmp_path / "some.md").is_file()
    assert main([*command, "--peers", "numpy", "--json"]) == 0
    assert [row["method"] for row in json.loads(capsys.readouterr().out)["rows"]] == [
        "first",
        "second",
    ]


@pytest.mark.usefixtures("calls")
def test_slow_and_failed_ones_have_a_reason_and_are_not_repeated(
    labelled: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    errors = {
        "smooth": ChildKilled(signal.SIGPROF),
        "first": ChildKilled(signal.SIGKILL),
        "second": UGCLError("ValueError: no"),
    }
    asked: list[str] = []

    def fail(request: dict[str, Any], environment: dict[str, str]) -> dict[str, Any]:
        asked.append(request["peer"])
        raise errors[request["peer"]]

    monkeypatch.setattr(peers, "ask_fresh_process", fail)

    def run(time_limit: float) -> dict[str, str]:
        asked.clear()
        arguments: dict[str, Any] = {"threads": (1,), "repeats": 2, "splits": 1}
        rows = bench_peers([labelled], tmp_path, time_limit=time_limit, **arguments)["rows"]
        return {row["method"]: row["reason"] for row in rows}

    assert run(5) == {
        "smooth": "stopped after 5 CPU seconds",
        "first": "memory ran out",
        "second": "failed: ValueError: no",
    }
    assert asked == ["smooth", "first", "second"]
    errors["second"] = ChildKilled(signal.SIGSEGV)
    assert run(5)["second"] == "failed: ended by SIGSEGV"
    assert asked == ["second"]  # a failure may have been repaired
    assert run(50)["smooth"] == "stopped after 50 CPU seconds"
    assert asked == ["smooth", "first", "second"]


@pytest.mark.usefixtures("same_process", "calls")
def test_block_models_are_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments: dict[str, Any] = {"methods": ("none",), "repeats": 1, "splits": 1, "threads": (1,)}
    made: list[int] = []

    def count(*, nodes: int) -> Graph:
        made.append(nodes)
        return sbm_graph(nodes=nodes, features=8)

    monkeypatch.setattr(peers, "sbm_graph", count)
    rows = bench_peers(["sbm:200", "homophilous:150"], tmp_path, **arguments)["rows"]
    assert [(row["graph"], row["nodes"]) for row in rows[::2]] == [
        ("sbm:200", 200),
        ("homophilous:150", 150),
    ]
    assert made == [100, 200]  # the first one checks the name


@pytest.mark.parametrize(
    ("graph", "options", "message"),
    [
        ("", {"peers": ("pycleorra",)}, "no peer called 'pycleorra'"),
        ("", {"methods": ("smoth",)}, "no method called 'smoth'"),
        ("", {"methods": ("gcn",)}, "gcn learns from labels"),
        ("", {"methods": ("none",), "peers": ("none",)}, "nothing to compare"),
        ("", {"figure": Path("front.doc")}, "ends in"),
        ("", {"splits": 3}, "splits 1 instead of 3"),
        ("ring:100", {}, "names no kind of synthetic graph: use one of sbm"),
        ("no-such-graph", {}, "no-such-graph"),
    ],
)
@pytest.mark.usefixtures("calls")
def test_arguments_are_validated_before_any_measurement(
    labelled: str, tmp_path: Path, graph: str, options: dict[str, Any], message: str
) -> None:
    row = {"graph": "a", "method": "b", "threads": 1, "repeat": 0, "splits": 1}
    (tmp_path / "peers.jsonl").write_text(json.dumps(row | {"reason": None, "final": True}))
    with pytest.raises(UGCLError, match=message):
        bench_peers([graph or labelled], tmp_path, **options)


def test_graph_without_labels_is_refused(saved: str, tmp_path: Path) -> None:
    unlabelled = tmp_path / "unlabelled.npz"
    graph = make_graph(30)
    Graph(graph.adjacency, graph.features).save(unlabelled)
    with pytest.raises(UGCLError, match="no labels"):
        bench_peers([str(unlabelled)], tmp_path, peers=("none",))


@pytest.mark.parametrize("text", ["[1]", "{}", "no JSON"])
def test_output_file_of_another_kind_is_not_overwritten(
    labelled: str, tmp_path: Path, text: str
) -> None:
    out = tmp_path / "other.jsonl"
    out.write_text(text)
    with pytest.raises(UGCLError, match="is not a result of this command: choose another"):
        bench_peers([labelled], out, peers=("none",))
    assert out.read_text() == text


def test_folder_that_cannot_be_made_is_an_error(labelled: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UGCLError, match="pass a folder"):
        bench_peers([labelled], tmp_path / "file")


def test_large_graphs_are_probed_on_some_nodes() -> None:
    graph = sbm_graph(nodes=30_000, degree=2, features=1)
    first, second = bounded_splits(graph, 2)
    assert {part: nodes.size for part, nodes in first.items()} == LIMITS
    assert not np.array_equal(first["test"], second["test"])
    assert np.intersect1d(first["train"], first["test"]).size == 0
    small = bounded_splits(sbm_graph(nodes=100, features=1), 1)[0]
    assert sum(nodes.size for nodes in small.values()) <= 100


def test_methods_that_this_version_lacks_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ugcl.bench.libraries.registry.OURS", ("smooth", "not-yet"))
    for none in (("none",), ["none"], []):
        assert [peer.name for peer in selected(none, None)] == ["smooth"]


def test_values_chosen_for_a_data_set_are_not_used() -> None:
    graph = sbm_graph(nodes=60, features=8)
    run, peer = Run(threads=1), get_peer("smooth")
    expected = fit("smooth", graph).embed(graph)
    for name in METHODS["smooth"].presets["fast"].graphs:
        rows = peer.embed(peer.prepare(replace(graph, name=name), run), run)
        np.testing.assert_array_equal(rows, expected)


def test_packages_name_all_their_peers() -> None:
    names = [peer.name for peer in selected(("pycleora", "pyg-dgi"), ("none",))]
    assert names == [*(name for name in PEERS if name.startswith("pycleora")), "pyg-dgi"]


def test_no_peer_has_the_name_of_a_method() -> None:
    assert not set(PEERS) & set(METHODS)
    assert all(name == peer.name for name, peer in PEERS.items())


@pytest.mark.filterwarnings("ignore:Sparse")  # PyTorch, about CSR tensors
@pytest.mark.parametrize("name", [*PEERS, "smooth", "multiscope"])
@pytest.mark.parametrize("sparse", [False, True])
def test_every_peer_embeds_every_node(name: str, sparse: bool) -> None:
    """Also nodes without edges; skipped where the library is not installed."""
    peer = get_peer(name)
    if peer.missing:
        pytest.skip(peer.missing)
    graph = make_graph(40, sparse=sparse)
    adjacency = graph.adjacency.tolil()
    adjacency[3], adjacency[:, 3] = 0, 0
    graph = Graph(adjacency.tocsr(), graph.features)
    run = Run(threads=1, brief=True)
    rows = peer.embed(peer.prepare(graph, run), run)
    assert rows.shape[0] == 40
    assert np.isfinite(rows).all()


@pytest.mark.slow
def test_time_limit_ends_the_embedding_only(labelled: str) -> None:
    request = {"task": "peer", "peer": "ugcl", "graph": labelled, "data_root": None}
    request |= {"threads": 1, "seed": 0, "splits": 1, "time_limit": 0.05}
    with pytest.raises(ChildKilled) as raised:
        ask_fresh_process(request)
    assert raised.value.signal == signal.SIGPROF
    measured = ask_fresh_process(request | {"peer": "smooth", "time_limit": 60})
    assert measured["accuracy"][0] > 50
