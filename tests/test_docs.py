"""Every snippet of the documentation runs, and every figure in it is in the result files."""

from __future__ import annotations

import importlib.util
import json
import re
import shlex
from pathlib import Path

import pytest

from ugcl.cli import main

ROOT = Path(__file__).parents[1]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])


def snippets(page: Path) -> list[tuple[str, str]]:
    return re.findall(r"^```(python|console)\n(.*?)^```", page.read_text("utf-8"), re.M | re.S)


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_snippets_run_in_order(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
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


def tables(name: str) -> list[str]:
    """The lines of a table that scripts/results_tables.py makes of the result files."""
    place = ROOT / "scripts/results_tables.py"
    spec = importlib.util.spec_from_file_location("results_tables", place)
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    results = ROOT / "docs/results"
    return list(getattr(made, name)(results if name == "choices" else made.results(results)))


@pytest.mark.parametrize(
    ("page", "table"),
    [
        ("README.md", "overview"),
        ("docs/results/README.md", "one_split"),
        ("docs/results/README.md", "many_splits"),
        ("docs/results/README.md", "choices"),
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
