"""Diagrams: contextual scopes, and our own versions of the paper's Figures 1 to 4."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyArrowPatch, FancyBboxPatch, Polygon
from scipy.spatial import ConvexHull

from ugcl.scope import normalised_adjacency

BLUE, RED, GREEN, PURPLE = "#3e7cb1", "#e07a5f", "#81a684", "#8a5a83"
YELLOW, GREY, INK = "#c9b458", "#9aa5b1", "#2f3640"

Point = tuple[float, float]


@dataclass(frozen=True)
class SmallGraph:
    """A small graph with node positions, in inches."""

    positions: Mapping[int, Point]
    edges: tuple[tuple[int, int], ...]

    def at(self, x: float, y: float, scale: float = 1.0) -> SmallGraph:
        """Return the graph scaled and moved."""
        positions = {v: (x + scale * a, y + scale * b) for v, (a, b) in self.positions.items()}
        return SmallGraph(positions, self.edges)

    def part(self, nodes: Iterable[int]) -> SmallGraph:
        """Return the subgraph induced by `nodes`."""
        kept = {v: self.positions[v] for v in nodes}
        return SmallGraph(kept, tuple((a, b) for a, b in self.edges if a in kept and b in kept))


THREE_PIECES = SmallGraph(
    {
        **{0: (0.95, 1.55), 1: (0.4, 2.15), 2: (0.35, 1.15), 3: (1.2, 2.5), 4: (1.95, 2.05)},
        **{5: (1.8, 0.95), 6: (1.0, 0.55)},
        **{7: (3.2, 2.5), 8: (3.95, 2.35), 9: (3.3, 1.8), 10: (4.05, 1.65)},
        **{11: (2.95, 0.55), 12: (3.8, 0.35), 13: (3.9, 0.9)},
    },
    (
        *((0, 1), (0, 2), (0, 4), (1, 2), (1, 3), (3, 4), (0, 5), (5, 6), (2, 6)),
        *((7, 8), (7, 9), (9, 10), (8, 10)),
        *((11, 12), (11, 13), (12, 13)),
    ),
)
"""A graph of three connected components; the target is node 0."""

HOPS = SmallGraph(
    {
        **{0: (0, 0), 1: (-0.95, 0.55), 2: (0.95, 0.6), 3: (0.05, -0.95)},
        **{4: (-1.85, 0.05), 5: (-1.05, 1.5), 6: (0.25, 1.45), 7: (1.9, 0.3)},
        **{8: (-0.9, -1.35), 9: (1.0, -1.25)},
        **{10: (-2.75, 0.6), 11: (2.6, 1.05), 12: (1.95, -1.0), 13: (-1.85, -1.1)},
        **{14: (-2.8, -0.75), 15: (2.85, -0.65)},
    },
    (
        *((0, 1), (0, 2), (0, 3), (1, 4), (1, 5), (2, 6), (5, 6), (2, 7), (3, 8), (3, 9)),
        *((4, 10), (7, 11), (9, 12), (8, 13), (4, 13), (13, 14), (12, 15)),
    ),
)
"""Nodes at distances 0 to 4 from node 0."""

FEW = SmallGraph(
    {
        **{0: (0, 0.1), 1: (-0.5, 0.4), 2: (-0.45, -0.3), 3: (0.5, 0.35), 4: (0.45, -0.4)},
        **{5: (0.05, 0.62), 6: (-0.02, -0.62)},
    },
    ((0, 1), (0, 2), (0, 3), (1, 2), (3, 4), (1, 5), (4, 6), (2, 6)),
)
"""A small graph that stands for any graph."""


class Canvas:
    """A figure without axes whose unit is an inch."""

    def __init__(self, width: float, height: float) -> None:
        self.figure = Figure(figsize=(width, height))
        self.axes = self.figure.add_axes((0, 0, 1, 1))
        self.axes.set(xlim=(0, width), ylim=(0, height), aspect="equal")
        self.axes.axis("off")

    def text(self, x: float, y: float, words: str, size: float = 10, **style: Any) -> None:
        """Write text centred on a point."""
        style = {"ha": "center", "va": "center", "color": INK, "linespacing": 1.35, **style}
        self.axes.text(x, y, words, fontsize=size, zorder=6, **style)

    def circle(self, position: Point, radius: float, colour: str, **style: Any) -> None:
        """Draw a node."""
        style = {"ec": "white", "lw": 1.2, "zorder": 4, **style}
        self.axes.add_patch(Circle(position, radius, fc=colour, **style))

    def graph(
        self, graph: SmallGraph, colours: Mapping[int, str], radius: float, **lines: Any
    ) -> None:
        """Draw nodes and edges; nodes without a colour are grey."""
        for a, b in graph.edges:
            self._line(graph, a, b, **{"color": GREY, "lw": 1.3, "zorder": 3, **lines})
        for node, position in graph.positions.items():
            self.circle(position, radius, colours.get(node, GREY))

    def hull(self, graph: SmallGraph, colour: str, radius: float) -> None:
        """Shade the convex hull of a graph."""
        positions = np.array(list(graph.positions.values()))
        corners = positions[ConvexHull(positions).vertices]
        pale = mixed(colour, 0.2)
        self.axes.add_patch(
            Polygon(corners, fc=pale, ec=pale, lw=2 * 72 * radius, joinstyle="round", zorder=1)
        )

    def cloud(self, graph: SmallGraph, colour: str, radius: float) -> None:
        """Shade the nodes and edges of a graph."""
        pale = mixed(colour, 0.2)
        for position in graph.positions.values():
            self.circle(position, radius, pale, lw=0, zorder=1)
        for a, b in graph.edges:
            self._line(
                graph, a, b, color=pale, lw=2 * 72 * radius, zorder=1, solid_capstyle="round"
            )

    def box(
        self, x: float, y: float, width: float, height: float, words: str, colour: str, **style: Any
    ) -> None:
        """Draw a rounded box centred on (x, y)."""
        self.axes.add_patch(
            FancyBboxPatch(
                (x - width / 2, y - height / 2),
                width,
                height,
                boxstyle="round,pad=0,rounding_size=0.09",
                fc=mixed(colour, 0.18),
                ec=colour,
                lw=1.5,
                zorder=4,
            )
        )
        self.text(x, y, words, **style)

    def arrow(self, start: Point, end: Point, colour: str = INK, **style: Any) -> None:
        """Draw an arrow."""
        style = {"arrowstyle": "-|>", "lw": 1.4, "zorder": 3, "mutation_scale": 12, **style}
        self.axes.add_patch(
            FancyArrowPatch(start, end, color=colour, shrinkA=0, shrinkB=0, **style)
        )

    def pull(self, start: Point, end: Point, **style: Any) -> None:
        """Draw the double arrow of a positive pair."""
        self.arrow(start, end, RED, arrowstyle="<|-|>", **{"lw": 2.2, "zorder": 5, **style})

    def matrix(self, x: float, y: float, colour: str, height: float = 0.8) -> None:
        """Draw a matrix of node representations."""
        rows, width = 5, 0.5
        step = height / rows
        for row in range(rows):
            corner = (x - width / 2, y + height / 2 - (row + 1) * step)
            shade = mixed(colour, (0.75, 0.45, 0.6, 0.35, 0.55)[row])
            self.axes.add_patch(
                FancyBboxPatch(
                    corner, width, step * 0.82, boxstyle="square,pad=0", fc=shade, lw=0, zorder=4
                )
            )

    def _line(self, graph: SmallGraph, a: int, b: int, **style: Any) -> None:
        (x, y), (u, v) = graph.positions[a], graph.positions[b]
        self.axes.plot((x, u), (y, v), **style)


def mixed(colour: str, fraction: float) -> str:
    """Mix a colour with white."""
    parts = [round(255 * (fraction * part + 1 - fraction)) for part in to_rgb(colour)]
    return "#{:02x}{:02x}{:02x}".format(*parts)


def draw_components() -> Canvas:
    """Figure 1: contrast with the whole graph, and within the connected component."""
    canvas = Canvas(10, 4.3)
    pieces = (range(7), range(7, 11), range(11, 14))
    names = {0: RED}
    left = THREE_PIECES.at(0.2, 0.5)
    canvas.axes.add_patch(
        FancyBboxPatch(
            (0.25, 0.55),
            4.35,
            2.8,
            boxstyle="round,pad=0,rounding_size=0.3",
            fc=mixed(PURPLE, 0.2),
            lw=0,
            zorder=1,
        )
    )
    canvas.graph(left, dict.fromkeys(left.positions, PURPLE) | names, 0.15)
    canvas.box(2.7, 2.05, 0.62, 0.4, "mean", PURPLE, size=9)
    canvas.pull(_off(left.positions[0], (2.39, 2.05), 0.17), (2.39, 2.05))
    canvas.text(2.42, 4.0, "Contrast with the whole graph", 12, weight="bold")
    canvas.text(2.42, 3.62, "one context for all nodes, whatever component they are in", 9)
    canvas.text(2.42, 0.25, "T's context: all 14 nodes, 7 of them out of its reach", 9)

    right = THREE_PIECES.at(5.3, 0.5)
    colours: dict[int, str] = {}
    for piece, colour in zip(pieces, (BLUE, GREEN, YELLOW), strict=True):
        canvas.hull(right.part(piece), colour, 0.28)
        colours |= dict.fromkeys(piece, colour)
    canvas.graph(right, colours | names, 0.15)
    canvas.box(7.1, 2.05, 0.5, 0.36, "$A^n H$", BLUE, size=9)
    canvas.pull(_off(right.positions[0], (6.85, 2.05), 0.17), (6.85, 2.05))
    canvas.text(7.5, 4.0, "Contrast within the connected component", 12, weight="bold")
    canvas.text(7.5, 3.62, "a power of A never leaves it, however large n is", 9)
    canvas.text(7.5, 0.25, "T's context: at most 7 nodes; the other components have their own", 9)
    for graph in (left, right):
        canvas.text(*graph.positions[0], "T", 10, color="white", weight="bold")
    return canvas


def draw_architecture() -> Canvas:
    """Figure 2: UGCL from the graph to the loss, and to the embeddings."""
    canvas = Canvas(11.5, 5.1)
    high, low, middle = 4.05, 2.35, 3.2
    canvas.graph(FEW.at(0.95, middle), dict.fromkeys(FEW.positions, BLUE), 0.1)
    canvas.text(0.95, 4.22, "graph\n$G = (X, A)$, N nodes", 9)
    canvas.arrow((1.65, middle), (2.25, middle))
    canvas.graph(FEW.at(2.9, middle), {}, 0.1, alpha=0.35)
    sampled = FEW.at(2.9, middle).part((0, 1, 2, 6))
    canvas.graph(sampled, dict.fromkeys(sampled.positions, BLUE), 0.1, color=BLUE)
    canvas.text(2.9, 4.22, "a fresh sample of S nodes\nin every epoch", 9)
    for y, words, colour in (
        (high, "primary encoder\none GCN layer", BLUE),
        (low, "auxiliary encoder\none GCN layer", PURPLE),
    ):
        canvas.arrow((3.6, middle + (y - middle) * 0.2), (4.3, y))
        canvas.box(5.0, y, 1.4, 0.62, words, colour, size=9)
    canvas.arrow((5.7, low), (6.15, low))
    canvas.matrix(6.45, low, PURPLE)
    canvas.text(6.45, low - 0.62, "$H'$", 11)
    canvas.arrow((6.75, low), (7.15, low))
    canvas.box(7.5, low, 0.7, 0.62, "$A^n$", YELLOW, size=12)
    canvas.text(7.5, low - 0.62, "scope", 9)
    canvas.arrow((7.85, low), (8.3, low))
    canvas.arrow((5.7, high), (8.3, high))
    for y, colour in ((high, BLUE), (low, PURPLE)):
        canvas.matrix(8.6, y, colour)
    canvas.text(8.6, high + 0.6, "patch view $H$", 9)
    canvas.text(8.6, low - 0.53, "contextual view\n$C = A^n H'$", 9, va="top")
    anchor, others = (9.75, 3.85), ((10.5, 4.38), (10.75, 3.97), (10.55, 3.53))
    context = (9.75, 2.5)
    canvas.arrow((8.9, high), (9.55, 3.92), GREY, lw=1)
    canvas.arrow((8.9, low), (9.55, 2.45), GREY, lw=1)
    for other in others:
        canvas.arrow(
            _off(anchor, other, 0.17),
            _off(other, anchor, 0.15),
            BLUE,
            arrowstyle="-",
            ls=(0, (3, 2)),
        )
        canvas.circle(other, 0.15, mixed(BLUE, 0.35))
        canvas.text(*other, "$h_u$", 8)
    canvas.pull((9.75, 3.67), (9.75, 2.68))
    canvas.circle(anchor, 0.17, BLUE)
    canvas.circle(context, 0.17, PURPLE)
    canvas.text(*anchor, "$h_v$", 9, color="white")
    canvas.text(*context, "$c_v$", 9, color="white")
    canvas.text(10.02, 3.1, "pulled together:\n$\\cos(h_v, c_v)$ grows", 9, ha="left")
    canvas.text(10.3, 4.75, "pushed apart: $\\cos(h_v, h_u)$", 9)
    canvas.text(10.35, 2.05, "one contrastive loss", 9, weight="bold")
    canvas.axes.axhline(1.35, 0.03, 0.97, color=GREY, lw=0.8)
    y = 0.7
    canvas.text(0.95, y, "after training", 10, weight="bold")
    canvas.graph(FEW.at(2.9, y, 0.75), dict.fromkeys(FEW.positions, BLUE), 0.085)
    canvas.text(2.1, y, "all of\n$G$", 9)
    canvas.arrow((3.5, y), (4.3, y))
    canvas.box(5.0, y, 1.4, 0.5, "primary encoder", BLUE, size=9)
    canvas.arrow((5.7, y), (6.15, y))
    canvas.matrix(6.45, y, BLUE)
    canvas.arrow((6.75, y), (7.15, y))
    canvas.box(8.1, y, 1.9, 0.5, "$H + A^n H$", YELLOW, size=12)
    canvas.arrow((9.05, y), (9.55, y))
    canvas.text(9.65, y, "embeddings", 10, ha="left", weight="bold")
    return canvas


def draw_framework() -> Canvas:
    """Figure 3: the steps of the framework and the options for each."""
    canvas = Canvas(11, 3.8)
    high, low, middle = 2.75, 1.7, 2.225
    steps = {2.6: "views", 4.9: "encoder", 7.2: "scope", 9.7: "contrast"}
    for x, words in steps.items():
        canvas.text(x, 3.5, words, 12, weight="bold", va="baseline")
    canvas.graph(FEW.at(0.85, middle), dict.fromkeys(FEW.positions, BLUE), 0.1)
    canvas.text(0.85, 3.5, "graph", 12, weight="bold", va="baseline")
    for y, number, words, colour in (
        (high, 1, "patch", BLUE),
        (low, 2, "contextual", PURPLE),
    ):
        canvas.arrow((1.5, middle + (y - middle) * 0.25), (1.95, y))
        canvas.box(2.6, y, 1.3, 0.6, rf"$\hat{{G}}_{number}$", colour, size=12)
        canvas.arrow((3.25, y), (4.25, y))
        canvas.box(4.9, y, 1.3, 0.6, rf"$g_{number}$", colour, size=12)
        canvas.text(9.7, y + (0.42 if number == 1 else -0.42), f"{words} view", 9)
    canvas.arrow((5.55, high), (9.3, high))
    canvas.text(6.05, high + 0.17, "$H_1$", 10)
    canvas.arrow((5.55, low), (6.55, low))
    canvas.text(6.05, low + 0.17, "$H_2$", 10)
    canvas.box(7.2, low, 1.3, 0.6, "$A^n$", YELLOW, size=13)
    canvas.arrow((7.85, low), (9.3, low))
    canvas.text(8.55, low + 0.17, "$A^n H_2$", 10)
    for y, colour in ((high, BLUE), (low, PURPLE)):
        canvas.matrix(9.7, y, colour, 0.5)
    canvas.pull((9.7, high - 0.28), (9.7, low + 0.28))
    for x, words in (
        (
            2.6,
            "the graph itself,\na sample of its nodes,\n"
            "edges dropped, features\nmasked, a diffusion",
        ),
        (4.9, "a GCN of one layer\nor more; shared by\nboth views, or two"),
        (
            7.2,
            "$A^0$: the node\n$A^1$: its neighbours\n"
            "$A^n$: its n-hop ball\n$A^\\infty$: its component",
        ),
        (9.7, "cosine or bilinear score;\nnegatives: other nodes,\na corrupted graph"),
    ):
        canvas.text(x, 1.0, words, 9, va="top")
    return canvas


def draw_methods() -> Canvas:
    """Figure 4: two local and two global methods as the framework with a fixed scope."""
    canvas = Canvas(11.5, 5.95)
    columns = 0.0, 5.85
    for x, words in zip(
        columns, ("(a) local: a small fixed n", "(b) global: an infinite n"), strict=True
    ):
        canvas.text(x + 2.85, 5.68, words, 12, weight="bold")
    _method(canvas, 0.0, 4.05, "GRACE", "two views by dropping edges and masking features", 0)
    _method(canvas, 0.0, 1.25, "GMI", "the context is the raw features around the node", 1)
    _method(canvas, 5.85, 4.05, "DGI", "negatives come from a graph with shuffled features", None)
    _method(canvas, 5.85, 1.25, "MVGRL", "views: the edges, and a diffusion along them", None)
    canvas.axes.axvline(5.75, 0.03, 0.97, color=GREY, lw=0.8)
    canvas.axes.axhline(2.7, 0.02, 0.98, color=GREY, lw=0.8)
    return canvas


def _method(canvas: Canvas, x: float, y: float, name: str, about: str, n: int | None) -> None:
    """Draw one method as two lanes, patch and context."""
    high, low = y + 0.5, y - 0.5
    views = name in ("GRACE", "MVGRL")
    power = r"$A^\infty$" if n is None else f"$A^{n}$"
    canvas.text(x + 0.2, y + 1.1, name, 11, ha="left", va="baseline", weight="bold")
    canvas.text(x + 1.0, y + 1.1, about, 9, ha="left", va="baseline")
    canvas.graph(FEW.at(x + 0.55, y, 0.6), dict.fromkeys(FEW.positions, BLUE), 0.075)
    for lane, number, colour in ((high, 1, BLUE), (low, 2, PURPLE)):
        features = name == "GMI" and number == 2
        fork = (x + 0.95, y + (lane - y) * 0.3)
        if views:
            canvas.arrow(fork, (x + 1.25, lane))
            canvas.box(x + 1.5, lane, 0.5, 0.5, rf"$\hat{{G}}_{number}$", colour, size=10)
            canvas.arrow((x + 1.75, lane), (x + 2.0, lane))
        elif number == 1 or features:
            canvas.arrow(fork, (x + (1.55 if features else 2.0), lane))
        if name == "DGI" and number == 2:
            continue
        if features:
            canvas.text(x + 1.75, lane, "$X$", 11)
            canvas.arrow((x + 1.95, lane), (x + 3.55, lane))
            continue
        canvas.box(x + 2.35, lane, 0.7, 0.5, "GCN", colour, size=9)
        canvas.arrow((x + 2.7, lane), (x + (4.75 if number == 1 else 3.55), lane))
    if name == "GRACE":
        canvas.text(x + 2.35, y, "shared", 8)
        canvas.arrow((x + 2.35, y + 0.1), (x + 2.35, high - 0.25), GREY, arrowstyle="-", lw=1)
        canvas.arrow((x + 2.35, y - 0.1), (x + 2.35, low + 0.25), GREY, arrowstyle="-", lw=1)
    if name == "DGI":
        canvas.arrow(
            (x + 3.1, high), (x + 3.55, low), connectionstyle="angle,angleA=-90,angleB=180,rad=4"
        )
    if name == "GMI":
        canvas.text(x + 2.7, low + 0.17, "no encoder", 8)
    canvas.box(x + 3.85, low, 0.6, 0.5, power, YELLOW, size=11)
    canvas.arrow((x + 4.15, low), (x + 4.75, low))
    canvas.matrix(x + 5.05, high, BLUE, 0.5)
    canvas.matrix(x + 5.05, low, PURPLE, 0.5)
    canvas.pull((x + 5.05, high - 0.28), (x + 5.05, low + 0.28))
    canvas.text(x + 5.05, high + 0.4, "$H_1$" if views else "$H$", 9)
    context = "X" if name == "GMI" else "H_2" if views else "H"
    canvas.text(x + 5.05, low - 0.42, power[:-1] + rf"\,{context}$", 9)


def draw_scope() -> Canvas:
    """Contextual scopes: row i of A^n on the n-hop ball, for n = 0 to 3."""
    canvas = Canvas(10.6, 7.2)
    weights = _weights(HOPS)
    for n, (x, y) in enumerate(((2.65, 5.25), (7.95, 5.25), (2.65, 1.65), (7.95, 1.65))):
        graph = HOPS.at(x, y - 0.05, 0.83)
        row = np.linalg.matrix_power(weights, n)[0]
        ball = [v for v in HOPS.positions if row[v] > 0]
        canvas.cloud(graph.part(ball), YELLOW, 0.33)
        canvas.graph(graph, {}, 0.1)
        for node in ball:
            fraction = 0.15 + 0.85 * float(np.sqrt(row[node]))
            canvas.circle(graph.positions[node], 0.225, mixed(BLUE, fraction), lw=1.5)
            light = fraction > 0.7
            number = f"{row[node]:.2f}" if row[node] < 1 else "1"
            canvas.text(*graph.positions[node], number, 8, color="white" if light else INK)
        canvas.axes.add_patch(Circle(graph.positions[0], 0.26, fc="none", ec=RED, lw=2.2, zorder=5))
        words = {0: "the node itself", 1: "with its neighbours"}.get(n, f"all within {n} hops")
        reached = f"{len(ball)} node" + "s" * (len(ball) > 1)
        canvas.text(x, y + 1.72, f"n = {n}: {words} ({reached})", 11, weight="bold")
    return canvas


def _weights(graph: SmallGraph) -> Any:
    """Return the dense normalised adjacency of a graph."""
    first, second = zip(*graph.edges, strict=True)
    size = len(graph.positions)
    upper = sp.csr_array((np.ones(len(first)), (first, second)), shape=(size, size))
    return normalised_adjacency(upper + upper.T).toarray().astype(np.float64)


def _off(start: Point, end: Point, distance: float) -> Point:
    """Return the point at a distance from `start` towards `end`."""
    way = np.subtract(end, start)
    moved = np.add(start, distance * way / np.linalg.norm(way))
    return float(moved[0]), float(moved[1])


DRAWINGS = {
    "scope-balls": draw_scope,
    "components": draw_components,
    "architecture": draw_architecture,
    "framework": draw_framework,
    "methods": draw_methods,
}
