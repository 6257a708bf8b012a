"""Compute the lower bounds of the paper's table of scopes, by the convention that fits it best.

    UGCL_DATA=DIR python tools/paper_scopes.py

Writes results/paper_scopes.jsonl.
"""

from __future__ import annotations

import sys

from collect import RESULTS, put_record
from ugcl import load_graph
from ugcl.scope import edge_homophily, lower_bounds
from ugcl.selection import bound_degree, paper_rule
from ugcl.study.published import published


def fit_degree(homophily: float, bounds: list[float]) -> dict[str, float]:
    """Return the degree whose bounds are closest to published ones, and the largest error."""

    def error(degree: float) -> float:
        ours = lower_bounds(homophily, degree, len(bounds))
        return max(abs(a - b) for a, b in zip(ours, bounds, strict=True))

    best = min((hundredth / 100 for hundredth in range(10, 4000)), key=error)
    return {"degree": best, "miss": round(error(best), 4)}


def main() -> None:
    """Write a record for each data set of the table."""
    table = published()["scope_study"]
    for name, row in table["rows"].items():
        graph, sample = load_graph(name), table["sample_size"][name]
        assert graph.labels is not None
        homophily = edge_homophily(graph.adjacency, graph.labels)
        assert homophily is not None
        homophily = round(homophily, 3)  # as the paper prints it
        degree = bound_degree(graph.adjacency, sample, "paper")
        max_n = len(table["n"])
        choice = paper_rule(
            graph.adjacency, graph.labels, sample=sample, convention="paper", max_n=max_n
        )
        record = {
            "graph": name,
            "convention": "d = (E/N)(S/N)",
            "sample": sample,
            "homophily": homophily,
            "degree": degree,
            "lower_bound": [round(bound, 4) for bound in lower_bounds(homophily, degree, max_n)],
            "selected_n": choice.n,
            "fit": fit_degree(row["homophily"], row["lower_bound"]),
            "published": {key: row[key] for key in ("homophily", "lower_bound", "selected_n")},
            "published_best_n": row["best_n"],
        }
        put_record(RESULTS / "paper_scopes.jsonl", record, "graph")


if __name__ == "__main__":
    if len(sys.argv) != 1:
        sys.exit(__doc__)
    main()
