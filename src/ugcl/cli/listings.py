"""`ugcl datasets` and `ugcl methods`: lists of data sets and methods."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from ugcl import data
from ugcl.cli.command import Result, argument, command
from ugcl.cli.output import print_table

if TYPE_CHECKING:
    from ugcl.data import Dataset
    from ugcl.methods import Method


@command("datasets", examples=("ugcl datasets --json",))
def datasets() -> Result:
    """List the named data sets."""
    known = data.DATASETS.values()
    return Result([_dataset(dataset) for dataset in known], lambda: _print_datasets(known))


def _print_datasets(known: Iterable[Dataset]) -> None:
    print_table(
        ("name", "nodes", "edges", "features", "classes", "split", "where"),
        (
            (
                d.name,
                f"{d.nodes:,}",
                f"{d.edges:,}",
                f"{d.features:,}",
                str(d.classes),
                d.source.split or "none",
                "in the package" if d.embedded else "data root",
            )
            for d in known
        ),
    )


def _dataset(dataset: Dataset) -> dict[str, Any]:
    """Return the catalogue entry of a data set."""
    entry = {field.name: getattr(dataset, field.name) for field in fields(dataset)}
    source = entry.pop("source")
    files = [file.path for file in source.files]
    return entry | {"split": source.split, "page": source.page, "files": files}


@command("methods", examples=("ugcl methods --json", "ugcl methods my_method.py"))
@argument("file", required=False, help="a Python file with a method of your own")
def methods(file: str | None) -> Result:
    """List the methods, or describe that of a file and allow runs to use it."""
    from ugcl.methods import all_methods, get_method

    if file is None:
        known = list(all_methods().values())
    else:
        from ugcl.runs.method import allow

        known = [get_method(file)]
        allow(known[0])
    return Result([_method(method) for method in known], lambda: _print_methods(known))


def _print_methods(known: Collection[Method]) -> None:
    print_table(
        ("name", "kind", "needs", "unseen nodes", "scope"),
        (
            (
                method.name,
                method.kind,
                ", ".join(method.needs),
                "yes" if method.inductive else "no",
                method.scope,
            )
            for method in known
        ),
        left=True,
    )
    print("X: features, A: edges, Y: labels; unseen nodes: whether it can embed them")
    for method in known:
        print(f"\n{method.name}: {method.paper}")
        for name, preset in method.presets.items():
            print(f"  --preset {name}: {preset.about}")


def _method(method: Method) -> dict[str, Any]:
    """Return what is known about a method."""
    return {
        "name": method.name,
        "kind": method.kind,
        "needs": list(method.needs),
        "scope": method.scope,
        "inductive": method.inductive,
        "uses_edge_weights": method.uses_edge_weights,
        "paper": method.paper,
        "presets": {
            name: {
                "about": preset.about,
                "ours": sorted(preset.ours["default"]),
                "values": dict(preset.base),
                "data_sets": {
                    graph: {
                        "values": dict(preset.graphs.get(graph, {})),
                        "ours": sorted(preset.ours_for(graph)),
                    }
                    for graph in data.DATASETS
                },
            }
            for name, preset in method.presets.items()
        },
    }
