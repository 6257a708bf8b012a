from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from threadpoolctl import threadpool_info, threadpool_limits

from conftest import make_graph
from ugcl import UGCL, Graph, UGCLError
from ugcl.cli import main
from ugcl.data import sbm_graph
from ugcl.methods import METHODS, Shape
from ugcl.selection import Readouts, apply_criterion, choose_scope, label_free, resolve_scope
from ugcl.selection.stopping import one_standard_error_rule


def sbm(homophily: float, degree: float, nodes: int = 1500, signal: float = 3.0) -> Graph:
    return sbm_graph(
        nodes=nodes, degree=degree, homophily=homophily, features=32, signal=signal, classes=4
    )


def test_homophily_and_sparsity_widen_the_scope() -> None:
    wide, dense, mixed = (choose_scope(sbm(h, d)).n for h, d in ((0.9, 4), (0.9, 24), (0.1, 24)))
    assert wide is not None
    assert dense is not None
    assert mixed is not None
    assert wide > dense > 0
    assert mixed <= 1
    assert wide >= 4


def test_labels_are_not_used_and_the_choice_repeats() -> None:
    graph = sbm(0.8, 6, 300)
    bare = Graph(graph.adjacency, graph.features)
    first = choose_scope(graph)
    label_free._cache.clear()
    assert choose_scope(bare) == first


def test_the_smallest_n_down_from_the_best_that_is_hardly_worse() -> None:
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(6, 1)) * 10  # shared by all n, so that pairing takes it away
    level = np.array([6.0, 5.0, 6.0, 6.01, 5.0])
    scores = noise + level + rng.normal(size=(6, 5)) * 0.2
    scores[:, 3] = scores[:, 2] + np.array([0.3, -0.2, 0.3, -0.2, 0.3, -0.2])
    assert one_standard_error_rule(scores) == (3, 2)  # and not 0, on the other side of a valley
    assert one_standard_error_rule(scores[:2])[1] == int(scores[:2].mean(axis=0).argmax())
    assert one_standard_error_rule(np.zeros((6, 5))) == (0, 0)


def test_a_choice_is_made_once_for_a_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = sbm(0.8, 6, 200)
    first = choose_scope(graph)
    monkeypatch.setattr(label_free, "apply_criterion", lambda *a: pytest.fail("estimated again"))
    assert choose_scope(graph) == first


def test_uninformative_graphs_have_a_reason() -> None:
    rng = np.random.default_rng(0)
    features = rng.normal(size=(60, 4))
    ring = np.column_stack([np.arange(60), (np.arange(60) + 1) % 60])
    assert "no edges" in choose_scope(Graph(sp.csr_array((60, 60)), features)).why
    assert "fewer than 50 nodes" in choose_scope(make_graph(40)).why
    assert "fewer than two features" in choose_scope(Graph.from_edges(ring, features[:, :1])).why
    constant = np.hstack([features[:, :1], np.ones((60, 3))])
    assert "fewer than two features" in choose_scope(Graph.from_edges(ring, constant)).why
    assert choose_scope(Graph.from_edges(ring, features)).scores is not None


def test_auto_is_resolved_before_training(tmp_path: Path) -> None:
    graph = sbm(0.8, 6, 200)
    n = choose_scope(graph).n
    asked = METHODS["ugcl"].resolve("fast", graph, {"hidden": 8})
    assert asked.values()["scope"] == "auto"
    with pytest.raises(UGCLError, match="the scope 'auto' is not resolved yet"):
        METHODS["ugcl"].build(Shape.of(graph), asked, 0)
    resolved, choice = resolve_scope(asked, graph)
    assert choice is not None
    assert choice.settings == ("scope", "readout_scope")
    assert (choice.n, choice.why) == (n, choose_scope(graph).why)
    assert resolved.values()["scope"] == resolved.values()["readout_scope"] == n
    given = METHODS["ugcl"].resolve("fast", graph, {"scope": 3})
    assert resolve_scope(given, graph) == (given, None)
    only = METHODS["ugcl"].resolve("fast", graph, {"scope": 1, "readout_scope": "auto"})
    values = resolve_scope(only, graph)[0].values()
    assert (values["scope"], values["readout_scope"]) == (1, n)
    model = UGCL(scope="auto", hidden=8, epochs=2).fit(graph)
    assert model.scope_choice_ == choice
    assert model.scope == "auto"


