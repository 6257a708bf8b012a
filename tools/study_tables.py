"""Tables of the documentation that studies make from results/cells.jsonl.

Cells are found by the content of their graphs, so all data sets must be present.
"""

from __future__ import annotations

from functools import cache

from cells import Rows
from collect import RESULTS
from ugcl.study import Options, Results
from ugcl.study.catalogue import BY_NAME

OPTIONS = Options(splits=5)
"""What the tables ask for; a figure of fewer seeds or other splits says so."""


@cache
def results() -> Results:
    """Return the stored cells."""
    return Results.open(RESULTS / "cells.jsonl")


def study_rows(study: str, name: str = "") -> Rows:
    """Yield the rows of a table of a study, by default of the one with the study's name.

    The best figure is bold, the second underlined.
    """
    tables = BY_NAME[study].tables(OPTIONS, results())
    table = next(table for table in tables if table.name == (name or study))
    yield from table.texts("**{}**", "<u>{}</u>")


def datasets() -> Rows:
    """Table II."""
    return study_rows("datasets")


def convergence() -> Rows:
    """Theorem 1."""
    return study_rows("convergence")


def subsampling() -> Rows:
    """Proposition 1."""
    return study_rows("subsampling")
