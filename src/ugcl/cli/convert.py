"""`ugcl convert`: from files to the folder of a graph, within a limit of memory."""

from __future__ import annotations

import atexit
import gc
import time
from types import TracebackType
from typing import Self

import rich_click as click
from rich.console import Console
from rich.progress import BarColumn, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as RichProgress

from ugcl import data
from ugcl.cli.command import Result, command, integer, option
from ugcl.cli.options import GraphArgument, data_root, graph_options
from ugcl.cli.output import on_terminal, resumable, say

EXAMPLES = (
    "ugcl convert --edges 'days/*.parquet' --features nodes.parquet --memory 4GB --out graph",
)

INTERVAL = 10.0
"""Seconds between two lines of a stage where standard error is not a terminal."""


@command("convert", examples=EXAMPLES)
@graph_options
@option("--out", required=True, metavar="DIR", help="the folder to write")
@option(
    "--memory",
    default="4GB",
    metavar="SIZE",
    help="memory that the conversion may use, such as 4GB; text and Parquet files may be larger "
    "(default: 4GB)",
)
@option(
    "--temp", metavar="DIR", help="folder of temporary files (default: beside the folder to write)"
)
@option(
    "--dtype",
    type=click.Choice(("float32", "float16")),
    default="float32",
    help="of dense features (default: float32)",
)
@option("--threads", type=integer(1), advanced=True, help="CPU threads (default: all cores)")
@data_root
def convert(
    graph: GraphArgument,
    out: str,
    memory: str,
    temp: str | None,
    dtype: str,
    threads: int | None,
    data_root: str | None,
) -> Result:
    """Convert files of any size to a folder, which all commands take and map into memory."""
    source = graph.require("ugcl convert --edges edges.csv --out graph")
    atexit.unregister(gc.freeze)  # else DuckDB's bindings report what is not collected as leaks
    started = time.monotonic()
    with resumable("the same command continues"), _Stages() as stages:
        converted = data.convert_graph(
            source,
            out,
            memory=memory,
            temp=temp,
            dtype=dtype,
            threads=threads,
            data_root=data_root,
            progress=stages.update,
        )
    value = {
        "folder": out,
        "nodes": converted.num_nodes,
        "edges": converted.num_edges,
        "features": converted.num_features,
        "weighted": converted.weighted,
        "classes": converted.num_classes,
        "notes": list(converted.notes),
        "fingerprint": converted.fingerprint,
        "seconds": round(time.monotonic() - started, 3),
    }

    def show() -> None:
        print(f"{out}: {converted.summary}{', weighted' if converted.weighted else ''}")
        for note in converted.notes:
            print(f"  {note}")

    return Result(value, show)


def _rate(done: int, seconds: float) -> str:
    return f"{done:,} ({done / max(seconds, 1e-9):,.0f}/s)" if done else ""


class _Stages:
    """Shows the stages of a conversion on standard error: bars on a terminal, lines elsewhere."""

    def __init__(self) -> None:
        self.stage = ""
        self.task: TaskID | None = None
        self.bar: RichProgress | None = None
        self.started = self.printed = 0.0

    def __enter__(self) -> Self:
        if on_terminal():
            self.bar = RichProgress(
                TextColumn("{task.description}", markup=False),
                BarColumn(),
                TextColumn("{task.fields[rows]}"),
                TimeElapsedColumn(),
                TimeRemainingColumn(),
                console=Console(stderr=True),
            )
            self.bar.start()
        return self

    def update(self, stage: str, done: int, total: int | None) -> None:
        """Show what is done of a stage; the total may be an estimate."""
        now = time.monotonic()
        if stage != self.stage:
            self._end(now)
            self.stage, self.started, self.printed = stage, now, now
            if self.bar is None:
                say(f"{stage} ...")
            else:
                self.task = self.bar.add_task(stage, total=total, rows="")
        if self.bar is not None and self.task is not None:
            self.bar.update(
                self.task, completed=done, total=total, rows=_rate(done, now - self.started)
            )
        elif done and now - self.printed >= INTERVAL:
            self.printed = now
            share = f", {min(100 * done / total, 99):.0f} %" if total else ""
            say(f"{stage}: {now - self.started:.0f} s{share}")

    def _end(self, now: float) -> None:
        """Complete the bar of the last stage."""
        if self.bar is not None and self.task is not None:
            self.bar.update(self.task, total=1, completed=1)
        elif self.stage and now - self.started >= 1:
            say(f"{self.stage}: done in {now - self.started:.1f} s")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        if error is None:
            self._end(time.monotonic())
        if self.bar is not None:
            self.bar.stop()
