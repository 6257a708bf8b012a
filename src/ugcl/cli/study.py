"""`ugcl study`: studies over methods, data sets and seeds, with their tables and figures."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click

from ugcl import data
from ugcl import study as studies
from ugcl._utils.errors import UGCLError
from ugcl.cli.command import CommaSeparated, Group, Result, command, integer, number, option
from ugcl.cli.options import GraphArgument, data_root, device, graph_file_options
from ugcl.cli.output import on_terminal, print_table, resumable, say
from ugcl.study.names import BACKENDS, STUDIES, Backend

if TYPE_CHECKING:
    from ugcl.study.runner import Progress


class StudyGroup(Group):
    """The studies; a graph in place of a study's name is an error that says what to write."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that is called."""
        name = args[0]
        if name not in self.list_commands(ctx) and (name in data.DATASETS or "." in name):
            raise click.UsageError(f"{name} is a graph: write ugcl study run {name}", ctx)
        return super().resolve_command(ctx, args)


study = StudyGroup(
    "study",
    lazy={
        "run": "ugcl.cli.study_run:run",
        "leaderboard": "ugcl.cli.leaderboard:leaderboard",
    },
    help="Make the tables and figures of the paper, and compare methods.",
    examples=(
        "ugcl study classification --data citeseer --methods ugcl,dgi --seeds 2 --out study",
        "ugcl study all --out study --budget 60",
        "ugcl study run citeseer --method ugcl --out results.json",
    ),
)

EXAMPLES = {
    "compare": ("ugcl study compare --methods ugcl,grace --data citeseer --out study",),
    "all": ("ugcl study all --data citeseer --seeds 1 --budget 5 --out study",),
}


def _add(name: str, about: str) -> None:
    """Add the command of a study."""
    decorated: Callable[..., Any] = _named(name, about)
    for add in reversed(OPTIONS):
        decorated = add(decorated)
    examples = EXAMPLES.get(name, (f"ugcl study {name} --data citeseer --out study",))
    command(name, group=study, examples=examples)(decorated)


def _named(name: str, about: str) -> Callable[..., Result]:
    def run(**arguments: Any) -> Result:
        return _run(name, **arguments)

    run.__doc__ = about
    return run


OPTIONS: list[Callable[[Any], Any]] = [
    option(
        "--out",
        required=True,
        metavar="DIR",
        help="folder of the results (cells.jsonl), tables and figures",
    ),
    option(
        "--data",
        type=CommaSeparated(),
        metavar="NAME,...",
        help="data sets or files (default: those of the study that are present)",
    ),
    option(
        "--methods",
        type=CommaSeparated(),
        metavar="NAME,...",
        help="methods (default: those of the study)",
    ),
    option("--seeds", type=integer(1), default=5, help="number of training seeds (default: 5)"),
    option(
        "--splits",
        type=integer(2),
        default=20,
        help="number of random splits of the honest probe (default: 20)",
    ),
    option(
        "--preset", default="fast", metavar="NAME", help="preset of all methods (default: fast)"
    ),
    option("--full", is_flag=True, help="the paper's full grid for hidden and joint"),
    option("--jobs", type=integer(1), default=1, help="worker processes (default: 1)"),
    option(
        "--budget",
        type=number(above=0.0),
        metavar="MINUTES",
        help="start no further cell after this time (default: no limit)",
    ),
    option(
        "--backend",
        type=click.Choice(BACKENDS),
        default="processes",
        help="where cells are computed: processes of this machine, or a Dask or Ray cluster",
    ),
    option("--retry", is_flag=True, help="compute cells that failed before once more"),
    graph_file_options,
    device,
    data_root,
]


def _run(
    name: str,
    *,
    out: str,
    data: tuple[str, ...] | None,
    methods: tuple[str, ...] | None,
    graph: GraphArgument,
    seeds: int,
    splits: int,
    preset: str,
    full: bool,
    jobs: int,
    budget: float | None,
    backend: Backend,
    retry: bool,
    device: str | None,
    data_root: str | None,
) -> Result:
    own = graph.resolve()
    if own is not None and data is not None:
        raise UGCLError("--data and --edges both name graphs: leave out one of them")
    options = studies.Options(
        data=(own,) if own is not None else tuple(data or ()),
        methods=tuple(methods or ()),
        seeds=seeds,
        splits=splits,
        preset=preset,
        full=full,
        data_root=data_root,
    )
    with resumable("the same command continues the study"), _Lines() as lines:
        runner = studies.RunnerOptions(
            jobs,
            backend,
            None if budget is None else 60 * budget,
            retry,
            device or "auto",
            on_progress=lines,
        )
        made = studies.run_study(
            name,
            Path(out),
            options,
            runner,
        )

    def show() -> None:
        for table in made.tables:
            print(f"\n{table.title}")
            print_table(*_heads_and_rows(table.texts()))
            for note in table.sentences():
                print(note)
        print(f"\n{len(made.files)} files in {out}")

    if made.failed:
        say(f"{made.failed:,} cells failed; --retry computes them again")
    if made.left:
        say(f"{made.left:,} cells are not computed; the same command continues")
    return Result(made.to_json(), show)


def _heads_and_rows(texts: Any) -> tuple[Any, Any]:
    heads, *rows = texts
    return heads, rows


class _Lines:
    """Shows progress over all cells: a bar on a terminal, plain lines elsewhere."""

    def __init__(self) -> None:
        self.bar: Any = None

    def __enter__(self) -> _Lines:
        return self

    def __exit__(self, *error: object) -> None:
        if self.bar is not None:
            self.bar.stop()

    def __call__(self, progress: Progress) -> None:
        if not progress.total:
            return
        if on_terminal():
            self._update(progress)
        elif progress.name:
            say(f"{progress.done}/{progress.total} {progress.name}{_left(progress)}")
        if progress.error:
            say(f"{progress.name}: {progress.error}")

    def _update(self, progress: Progress) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
        from rich.progress import Progress as Bar

        if self.bar is None:
            columns = TextColumn("{task.description}", markup=False), BarColumn()
            self.bar = Bar(*columns, MofNCompleteColumn(), console=Console(stderr=True))
            self.task = self.bar.add_task("cells", total=progress.total)
            self.bar.start()
        text = f"{progress.name or 'cells'}{_left(progress)}"
        self.bar.update(self.task, completed=progress.done, description=text)


def _left(progress: Progress) -> str:
    if progress.remaining is None or progress.done == progress.total:
        return ""
    minutes = progress.remaining / 60
    return f", {minutes:.0f} min left" if minutes >= 1 else f", {progress.remaining:.0f} s left"


for _name, _about in STUDIES.items():
    _add(_name, _about)
