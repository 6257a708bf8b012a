from __future__ import annotations

import json
import re

import pytest

from commands import ugcl
from ugcl.methods import METHODS


def test_datasets_and_methods(capsys: pytest.CaptureFixture[str]) -> None:
    assert ugcl("datasets", "--json") == 0
    listed = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    assert len(listed) == 8
    assert listed["citeseer"]["embedded"]
    assert listed["ogbn-arxiv"]["page"] == "https://ogb.stanford.edu/docs/nodeprop/#ogbn-arxiv"
    assert listed["ogbn-arxiv"]["split"] == "time"
    assert ugcl("methods", "--json") == 0
    methods = json.loads(capsys.readouterr().out)
    assert [method["name"] for method in methods] == list(METHODS)
    for method in methods:
        assert {"name", "kind", "needs", "scope", "inductive", "paper"} <= set(method)
        assert method["kind"] in ("contrastive", "unsupervised", "supervised", "control")
        assert set(method["needs"]) <= {"X", "A", "Y"}
    for command in ("datasets", "methods"):
        assert ugcl(command) == 0
        assert capsys.readouterr().out


def test_methods_prints_every_method_and_its_presets(capsys: pytest.CaptureFixture[str]) -> None:
    assert ugcl("methods") == 0
    table, *parts = capsys.readouterr().out.split("\n\n")
    header, *rows, _ = table.splitlines()
    assert header.split() == ["name", "kind", "needs", "unseen", "nodes", "scope"]
    assert len(rows) == len(parts) == len(METHODS)
    for row, part, method in zip(rows, parts, METHODS.values(), strict=True):
        cells = [method.name, method.kind, ", ".join(method.needs)]
        cells += ["yes" if method.inductive else "no", method.scope]
        assert re.split(r"\s{2,}", row) == cells
        assert part.startswith(f"{method.name}: {method.paper}\n")
        assert re.findall(r"--preset (\w+):", part) == list(method.presets)
