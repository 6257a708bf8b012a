from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from pages import made_run

from ugcl import UGCLError
from ugcl.report import gather


def test_runs_on_two_graphs_are_not_compared(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    one = made_run(tmp_path / "a")
    other = made_run(tmp_path / "b", labels=False)
    both = gather([one, other], splits=2)  # the same edges and features
    assert [view.name for view in both.runs] == [str(one.path), str(other.path)]
    other = replace(other, config=replace(other.config, fingerprint="other"))
    with pytest.raises(UGCLError, match="was trained on another graph than"):
        gather([one, other])


def test_many_nodes_are_sampled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ugcl.report.contents.MAX_NODES", 40)
    found = gather([made_run(tmp_path, labels=False)])
    assert len(found.nodes.ids) == 40
    assert found.runs[0].neighbours.max() < 40


def test_long_ids_allow_fewer_nodes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ugcl.report.contents.MAX_TEXT", 300)
    monkeypatch.setattr("ugcl.report.contents.MAX_PAIRS", 100)
    found = gather([made_run(tmp_path, labels=False)])
    assert 20 < len(found.nodes.ids) < 60
    assert found.runs[0].neighbours.shape[1] == 100 // len(found.nodes.ids)
