"""Compute the bounds of the paper's table of scopes, by the convention that fits it best.

UGCL_DATA=DIR python tools/paper_scopes.py --out docs/scope/paper_table.json
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ugcl import load_graph
from ugcl._utils.files import write_json
from ugcl.scope import edge_homophily, lower_bounds
from ugcl.selection import degree_of, paper_rule
from ugcl.study.published import published


def fit(homophily: float, published: list[float]) -> dict[str, float]:
    """The degree that gives a published row best, and how far the row is from it at most."""

    def miss(degree: float) -> float:
        found = lower_bounds(homophily, degree, len(published))
        return max(abs(ours - theirs) for ours, theirs in zip(found, published, strict=True))

    best = min((hundredth / 100 for hundredth in range(10, 4000)), key=miss)
    return {"degree": best, "miss": round(miss(best), 4)}


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
        max_n = len(table["n"])
        choice = paper_rule(
            graph.adjacency, graph.labels, sample=sample, convention="paper", max_n=max_n
        )
        rows[name] = {
            "sample": sample,
            "homophily": homophily,
            "degree": degree,
            "lower_bound": [round(bound, 4) for bound in lower_bounds(homophily, degree, max_n)],
            "selected_n": choice.n,
            "fit": fit(row["homophily"], row["lower_bound"]),
            "published": {key: row[key] for key in ("homophily", "lower_bound", "selected_n")},
            "published_best_n": row["best_n"],
        }
    write_json(asked.out, {"convention": "d = (E/N)(S/N)", "rows": rows})


if __name__ == "__main__":
    main()
