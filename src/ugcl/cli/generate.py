"""`ugcl generate`: synthetic graphs of any size."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from scipy.sparse.csgraph import connected_components

from ugcl._utils.errors import UGCLError
from ugcl._utils.files import check_writable
from ugcl.cli.common import add_command, add_group, integer, print_json, real
from ugcl.data import sbm_graph
from ugcl.scope import edge_homophily

SBM_EXAMPLE = "ugcl generate sbm --nodes 2000 --degree 8 --homophily 0.7 --out sbm.npz"


def register(commands: Any) -> None:
    """Add the command and one subcommand for each kind of graph."""
    _register_sbm(
        add_group(commands, "generate", "generate a synthetic graph", SBM_EXAMPLE, "KIND")
    )


def _register_sbm(kinds: Any) -> None:
    parser = add_command(
        kinds,
        "sbm",
        sbm,
        "sample a graph from the degree-corrected contextual stochastic block model",
        SBM_EXAMPLE,
    )
    parser.add_argument(
        "--nodes", required=True, type=integer(1), metavar="N", help="number of nodes"
    )
    parser.add_argument("--out", required=True, metavar="FILE", help="the .npz file to write")
    for option, kind, default, text in (
        ("--degree", real, 10.0, "average degree; the graph has N R / 2 edges"),
        ("--homophily", real, 0.8, "fraction of edges between nodes of the same class, 0 to 1"),
        ("--classes", integer(1), 5, "number of classes, of equal sizes"),
        ("--features", integer(1), 32, "number of features"),
        ("--components", integer(1), 1, "number of connected components, of equal sizes"),
        ("--signal", real, 1.0, "distance of class means in standard deviations of the noise"),
        ("--degree-spread", real, 0.5, "log-normal spread of expected degrees, 0 (equal) to 2"),
        ("--seed", integer(0), 0, "seed of the random generator"),
    ):
        parser.add_argument(
            option,
            type=kind,
            default=default,
            metavar="R" if kind is real else "N",
            help=f"{text} (default: {default:g})",
        )


def sbm(arguments: argparse.Namespace) -> int:
    """Sample a graph and write it."""
    out = Path(arguments.out)
    if out.suffix != ".npz":
        raise UGCLError(f"--out {out} must end in .npz, the format of Graph.save")
    check_writable(out)
    names = ("nodes", "degree", "homophily", "classes", "features", "components")
    graph = sbm_graph(
        **{name: getattr(arguments, name) for name in names},
        signal=arguments.signal,
        degree_spread=arguments.degree_spread,
        seed=arguments.seed,
    )
    homophily = None if graph.labels is None else edge_homophily(graph.adjacency, graph.labels)
    components = int(connected_components(graph.adjacency, directed=False)[0])
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
