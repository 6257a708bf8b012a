"""The check of a graph before training: statistics, warnings, cost."""

from ugcl.check.cost import Cost, estimate_cost
from ugcl.check.diagnosis import Diagnosis, diagnose
from ugcl.check.graph_warnings import graph_warnings

__all__ = ["Cost", "Diagnosis", "diagnose", "estimate_cost", "graph_warnings"]
