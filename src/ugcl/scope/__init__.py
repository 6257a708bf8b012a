"""Contextual scope: how far around a node its context reaches."""

from ugcl.scope.adjacency import SMOOTHING_SELF_LOOPS, normalised_adjacency, with_self_loops
from ugcl.scope.bound import average_degree, lower_bound, lower_bounds, sparsity
from ugcl.scope.component import (
    ComponentSubspace,
    component,
    distance_to_component_subspace,
    mean,
)
from ugcl.scope.diffusion import diffusion, heat_coefficients, nearest, pagerank_coefficients
from ugcl.scope.homophily import ContextualHomophily, contextual_homophily, edge_homophily
from ugcl.scope.power import Context, lazy, power, unit_radius
from ugcl.scope.scopes import Component, Power, Scope, ScopeName, WholeGraph, scope_of
from ugcl.scope.spectrum import Decay, measured_decay, second_eigenvalue

__all__ = [
    "SMOOTHING_SELF_LOOPS",
    "Component",
    "ComponentSubspace",
    "Context",
    "ContextualHomophily",
    "Decay",
    "Power",
    "Scope",
    "ScopeName",
    "WholeGraph",
    "average_degree",
    "component",
    "contextual_homophily",
    "diffusion",
    "distance_to_component_subspace",
    "edge_homophily",
    "heat_coefficients",
    "lazy",
    "lower_bound",
    "lower_bounds",
    "mean",
    "measured_decay",
    "nearest",
    "normalised_adjacency",
    "pagerank_coefficients",
    "power",
    "scope_of",
    "second_eigenvalue",
    "sparsity",
    "unit_radius",
    "with_self_loops",
]
