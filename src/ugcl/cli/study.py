"""`ugcl study`: results over several seeds, as data."""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path
from typing import Any

from ugcl.cli.common import (
    INTERRUPTED,
    StopRequest,
    add_command,
    add_compute_options,
    add_data_root,
    figure,
    print_json,
    print_table,
    say,
    whole,
)
from ugcl.cli.progress import Progress
from ugcl.evaluation import CONTROLS
from ugcl.methods import METHODS
from ugcl.study import accuracy_study


def register(commands: Any) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "study",
        run,
        "repeat training over seeds and presets and write the scores as data",
        "ugcl study citeseer --out results.json --seeds 5 --hidden authors=1024",
    )
    presets = METHODS["ugcl"].presets
    parser.add_argument("graph", metavar="GRAPH", help="a data set's name or a file")
    parser.add_argument("--out", required=True, metavar="FILE", help="the JSON file to write")
    parser.add_argument(
        "--runs", default="runs/study", metavar="DIR", help="where to keep the runs (runs/study)"
    )
    parser.add_argument(
        "--settings", nargs="+", choices=tuple(presets), default=list(presets), help="which presets"
    )
    parser.add_argument("--seeds", type=whole(1), default=5, help="how many seeds (default: 5)")
    parser.add_argument(
        "--hidden",
        nargs="*",
        default=[],
        type=_width,
        metavar="PRESET=D",
        help="another width for a preset, to fit a budget",
    )
    add_data_root(parser)
    add_compute_options(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run the study, or go on with it."""
    with StopRequest() as stop:
        result = accuracy_study(
            arguments.graph,
            Path(arguments.out),
            Path(arguments.runs) / Path(arguments.out).stem,
            presets=arguments.settings,
            seeds=arguments.seeds,
            given={preset: {"hidden": width} for preset, width in arguments.hidden},
            command=shlex.join(["ugcl", *sys.argv[1:]]),
            data_root=arguments.data_root,
            device=arguments.device or "auto",
            threads=arguments.threads,
            reporter=Progress,
            should_stop=stop,
        )
        stopped = stop()
    if arguments.json:
        print_json(result)
    else:
        _print(result)
    if stopped:
        say("stopped; the same command goes on")
        return INTERRUPTED
    return 0


def _print(result: dict[str, Any]) -> None:
    print_table(
        ("preset", "width", "protocol", "seeds", "accuracy, %", *CONTROLS, "seconds"),
        (
            (
                row["preset"],
                str(row["hidden"]),
                row["protocol"],
                str(row["seeds"]),
                figure(row["accuracy"]),
                *(figure(row["controls"][name]) for name in CONTROLS),
                figure(row["training_seconds"]),
            )
            for row in result["summary"]
        ),
    )
    if result["published"] is not None:
        print(f"published: {figure(result['published'])}")


def _width(text: str) -> tuple[str, int]:
    preset, _, width = text.partition("=")
    if preset not in METHODS["ugcl"].presets or not width.isdigit() or int(width) < 1:
        raise argparse.ArgumentTypeError(f"must look like authors=1024, not {text!r}")
    return preset, int(width)
