"""`ugcl neighbors`: the nodes that are most similar to a node."""

from __future__ import annotations

import argparse
from typing import Any

from ugcl.cli.common import add_command, integer, print_json, print_table
from ugcl.runs import load_run


def register(commands: Any) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "neighbors",
        run,
        "list the nodes whose embeddings are nearest to a node's, by the cosine",
        "ugcl neighbors runs/citeseer 7 -k 10",
    )
    parser.add_argument("trained", metavar="RUN", help="a finished run folder")
    parser.add_argument("node", metavar="ID", help="the node's id (its number, if it has no other)")
    parser.add_argument(
        "-k", type=integer(1), default=10, metavar="K", help="how many (default: 10)"
    )
    parser.add_argument(
        "--approximate",
        action="store_true",
        help="use an index, which is built once and stored in RUN: for millions of nodes; may miss "
        "a neighbour",
    )


def run(arguments: argparse.Namespace) -> int:
    """List the nearest nodes."""
    trained = load_run(arguments.trained)
    nearest = trained.neighbors(arguments.node, arguments.k, approximate=arguments.approximate)
    ids = trained.ids()
    if arguments.json:
        pairs = [{"id": name, "similarity": cosine} for name, cosine in nearest]
        node = arguments.node if ids.dtype.kind == "U" else int(arguments.node)
        print_json({"id": node, "neighbors": pairs})
        return 0
    labels = trained.labels()
    header = ["id", "similarity"]
    rows = [[str(name), f"{cosine:.4f}"] for name, cosine in nearest]
    if labels is not None:
        of = dict(zip(ids.tolist(), labels.tolist(), strict=True))
        header.append("label")
        for row, (name, _) in zip(rows, nearest, strict=True):
            row.append(of[name] or "-")
    print_table(header, rows)
    return 0
