"""Nothing but the download of named data sets uses the network."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import ugcl

NETWORK = {
    *("aiohttp", "ftplib", "http", "httpx", "requests", "smtplib", "socket", "ssl", "telnetlib"),
    *("torch.hub", "urllib", "urllib3", "websocket", "xmlrpc"),
}

WATCHED = """
import sys

def watch(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.sendto", "urllib.Request"):
        print(event, arguments, file=sys.stderr)
        raise SystemExit("the network was used")

sys.addaudithook(watch)
from ugcl.cli import main

for words in (
    "train citeseer --method sign --out controls",
    "check small.npz",
    "train small.npz --out run --epochs 2 --hidden 8",
    "embed run --out embeddings.csv",
    "neighbors run 3",
    "evaluate run",
    "report run --out page.html",
):
    assert main(words.split()) == 0, words
"""


def imported(path: Path) -> set[str]:
    """Return the modules that a file imports, without a dot at the start."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def test_only_downloads_import_what_uses_the_network() -> None:
    package = Path(ugcl.__file__).parent
    users = {
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        for name in imported(path)
        if any(f"{name}.".startswith(f"{each}.") for each in NETWORK)
    }
    assert users == {"data/download.py"}


@pytest.mark.slow
def test_commands_on_local_graphs_use_no_network(
    graph_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert graph_file == tmp_path / "small.npz"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    command = [sys.executable, "-c", WATCHED]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "page.html").is_file()
