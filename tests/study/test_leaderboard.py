from __future__ import annotations

import json
from pathlib import Path
from statistics import fmean

import pytest

from ugcl import UGCLError
from ugcl.cli import main
from ugcl.study import Options, Results, leaderboard_rows, run_study, write_leaderboard


@pytest.fixture(scope="module")
def cells(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The cells of two methods on CiteSeer."""
    folder = tmp_path_factory.mktemp("study")
    options = Options(data=("citeseer",), methods=("raw", "smooth"), seeds=2, splits=2)
    run_study("does-training-pay", folder, options)
    return folder / "cells.jsonl"


def test_a_row_summarises_the_records_of_a_method(cells: Path) -> None:
    records = list(Results.open(cells).records.values())
    rows = leaderboard_rows([*records, {"key": "x", "task": "decay", "result": {}}])
    assert {(row["method"], row["protocol"]) for row in rows} == {
        (method, protocol) for method in ("raw", "smooth") for protocol in ("honest", "paper")
    }
    for row in rows:
        scores = [
            record["result"]["scores"][row["protocol"]]
            for record in records
            if record["method"] == row["method"]
        ]
        assert row["seeds"] == len(scores)
        assert row["one split"][0] == pytest.approx(fmean(s["accuracy"] for s in scores), abs=0.01)
        if row["protocol"] == "paper":
            assert row["accuracy"] is row["gain"] is None
            continue
        means = scores[0]["controls_mean"]
        assert row["gain"]["control"] == max(means, key=means.__getitem__)
        assert row["gain"]["mean"] == pytest.approx(
            fmean(s["accuracy_mean"] for s in scores) - max(means.values()), abs=0.02
        )


def test_only_the_newest_version_counts(cells: Path) -> None:
    records = list(Results.open(cells).records.values())
    old = [
        {**record, "key": f"old {record['key']}", "method_version": 0, "seed": 7}
        for record in records
    ]
    assert leaderboard_rows([*old, *records, *records]) == leaderboard_rows(records)


def test_the_page_has_all_rows_and_escapes_them(cells: Path, tmp_path: Path) -> None:
    records = Results.open(cells).records
    hostile = {**next(iter(records.values())), "key": "x", "method": "<script>alert(1)</script>"}
    path = tmp_path / "cells.jsonl"
    path.write_text(cells.read_text("utf-8") + json.dumps(hostile) + "\n", "utf-8")
    rows = write_leaderboard([path], tmp_path / "board.html", "ugcl study leaderboard")
    page = (tmp_path / "board.html").read_text("utf-8")
    assert page.count("<tr>") == len(rows) + 1
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert "http" not in page


def test_the_command(cells: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "board.html"
    assert main(["study", "leaderboard", str(cells), "--out", str(out)]) == 0
    assert capsys.readouterr().out == f"4 rows in {out}\n"
    assert main(["study", "leaderboard", str(tmp_path / "no.jsonl"), "--out", str(out)]) == 2
    assert "there is no file" in capsys.readouterr().err
    empty = tmp_path / "empty.jsonl"
    empty.write_text("")
    with pytest.raises(UGCLError, match="has no scored method"):
        write_leaderboard([empty], out)
