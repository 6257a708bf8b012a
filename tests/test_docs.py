"""The snippets of the documentation run, its links resolve, its tables equal the results."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Callable
from functools import partial
from pathlib import Path
from unittest.mock import patch

import pytest

import collect
import make_tables
import ugcl
from collect import RESULTS, Record, put_record, read_records
from study_tables import StudyTable
from ugcl.cli import main
from ugcl.methods import METHODS
from ugcl.study import Results, write_leaderboard
from ugcl.study.cell import Cell
from ugcl.study.tasks import Place, execute

ROOT = Path(__file__).parents[1]
PAGES = sorted(
    [
        *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")),
        RESULTS / "README.md",
        *(ROOT / "docs").rglob("*.md"),
    ]
)


def snippets(page: Path) -> list[tuple[str, str]]:
    """Return the language and the text of each snippet of a page."""
    return re.findall(r"^```(python|console)\n(.*?)^```", page.read_text("utf-8"), re.M | re.S)


@pytest.fixture
def _short_training(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten what no option shortens: the maps of reports and `ugcl scope --deep`."""
    monkeypatch.setattr("ugcl.report.layout.STEPS", (10, 10))
    monkeypatch.setattr("ugcl.study.trained_criteria.fit", partial(ugcl.fit, epochs=2, hidden=64))


