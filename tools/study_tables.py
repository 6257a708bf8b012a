"""Tables of the documentation that studies make from results/cells.jsonl.

Cells are found by the content of their graphs, so all data sets must be present.
"""

from __future__ import annotations

from functools import cache

from cells import Rows
from collect import RESULTS
from ugcl.study import Options, Results
from ugcl.study.catalogue import BY_NAME
from ugcl.study.table import Table

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
    yield from _table(study, name).texts("**{}**", "<u>{}</u>")


def study_footnotes(study: str, name: str = "") -> str:
    """Return the sentence that explains the marks of a table, "" where it has none."""
    table = _table(study, name)
    return table.sentences()[-1] if table.marks() else ""


@cache
def _table(study: str, name: str) -> Table:
    tables = BY_NAME[study].tables(OPTIONS, results())
    return next(table for table in tables if table.name == (name or study))


def datasets() -> Rows:
    """Table II."""
    return study_rows("datasets")


def convergence() -> Rows:
    """Theorem 1."""
    return study_rows("convergence")


def subsampling() -> Rows:
    """Proposition 1."""
    return study_rows("subsampling")


def classification() -> Rows:
    """Table I."""
    return study_rows("classification")


def classification_honest() -> Rows:
    """The methods of Table I on random splits."""
    return study_rows("classification", "classification-honest")


def all_gains() -> Rows:
    """The gain of every method over the best control."""
    return study_rows("does-training-pay")


def ablation() -> Rows:
    """Table V."""
    return study_rows("ablation")


def protocols_computers() -> Rows:
    """Amazon Computers under all protocols."""
    return study_rows("protocols", "protocols-amazon-computers")


def protocols_photo() -> Rows:
    """Amazon Photo under all protocols."""
    return study_rows("protocols", "protocols-amazon-photo")


FOOTNOTES = {
    "docs/results/paper.md": (
        ("classification", ""),
        ("classification", "classification-honest"),
        ("ablation", ""),
    ),
    "docs/does-training-pay.md": (("does-training-pay", ""),),
    "docs/results/protocols.md": (
        ("protocols", "protocols-amazon-computers"),
        ("protocols", "protocols-amazon-photo"),
    ),
}
"""The tables of each page whose marks it explains."""
