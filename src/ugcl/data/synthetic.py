"""Synthetic graphs: the degree-corrected contextual stochastic block model."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from ugcl._utils.errors import UGCLError
from ugcl.data.blocks import Blocks, Ints
from ugcl.data.connect import connected_edges
from ugcl.graph import Graph
from ugcl.graph.edges import EdgeList

MOST = 2**31 - 1
MOST_SPREAD = 2.0
MOST_SIGNAL = 1e6
STREAM = 2018
"""Keeps the draws apart from those that other parts make with the same seed: a random split begins
with a permutation of the nodes, and with the graph's own it would be a single class."""


def sbm_graph(
    *,
    nodes: int,
    degree: float = 10.0,
    homophily: float = 0.8,
    classes: int = 5,
    features: int = 32,
    components: int = 1,
    signal: float = 1.0,
    degree_spread: float = 0.5,
    seed: int = 0,
) -> Graph:
    """Draw a graph whose classes show in its edges and, as much as you like, in its features.

    The edges are those of a degree-corrected stochastic block model with their numbers fixed:

        E = N d / 2, of which h E inside classes,
        P(u, v) ~ w_u w_v            among the pairs inside classes, and among those between,
        w_v = exp(s z_v - s^2 / 2)   with z_v ~ N(0, 1), s the degree spread,

    drawn without repetition, and with a few edges placed such that every component is connected.
    Classes and components are of equal sizes, give or take one node; every class is in every
    component that has as many nodes as there are classes. The features are Gaussian:

        x_v = t / sqrt(2) m_c + e_v    with e_v ~ N(0, I), c the class of v, t the signal,

    where the m_c are random and orthonormal, so that two class means are t standard deviations of
    the noise apart (with more classes than features: random unit vectors, so about that far). The
    best classifier that sees features alone errs in a share of Phi(-t/2) between two classes.

    Everything is a function of the arguments; all randomness comes from the seed. Cost: O(N F + E)
    and sorts of E numbers.

    References: Karrer and Newman, Stochastic blockmodels and community structure in networks
    (2011); Deshpande, Sen, Montanari and Mossel, Contextual stochastic block models (2018).

    Args:
        nodes: N.
        degree: d, the average degree; E is N d / 2, rounded.
        homophily: h, the share of edges that join two nodes of one class.
        classes: number of classes.
        features: F, number of feature columns.
        components: number of connected components.
        signal: t, distance of two class means in standard deviations of the noise; 0: none.
        degree_spread: s, 0 (all nodes alike, the plain block model) to 2.
        seed: a whole number.

    Returns:
        A graph with labels, called "sbm".
    """
    num_nodes = _whole("nodes", nodes, 1, MOST)
    num_classes = _whole("classes", classes, 1, num_nodes)
    num_components = _whole("components", components, 1, num_nodes)
    num_features = _whole("features", features, 1, MOST)
    degree = _number("degree", degree, 0, num_nodes - 1)
    homophily = _number("homophily", homophily, 0, 1)
    signal = _number("signal", signal, 0, MOST_SIGNAL)
    spread = _number("degree_spread", degree_spread, 0, MOST_SPREAD)
    rng = np.random.default_rng([STREAM, _whole("seed", seed, 0, 2**63 - 1)])

    blocks, labels = Blocks.balanced(num_nodes, num_classes, num_components, spread, rng)
    inside, between = _edge_numbers(blocks, degree, homophily)
    keys = connected_edges(blocks, inside, between, rng)
    return Graph(
        _both_ways(keys, num_nodes),
        _features(labels, num_classes, num_features, signal, rng),
        labels=labels,
        name="sbm",
    )


def _edge_numbers(blocks: Blocks, degree: float, homophily: float) -> tuple[int, int]:
    """How many edges to draw inside classes and between them, if that many can be."""
    num_nodes, num_components = blocks.nodes.size, int(blocks.group[-1]) + 1
    most_inside, most_between = blocks.capacity(same=True), blocks.capacity(same=False)
    edges = round(num_nodes * degree / 2)
    fewest, most = num_nodes - num_components, most_inside + most_between
    if not fewest <= edges <= most:
        raise UGCLError(
            f"{num_nodes:,} nodes in {num_components:,} connected component(s) have an average "
            f"degree from {2 * fewest / num_nodes:.12g} to {2 * most / num_nodes:.12g}, not "
            f"{degree:g}: change degree, nodes or components"
        )
    inside = round(homophily * edges)
    lone = int((blocks.size[blocks.lone] - 1).sum())
    chains = blocks.group.size - num_components
    low, high = max(lone, edges - most_between), min(most_inside, edges - chains)
    if not low <= inside <= high:
        raise UGCLError(
            f"homophily must be from {low / edges:.12g} to {high / edges:.12g} with so many nodes, "
            f"classes, components and edges, not {homophily:g}: a component must hang together "
            "through all its classes, and no two nodes can be joined twice"
        )
    return inside, edges - inside


def _both_ways(keys: Ints, num_nodes: int) -> EdgeList:
    """Every edge in both directions, such that each node's neighbours are listed in order."""
    low, high = (ends.astype(np.int32) for ends in np.divmod(keys, num_nodes))
    return EdgeList(np.concatenate([high, low]), np.concatenate([low, high]), None)


def _features(
    labels: Ints, classes: int, columns: int, signal: float, rng: np.random.Generator
) -> npt.NDArray[np.float32]:
    means = rng.standard_normal((classes, columns))
    if classes <= columns:
        means = np.linalg.qr(means.T)[0].T
    else:
        means /= np.linalg.norm(means, axis=1, keepdims=True)
    features = rng.standard_normal((labels.size, columns), dtype=np.float32)
    features += (signal / math.sqrt(2) * means).astype(np.float32)[labels]
    return features


def _whole(name: str, given: Any, least: int, most: int) -> int:
    whole = isinstance(given, int | np.integer) and not isinstance(given, bool)
    if not whole or not least <= given <= most:
        raise UGCLError(f"{name} must be a whole number from {least} to {most:,}, not {given!r}")
    return int(given)


def _number(name: str, given: Any, least: float, most: float) -> float:
    real = isinstance(given, int | float | np.integer | np.floating)
    if not real or isinstance(given, bool) or not math.isfinite(given) or given < least:
        raise UGCLError(f"{name} must be a number of at least {least:g}, not {given!r}")
    if given > most:
        raise UGCLError(f"{name} must be at most {most:,g}, not {given!r}")
    return float(given)
