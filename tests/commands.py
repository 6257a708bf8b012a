"""Helpers that run commands of the command line."""

from __future__ import annotations

import re

import pytest

from ugcl.cli import main

SMALL = ["--hidden", "8", "--epochs", "5", "--lr", "0.01"]


def ugcl(*arguments: object) -> int:
    return main([str(argument) for argument in arguments])


def fails(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    """Run a command that must fail, and return its one sentence."""
    assert ugcl(*arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    lines = captured.err.strip().splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("ugcl: ")
    return lines[0]


def options_of(help_text: str) -> list[str]:
    """The options that a help text lists, without arguments and example lines."""
    return re.findall(r"^\s+(?:-\w, )?(--[\w-]+)", help_text.split("\nExample")[0], re.MULTILINE)
