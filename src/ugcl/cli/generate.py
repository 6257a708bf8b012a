"""`ugcl generate`: synthetic graphs of any size."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from ugcl import data
from ugcl._utils.errors import UGCLError
from ugcl.cli.command import Group, Result, Value, command, integer, number, option

F = TypeVar("F", bound=Callable[..., Any])

EXAMPLES = ("ugcl generate sbm --nodes 2000 --degree 8 --homophily 0.7 --out sbm.npz",)

generate = Group("generate", help="Generate a synthetic graph.", examples=EXAMPLES)


def _option(name: str, kind: Value, default: float, text: str) -> Callable[[F], F]:
    return option(name, type=kind, default=default, help=f"{text} (default: {default:g})")


@command("sbm", group=generate, examples=EXAMPLES)
@option("--nodes", required=True, type=integer(1), help="number of nodes")
@option("--out", required=True, metavar="FILE", help="the .npz file to write")
@_option("--degree", number(), 10.0, "average degree R; the graph has N R / 2 edges")
@_option("--homophily", number(), 0.8, "fraction of edges between nodes of the same class")
@_option("--classes", integer(1), 5, "number of classes, of equal sizes")
@_option("--features", integer(1), 32, "number of features")
@_option("--components", integer(1), 1, "number of connected components, of equal sizes")
@_option("--signal", number(), 1.0, "distance of class means in standard deviations of the noise")
@_option("--degree-spread", number(), 0.5, "log-normal spread of expected degrees, 0 (equal) to 2")
@_option("--seed", integer(0), 0, "seed of the random generator")
def sbm(out: str, **sizes: Any) -> Result:
    """Sample a graph from the degree-corrected contextual stochastic block model."""
    from scipy.sparse.csgraph import connected_components

    from ugcl._utils.files import check_writable
    from ugcl.scope import edge_homophily

    file = Path(out)
    if file.suffix != ".npz":
        raise UGCLError(f"--out {file} must end in .npz, the format of Graph.save")
    check_writable(file)
    graph = data.sbm_graph(**sizes)
    homophily = None if graph.labels is None else edge_homophily(graph.adjacency, graph.labels)
    components = int(connected_components(graph.adjacency, directed=False)[0])
    graph.save(file)
    value = {
        "file": out,
        "nodes": graph.num_nodes,
        "edges": graph.num_edges,
        "features": graph.num_features,
        "classes": graph.num_classes,
        "homophily": homophily,
        "components": components,
        "seed": sizes["seed"],
    }
    shown = "no edges" if homophily is None else f"homophily {homophily:.3f}"
    ending = f"{shown}, {components:,} component{'s'[: components > 1]}"
    return Result(value, lambda: print(f"{file}: {graph.summary}, {ending}"))
