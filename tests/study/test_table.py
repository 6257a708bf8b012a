from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ugcl.study import Entry, Table
from ugcl.study.table import DIFFERS, FOOTNOTES, escape


def table(rows: list[tuple[str, list[Entry | str]]], ranked: set[str] | None = None) -> Table:
    columns = [f"c{i}" for i in range(len(rows[0][1]))]
    names = {name for name, _ in rows} if ranked is None else ranked
    return Table("t", "A title", "method", columns, rows, frozenset(names), ("A note.",), "%")


@pytest.mark.parametrize(
    ("entry", "text"),
    [
        (Entry(None), "not run"),
        (Entry(None, note="failed: no room"), "failed: no room"),
        (Entry(None, published=(70.3, None)), "not run (70.3)"),
        (Entry(84.12, 0.34), "84.1 ± 0.3"),
        (Entry(84.1, 0.3, (84.7, 0.3)), "84.1 ± 0.3 (84.7)"),
        (Entry(82.0, 0.3, (84.7, 0.4)), f"82.0 ± 0.3 (84.7{DIFFERS})"),
        (Entry(82.0, None, (84.7, None)), "82.0 (84.7)"),
        (Entry(82.0, note="2 of 5 seeds"), "82.0 (2 of 5 seeds)"),
        (Entry(1.04, low=-0.1, high=2.2), "+1.0 [-0.1, +2.2]"),
        (Entry(12345, digits=0), "12,345"),
    ],
)
def test_the_text_of_a_figure(entry: Entry, text: str) -> None:
    assert entry.text() == text


def test_notes_of_figures_are_footnotes() -> None:
    rows: list[tuple[str, list[Entry | str]]] = [
        (
            "one",
            [Entry(82.0, 0.3, (84.7, 0.4), note="2 of 5 seeds"), Entry(None, note="failed: x")],
        ),
        ("two", [Entry(1.0, low=0.5, high=1.5, note="1 of 5 seeds"), Entry(81.0)]),
        ("three", [Entry(80.0, note="2 of 5 seeds"), "text"]),
    ]
    made = table(rows, set())
    _, *lines = made.texts()
    assert lines[0][1:] == (f"82.0 ± 0.3ᵃ (84.7{DIFFERS})", "failed: x")
    assert lines[1][1:] == ("+1.0 [+0.5, +1.5]ᵇ", "81.0")
    assert lines[2][1:] == ("80.0ᵃ", "text")
    assert made.sentences() == ["A note.", "ᵃ 2 of 5 seeds; ᵇ 1 of 5 seeds."]
    assert "82.0 $\\pm$ 0.3$^a$ (84.7$^\\dagger$)" in made.latex()
    assert made.sentences()[1] in made.markdown()


def test_many_different_notes_stay_beside_the_figures() -> None:
    rows: list[tuple[str, list[Entry | str]]] = [
        (f"m{i}", [Entry(80.0, note=f"note {i}")]) for i in range(len(FOOTNOTES) + 1)
    ]
    made = table(rows)
    assert "80.0 (note 3)" in made.markdown()
    assert made.sentences() == ["A note."]


@given(st.lists(st.integers(0, 5), min_size=1, max_size=6))
def test_the_best_is_bold_and_the_second_underlined(means: list[int]) -> None:
    rows: list[tuple[str, list[Entry | str]]] = [
        (f"m{i}", [Entry(float(mean))]) for i, mean in enumerate(means)
    ]
    lines = table(rows).markdown().splitlines()[4 : 4 + len(means)]
    best, second = max(means), max((m for m in means if m < max(means)), default=None)
    for mean, line in zip(means, lines, strict=True):
        assert ("**" in line) == (mean == best)
        assert ("<u>" in line) == (mean == second)


def test_only_ranked_rows_compete() -> None:
    rows: list[tuple[str, list[Entry | str]]] = [
        ("control", [Entry(90.0)]),
        ("method", [Entry(80.0)]),
        ("text", ["-"]),
    ]
    assert table(rows, {"method", "text"}).ranks() == {(1, 0): 1}


def test_the_files_agree(tmp_path: Path) -> None:
    rows: list[tuple[str, list[Entry | str]]] = [
        ("a_b", [Entry(84.12, 0.34, (80.0, 0.1)), "n & m"]),
        ("c", [Entry(None), Entry(1.0, low=0.5, high=1.5)]),
    ]
    files = table(rows).write(tmp_path)
    assert [path.name for path in files] == ["t.csv", "t.json", "t.md", "t.tex"]
    with files[0].open(newline="") as file:
        lines = list(csv.DictReader(file))
    entries = json.loads(files[1].read_text("utf-8"))["entries"]
    assert [(line["row"], line["column"]) for line in lines] == [
        (entry["row"], entry["column"]) for entry in entries
    ]
    assert float(lines[0]["mean"]) == entries[0]["mean"] == 84.12
    assert lines[0]["differs"] == "True"
    assert lines[2]["text"] == "not run"
    assert [line["unit"] for line in lines] == ["%", "", "%", "points"]
    latex = files[3].read_text("utf-8")
    assert "a\\_b & \\textbf{84.1 $\\pm$ 0.3 (80.0$^\\dagger$)} & n \\& m \\\\" in latex
    assert latex.count("\\\\") == 3
    assert "\\toprule" in latex
    assert "\\bottomrule" in latex


@given(st.text(alphabet="ab&%$#_{}~^\\±²", max_size=12))
def test_escaped_text_has_no_bare_special_characters(text: str) -> None:
    bare = escape(text)
    for command in ("\\textbackslash{}", "\\textasciitilde{}", "\\textasciicircum{}"):
        bare = bare.replace(command, "")
    for math in ("$\\pm$", "$^2$"):
        bare = bare.replace(math, "")
    for char in "&%$#_{}":
        bare = bare.replace(f"\\{char}", "")
    assert not set(bare) & set("&%$#_{}~^\\")
