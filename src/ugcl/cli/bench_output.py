"""Tables of `ugcl bench` on the screen."""

from __future__ import annotations

from typing import Any

from ugcl import bench as benchmarks
from ugcl.cli.output import print_table


def print_start(result: dict[str, Any]) -> None:
    """Print the times of commands from the shell."""
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


def print_busy(result: dict[str, Any]) -> None:
    """Print the times of training on an idle and on a busy machine."""
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


def print_scale(result: dict[str, Any]) -> None:
    """Print time and memory of conversion, training and embedding."""
    print(
        f"degree {result['degree']}, {result['features']} features, width {result['hidden']}; "
        f"a copy moves {result['copy_bandwidth'] / 1e9:.1f} GB/s"
    )
    print_table(
        ("nodes", "stage", "seconds", "anonymous, GiB", "with mapped pages, GiB", "read, GiB", ""),
        (
            (
                f"{row['nodes']:,}",
                stage,
                f"{row[stage]['seconds']:.1f}",
                *(
                    "-" if (value := row[stage][name]) is None else f"{value / 2**30:.2f}"
                    for name in ("anonymous_bytes", "resident_bytes", "read_bytes")
                ),
                note,
            )
            for row in result["rows"]
            for stage, note in (
                ("convert", f"{row['convert']['per_sort']:.1f} x DuckDB's sort"),
                ("train", f"{1000 * row['train']['step_seconds']:.0f} ms a step"),
                ("embed", f"{row['embed']['per_copy']:.1f} x the copy of its bytes"),
            )
        ),
    )


def print_walks(result: dict[str, Any]) -> None:
    """Print the times of random walks."""
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


def print_cluster(result: dict[str, Any]) -> None:
    """Print the speed of one and of two ranks."""
    print(f"{result['steps']} steps of {result['method']} on {result['graph']}, one thread a rank")
    print_table(
        ("ranks", "steps a second", "samples a second", "communication"),
        (
            (
                str(row["ranks"]),
                f"{row['steps_per_second']:.1f}",
                f"{row['ranks'] * row['steps_per_second']:.1f}",
                f"{100 * row['communication']:.0f} %",
            )
            for row in result["rows"]
        ),
    )


def print_load(result: dict[str, Any]) -> None:
    """Print time and memory of loading files."""
    print(f"{result['edges']:,} edges of {result['nodes']:,} nodes, from Parquet")
    print_table(
        ("ids", "seconds", "GB"),
        (
            (row["ids"], f"{row['seconds']:.1f}", _number(row["peak_bytes"], ".2f", 1e-9))
            for row in result["rows"]
        ),
    )


def print_memory(result: dict[str, Any]) -> None:
    """Print the peak memory of methods."""
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


def print_peers(result: dict[str, Any]) -> None:
    """Print the comparison with other libraries."""
    header, *rows = benchmarks.peer_table(result["summary"])
    print_table(header, rows)
    for name, reason in result["skipped"].items():
        print(f"{name} is skipped: {reason}")
    print(f"\n{result['out']}, {result['table']}, {result['figure']}")


def print_steps(steps: list[dict[str, Any]]) -> None:
    """Print training steps of UGCL and their parts."""
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


def print_multiscope(row: dict[str, Any]) -> None:
    """Print a training step of multiscope."""
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


def print_scaling(result: dict[str, Any]) -> None:
    """Print how a training step scales."""
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


def print_embed(result: dict[str, Any]) -> None:
    """Print how embedding scales."""
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
