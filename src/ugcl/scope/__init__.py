"""Contextual scopes: powers of the adjacency, their limit, homophily and its lower bound."""

from ugcl.scope.adjacency import (
    SMOOTHING_SELF_LOOPS,
    degree_scale,
    normalised_adjacency,
    normalised_rows,
    normalised_slice,
    stored_adjacency,
    with_self_loops,
)
from ugcl.scope.bound import average_degree, lower_bound, lower_bounds, sparsity
from ugcl.scope.component import (
    ComponentSubspace,
    component,
    distance_to_component_subspace,
    mean,
)
from ugcl.scope.diffusion import (
    diffusion,
    heat_coefficients,
    pagerank_coefficients,
    top_k_diffusion,
)
from ugcl.scope.homophily import ContextualHomophily, contextual_homophily, edge_homophily
from ugcl.scope.power import lazy, power, unit_radius
from ugcl.scope.scopes import Component, Power, Scope, WholeGraph, scope_of
from ugcl.scope.spectrum import Decay, measured_decay, second_eigenvalue
from ugcl.typing import ScopeName

__all__ = [
    "SMOOTHING_SELF_LOOPS",
    "Component",
    "ComponentSubspace",
    "ContextualHomophily",
    "Decay",
    "Power",
    "Scope",
    "ScopeName",
    "WholeGraph",
    "average_degree",
    "component",
    "contextual_homophily",
    "degree_scale",
    "diffusion",
    "distance_to_component_subspace",
    "edge_homophily",
    "heat_coefficients",
    "lazy",
    "lower_bound",
    "lower_bounds",
    "mean",
    "measured_decay",
    "normalised_adjacency",
    "normalised_rows",
    "normalised_slice",
    "pagerank_coefficients",
    "power",
    "scope_of",
    "second_eigenvalue",
    "sparsity",
    "stored_adjacency",
    "top_k_diffusion",
    "unit_radius",
    "with_self_loops",
]
