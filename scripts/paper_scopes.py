"""Compute the bounds of the paper's table of scopes, by the convention that fits it best.

UGCL_DATA=DIR python scripts/paper_scopes.py --out docs/scope/paper_table.json
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ugcl import load_graph
from ugcl.files import write_json
from ugcl.scope import edge_homophily, lower_bounds
from ugcl.selection import degree_of, paper_rule
from ugcl.study.published import published


def main() -> None:
    """Write a row for each data set of the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", required=True, type=Path)
    asked = parser.parse_args()
    table = published()["scope_study"]
    rows: dict[str, Any] = {}
    for name, row in table["rows"].items():
        graph, sample = load_graph(name), table["sample_size"][name]
        assert graph.labels is not None
        homophily = edge_homophily(graph.adjacency, graph.labels)
        assert homophily is not None
        homophily = round(homophily, 3)  # as the paper prints it
        degree = degree_of(graph.adjacency, sample, "paper")
        most = len(table["n"])
        choice = paper_rule(
            graph.adjacency, graph.labels, sample=sample, convention="paper", most=most
        )
        rows[name] = {
            "sample": sample,
            "homophily": homophily,
            "degree": degree,
            "lower_bound": [round(bound, 4) for bound in lower_bounds(homophily, degree, most)],
            "selected_n": choice.n,
            "published": {key: row[key] for key in ("homophily", "lower_bound", "selected_n")},
            "published_best_n": row["best_n"],
        }
    write_json(asked.out, {"convention": "d = (E/N)(S/N)", "rows": rows})


if __name__ == "__main__":
    main()
