"""Contextual scope: how far around a node its context reaches."""

from ugcl.scope.adjacency import normalised_adjacency
from ugcl.scope.power import STAY, Context, lazy_power, power, step, walk

__all__ = ["STAY", "Context", "lazy_power", "normalised_adjacency", "power", "step", "walk"]
