"""Every snippet of the documentation runs, and every figure in it is in the result files."""

from __future__ import annotations

import importlib.util
import json
import re
import shlex
import sys
from pathlib import Path
from types import ModuleType
from unittest.mock import patch

import pytest

from ugcl.cli import main
from ugcl.methods import METHODS

ROOT = Path(__file__).parents[1]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])


def snippets(page: Path) -> list[tuple[str, str]]:
    return re.findall(r"^```(python|console)\n(.*?)^```", page.read_text("utf-8"), re.M | re.S)


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_snippets_run_in_order(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    with patch.dict(METHODS):  # a page may register methods of its own
        for kind, text in snippets(page):
            if kind == "python":
                exec(compile(text, str(page), "exec"), names)
                continue
            for line in text.splitlines():
                if line.startswith("$ ugcl "):
                    assert main(shlex.split(line, comments=True)[2:]) == 0, line


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?://|#)([^)#]+)", page.read_text("utf-8")):
        assert (page.parent / target).exists(), target


def script(name: str) -> ModuleType:
    """A script of the project as a module."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    made = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def tables(name: str) -> list[str]:
    """The lines of a table that the scripts make of the result files."""
    results, bench = ROOT / "docs/results", ROOT / "docs/bench"
    made, benched = script("results_tables"), script("bench_tables")
    if hasattr(benched, name):
        return list(getattr(benched, name)(benched.load(bench)))
    if name == "overview":
        cold_start = json.loads((bench / "cold_start.json").read_text("utf-8"))
        return list(made.overview(made.results(results), cold_start))
    scopes = script("scope_tables")
    if name in ("regrets", "rules"):
        return list(getattr(scopes, name)(scopes.load(ROOT / "docs/results/scopes")))
    if name in ("paper_table", "decays"):
        file = {"paper_table": "paper_table.json", "decays": "decay.json"}[name]
        found = json.loads((ROOT / "docs/scope" / file).read_text("utf-8"))
        drawn = scopes if name == "paper_table" else script("draw_figures")
        return list(getattr(drawn, name)(found))
    if name in ("unsupervised", "supervised", "tasks"):
        return list(getattr(made, name)(results / "baselines"))
    if name in ("methods", "tuned", "each_scope"):
        return list(getattr(made, name)(results / "methods"))
    by_folder = name in ("choices", "negatives", "fast")
    return list(getattr(made, name)(results if by_folder else made.results(results)))


@pytest.mark.parametrize(
    ("page", "table"),
    [
        ("README.md", "overview"),
        ("docs/results/README.md", "one_split"),
        ("docs/results/README.md", "many_splits"),
        ("docs/results/README.md", "choices"),
        ("docs/results/README.md", "negatives"),
        ("docs/results/README.md", "fast"),
        ("docs/results/methods/README.md", "methods"),
        ("docs/results/methods/README.md", "tuned"),
        ("docs/results/methods/README.md", "each_scope"),
        ("docs/results/baselines/README.md", "unsupervised"),
        ("docs/results/baselines/README.md", "supervised"),
        ("docs/results/baselines/README.md", "tasks"),
        ("docs/bench/README.md", "steps"),
        ("docs/bench/README.md", "parts"),
        ("docs/bench/README.md", "growth"),
        ("docs/bench/README.md", "embedding"),
        ("docs/bench/README.md", "memory"),
        ("docs/scope/README.md", "regrets"),
        ("docs/scope/README.md", "rules"),
        ("docs/scope/README.md", "paper_table"),
        ("docs/scope/README.md", "decays"),
    ],
)
def test_the_tables_are_the_data(page: str, table: str) -> None:
    assert "\n".join(tables(table)) in (ROOT / page).read_text("utf-8")


def test_the_page_of_results_has_the_commands_that_made_them() -> None:
    page = (ROOT / "docs/results/README.md").read_text("utf-8")
    files = list((ROOT / "docs/results").glob("*.json"))
    assert len(files) == 7
    for path in files:
        study = json.loads(path.read_text("utf-8"))
        assert study["commands"]
        for command in study["commands"]:
            assert command in page
        assert all(row["seeds"] == 5 for row in study["summary"])
        assert all(row["scored_by"] and "+" not in row["scored_by"] for row in study["rows"])


def test_the_page_of_results_has_the_commands_of_the_comparisons() -> None:
    page = (ROOT / "docs/results/README.md").read_text("utf-8")
    files = list((ROOT / "docs/results/paired").glob("*.json"))
    assert len(files) == 7
    for path in files:
        study = json.loads(path.read_text("utf-8"))
        assert study["splits"] == 20
        assert all(row["seeds"] == 5 for row in study["summary"])
        assert all(command in page for command in study["commands"])
        assert all(row["commit"] and "+" not in row["commit"] for row in study["rows"])


def test_the_page_of_other_methods_has_the_commands_that_made_its_results() -> None:
    folder = ROOT / "docs/results/methods"
    page = (folder / "README.md").read_text("utf-8")
    studies = [json.loads(path.read_text("utf-8")) for path in folder.glob("*.json")]
    tuned = [json.loads(path.read_text("utf-8")) for path in folder.glob("tuned/*.json")]
    assert (len(studies), len(tuned)) == (43, 12)
    for study in (*studies, *tuned):
        assert study["commands"]
        assert all(command in page for command in study["commands"])
    for study in studies:
        assert all(row["seeds"] == 5 for row in study["summary"])
        assert all(row["scored_by"] and "+" not in row["scored_by"] for row in study["rows"])
    assert all(study["commit"] and "+" not in study["commit"] for study in tuned)


def test_the_page_of_baselines_has_the_commands_that_made_its_results() -> None:
    folder = ROOT / "docs/results/baselines"
    page = (folder / "README.md").read_text("utf-8")
    studies = [json.loads(path.read_text("utf-8")) for path in folder.glob("*.json")]
    assert len(studies) == 32
    for study in studies:
        assert study["commands"]
        assert all(command in page for command in study["commands"])
        assert all(row["seeds"] == 5 for row in study["summary"])
        assert all(row["scored_by"] and "+" not in row["scored_by"] for row in study["rows"])
