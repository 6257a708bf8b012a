"""`ugcl report`: a page that shows a person whether embeddings are any good."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

from ugcl._utils.errors import UGCLError
from ugcl._utils.files import check_writable
from ugcl.cli.common import add_command, add_data_root, integer, print_json, say, use_threads
from ugcl.data import GraphFiles
from ugcl.report import gather, verdict, write_page
from ugcl.runs import load_run


def register(commands: Any) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "report",
        run,
        "make a page to look at: map, scores, loss, scope, of one run or of several side by side",
        "ugcl report runs/citeseer --out page.html",
    )
    parser.add_argument(
        "trained", nargs="+", metavar="RUN", help="finished run folders, of one graph"
    )
    parser.add_argument("--out", required=True, metavar="FILE", help="the .html file to write")
    parser.add_argument(
        "--splits",
        type=integer(2),
        default=10,
        metavar="J",
        help="random splits that are scored (10)",
    )
    parser.add_argument("--labels", metavar="FILE", help="labels that the run's graph had not")
    parser.add_argument("--seed", type=integer(0), default=0, help="of the map (default: 0)")
    parser.add_argument("--threads", type=integer(1), help="threads (default: the run's)")
    add_data_root(parser)


def run(arguments: argparse.Namespace) -> int:
    """Make the page."""
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
    gathered = gather(
        runs,
        splits=arguments.splits,
        labels=labels,
        data_root=arguments.data_root,
        threads=threads,
        seed=arguments.seed,
        tell=say,
    )
    write_page(gathered, out)
    size = out.stat().st_size
    if arguments.json:
        print_json({"file": str(out), "bytes": size, "verdict": verdict(gathered)})
    else:
        print(verdict(gathered))
        print(f"{out}: {size / 1e6:.1f} MB, open it in a browser")
    return 0
