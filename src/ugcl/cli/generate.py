"""`ugcl generate`: synthetic graphs of any size."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ugcl._utils.errors import UGCLError
from ugcl._utils.files import check_writable
from ugcl.cli.common import add_command, add_group, integer, print_json, real
from ugcl.data import sbm_graph
from ugcl.data.measures import num_components
from ugcl.scope import edge_homophily

SBM_EXAMPLE = "ugcl generate sbm --nodes 2000 --degree 8 --homophily 0.7 --out sbm.npz"


def register(commands: Any) -> None:
    """Add the command and its kinds of graphs."""
    _register_sbm(add_group(commands, "generate", "draw a synthetic graph", SBM_EXAMPLE, "KIND"))


def _register_sbm(kinds: Any) -> None:
    parser = add_command(
        kinds,
        "sbm",
        sbm,
        "draw a graph from the degree-corrected contextual stochastic block model",
        SBM_EXAMPLE,
    )
    parser.add_argument(
        "--nodes", required=True, type=integer(1), metavar="N", help="how many nodes"
    )
    parser.add_argument("--out", required=True, metavar="FILE", help="the .npz file to write")
    for option, kind, default, words in (
        ("--degree", real, 10.0, "average degree: there are N R / 2 edges"),
        ("--homophily", real, 0.8, "share of the edges that join two nodes of one class, 0 to 1"),
        ("--classes", integer(1), 5, "how many classes, of equal sizes"),
        ("--features", integer(1), 32, "how many feature columns"),
        ("--components", integer(1), 1, "how many connected components, of equal sizes"),
        ("--signal", real, 1.0, "distance of two classes' mean features, noise being 1"),
        ("--degree-spread", real, 0.5, "how unequal degrees are, 0 to 2; 0: as chance has it"),
        ("--seed", integer(0), 0, "another seed is another graph"),
    ):
        parser.add_argument(
            option,
            type=kind,
            default=default,
            metavar="R" if kind is real else "N",
            help=f"{words} (default: {default:g})",
        )


def sbm(arguments: argparse.Namespace) -> int:
    """Draw a graph and write it."""
    out = Path(arguments.out)
    if out.suffix != ".npz":
        raise UGCLError(f"--out {out} must end in .npz, the format of Graph.save")
    check_writable(out)
    names = ("nodes", "degree", "homophily", "classes", "features", "components")
    chosen = {name: getattr(arguments, name) for name in names}
    graph = sbm_graph(
        **chosen,
        signal=arguments.signal,
        degree_spread=arguments.degree_spread,
        seed=arguments.seed,
    )
    homophily = None if graph.labels is None else edge_homophily(graph.adjacency, graph.labels)
    components = num_components(graph)
    graph.save(out)
    if arguments.json:
        print_json(
            {
                "file": str(out),
                "nodes": graph.num_nodes,
                "edges": graph.num_edges,
                "features": graph.num_features,
                "classes": graph.num_classes,
                "homophily": homophily,
                "components": components,
                "seed": arguments.seed,
            }
        )
    else:
        shown = "no edges" if homophily is None else f"homophily {homophily:.3f}"
        print(f"{out}: {graph.summary}, {shown}, {components:,} component{'s'[: components > 1]}")
    return 0
