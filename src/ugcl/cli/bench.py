"""`ugcl bench`: time and memory, against the arithmetic that is needed."""

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
    machine,
)
from ugcl.cli.common import (
    add_command,
    add_data_root,
    add_group,
    add_settings,
    given_settings,
    integer,
    print_json,
    print_table,
    say,
    use_threads,
)
from ugcl.methods import DEFAULT_PRESET, METHODS

STEP_EXAMPLE = "ugcl bench step citeseer --settings authors --hidden 1024"


def register(commands: Any) -> None:
    """Add the command and what it measures."""
    kinds = add_group(
        commands,
        "bench",
        "measure time and memory, in units of one matrix product or as ratios",
        STEP_EXAMPLE,
        "WHAT",
    )
    one = add_command(
        kinds, "step", step, "measure a step of training, its parts and its memory", STEP_EXAMPLE
    )
    one.add_argument("graph", metavar="GRAPH", help="a data set's name or a file")
    one.add_argument(
        "--settings",
        default=DEFAULT_PRESET,
        choices=tuple(METHODS["ugcl"].presets),
        help=f"which preset (default: {DEFAULT_PRESET})",
    )
    one.add_argument("--no-naive", action="store_true", help="leave out the naive dense step")
    one.set_defaults(method="ugcl")
    add_data_root(one)
    add_settings(one)
    grown = add_command(
        kinds,
        "scaling",
        scaling,
        "measure a step as nodes, edges, sample, width and scope grow one at a time",
        "ugcl bench scaling",
    )
    embedded = add_command(
        kinds,
        "embed",
        embed,
        "measure embedding graphs of 10^5 to 4 x 10^7 edges",
        "ugcl bench embed",
    )
    held = add_command(
        kinds,
        "memory",
        memory,
        "measure the peak memory of every method, in a process for each",
        "ugcl bench memory cora pubmed --out memory.json --methods grace gmi --settings paper",
    )
    held.add_argument("graphs", nargs="+", metavar="GRAPH", help="data sets' names or files")
    held.add_argument("--out", required=True, metavar="FILE", help="the JSON file to write")
    held.add_argument(
        "--methods", nargs="+", metavar="METHOD", help="which (default: all that are trained)"
    )
    held.add_argument(
        "--settings", default="paper", metavar="PRESET", help="which preset (default: paper)"
    )
    add_data_root(held)
    walked = add_command(
        kinds,
        "walks",
        walks,
        "measure the random walks of deepwalk and node2vec",
        "ugcl bench walks pubmed --walks 10 --length 80",
    )
    walked.add_argument("graph", metavar="GRAPH", help="a data set's name or a file")
    walked.add_argument(
        "--walks", type=integer(1), default=10, help="walks from every node (default: 10)"
    )
    walked.add_argument(
        "--length", type=integer(2), default=80, help="nodes of a walk (default: 80)"
    )
    add_data_root(walked)
    loaded = add_command(
        kinds,
        "load",
        load,
        "measure how a Parquet file of edges is loaded",
        "ugcl bench load --edges 10000000",
    )
    for option, default, words in (
        ("--edges", 10_000_000, "how many edges"),
        ("--nodes", 1_000_000, "how many nodes they join"),
    ):
        loaded.add_argument(
            option, type=integer(2), default=default, metavar="N", help=f"{words} ({default:,})"
        )
    whole_suite = add_command(
        kinds,
        "suite",
        suite,
        "measure everything, as JSON and as a plot",
        "ugcl bench suite --out benchmarks",
    )
    whole_suite.add_argument(
        "--out", required=True, metavar="DIR", help="where to write bench.json and bench.png"
    )
    add_data_root(whole_suite)
    for each in (one, grown, embedded, held, loaded, whole_suite):
        each.add_argument("--threads", type=integer(1), help="threads (default: PyTorch's)")


def step(arguments: argparse.Namespace) -> int:
    """Measure a step."""
    use_threads(arguments.threads)
    result = bench_step(
        arguments.graph,
        arguments.settings,
        given=given_settings(arguments, "ugcl"),
        naive=not arguments.no_naive,
        data_root=arguments.data_root,
        tell=say,
    )
    if arguments.json:
        print_json({**result, "machine": machine()})
    else:
        _print_steps([result])
    return 0


def scaling(arguments: argparse.Namespace) -> int:
    """Measure how a step grows."""
    use_threads(arguments.threads)
    result = bench_scaling(tell=say)
    if arguments.json:
        print_json({**result, "machine": machine()})
    else:
        _print_scaling(result)
    return 0


