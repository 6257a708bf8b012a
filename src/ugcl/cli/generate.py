"""`ugcl generate`: synthetic graphs of any size."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from ugcl import data
from ugcl._utils.errors import UGCLError
from ugcl.cli.command import Group, Result, Value, command, integer, number, option
from ugcl.cli.output import option_name

F = TypeVar("F", bound=Callable[..., Any])

EXAMPLES = (
    "ugcl generate sbm --nodes 2000 --degree 8 --homophily 0.7 --out sbm.npz",
    "ugcl generate heterophilous --nodes 3000 --out heterophilous.npz",
)

generate = Group("generate", help="Generate a synthetic graph.", examples=EXAMPLES)

OPTIONS: dict[str, tuple[Value, float, str]] = {
    "degree": (number(), 10.0, "average degree R; the graph has N R / 2 edges"),
    "homophily": (number(), 0.8, "fraction of edges between nodes of the same class"),
    "classes": (integer(1), 5, "number of classes, of equal sizes"),
    "features": (integer(1), 32, "number of features"),
    "components": (integer(1), 1, "number of connected components, of equal sizes"),
    "signal": (number(), 1.0, "distance of class means in standard deviations of the noise"),
    "noise_features": (number(), 0.0, "fraction of features that are noise in unlike units"),
    "degree_spread": (number(), 0.5, "log-normal spread of expected degrees, 0 (equal) to 2"),
    "hub_mixing": (number(), 1.0, "above 1: edges of hubs are less homophilous, up to 2"),
    "ring": (number(), 1.0, "how much likelier edges between consecutive classes are, 1 to 100"),
    "seed": (integer(0), 0, "seed of the random generator"),
}
"""Type, default and help of the parameters of `ugcl.data.sbm_graph`."""


def _options(values: Mapping[str, float | None]) -> Callable[[F], F]:
    """Add the options of a generator, with these defaults instead of those of `OPTIONS`."""
    options = [
        option("--nodes", required=True, type=integer(1), help="number of nodes"),
        option("--out", required=True, metavar="FILE", help="the .npz file to write"),
    ]
    for name, (kind, standard, text) in OPTIONS.items():
        value = values.get(name, standard)
        text += " (default: 1 / classes)" if value is None else f" (default: {value:g})"
        options.append(option(option_name(name), type=kind, default=value, help=text))

    def decorate(function: F) -> F:
        for add in reversed(options):
            function = add(function)
        return function

    return decorate


def _write(out: str, sample: Callable[..., Any], sizes: Mapping[str, Any]) -> Result:
    """Sample a graph, save it and describe it."""
    from scipy.sparse.csgraph import connected_components

    from ugcl._utils.files import check_writable
    from ugcl.scope import edge_homophily

    file = Path(out)
    if file.suffix != ".npz":
        raise UGCLError(f"--out {file} must end in .npz, the format of Graph.save")
    check_writable(file)
    graph = sample(**sizes)
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


@command("sbm", group=generate, examples=EXAMPLES[:1])
@_options({})
def sbm(out: str, **sizes: Any) -> Result:
    """Sample a graph from the degree-corrected contextual stochastic block model."""
    return _write(out, data.sbm_graph, sizes)


def _add_family(name: str, family: data.Family) -> None:
    @_options(family.params)
    def run(out: str, **sizes: Any) -> Result:
        return _write(out, partial(data.synthetic_graph, name), sizes)

    run.__doc__ = f"Sample a graph in which {family.about}."
    example = f"ugcl generate {name} --nodes 3000 --seed 1 --out {name}.npz"
    command(name, group=generate, examples=[example])(run)


for _name, _family in data.FAMILIES.items():
    _add_family(_name, _family)
