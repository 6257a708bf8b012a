"""`ugcl bench`: time and memory, relative to the matrix product that a step needs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import rich_click as click

from ugcl import bench as benchmarks
from ugcl import methods
from ugcl.cli.command import CommaSeparated, Group, Result, argument, command, integer, option
from ugcl.cli.options import data_root, use_threads
from ugcl.cli.output import print_table
from ugcl.cli.settings import MethodCommand, given

STEP_EXAMPLE = "ugcl bench step citeseer --hidden 512"
UGCL_EXAMPLE = "ugcl bench step citeseer --method ugcl --preset authors --hidden 1024"

bench = Group("bench", help="Measure time and memory.", examples=(STEP_EXAMPLE,))

graph_name = argument("graph", help="a data set's name or a file")
threads = option(
    "--threads",
    type=integer(1),
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
        return Result(_with_machine(measured), lambda: _print_multiscope(measured))
    result = benchmarks.bench_step(
        graph, preset, params=given(params), naive=not no_naive, data_root=data_root
    )
    return Result(_with_machine(result), lambda: _print_steps([result]))


repeats = option("--repeats", type=integer(1), default=3, help="repetitions (default: 3)")


@command("start", group=bench, examples=("ugcl bench start citeseer",))
@graph_name
@repeats
@data_root
def start(graph: str, repeats: int, data_root: str | None) -> Result:
    """Measure commands from the shell, in units of the time to import PyTorch."""
    result = benchmarks.bench_start(graph, repeats=repeats, data_root=data_root)
    return Result(_with_machine(result), lambda: _print_start(result))


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
    return Result(_with_machine(result), lambda: _print_busy(result))


@command("scaling", group=bench, examples=("ugcl bench scaling",))
@threads
def scaling() -> Result:
    """Measure a training step as nodes, edges, sample, width and scope grow one at a time."""
    result = benchmarks.bench_scaling()
    return Result(_with_machine(result), lambda: _print_scaling(result))


@command("embed", group=bench, examples=("ugcl bench embed",))
@threads
def embed() -> Result:
    """Measure embedding graphs of 10^5 to 4 x 10^7 edges."""
    result = benchmarks.bench_embed()
    return Result(_with_machine(result), lambda: _print_embed(result))


@command("walks", group=bench, examples=("ugcl bench walks pubmed --walks 10 --length 80",))
@graph_name
@option("--walks", type=integer(1), default=10, help="walks from every node (default: 10)")
@option("--length", type=integer(2), default=80, help="nodes of a walk (default: 80)")
@data_root
def walks(graph: str, walks: int, length: int, data_root: str | None) -> Result:
    """Measure the random walks of deepwalk and node2vec, which use one thread."""
    result = benchmarks.bench_walks(graph, walks=walks, length=length, data_root=data_root)
    return Result(_with_machine(result), lambda: _print_walks(result))


@command("load", group=bench, examples=("ugcl bench load --edges 10000000",))
@option("--edges", type=integer(2), default=10**7, help="number of edges (default: 10,000,000)")
@option("--nodes", type=integer(2), default=10**6, help="number of nodes (default: 1,000,000)")
@threads
def load(edges: int, nodes: int) -> Result:
    """Measure loading a Parquet file of edges."""
    result = benchmarks.bench_load(edges=edges, nodes=nodes)
    return Result(_with_machine(result), lambda: _print_load(result))


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
    return Result(result, lambda: _print_memory(result))


def _threads(text: str) -> int | str:
    return text if text == "all" else int(integer(1).convert(text, None, None))


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
    return Result(result, lambda: _print_peers(result))


@command("suite", group=bench, examples=("ugcl bench suite --out benchmarks",))
@option("--out", required=True, metavar="DIR", help="folder for bench.json and bench.png")
@data_root
@threads
def suite(out: str, data_root: str | None) -> Result:
    """Measure everything, as JSON and as a plot."""
    result = benchmarks.bench_suite(Path(out), data_root=data_root)

    def show() -> None:
        _print_steps(result["steps"])
        print()
        _print_scaling(result["scaling"])
        print("\nembedding")
        _print_embed(result["embed"])
        print(f"\n{out}/bench.json, {out}/bench.png")

    return Result(result, show)


def _with_machine(result: dict[str, Any]) -> dict[str, Any]:
    return {**result, "machine": benchmarks.describe_machine()}


def _print_start(result: dict[str, Any]) -> None:
    print(
        f"importing PyTorch takes {result['torch_seconds']:.2f} s; without training in units of it"
    )
    print_table(
        ("command", "seconds", "of them training", "without training"),
        (
            (
                row["command"],
                *(f"{row[name]:.2f}" for name in ("seconds", "training_seconds", "overhead")),
            )
            for row in result["rows"]
        ),
    )


def _print_busy(result: dict[str, Any]) -> None:
    print(
        f"training {result['method']} on {result['graph']} beside {result['others']} busy "
        f"process(es); a fair share takes {result['fair']:.1f} times as long as an idle machine"
    )
    print_table(
        ("waiting threads", "idle, s", "busy, s", "busy / fair share"),
        (
            (
                {"passive": "sleep (default)", "active": "spin"}[row["policy"]],
                *(f"{row[name]:.2f}" for name in ("idle_seconds", "busy_seconds", "factor")),
            )
            for row in result["rows"]
        ),
    )


def _print_walks(result: dict[str, Any]) -> None:
    print(
        f"{result['walks']} walks of {result['length']} nodes from every node of {result['graph']}"
    )
    print_table(
        ("p, q", "seconds", "million steps a second"),
        (
            (
                f"{row['p']:g}, {row['q']:g}",
                f"{row['seconds']:.2f}",
                f"{row['steps_per_second'] / 1e6:.1f}",
            )
            for row in result["rows"]
        ),
    )


def _print_load(result: dict[str, Any]) -> None:
    print(f"{result['edges']:,} edges of {result['nodes']:,} nodes, from Parquet")
    print_table(
        ("ids", "seconds", "GB"),
        (
            (row["ids"], f"{row['seconds']:.1f}", _number(row["peak_bytes"], ".2f", 1e-9))
            for row in result["rows"]
        ),
    )


def _print_memory(result: dict[str, Any]) -> None:
    print_table(
        ("method", "preset", "graph", "peak, MB", "step, s"),
        (
            (
                row["method"],
                row["preset"],
                row["graph"],
                _number(row["peak_bytes"], ",.0f", 1e-6),
                f"{row['step_seconds']:.2f}",
            )
            for row in result["rows"]
        ),
    )


def _print_peers(result: dict[str, Any]) -> None:
    header, *rows = benchmarks.peer_table(result["summary"])
    print_table(header, rows)
    for name, reason in result["skipped"].items():
        print(f"{name} is skipped: {reason}")
    print(f"\n{result['out']}, {result['table']}, {result['figure']}")


def _print_steps(steps: list[dict[str, Any]]) -> None:
    print("times in mm, the time of a bare product of S x D by D x S")
    print_table(
        (
            "graph",
            "preset",
            "S",
            "D",
            "n",
            "mm, ms",
            "step",
            "loss",
            "unblocked",
            "naive",
            "peak, MB",
            "peak / S x D",
        ),
        (
            (
                row["graph"],
                row["preset"],
                f"{row['S']}",
                f"{row['D']}",
                f"{row['n']}",
                f"{1000 * row['mm_seconds']:.1f}",
                *(
                    _number(row[f"{name}_mm"], ".1f")
                    for name in ("step", "loss", "loss_unblocked", "naive")
                ),
                _number(row["peak_bytes"], ",.0f", 1e-6),
                _number(row["peak_arrays"], ".1f"),
            )
            for row in steps
        ),
    )
    print("\nparts of the step, ms")
    parts = list(steps[0]["parts_mm"]) if steps else []
    print_table(
        ("graph", "preset", *parts),
        (
            (
                row["graph"],
                row["preset"],
                *(f"{1000 * row['mm_seconds'] * row['parts_mm'][part]:.1f}" for part in parts),
            )
            for row in steps
        ),
    )


def _print_multiscope(row: dict[str, Any]) -> None:
    print("times in units of the floor, the bare products of a step")
    print_table(
        ("graph", "preset", "S", "D", "n", "floor, ms", "step", *row["parts"], "peak, MB"),
        [
            (
                row["graph"],
                row["preset"],
                *(f"{row[name]}" for name in ("S", "D", "n")),
                f"{1000 * row['floor_seconds']:.1f}",
                *(f"{time:.2f}" for time in (row["step"], *row["parts"].values())),
                _number(row["peak_bytes"], ",.0f", 1e-6),
            )
        ],
    )


def _print_scaling(result: dict[str, Any]) -> None:
    base = ", ".join(f"{name} {value:,}" for name, value in result["base"].items())
    print(f"a training step as one size grows, from {base}")
    _print_growths({name: growth for name, growth in result.items() if name != "base"})


def _print_growths(growths: dict[str, dict[str, Any]]) -> None:
    print_table(
        ("size", "values", "ms", "exponent", "MB", "exponent"),
        (
            (
                name,
                _row(growth["sizes"], 1),
                _row(growth["seconds"], 1000),
                f"{growth['seconds_exponent']:.2f}",
                _row(growth["peak_bytes"], 1e-6),
                _number(growth["bytes_exponent"], ".2f"),
            )
            for name, growth in growths.items()
        ),
    )


def _print_embed(result: dict[str, Any]) -> None:
    _print_growths({"edges": result})
    pairs = zip(result["seconds"], result["products_seconds"], strict=True)
    print(
        f"its sparse products alone: {_row(result['products_seconds'], 1000)} ms, exponent "
        f"{result['products_exponent']:.2f}; embedding takes "
        f"{' '.join(f'{total / products:.1f}' for total, products in pairs)} times as long"
    )
    print(f"from the last size but one to the last: exponent {result['beyond_cache_exponent']:.2f}")


def _row(values: list[float | None], unit: float) -> str:
    return " ".join(_number(value, ",.0f", unit) for value in values)


def _number(value: float | None, form: str, unit: float = 1) -> str:
    return "-" if value is None else f"{value * unit:{form}}"
