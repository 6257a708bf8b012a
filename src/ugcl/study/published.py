"""The paper's published figures."""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import Any

from ugcl.methods import METHODS


@cache
def published() -> dict[str, Any]:
    """Return the contents of `published.json`, which describes each of its tables."""
    text = (resources.files("ugcl.study") / "published.json").read_text("utf-8")
    figures: dict[str, Any] = json.loads(text)
    return figures


def paper_methods() -> list[str]:
    """Return the methods of the paper's Table I, in its order."""
    rows = published()["node_classification"]["rows"]
    return [method for method in rows if method in METHODS]


def published_accuracy(method: str, graph: str) -> tuple[float, float | None] | None:
    """Return mean and deviation of a method's test accuracy on a data set; None if unpublished.

    `published_where` returns where it was published.
    """
    main, ablation = published()["node_classification"], published()["ablation"]
    for table in (main, {**main, "rows": main["commented_out_in_the_source"]}, ablation):
        if method in table["rows"] and graph in table["columns"]:
            row = table["rows"][method]
            figures = row["accuracy"] if isinstance(row, dict) else row
            figure = figures[table["columns"].index(graph)]
            return None if figure == "OOM" else (figure[0], figure[1])
    return None


def published_where(method: str) -> str:
    """Return where the figures of a method were published, as a phrase after its name."""
    unprinted = method in published()["node_classification"]["commented_out_in_the_source"]
    return "in the paper's source, not printed" if unprinted else "as published"
