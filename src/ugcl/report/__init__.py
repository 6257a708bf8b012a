"""Reports: the page and the plots that a person looks at."""

from ugcl.report.contents import Gathered, gather
from ugcl.report.page import page, verdict, write_page
from ugcl.report.plotting import check_plotting
from ugcl.report.scope import plot_scope

__all__ = [
    "Gathered",
    "check_plotting",
    "gather",
    "page",
    "plot_scope",
    "verdict",
    "write_page",
]
