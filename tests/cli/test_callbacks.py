from __future__ import annotations

import re
import sys

import pytest

from ugcl import Graph, fit
from ugcl.cli.callbacks import Progress

TITLES = ["ugcl on citeseer", "ugcl on e{x}.csv", "ugcl on [bold]"]


@pytest.mark.parametrize("title", TITLES)
def test_progress_on_a_terminal_is_a_bar(
    title: str, graph: Graph, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    fit("ugcl", graph, epochs=3, hidden=4, callbacks=[Progress(title)])
    captured = capsys.readouterr()
    assert captured.out == ""
    plain = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", captured.err)
    assert re.search(re.escape(title) + r" \S+ 3/3 loss \d+\.\d{4}", plain)


@pytest.mark.parametrize("title", TITLES)
def test_progress_elsewhere_is_lines(
    title: str, graph: Graph, capsys: pytest.CaptureFixture[str]
) -> None:
    fit("ugcl", graph, epochs=3, hidden=4, callbacks=[Progress(title)])
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith(f"{title}: epoch 1/3, loss ")
    assert lines[-1].startswith(f"{title}: epoch 3/3, loss ")
