"""`ugcl report`: an HTML report of one or more runs."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

from ugcl._utils.errors import UGCLError
from ugcl._utils.files import check_writable
from ugcl.cli.common import add_command, add_data_root, integer, print_json, use_threads
from ugcl.data import GraphFiles
from ugcl.report import gather, verdict, write_page
from ugcl.runs import load_run


def register(commands: Any) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "report",
        run,
        "write an HTML report of one or more runs: map, scores, loss, scope",
        "ugcl report runs/citeseer --out page.html",
    )
    parser.add_argument(
        "trained", nargs="+", metavar="RUN", help="finished run folders of the same graph"
    )
    parser.add_argument("--out", required=True, metavar="FILE", help="the HTML file to write")
    parser.add_argument(
        "--splits",
        type=integer(2),
        default=10,
        metavar="J",
        help="number of random splits to score (default: 10)",
    )
    parser.add_argument("--labels", metavar="FILE", help="labels for a graph without labels")
    parser.add_argument("--seed", type=integer(0), default=0, help="seed of the map (default: 0)")
    parser.add_argument("--threads", type=integer(1), help="threads (default: the run's)")
    add_data_root(parser)


def run(arguments: argparse.Namespace) -> int:
    """Write the report."""
    out = Path(arguments.out)
    if out.suffix not in (".html", ".htm"):
        raise UGCLError(f"--out {out} must end in .html")
    check_writable(out)
    runs = [load_run(path) for path in arguments.trained]
    first = runs[0].config
    threads = arguments.threads or first.threads
    use_threads(threads)
    labels = None
    if arguments.labels is not None:
        labels = GraphFiles(edges=first.graph, labels=arguments.labels)
        if first.graph_files is not None:
            labels = replace(labels, id=first.graph_files.id)
    report = gather(
        runs,
        splits=arguments.splits,
        labels=labels,
        data_root=arguments.data_root,
        threads=threads,
        seed=arguments.seed,
    )
    write_page(report, out)
    size = out.stat().st_size
    if arguments.json:
        print_json({"file": str(out), "bytes": size, "verdict": verdict(report)})
    else:
        print(verdict(report))
        print(f"{out}: {size / 1e6:.1f} MB, open it in a browser")
    return 0
