"""`ugcl bench`: time and memory, relative to the matrix product that a step needs."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ugcl.bench import (
    bench_embed,
    bench_load,
    bench_memory,
    bench_scaling,
    bench_step,
    bench_suite,
    bench_walks,
    describe_machine,
)
from ugcl.cli.common import (
    add_command,
    add_data_root,
    add_group,
    add_settings,
    integer,
    params_of,
    print_json,
    print_table,
    use_threads,
)
from ugcl.methods import DEFAULT_PRESET, METHODS

STEP_EXAMPLE = "ugcl bench step citeseer --preset authors --hidden 1024"


def register(commands: Any) -> None:
    """Add the command and its subcommands."""
    kinds = add_group(
        commands,
        "bench",
        "measure time and memory",
        STEP_EXAMPLE,
        "WHAT",
    )
    step_parser = add_command(
        kinds, "step", step, "measure a training step, its parts and its memory", STEP_EXAMPLE
    )
    step_parser.add_argument("graph", metavar="GRAPH", help="a data set's name or a file")
    step_parser.add_argument(
        "--preset",
        default=DEFAULT_PRESET,
        choices=tuple(METHODS["ugcl"].presets),
        help=f"the preset (default: {DEFAULT_PRESET})",
    )
    step_parser.add_argument(
        "--no-naive", action="store_true", help="do not time the naive dense step"
    )
    step_parser.set_defaults(method="ugcl")
    add_data_root(step_parser)
    add_settings(step_parser)
    add_command(
        kinds,
        "scaling",
        scaling,
        "measure a training step as nodes, edges, sample, width and scope grow one at a time",
        "ugcl bench scaling",
    )
    add_command(
        kinds,
        "embed",
        embed,
        "measure embedding graphs of 10^5 to 4 x 10^7 edges",
        "ugcl bench embed",
    )
    memory_parser = add_command(
        kinds,
        "memory",
        memory,
        "measure the peak memory of methods, each in a fresh process",
        "ugcl bench memory cora pubmed --out memory.json --methods grace gmi --preset paper",
    )
    memory_parser.add_argument(
        "graphs", nargs="+", metavar="GRAPH", help="data sets' names or files"
    )
    memory_parser.add_argument(
        "--out", required=True, metavar="FILE", help="the JSON file to write"
    )
    memory_parser.add_argument(
        "--methods", nargs="+", metavar="METHOD", help="methods (default: all that are trained)"
    )
    memory_parser.add_argument(
        "--preset", default="paper", metavar="PRESET", help="the preset (default: paper)"
    )
    add_data_root(memory_parser)
    walks_parser = add_command(
        kinds,
        "walks",
        walks,
        "measure the random walks of deepwalk and node2vec",
        "ugcl bench walks pubmed --walks 10 --length 80",
    )
    walks_parser.add_argument("graph", metavar="GRAPH", help="a data set's name or a file")
    walks_parser.add_argument(
        "--walks", type=integer(1), default=10, help="walks from every node (default: 10)"
    )
    walks_parser.add_argument(
        "--length", type=integer(2), default=80, help="nodes of a walk (default: 80)"
    )
    add_data_root(walks_parser)
    load_parser = add_command(
        kinds,
        "load",
        load,
        "measure loading a Parquet file of edges",
        "ugcl bench load --edges 10000000",
    )
    for option, default, meaning in (
        ("--edges", 10_000_000, "number of edges"),
        ("--nodes", 1_000_000, "number of nodes"),
    ):
        load_parser.add_argument(
            option,
            type=integer(2),
            default=default,
            metavar="N",
            help=f"{meaning} (default: {default:,})",
        )
    suite_parser = add_command(
        kinds,
        "suite",
        suite,
        "measure everything, as JSON and as a plot",
        "ugcl bench suite --out benchmarks",
    )
    suite_parser.add_argument(
        "--out", required=True, metavar="DIR", help="folder for bench.json and bench.png"
    )
    add_data_root(suite_parser)
    for name in ("step", "scaling", "embed", "memory", "load", "suite"):
        kinds.choices[name].add_argument(
            "--threads", type=integer(1), help="threads (default: PyTorch's)"
        )


def step(arguments: argparse.Namespace) -> int:
    """Measure a training step."""
    use_threads(arguments.threads)
    result = bench_step(
        arguments.graph,
        arguments.preset,
        params=params_of(arguments, "ugcl"),
        naive=not arguments.no_naive,
        data_root=arguments.data_root,
    )
    if arguments.json:
        print_json({**result, "machine": describe_machine()})
    else:
        _print_steps([result])
    return 0


def scaling(arguments: argparse.Namespace) -> int:
    """Measure the growth of a training step."""
    use_threads(arguments.threads)
    result = bench_scaling()
    if arguments.json:
        print_json({**result, "machine": describe_machine()})
    else:
        _print_scaling(result)
    return 0


def embed(arguments: argparse.Namespace) -> int:
    """Measure embedding."""
    use_threads(arguments.threads)
    result = bench_embed()
    if arguments.json:
        print_json({**result, "machine": describe_machine()})
    else:
        _print_embed(result)
    return 0


def walks(arguments: argparse.Namespace) -> int:
    """Measure random walks, which use one thread."""
    result = bench_walks(
        arguments.graph,
        walks=arguments.walks,
        length=arguments.length,
        data_root=arguments.data_root,
    )
    if arguments.json:
        print_json({**result, "machine": describe_machine()})
        return 0
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
    return 0


def load(arguments: argparse.Namespace) -> int:
    """Measure the loading of edges."""
    use_threads(arguments.threads)
    result = bench_load(edges=arguments.edges, nodes=arguments.nodes)
    if arguments.json:
        print_json({**result, "machine": describe_machine()})
        return 0
    print(f"{result['edges']:,} edges of {result['nodes']:,} nodes, from Parquet")
    print_table(
        ("ids", "seconds", "GB"),
        (
            (row["ids"], f"{row['seconds']:.1f}", _number(row["peak_bytes"], ".2f", 1e-9))
            for row in result["rows"]
        ),
    )
    return 0


def memory(arguments: argparse.Namespace) -> int:
    """Measure the peak memory of methods."""
    use_threads(arguments.threads)
    result = bench_memory(
        arguments.graphs,
        Path(arguments.out),
        methods=arguments.methods,
        preset=arguments.preset,
        data_root=arguments.data_root,
    )
    if arguments.json:
        print_json(result)
        return 0
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
    return 0


def suite(arguments: argparse.Namespace) -> int:
    """Measure everything."""
    use_threads(arguments.threads)
    result = bench_suite(Path(arguments.out), data_root=arguments.data_root)
    if arguments.json:
        print_json(result)
        return 0
    _print_steps(result["steps"])
    print()
    _print_scaling(result["scaling"])
    print("\nembedding")
    _print_embed(result["embed"])
    print(f"\n{arguments.out}/bench.json, {arguments.out}/bench.png")
    return 0


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
