"""`ugcl datasets` and `ugcl methods`: lists of data sets and methods."""

from __future__ import annotations

import argparse
from dataclasses import fields
from typing import Any

from ugcl.cli.common import add_command, print_json, print_table
from ugcl.data import DATASETS, Dataset
from ugcl.methods import METHODS


def register(commands: Any) -> None:
    """Add the commands."""
    add_command(commands, "datasets", datasets, "list the named data sets", "ugcl datasets --json")
    add_command(commands, "methods", methods, "list the methods", "ugcl methods --json")


def datasets(arguments: argparse.Namespace) -> int:
    """List the data sets."""
    if arguments.json:
        print_json([_entry(dataset) for dataset in DATASETS.values()])
        return 0
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
            for d in DATASETS.values()
        ),
    )
    return 0


def _entry(dataset: Dataset) -> dict[str, Any]:
    """Return the catalogue entry of a data set."""
    entry = {field.name: getattr(dataset, field.name) for field in fields(dataset)}
    source = entry.pop("source")
    return entry | {
        "split": source.split,
        "page": source.page,
        "files": [file.path for file in source.files],
    }


def methods(arguments: argparse.Namespace) -> int:
    """List the methods."""
    listed = [
        {
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
                        for graph in DATASETS
                    },
                }
                for name, preset in method.presets.items()
            },
        }
        for method in METHODS.values()
    ]
    if arguments.json:
        print_json(listed)
        return 0
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
            for method in METHODS.values()
        ),
        left=True,
    )
    print("X: features, A: edges, Y: labels; unseen nodes: whether it can embed them")
    for method in METHODS.values():
        print(f"\n{method.name}: {method.paper}")
        for name, preset in method.presets.items():
            print(f"  --preset {name}: {preset.about}")
    return 0