def embed(arguments: argparse.Namespace) -> int:
    """Measure embedding."""
    use_threads(arguments.threads)
    result = bench_embed(tell=say)
    if arguments.json:
        print_json({**result, "machine": machine()})
    else:
        _print_embed(result)
    return 0


def walks(arguments: argparse.Namespace) -> int:
    """Measure random walks, which take one thread."""
    result = bench_walks(
        arguments.graph,
        walks=arguments.walks,
        length=arguments.length,
        data_root=arguments.data_root,
    )
    if arguments.json:
        print_json({**result, "machine": machine()})
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
    """Measure how edges are loaded."""
    use_threads(arguments.threads)
    result = bench_load(edges=arguments.edges, nodes=arguments.nodes)
    if arguments.json:
        print_json({**result, "machine": machine()})
        return 0
    print(f"{result['edges']:,} edges of {result['nodes']:,} nodes, from Parquet")
    print_table(
        ("ids", "seconds", "GB"),
        (
            (row["ids"], f"{row['seconds']:.1f}", _known(row["peak_bytes"], ".2f", 1e-9))
            for row in result["rows"]
        ),
    )
    return 0


def memory(arguments: argparse.Namespace) -> int:
    """Measure what methods hold."""
    use_threads(arguments.threads)
    result = bench_memory(
        arguments.graphs,
        Path(arguments.out),
        methods=arguments.methods,
        preset=arguments.settings,
        data_root=arguments.data_root,
        tell=say,
    )
    if arguments.json:
        print_json(result)
        return 0
    print_table(
        ("method", "settings", "graph", "peak, MB", "a step, s"),
        (
            (
                row["method"],
                row["settings"],
                row["graph"],
                _known(row["peak_bytes"], ",.0f", 1e-6),
                f"{row['step_seconds']:.2f}",
            )
            for row in result["rows"]
        ),
    )
    return 0


def suite(arguments: argparse.Namespace) -> int:
    """Measure everything."""
    use_threads(arguments.threads)
    result = bench_suite(Path(arguments.out), data_root=arguments.data_root, tell=say)
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
    print("times in mm: that of a bare product of S x D by D x S")
    print_table(
        (
            "graph",
            "settings",
            "S",
            "D",
            "n",
            "mm, ms",
            "step",
            "objective",
            "unblocked",
            "naive",
            "peak, MB",
            "peak / S x D",
        ),
        (
            (
                row["graph"],
                row["settings"],
                f"{row['S']}",
                f"{row['D']}",
                f"{row['n']}",
                f"{1000 * row['mm_seconds']:.1f}",
                *(
                    _known(row[f"{name}_mm"], ".1f")
                    for name in ("step", "objective", "objective_unblocked", "naive")
                ),
                _known(row["peak_bytes"], ",.0f", 1e-6),
                _known(row["peak_arrays"], ".1f"),
            )
            for row in steps
        ),
    )
    print("\nparts of the step, ms")
    parts = list(steps[0]["parts_mm"]) if steps else []
    print_table(
        ("graph", "settings", *parts),
        (
            (
                row["graph"],
                row["settings"],
                *(f"{1000 * row['mm_seconds'] * row['parts_mm'][part]:.1f}" for part in parts),
            )
            for row in steps
        ),
    )


def _print_scaling(result: dict[str, Any]) -> None:
    base = ", ".join(f"{name} {value:,}" for name, value in result["base"].items())
    print(f"a step as one size grows, from {base}")
    _print_growths({name: growth for name, growth in result.items() if name != "base"})


def _print_growths(growths: dict[str, dict[str, Any]]) -> None:
    print_table(
        ("what", "sizes", "ms", "exponent", "MB", "exponent"),
        (
            (
                name,
                _row(growth["sizes"], 1),
                _row(growth["seconds"], 1000),
                f"{growth['seconds_exponent']:.2f}",
                _row(growth["peak_bytes"], 1e-6),
                _known(growth["bytes_exponent"], ".2f"),
            )
            for name, growth in growths.items()
        ),
    )


def _print_embed(result: dict[str, Any]) -> None:
    _print_growths({"edges": result})
    shares = zip(result["seconds"], result["products_seconds"], strict=True)
    print(
        f"its sparse products alone: {_row(result['products_seconds'], 1000)} ms, exponent "
        f"{result['products_exponent']:.2f}; embedding takes "
        f"{' '.join(f'{whole / alone:.1f}' for whole, alone in shares)} times as long"
    )
    print(f"from the last size but one to the last: exponent {result['beyond_cache_exponent']:.2f}")


def _row(values: list[float | None], unit: float) -> str:
    return " ".join(_known(value, ",.0f", unit) for value in values)


def _known(value: float | None, form: str, unit: float = 1) -> str:
    return "-" if value is None else f"{value * unit:{form}}"
