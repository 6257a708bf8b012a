"""Reports: the plots that a person looks at."""

from ugcl.report.plotting import check_plotting
from ugcl.report.scope import plot_scope

__all__ = ["check_plotting", "plot_scope"]