@pytest.mark.slow
@pytest.mark.usefixtures("_short_training")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_snippets_run_in_order(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    names: dict[str, object] = {}
    with patch.dict(METHODS):  # a page may register methods
        for kind, text in snippets(page):
            if kind == "python":
                exec(compile(text, str(page), "exec"), names)
                continue
            for line in text.splitlines():
                if line.startswith("$ ugcl "):
                    assert main(shlex.split(line, comments=True)[2:]) == 0, line


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_resolve(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?://|#)([^)#]+)", page.read_text("utf-8")):
        assert (page.parent / target).exists(), target


@pytest.mark.parametrize(
    ("page", "table"),
    [(page, table) for page, tables in make_tables.PAGES.items() for table in tables],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_tables_equal_the_results(page: str, table: Callable[[], make_tables.Rows]) -> None:
    if isinstance(table, StudyTable) and "UGCL_DATA" not in os.environ:
        pytest.skip("cells are found by the content of all data sets")
    lines = make_tables.render(table())
    if note := make_tables.footnotes(table):
        lines += ["", note]
    assert "\n".join(lines) in (ROOT / page).read_text("utf-8")


def test_tables_are_put_into_pages() -> None:
    def table(value: str) -> Callable[[], make_tables.Rows]:
        return lambda: iter([("a", "b"), (value, "2")])

    lines = ["# Page", "", "|a|b|", "| a | b |", "|---|---|", "| 0 | 0 |", "", "text", ""]
    page = "\n".join([*lines, *lines[3:]])
    new = make_tables.updated(page, [table("5"), table("7")])
    assert new == page.replace("| 0 | 0 |", "| 5 | 2 |", 1).replace("| 0 | 0 |", "| 7 | 2 |")
    assert make_tables.updated(new, [table("5"), table("7")]) == new


@pytest.mark.parametrize(
    ("page", "name", "count"),
    [
        ("docs/results/README.md", "accuracy", 7),
        ("docs/results/methods/README.md", "methods", 43),
        ("docs/results/baselines/README.md", "baselines", 32),
    ],
)
def test_pages_have_the_commands_of_accuracy_studies(page: str, name: str, count: int) -> None:
    studies = read_records(RESULTS / f"{name}.jsonl")
    assert len(studies) == count
    for study in studies:
        check_commands(page, study)
        assert all(row["seeds"] == 5 for row in study["summary"])
        assert all(row["scored_by"] and "+" not in row["scored_by"] for row in study["rows"])


def test_pages_have_the_commands_of_paired_studies() -> None:
    studies = read_records(RESULTS / "paired.jsonl")
    compared = [study for study in studies if study["against"].startswith("authors")]
    auto = [study for study in studies if study["against"] == "fast"]
    assert (len(compared), len(auto)) == (7, 3)
    for study in compared:
        check_commands("docs/results/README.md", study)
    for study in auto:
        check_commands("docs/scope/README.md", study)
    for study in studies:
        assert study["splits"] == 20
        assert all(row["seeds"] == (3 if study in auto else 5) for row in study["summary"])
        assert all(row["commit"] and "+" not in row["commit"] for row in study["rows"])


def test_pages_have_the_commands_of_tuned_scopes() -> None:
    studies = read_records(RESULTS / "tuned.jsonl")
    assert len(studies) == 12
    for study in studies:
        check_commands("docs/results/methods/README.md", study)
        assert study["commit"]
        assert "+" not in study["commit"]


def todays_command(recorded: str) -> str:
    """Return a recorded command with today's options: renamed ones, lists, the method by name."""
    renamed = recorded.replace(" --settings ", " --preset ")
    renamed = re.sub(r"^ugcl study (?!run )", "ugcl study run ", renamed)
    if " --method " not in renamed:
        renamed = re.sub(r"^(ugcl study run \S+)", r"\1 --method ugcl", renamed)
    lists = r" (--(?:preset|tune-scopes)) ((?:[^\s-]\S*\s+)*[^\s-]\S*)"
    return re.sub(lists, lambda found: f" {found[1]} {','.join(found[2].split())}", renamed)


def check_commands(page: str, study: Record) -> None:
    """Check that a page has a study's commands, with today's options, or NAME for the graph."""
    text = (ROOT / page).read_text("utf-8")
    assert study["commands"]
    for recorded in study["commands"]:
        command = todays_command(recorded)
        assert command in text or command.replace(study["graph"], "NAME") in text, command


def test_the_leaderboard_is_made_from_the_cells(tmp_path: Path) -> None:
    command = "ugcl study leaderboard results/cells.jsonl --out docs/leaderboard.html"
    rows = write_leaderboard([RESULTS / "cells.jsonl"], tmp_path / "board.html", command)
    page = (tmp_path / "board.html").read_text("utf-8")
    assert page == (ROOT / "docs/leaderboard.html").read_text("utf-8")
    assert command in (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    assert all(row["seconds"] > 0 for row in rows)


def test_cells_are_of_a_commit() -> None:
    for record in read_records(RESULTS / "cells.jsonl"):
        assert record["commit"], record["key"]
        assert "+" not in record["commit"], record["key"]  # no uncommitted changes
        assert "error" not in record, record["key"]


@pytest.mark.slow
def test_a_cell_repeats(tmp_path: Path) -> None:
    """The cheapest trained cell of the packaged graph; other machines round in another way."""
    record = min(
        (
            record
            for record in read_records(RESULTS / "cells.jsonl")
            if (record["task"], record["graph"]) == ("accuracy", "citeseer")
            and METHODS[record["method"]].trained
        ),
        key=lambda record: record["cpu_seconds"],
    )
    params = {name: record[name] for name in ("method", "preset", "settings")}
    cell = Cell("accuracy", "citeseer", params, record["seed"], record["scores"])
    assert Results(Path("unused")).key(cell) == record["key"]
    outcome = execute(cell, Place(tmp_path / "run"))
    for protocol, score in outcome["result"]["scores"].items():
        stored = record["result"]["scores"][protocol]
        assert score["accuracy"] == pytest.approx(stored["accuracy"], abs=1)
        assert score.get("accuracy_mean") == pytest.approx(stored.get("accuracy_mean"), abs=0.5)
        assert score.get("splits") == stored.get("splits")


@pytest.mark.parametrize("path", sorted(RESULTS.glob("*.jsonl")), ids=lambda path: path.name)
def test_results_are_small_and_described(path: Path) -> None:
    assert path.stat().st_size < 2_000_000
    assert f"`{path.name}`" in (RESULTS / "README.md").read_text("utf-8")
    records = read_records(path)
    names = [record["name"] for record in records if "name" in record]
    assert len(set(names)) == len(names)


def test_collect_replaces_records_of_the_same_name(tmp_path: Path) -> None:
    results, output = tmp_path / "some.jsonl", tmp_path / "cora.json"
    for value in (1, 2):
        output.write_text(json.dumps({"value": value}))
        with patch("sys.argv", ["collect.py", str(results), str(output)]):
            collect.main()
    put_record(results, {"name": "citeseer", "value": 3}, "name")
    assert read_records(results) == [
        {"name": "cora", "value": 2},
        {"name": "citeseer", "value": 3},
    ]


def test_collect_names_graphs_without_their_folder(tmp_path: Path) -> None:
    results, output = tmp_path / "some.jsonl", tmp_path / "cora.json"
    for graph, expected in (("cora", "cora"), (str(tmp_path / "mine.npz"), "mine")):
        output.write_text(json.dumps({"graph": graph}))
        with patch("sys.argv", ["collect.py", str(results), str(output)]):
            collect.main()
        assert read_records(results) == [{"name": "cora", "graph": expected}]
