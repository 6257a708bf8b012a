"""`ugcl study leaderboard`: all scored methods of studies as one page."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

from ugcl import study
from ugcl.cli.command import CommaSeparated, Result, argument, command, option


@command("leaderboard", examples=("ugcl study leaderboard study/cells.jsonl --out board.html",))
@argument("cells", type=CommaSeparated(), help="comma-separated cells.jsonl files of studies")
@option("--out", required=True, metavar="FILE", help="the HTML file to write")
def leaderboard(cells: tuple[str, ...], out: str) -> Result:
    """Make a page of all scored methods that can be sorted in a browser."""
    shown = shlex.join(["ugcl", *sys.argv[1:]]) if sys.argv[1:2] == ["study"] else ""
    rows = study.write_leaderboard([Path(path) for path in cells], Path(out), shown)
    return Result(rows, lambda: print(f"{len(rows)} rows in {out}"))
