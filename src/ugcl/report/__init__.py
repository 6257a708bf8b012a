"""Reports: the HTML page of one or more runs, and the plots."""

from ugcl.report.contents import ReportData, gather
from ugcl.report.page import page, verdict, write_page
from ugcl.report.plots import check_plotting, plot_scope

__all__ = [
    "ReportData",
    "check_plotting",
    "gather",
    "page",
    "plot_scope",
    "verdict",
    "write_page",
]
