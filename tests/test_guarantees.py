"""The tests that docs/guarantees.md names exist."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs/guarantees.md"
NAMED = re.compile(r"\[[^]]+\]\(\.\./(tests/[^)]+\.py)\)|`(test_\w+)`")


def named_tests() -> list[tuple[str, str]]:
    """Return the file and the name of each test on the page; a file is that of the next names."""
    text = PAGE.read_text("utf-8").replace("`tests/test_guarantees.py`", "")
    tests, file = [], ""
    for path, name in NAMED.findall(text):
        file = path or file
        if name:
            tests.append((file, name))
    return tests


def functions(file: str) -> set[str]:
    tree = ast.parse((ROOT / file).read_text("utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_every_test_of_a_guarantee_exists() -> None:
    named = named_tests()
    assert len(named) > 50
    defined = {file: functions(file) for file, _ in named}
    assert [f"{file}::{name}" for file, name in named if name not in defined[file]] == []


def test_every_row_of_a_promise_names_a_test() -> None:
    rows = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| ")]
    promises = [row for row in rows if not row.startswith(("| promise |", "| format |"))]
    assert len(promises) > 20
    assert [row for row in promises if not NAMED.search(row) or "`test_" not in row] == []