def test_a_run_records_the_choice_and_repeats_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = sbm(0.8, 6, 200)
    graph.save(tmp_path / "g.npz")
    small = ["--method", "ugcl", "--hidden", "8", "--epochs", "2"]
    first, second, third = (str(tmp_path / name) for name in ("a", "b", "c"))
    assert main(["train", str(tmp_path / "g.npz"), "--out", first, *small, "--scope", "auto"]) == 0
    metrics = json.loads((tmp_path / "a/metrics.json").read_text())
    choice = choose_scope(graph)
    assert metrics["scope"] == choice.n
    expected = {
        "n": choice.n,
        "rule": "masked-features",
        "why": choice.why,
        "settings": ["scope", "readout_scope"],
    }
    assert metrics["scope_choice"] == expected
    monkeypatch.setattr(
        "ugcl.selection.label_free.choose_scope", lambda *a: pytest.fail("chose again")
    )
    assert main(["train", "--config", f"{first}/config.toml", "--out", second]) == 0
    assert json.loads((tmp_path / "b/metrics.json").read_text())["scope_choice"] == expected
    same = [(tmp_path / name / "embeddings.npy").read_bytes() for name in ("a", "b")]
    assert same[0] == same[1]
    changed = ["train", "--config", f"{first}/config.toml", "--out", third, "--scope", "1"]
    assert main(changed) == 0
    metrics = json.loads((tmp_path / "c/metrics.json").read_text())
    assert (metrics["scope"], metrics["scope_choice"]) == (1, None)
    partly = ["train", "--config", f"{first}/config.toml", "--out", str(tmp_path / "d")]
    assert main([*partly, "--readout-scope", "1"]) == 0
    metrics = json.loads((tmp_path / "d/metrics.json").read_text())
    assert (metrics["scope"], metrics["readout_scope"]) == (choice.n, 1)
    assert metrics["scope_choice"] == {**expected, "settings": ["scope"]}
    sbm(0.8, 5, 200).save(tmp_path / "other.npz")
    other = ["train", str(tmp_path / "other.npz"), "--config", f"{first}/config.toml"]
    assert main([*other, "--out", str(tmp_path / "e")]) == 0
    assert json.loads((tmp_path / "e/metrics.json").read_text())["scope_choice"] is None


@pytest.mark.parametrize("kind", ["identity", "random"])
def test_uninformative_features_fall_back_to_held_out_edges(kind: str) -> None:
    graph = sbm(0.9, 8, 600)
    noise = np.random.default_rng(0).normal(size=(600, 16))
    features = sp.eye_array(600, format="csr") if kind == "identity" else noise
    choice = choose_scope(Graph(graph.adjacency, features))
    assert "the features do not predict one another; n = " in choice.why
    assert choice.n is not None
    assert choice.n >= 2
    lost = np.random.default_rng(1).integers(600, size=(2400, 2))
    nothing = choose_scope(Graph.from_edges(lost, noise))
    assert nothing.n == 1
    assert "held-out edges are hardly predictable" in nothing.why


def test_features_that_differ_by_rounding_are_uninformative() -> None:
    ring = np.column_stack([np.arange(60), (np.arange(60) + 1) % 60])
    along = np.outer(np.arange(1, 61), np.ones(5))  # rows of one direction
    assert "fewer than two features" in choose_scope(Graph.from_edges(ring, along)).why


@pytest.mark.slow
@pytest.mark.parametrize(("name", "near"), [("cora", range(7, 17)), ("amazon-photo", range(1, 3))])
def test_the_choice_on_real_graphs(
    name: str, near: range, real_graph: Callable[[str], Graph]
) -> None:
    assert choose_scope(real_graph(name)).n in near


def test_criteria_use_one_thread_of_blas() -> None:
    """Threads of OpenBLAS spin after each small product and take the cores from PyTorch's."""
    seen: list[int] = []

    def criterion(readouts: Readouts) -> np.ndarray:
        pools = threadpool_info()
        seen.extend(pool["num_threads"] for pool in pools if pool["user_api"] == "blas")
        return np.eye(4)[:, :3]

    with threadpool_limits(2, "blas"):
        apply_criterion(Readouts(sbm(0.8, 6), 2), "it", {"it": (criterion, "is best")})
    assert seen
    assert set(seen) == {1}
