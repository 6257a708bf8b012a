"""Every snippet of the documentation runs, and every figure in it is in the result files."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from ugcl.cli import main
from ugcl.data import DATASETS

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


def figure(pair: tuple[float, float | None]) -> str:
    mean, deviation = pair
    return f"{mean:.2f}" if deviation is None else f"{mean:.2f} ± {deviation:.2f}"


def test_the_table_of_data_sets_is_the_catalogue() -> None:
    page = (ROOT / "docs/guide.md").read_text("utf-8")
    for dataset in DATASETS.values():
        counts = (dataset.nodes, dataset.edges, dataset.features, dataset.classes)
        cells = [f"`{dataset.name}`", *(f"{count:,}" for count in counts)]
        assert f"| {' | '.join(cells)} | {dataset.source.split or 'none'} | [" in page
        assert dataset.source.page in page


def test_the_table_of_variants_is_the_data() -> None:
    page = (ROOT / "docs/results/README.md").read_text("utf-8")
    result = json.loads((ROOT / "docs/results/choose_fast.json").read_text("utf-8"))
    for name, scores in result["validation"].items():
        assert f"| {name} | {scores['mean']:.2f} |" in page
        assert len(scores["all"]) == result["seeds"] * result["splits"]


def test_the_table_of_results_is_the_data() -> None:
    page = (ROOT / "docs/results/README.md").read_text("utf-8")
    result = json.loads((ROOT / "docs/results/citeseer.json").read_text("utf-8"))
    assert result["command"] in page
    assert len(result["summary"]) == 6
    for row in result["summary"]:
        cells = [
            f"`{row['preset']}`",
            str(row["hidden"]),
            f"`{row['protocol']}`",
            figure(row["accuracy"]),
            *(figure(row["controls"][name]) for name in ("raw", "smooth", "untrained")),
        ]
        assert row["seeds"] == 5
        assert f"| {' | '.join(cells)} |" in page
