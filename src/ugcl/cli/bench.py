"""`ugcl bench`: time and memory, relative to the matrix product that a step needs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import rich_click as click

from ugcl import bench as benchmarks
from ugcl import methods
from ugcl.cli import bench_output as output
from ugcl.cli.command import CommaSeparated, Group, Result, argument, command, integer, option
from ugcl.cli.options import data_root, use_threads
from ugcl.cli.settings import MethodCommand, given
from ugcl.methods.params import MAX_THREADS

STEP_EXAMPLE = "ugcl bench step citeseer --hidden 512"
UGCL_EXAMPLE = "ugcl bench step citeseer --method ugcl --preset authors --hidden 1024"

bench = Group("bench", help="Measure time and memory.", examples=(STEP_EXAMPLE,))

graph_name = argument("graph", help="a data set's name or a file")
threads = option(
    "--threads",
    type=integer(1, MAX_THREADS),
    expose_value=False,
    callback=lambda ctx, param, count: use_threads(count),
    help="threads (default: PyTorch's)",
)


@command("step", group=bench, cls=MethodCommand, examples=(STEP_EXAMPLE, UGCL_EXAMPLE))
@graph_name
@option(
    "--method",
    type=click.Choice(("multiscope", "ugcl")),
    default=methods.DEFAULT_METHOD,
    help=f"the method (default: {methods.DEFAULT_METHOD})",
)
@option(
    "--preset",
    type=click.Choice(("fast", "paper", "authors")),
    default="fast",
    help="the preset (default: fast)",
)
@option("--no-naive", is_flag=True, help="do not time the naive dense step of ugcl")
@data_root
@threads
def step(
    graph: str, method: str, preset: str, no_naive: bool, data_root: str | None, **params: Any
) -> Result:
    """Measure a training step of multiscope or UGCL, its parts and its memory."""
    if method == "multiscope":
        measured = benchmarks.bench_multiscope(
            graph, preset, params=given(params), data_root=data_root
        )
        return Result(_with_machine(measured), lambda: output.print_multiscope(measured))
    result = benchmarks.bench_step(
        graph, preset, params=given(params), naive=not no_naive, data_root=data_root
    )
    return Result(_with_machine(result), lambda: output.print_steps([result]))


repeats = option("--repeats", type=integer(1), default=3, help="repetitions (default: 3)")


@command("start", group=bench, examples=("ugcl bench start citeseer",))
@graph_name
@repeats
@data_root
def start(graph: str, repeats: int, data_root: str | None) -> Result:
    """Measure commands from the shell, in units of the time to import PyTorch."""
    result = benchmarks.bench_start(graph, repeats=repeats, data_root=data_root)
    return Result(_with_machine(result), lambda: output.print_start(result))


@command("busy", group=bench, examples=("ugcl bench busy citeseer --others 2",))
@graph_name
@option("--method", default="ugcl", metavar="METHOD", help="the method (default: ugcl)")
@option("--others", type=integer(1), default=2, help="other processes (default: 2)")
@repeats
@data_root
def busy(graph: str, method: str, others: int, repeats: int, data_root: str | None) -> Result:
    """Measure training beside other processes that use all the time they get."""
    result = benchmarks.bench_busy(
        graph, method=method, others=others, repeats=repeats, data_root=data_root
    )
    return Result(_with_machine(result), lambda: output.print_busy(result))


@command("scaling", group=bench, examples=("ugcl bench scaling",))
@threads
def scaling() -> Result:
    """Measure a training step as nodes, edges, sample, width and scope grow one at a time."""
    result = benchmarks.bench_scaling()
    return Result(_with_machine(result), lambda: output.print_scaling(result))


def _nodes(text: str) -> int:
    return int(integer(100).convert(text, None, None))


@command(
    "scale",
    group=bench,
    examples=(
        "ugcl bench scale --out scale",
        "ugcl bench scale --nodes 10000,100000 --out scale --steps 20 --memory 2GB",
    ),
)
@option("--out", required=True, metavar="DIR", help="folder for scale.json and scale.png")
@option(
    "--nodes",
    type=CommaSeparated(_nodes, " of integers from 100"),
    default="100000,1000000,10000000",
    metavar="COUNT,...",
    help="numbers of nodes (default: 100000,1000000,10000000)",
)
@option("--degree", type=integer(1), default=20, help="mean degree (default: 20)")
@option("--features", type=integer(1), default=64, help="number of features (default: 64)")
@option("--hidden", type=integer(1), default=256, help="width of embeddings (default: 256)")
@option("--sample", type=integer(1), default=4000, help="nodes of a training step (default: 4000)")
@option("--steps", type=integer(1), default=100, help="training steps (default: 100)")
@option("--memory", default="4GB", metavar="SIZE", help="limit to convert and embed (default: 4GB)")
@option("--temp", metavar="DIR", help="folder of temporary files (default: the system's)")
@threads
def scale(out: str, nodes: tuple[int, ...], temp: str | None, **sizes: Any) -> Result:
    """Measure conversion, training and embedding of graphs from 10^5 to 10^7 nodes."""
    settings = benchmarks.Scale(**sizes)
    result = benchmarks.bench_scale(Path(out), nodes, scale=settings, folder=temp)
    return Result(result, lambda: output.print_scale(result))


@command("embed", group=bench, examples=("ugcl bench embed",))
@threads
def embed() -> Result:
    """Measure embedding graphs of 10^5 to 4 x 10^7 edges."""
    result = benchmarks.bench_embed()
    return Result(_with_machine(result), lambda: output.print_embed(result))


@command("walks", group=bench, examples=("ugcl bench walks pubmed --walks 10 --length 80",))
@graph_name
@option("--walks", type=integer(1), default=10, help="walks from every node (default: 10)")
@option("--length", type=integer(2), default=80, help="nodes of a walk (default: 80)")
@data_root
def walks(graph: str, walks: int, length: int, data_root: str | None) -> Result:
    """Measure the random walks of deepwalk and node2vec, which use one thread."""
    result = benchmarks.bench_walks(graph, walks=walks, length=length, data_root=data_root)
    return Result(_with_machine(result), lambda: output.print_walks(result))


@command(
    "cluster",
    group=bench,
    cls=MethodCommand,
    examples=("ugcl bench cluster citeseer --method ugcl --sample 1000",),
)
@graph_name
@option(
    "--method",
    default=methods.DEFAULT_METHOD,
    help=f"a method that trains on samples (default: {methods.DEFAULT_METHOD})",
)
@option("--preset", default=methods.DEFAULT_PRESET, help="the preset (default: fast)")
@option("--steps", type=integer(1), default=100, help="steps that are timed (default: 100)")
@data_root
def cluster(
    graph: str, method: str, preset: str, steps: int, data_root: str | None, **params: Any
) -> Result:
    """Measure training steps of one and of two ranks on this machine."""
    result = benchmarks.bench_cluster(
        graph,
        method=method,
        preset=preset,
        params=given(params),
        steps=steps,
        data_root=data_root,
    )
    return Result(_with_machine(result), lambda: output.print_cluster(result))


@command("load", group=bench, examples=("ugcl bench load --edges 10000000",))
@option("--edges", type=integer(2), default=10**7, help="number of edges (default: 10,000,000)")
@option("--nodes", type=integer(2), default=10**6, help="number of nodes (default: 1,000,000)")
@threads
def load(edges: int, nodes: int) -> Result:
    """Measure loading a Parquet file of edges."""
    result = benchmarks.bench_load(edges=edges, nodes=nodes)
    return Result(_with_machine(result), lambda: output.print_load(result))


@command(
    "memory",
    group=bench,
    examples=("ugcl bench memory cora,pubmed --out memory.json --methods grace,gmi",),
)
@argument("graphs", type=CommaSeparated(), help="comma-separated names of data sets, or files")
@option("--out", required=True, metavar="FILE", help="the JSON file to write")
@option(
    "--methods",
    type=CommaSeparated(),
    metavar="METHOD,...",
    help="methods (default: all that are trained)",
)
@option("--preset", default="paper", metavar="PRESET", help="the preset (default: paper)")
@data_root
@threads
def memory(
    graphs: tuple[str, ...],
    out: str,
    methods: tuple[str, ...] | None,
    preset: str,
    data_root: str | None,
) -> Result:
    """Measure the peak memory of methods, each in a fresh process."""
    result = benchmarks.bench_memory(
        list(graphs),
        Path(out),
        methods=None if methods is None else list(methods),
        preset=preset,
        data_root=data_root,
    )
    return Result(result, lambda: output.print_memory(result))


def _threads(text: str) -> int | str:
    return text if text == "all" else int(integer(1, MAX_THREADS).convert(text, None, None))


@command(
    "peers",
    group=bench,
    examples=(
        "ugcl bench peers --out peers",
        "ugcl bench peers cora,sbm:10000 --out peers --peers pycleora --threads 1 --repeats 1",
    ),
)
@argument(
    "graphs",
    type=CommaSeparated(),
    required=False,
    help="comma-separated data sets, files, or block models such as sbm:100000 (default: cora, "
    "pubmed, amazon-photo, amazon-computers and block models of 10^5 and 10^6 nodes)",
)
@option("--out", required=True, metavar="DIR", help="folder for peers.jsonl, or a .jsonl file")
@option(
    "--peers",
    type=CommaSeparated(),
    metavar="PEER,...",
    help="peers or their packages, or none (default: all that are installed)",
)
@option(
    "--methods",
    type=CommaSeparated(),
    metavar="METHOD,...",
    help="methods of this library, or none (default: multiscope, ugcl and those without training)",
)
@option(
    "--threads",
    type=CommaSeparated(_threads, " of integers or all"),
    default="1,all",
    metavar="COUNT,...",
    help="numbers of threads (default: 1,all)",
)
@repeats
@option("--splits", type=integer(1), default=5, help="random splits of the labels (default: 5)")
@option(
    "--time-limit",
    type=integer(1),
    default=600,
    help="CPU seconds after which an embedding is stopped (default: 600)",
)
@option("--figure", metavar="FILE", help="the figure (default: peers.png in the folder)")
@data_root
def peers(
    graphs: tuple[str, ...] | None,
    out: str,
    peers: tuple[str, ...] | None,
    methods: tuple[str, ...] | None,
    threads: tuple[int | str, ...],
    repeats: int,
    splits: int,
    time_limit: int,
    figure: str | None,
    data_root: str | None,
) -> Result:
    """Compare with other libraries: CPU seconds, peak memory and accuracy."""
    result = benchmarks.bench_peers(
        **({} if graphs is None else {"graphs": graphs}),
        out=Path(out),
        peers=peers,
        methods=methods,
        threads=threads,
        repeats=repeats,
        splits=splits,
        time_limit=time_limit,
        figure=None if figure is None else Path(figure),
        data_root=data_root,
    )
    return Result(result, lambda: output.print_peers(result))


@command("suite", group=bench, examples=("ugcl bench suite --out benchmarks",))
@option("--out", required=True, metavar="DIR", help="folder for bench.json and bench.png")
@data_root
@threads
def suite(out: str, data_root: str | None) -> Result:
    """Measure everything, as JSON and as a plot."""
    result = benchmarks.bench_suite(Path(out), data_root=data_root)

    def show() -> None:
        output.print_steps(result["steps"])
        print()
        output.print_scaling(result["scaling"])
        print("\nembedding")
        output.print_embed(result["embed"])
        print(f"\n{out}/bench.json, {out}/bench.png")

    return Result(result, show)


def _with_machine(result: dict[str, Any]) -> dict[str, Any]:
    return {**result, "machine": benchmarks.describe_machine()}
