"""The commands on a graph of one's own: files in, embeddings out."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp

from conftest import make_graph
from ugcl import load_graph
from ugcl.cli import main

SMALL = "--hidden 8 --epochs 2 --scope 2 --sample 30"


def ugcl(line: str) -> int:
    return main(shlex.split(line))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with edges, features and labels under names of a user's own."""
    graph = make_graph(60)
    names = np.array([f"n {i}" for i in range(60)])
    ends = sp.triu(graph.adjacency).tocoo().coords
    edges = pd.DataFrame({"who": names[ends[0]], "whom": names[ends[1]]})
    edges.assign(amount=np.arange(len(edges)) % 3 + 1.0).to_csv(tmp_path / "E.csv", index=False)
    frame = pd.DataFrame(graph.features.toarray()).add_prefix("x")
    frame.insert(0, "person", names)
    frame.to_csv(tmp_path / "F.csv", index=False)
    kinds = np.array(["cat", "dog", "owl"])[graph.labels]
    pd.DataFrame({"person": names, "kind": kinds}).to_csv(tmp_path / "L.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


COLUMNS = "--source who --target whom --weight amount --id person"


def test_files_in_embeddings_out(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    train = f"train --edges E.csv --features F.csv --labels L.csv {COLUMNS} --label kind"
    assert ugcl(f"{train} --out R {SMALL}") == 0
    printed = capsys.readouterr()
    assert "E.csv: " in printed.err
    assert "weights from 'amount'" in printed.err
    assert "next: ugcl embed R --out embeddings.parquet" in printed.out
    for name in ("e.npy", "e.parquet", "e.csv", "e.tsv"):
        assert ugcl(f"embed R --out {name}") == 0
    stored = np.load(folder / "R/embeddings.npy")
    np.testing.assert_array_equal(np.load(folder / "e.npy"), stored)
    table = pq.read_table(folder / "e.parquet")
    assert table["id"].to_pylist()[:2] == ["n 0", "n 1"]
    assert (folder / "e.metadata.tsv").read_text().splitlines()[1] == "n 0\tcat"
    capsys.readouterr()
    assert ugcl("evaluate R --json") == 0
    assert json.loads(capsys.readouterr().out)["accuracy"] > 0


def test_neighbors_print_what_was_promised(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        ugcl(f"train --edges E.csv --features F.csv --labels L.csv {COLUMNS} --out R {SMALL}") == 0
    )
    capsys.readouterr()
    assert ugcl("neighbors R 'n 3' -k 4 --json") == 0
    found = json.loads(capsys.readouterr().out)
    assert list(found) == ["id", "neighbors"]
    assert found["id"] == "n 3"
    assert len(found["neighbors"]) == 4
    for each in found["neighbors"]:
        assert list(each) == ["id", "similarity"]
        assert each["id"] != "n 3"
        assert -1 <= each["similarity"] <= 1
    assert ugcl("neighbors R 'n 3' -k 4") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["id", "similarity", "label"]
    assert lines[1].startswith(found["neighbors"][0]["id"])
    assert lines[1].split()[-1] in ("cat", "dog", "owl")
    assert ugcl("neighbors R 'n 3' -k 4 --approximate --json") == 0
    assert len(json.loads(capsys.readouterr().out)["neighbors"]) == 4


def test_embed_takes_the_run_s_columns_for_later_files(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ugcl(f"train --edges E.csv --features F.csv {COLUMNS} --out R {SMALL}") == 0
    edges, features = pd.read_csv("E.csv"), pd.read_csv("F.csv")
    later = pd.DataFrame({"who": ["new"], "whom": ["n 1"], "amount": [1.0]})
    pd.concat([edges, later]).to_csv("E2.csv", index=False)
    pd.concat([features, features.iloc[[1]].assign(person="new")]).to_csv("F2.csv", index=False)
    assert ugcl("embed R --edges E2.csv --features F2.csv --out later.parquet") == 0
    assert "weights from 'amount'" in capsys.readouterr().err
    table = pq.read_table("later.parquet")
    assert table["id"].to_pylist()[-1] == "new"
    assert ugcl("embed R --edges E2.csv --out later.csv") == 2
    assert "are missing here" in capsys.readouterr().err


def test_labels_that_come_later_are_scored(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ugcl(f"train --edges E.csv --features F.csv {COLUMNS} --out R {SMALL}") == 0
    assert ugcl("evaluate R") == 2
    assert "no labels" in capsys.readouterr().err
    assert ugcl("evaluate R --labels L.csv --json") == 0
    printed = capsys.readouterr()
    assert "6 training nodes for 3 classes are few" in printed.err
    score = json.loads(printed.out)
    assert ugcl("evaluate R --labels L.csv --label kind --id person --json") == 0
    assert json.loads(capsys.readouterr().out) == score
    assert ugcl("evaluate R --labels L.csv --task clusters --json") == 0
    assert json.loads(capsys.readouterr().out)["clusters"] == 3
    assert ugcl("evaluate R --labels L.csv --weight amount") == 2
    assert "--weight needs edges: name them with --edges" in capsys.readouterr().err
    Path("E.csv").rename("moved.csv")
    assert ugcl("evaluate R --labels L.csv") == 2
    assert "(ugcl evaluate --edges FILE)" in capsys.readouterr().err
    for graph in ("--edges", "--graph"):
        assert ugcl(f"evaluate R {graph} moved.csv --labels L.csv --label kind --json") == 0
        assert json.loads(capsys.readouterr().out) == score


def test_later_files_need_neither_labels_nor_columns_that_were_ignored(folder: Path) -> None:
    frame = pd.read_csv("F.csv").assign(note="text", kind=pd.read_csv("L.csv")["kind"])
    frame.to_csv("F2.csv", index=False)
    columns = f"{COLUMNS} --label kind --ignore note"
    assert ugcl(f"train --edges E.csv --features F2.csv {columns} --out R {SMALL}") == 0
    assert ugcl("embed R --edges E.csv --features F.csv --out one.npy") == 0
    assert ugcl("embed R E.csv --features F.csv --out two.npy") == 0
    stored = np.load("R/embeddings.npy")
    for name in ("one.npy", "two.npy"):
        np.testing.assert_allclose(np.load(name), stored, atol=1e-6)


def test_a_data_set_with_labels_of_one_s_own(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    frame = pd.DataFrame({"id": range(3327), "label": np.arange(3327) % 2})
    frame.to_csv("mine.csv", index=False)
    assert ugcl("train citeseer --labels mine.csv --method raw --out R") == 0
    capsys.readouterr()
    assert ugcl("train --config R/config.toml --out R2") == 0
    assert "2 classes" in capsys.readouterr().err


def test_a_run_repeats_from_its_config(folder: Path) -> None:
    assert ugcl(f"train --edges E.csv --features F.csv {COLUMNS} --out R {SMALL}") == 0
    assert ugcl("train --config R/config.toml --out R2") == 0
    one, other = (np.load(folder / run / "embeddings.npy") for run in ("R", "R2"))
    np.testing.assert_array_equal(one, other)


def test_no_features_are_made_and_announced(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ugcl(f"train --edges E.csv --source who --target whom --out R {SMALL}") == 0
    assert "no features: computed 129 structural features from the edges" in capsys.readouterr().err
    assert ugcl("embed R --edges E.csv --out again.npy") == 0
    again, stored = np.load("again.npy"), np.load("R/embeddings.npy")
    np.testing.assert_allclose(again, stored, atol=1e-6)
    assert ugcl(f"train E.csv --out R2 {SMALL}") == 0


def test_check_tells_what_was_read_and_what_it_takes(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = f"--edges E.csv --features F.csv --labels L.csv {COLUMNS} --label kind"
    assert ugcl(f"check {files} --save g.npz") == 0
    out = capsys.readouterr().out
    for words in (
        "read: 60 nodes, ",
        "12 dense features, 3 classes, weighted",
        "  F.csv: 60 rows of 12 features ('x0', 'x1', 'x2', 'x3', 'x4', 'x5', ...), ids from",
        "  symmetrised ",
        "labels: 60 nodes in 3 classes (cat, dog, owl)",
        "components: ",
        "neighbours: ",
        "suggested: multiscope, scope ",
        "memory: about ",
        "time: at most ",
        "looks wrong: ",
        "saved: g.npz",
        "next: ugcl train g.npz --feature-scaling tfidf --out runs/mine",
    ):
        assert words in out
    assert load_graph("g.npz").class_names == ("cat", "dog", "owl")
    assert ugcl(f"check {files} --json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["nodes"] == 60
    assert found["cost"]["seconds"] > 0
    assert found["suggested"]["method"] == "multiscope"
    assert ugcl(f"check {files}") == 0
    command = capsys.readouterr().out.splitlines()[-1].removeprefix("next: ugcl ")
    assert ugcl(f"{command} {SMALL}") == 0


def test_check_suggests_walks_where_there_are_no_features(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ugcl("check --edges E.csv") == 0
    out = capsys.readouterr().out
    assert "suggested: deepwalk" in out
    assert out.rstrip().endswith("--method deepwalk --out runs/mine")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("train --out R", "no graph given"),
        ("train --features F.csv --out R", "--features needs edges: name them with --edges"),
        ("train citeseer --edges E.csv --out R", "there are two graphs"),
        (
            "train citeseer --features F.csv --out R",
            "is a complete graph and cannot be combined with --features",
        ),
        ("train --edges missing.csv --out R", "missing.csv does not exist"),
        ("train --edges E.csv --source no --out R", "there is no column in E.csv called 'no'"),
        ("train --edges E.csv --features L.csv --id person --out R", "hold no numbers ('kind')"),
        ("check", "no graph given"),
        ("check --edges E.csv --save g.csv", "must end in .npz"),
        ("scope", "no graph given"),
        ("neighbors R x", "is not a run folder"),
        ("embed R --out e.xyz", "names no format"),
        (
            "train --edges E.csv --source who --target amount --weight whom --out R",
            "'whom' of E.csv holds no numbers",
        ),
    ],
)
def test_mistakes_get_one_sentence_and_lose_nothing(
    folder: Path, capsys: pytest.CaptureFixture[str], line: str, message: str
) -> None:
    before = sorted(folder.iterdir())
    assert ugcl(line) == 2
    told = capsys.readouterr().err.strip().splitlines()[-1]
    assert message in told
    assert told.startswith("ugcl: ")
    assert sorted(folder.iterdir()) == before


@pytest.mark.slow
def test_bench_load(capsys: pytest.CaptureFixture[str]) -> None:
    assert ugcl("bench load --edges 500 --nodes 50") == 0
    out = capsys.readouterr().out
    assert "500 edges of 50 nodes" in out
    assert [line.split()[0] for line in out.splitlines()[2:]] == ["numbers", "weights", "text"]
