"""`ugcl generate`: synthetic graphs of any size."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import rich_click as click

from ugcl import data
from ugcl._utils.errors import UGCLError
from ugcl.cli.command import Group, Result, Value, command, integer, number, option
from ugcl.cli.output import option_name

F = TypeVar("F", bound=Callable[..., Any])

EXAMPLES = (
    "ugcl generate sbm --nodes 2000 --degree 8 --homophily 0.7 --out sbm.npz",
    "ugcl generate heterophilous --nodes 3000 --out heterophilous.npz",
    "ugcl generate sbm --nodes 1000000 --degree 20 --out graph",
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
        option(
            "--out",
            required=True,
            metavar="PATH",
            help="the .npz file, or the folder to write, which may be larger than memory",
        ),
        option(
            "--format",
            "kind",
            type=click.Choice(("npz", "folder", "csv", "parquet")),
            help="one file, the folder of a graph, or a folder with the tables of edges and nodes "
            "(default: npz where the path ends in .npz, else folder)",
        ),
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


def _write(out: str, kind: str | None, name: str, sizes: Mapping[str, Any]) -> Result:
    """Sample a graph, save it and describe it."""
    file = Path(out)
    is_file = file.suffix == ".npz"
    if file.suffix and not is_file and kind in (None, "npz"):
        raise UGCLError(
            f"--out {file} must end in .npz, the format of Graph.save, or have no extension, for a "
            "folder"
        )
    if kind is not None and is_file != (kind == "npz"):
        raise UGCLError(
            f"--out {file} must end in .npz with --format npz and with no other, but the format is "
            f"{kind}"
        )
    if is_file:
        value = _write_file(file, name, sizes)
    else:
        from ugcl.data.sbm_files import write_sbm

        value = write_sbm(file, kind=kind or "folder", name=name, **sizes)
    homophily, components = value["homophily"], value["components"]
    summary = f"{value['nodes']:,} nodes, {value['edges']:,} edges, "
    summary += f"{value['features']:,} dense features, {value['classes']} classes"
    shown = "no edges" if homophily is None else f"homophily {homophily:.3f}"
    ending = f"{shown}, {components:,} component{'s'[: components > 1]}"
    value = {"file": out, **value, "seed": sizes["seed"]}
    return Result(value, lambda: print(f"{file}: {summary}, {ending}"))


def _write_file(file: Path, name: str, sizes: Mapping[str, Any]) -> dict[str, Any]:
    from scipy.sparse.csgraph import connected_components

    from ugcl._utils.files import check_writable
    from ugcl.scope import edge_homophily

    check_writable(file)
    graph = replace(data.sbm_graph(**sizes), name=name)
    assert graph.labels is not None
    graph.save(file)
    return {
        "nodes": graph.num_nodes,
        "edges": graph.num_edges,
        "features": graph.num_features,
        "classes": graph.num_classes,
        "homophily": edge_homophily(graph.adjacency, graph.labels),
        "components": int(connected_components(graph.adjacency, directed=False)[0]),
    }


@command("sbm", group=generate, examples=EXAMPLES[::2])
@_options({})
def sbm(out: str, kind: str | None, **sizes: Any) -> Result:
    """Sample a graph from the degree-corrected contextual stochastic block model."""
    return _write(out, kind, "sbm", sizes)


def _add_family(name: str, family: data.Family) -> None:
    @_options(family.params)
    def run(out: str, kind: str | None, **sizes: Any) -> Result:
        return _write(out, kind, name, sizes)

    run.__doc__ = f"Sample a graph in which {family.about}."
    example = f"ugcl generate {name} --nodes 3000 --seed 1 --out {name}.npz"
    command(name, group=generate, examples=[example])(run)


for _name, _family in data.FAMILIES.items():
    _add_family(_name, _family)
