"""Tables of the documentation that studies make from results/cells.jsonl.

Cells are found by the content of their graphs, so all data sets must be present.
"""

from __future__ import annotations

from functools import cache, cached_property

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


class StudyTable:
    """A table of a study; called, it yields its rows, the best figure bold, the second underlined.

    Args:
        study: the study's name.
        name: the table's name, if it is not that of the study.
    """

    def __init__(self, study: str, name: str = "") -> None:
        self.study, self.__name__ = study, name or study

    @cached_property
    def table(self) -> Table:
        """The table, made from the stored cells."""
        tables = BY_NAME[self.study].tables(OPTIONS, results())
        return next(table for table in tables if table.name == self.__name__)

    def __call__(self) -> Rows:
        """Yield the rows."""
        yield from self.table.texts("**{}**", "<u>{}</u>")

    def footnotes(self) -> str:
        """Return the sentence that explains the marks, "" where there are none."""
        return self.table.sentences()[-1] if self.table.marks() else ""


datasets = StudyTable("datasets")
convergence = StudyTable("convergence")
subsampling = StudyTable("subsampling")
protocols_computers = StudyTable("protocols", "protocols-amazon-computers")
protocols_photo = StudyTable("protocols", "protocols-amazon-photo")
