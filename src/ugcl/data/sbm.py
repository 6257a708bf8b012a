"""Synthetic graphs: the degree-corrected contextual stochastic block model."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ugcl._utils.errors import UGCLError
from ugcl._utils.random import numpy_generator
from ugcl.data.sbm_edges import Blocks, connected_edges, edge_counts
from ugcl.graph import Graph
from ugcl.graph.edges import EdgeList
from ugcl.typing import LabelArray

MAX_INT = 2**31 - 1

BLOCK = 2**22
"""Numbers of features that are sampled at a time."""

MAX_DEGREE_SPREAD = 2.0
MAX_SIGNAL = 1e6
MAX_HUB_MIXING = 2.0
MAX_RING = 100.0
MAX_NOISE_LOG_SCALE = 3
"""Noise features have standard deviations from 1 to ten to this power."""


def sbm_graph(
    *,
    nodes: int,
    degree: float = 10.0,
    homophily: float | None = 0.8,
    classes: int = 5,
    features: int = 32,
    components: int = 1,
    signal: float = 1.0,
    noise_features: float = 0.0,
    degree_spread: float = 0.5,
    hub_mixing: float = 1.0,
    ring: float = 1.0,
    seed: int = 0,
) -> Graph:
    """Sample a graph from a degree-corrected contextual stochastic block model.

    The numbers of edges are fixed instead of expected:

        E = N d / 2, of which h E inside classes,
        P(u, v) ~ w_u w_v            among pairs of the same class,
        P(u, v) ~ (w_u w_v)^p b_uv   among pairs of two classes, with p the hub mixing,
        w_v = exp(s z_v - s^2 / 2)   with z_v ~ N(0, 1), s the degree spread,
        b_uv = 1                     for consecutive classes c and c + 1 (mod C), else 1 / ring,

    sampled without replacement; a few edges are then moved so that every component is connected.
    Classes and components have equal sizes up to one node, and every component with enough nodes
    contains every class. The features are Gaussian:

        x_v = t / sqrt(2) m_c + e_v    with e_v ~ N(0, I), c the class of v, t the signal,

    where the m_c are random and orthonormal, so that class means are at distance t (with more
    classes than features: random unit vectors, at about that distance). The best classifier of
    features alone has an error of Phi(-t/2) between two classes. A fraction of the columns may be
    noise in unlike units: a_j (b_j + e), with log10 a_j uniform from 0 to 3 and b_j ~ N(0, 1).

    The result depends on the arguments alone. Cost: O(N F + E) and sorts of E integers.

    References: Karrer and Newman, Stochastic blockmodels and community structure in networks
    (2011); Deshpande, Sen, Montanari and Mossel, Contextual stochastic block models (2018).

    Args:
        nodes: N.
        degree: d, the average degree; E is N d / 2, rounded.
        homophily: h, the fraction of edges that connect two nodes of the same class; None for
            1 / classes, where edges tell nothing about the classes.
        classes: number of classes.
        features: F, number of feature columns.
        components: number of connected components.
        signal: t, distance of two class means in standard deviations of the noise.
        noise_features: fraction of the columns that are noise in unlike units.
        degree_spread: s, from 0 (equal weights, the plain block model) to 2.
        hub_mixing: p, from 0 to 2; above 1 the edges of hubs are less homophilous than others.
        ring: how much more likely an edge between two classes connects consecutive classes than
            others, 1 to 100. The few edges that are moved to connect components are exempt.
        seed: seed of the random generator.

    Returns:
        A graph with labels, named "sbm".
    """
    return sample(
        {
            "nodes": nodes,
            "degree": degree,
            "homophily": homophily,
            "classes": classes,
            "features": features,
            "components": components,
            "signal": signal,
            "noise_features": noise_features,
            "degree_spread": degree_spread,
            "hub_mixing": hub_mixing,
            "ring": ring,
            "seed": seed,
        }
    ).graph()


@dataclass
class Sample:
    """A graph that is sampled but for its features.

    Attributes:
        num_nodes, num_classes, num_components: N and these numbers.
        edges: E integers u N + v, nodes in the order of their blocks.
        node: number of each of these nodes.
        labels: class of each node.
        fill: fills an N x F array with the features; called once.
        num_features: F.
    """

    num_nodes: int
    num_classes: int
    num_components: int
    edges: npt.NDArray[np.int64]
    node: npt.NDArray[np.int32]
    labels: LabelArray
    fill: Callable[[npt.NDArray[np.float32]], None]
    num_features: int

    def graph(self) -> Graph:
        """Return the graph."""
        u, v = (self.node[ends] for ends in np.divmod(self.edges, self.num_nodes))
        features = np.empty((self.num_nodes, self.num_features), dtype=np.float32)
        self.fill(features)
        edges = EdgeList(np.concatenate([u, v]), np.concatenate([v, u]), None)
        return Graph(edges, features, labels=self.labels, name="sbm")


def sample(params: Mapping[str, Any]) -> Sample:
    """Sample all but the features; takes all parameters of `sbm_graph`."""
    nodes, degree, homophily, classes, features, components, signal = (
        params[name]
        for name in ("nodes", "degree", "homophily", "classes", "features", "components", "signal")
    )
    num_nodes = _integer("nodes", nodes, 1, MAX_INT)
    num_classes = _integer("classes", classes, 1, num_nodes)
    num_components = _integer("components", components, 1, num_nodes)
    num_features = _integer("features", features, 1, MAX_INT)
    degree = _number("degree", degree, 0, num_nodes - 1)
    homophily = 1 / num_classes if homophily is None else _number("homophily", homophily, 0, 1)
    signal = _number("signal", signal, 0, MAX_SIGNAL)
    num_noise = round(num_features * _number("noise_features", params["noise_features"], 0, 1))
    hub_mixing = _number("hub_mixing", params["hub_mixing"], 0, MAX_HUB_MIXING)
    ring = _number("ring", params["ring"], 1, MAX_RING)
    spread = _number("degree_spread", params["degree_spread"], 0, MAX_DEGREE_SPREAD)
    rng = numpy_generator("sbm", _integer("seed", params["seed"], 0, 2**63 - 1))

    index = np.arange(num_nodes)
    component = index * num_components // num_nodes
    block = np.sort(component * num_classes + index % num_classes)
    weights = rng.lognormal(-(spread**2) / 2, spread, num_nodes)
    blocks = Blocks(block, component, weights, weights**hub_mixing, num_classes, ring)
    inside, between = edge_counts(blocks, degree, homophily)
    edges = connected_edges(blocks, inside, between, rng)

    node = rng.permutation(num_nodes).astype(np.int32)
    labels = np.empty(num_nodes, dtype=np.int64)
    labels[node] = block % num_classes

    def fill(out: npt.NDArray[np.float32]) -> None:
        _fill_features(out, labels, num_classes, num_noise, signal, rng)

    return Sample(num_nodes, num_classes, num_components, edges, node, labels, fill, num_features)


def _fill_features(
    out: npt.NDArray[np.float32],
    labels: LabelArray,
    classes: int,
    num_noise: int,
    signal: float,
    rng: np.random.Generator,
) -> None:
    """Fill an array, which may be a mapped file, by blocks of rows."""
    rows, columns = out.shape
    informative = columns - num_noise
    means = rng.standard_normal((classes, informative))
    if classes <= informative:
        means = np.linalg.qr(means.T)[0].T
    else:
        means /= np.linalg.norm(means, axis=1, keepdims=True)
    means = (signal / math.sqrt(2) * means).astype(np.float32)
    step = max(1, BLOCK // columns)
    for start in range(0, rows, step):
        block = rng.standard_normal((min(step, rows - start), columns), dtype=np.float32)
        block[:, :informative] += means[labels[start : start + step]]
        out[start : start + step] = block
    if not num_noise:
        return
    scale = 10 ** rng.uniform(0, MAX_NOISE_LOG_SCALE, num_noise)
    offset = rng.standard_normal(num_noise)
    order = rng.permutation(columns)
    for start in range(0, rows, step):
        block = np.array(out[start : start + step])
        block[:, informative:] += offset
        block[:, informative:] *= scale
        out[start : start + step] = block[:, order]


def _integer(name: str, value: Any, low: int, high: int) -> int:
    integral = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not integral or not low <= value <= high:
        raise UGCLError(f"`{name}` must be an integer from {low} to {high:,}, not {value!r}")
    return int(value)


def _number(name: str, value: Any, low: float, high: float) -> float:
    real = isinstance(value, int | float | np.integer | np.floating)
    if not real or isinstance(value, bool) or not math.isfinite(value) or value < low:
        raise UGCLError(f"`{name}` must be a number of at least {low:g}, not {value!r}")
    if value > high:
        raise UGCLError(f"`{name}` must be at most {high:,g}, not {value!r}")
    return float(value)
