"""Contextual scope: how far around a node its context reaches."""

from ugcl.scope.adjacency import normalised_adjacency
from ugcl.scope.power import Context, contextual_view, lazy_power, power

__all__ = ["Context", "contextual_view", "lazy_power", "normalised_adjacency", "power"]
