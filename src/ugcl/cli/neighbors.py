"""`ugcl neighbors`: the nodes that are most like a node."""

from __future__ import annotations

import argparse
from typing import Any

from ugcl.cli.common import add_command, integer, print_json, print_table, say
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
        help="by an index that is made the first time and kept in RUN: for millions of nodes, "
        "where a near one may be missing",
    )


def run(arguments: argparse.Namespace) -> int:
    """Find them."""
    trained = load_run(arguments.trained)
    found = trained.neighbors(
        arguments.node, arguments.k, approximate=arguments.approximate, tell=say
    )
    ids = trained.ids()
    if arguments.json:
        pairs = [{"id": name, "similarity": cosine} for name, cosine in found]
        asked = arguments.node if ids.dtype.kind == "U" else int(arguments.node)
        print_json({"id": asked, "neighbors": pairs})
        return 0
    labels = trained.labels()
    header = ["id", "similarity"]
    rows = [[str(name), f"{cosine:.4f}"] for name, cosine in found]
    if labels is not None:
        of = dict(zip(ids.tolist(), labels.tolist(), strict=True))
        header.append("label")
        for row, (name, _) in zip(rows, found, strict=True):
            row.append(of[name] or "-")
    print_table(header, rows)
    return 0
