"""Blocks of nodes, and random edges inside them and between them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]

TICKETS = 8
"""Tickets of a node of propensity 1: propensities are rounded up to eighths."""

BATCH = 2**20
"""Pairs drawn at once: few enough for the processor's cache."""

LOW_YIELD = 4
PATIENCE = 10
"""Propensities are given up after so many rounds that found few new edges, fewer than one in
`LOW_YIELD` draws: then the likely ones are all there."""


@dataclass(frozen=True, eq=False)
class Blocks:
    """Nodes listed block by block; a block is what one class has of one component.

    Attributes:
        nodes: the N node numbers, block after block, in random order inside a block.
        tickets: weight of each listed node, a whole number of at least 1.
        block: block of each listed node, ascending.
        group: component of each block, ascending.
    """

    nodes: npt.NDArray[np.int32]
    tickets: Ints
    block: Ints
    group: Ints

    @classmethod
    def balanced(
        cls, nodes: int, classes: int, components: int, spread: float, rng: np.random.Generator
    ) -> tuple[Blocks, Ints]:
        """Random blocks of sizes as equal as can be, and the class of each node."""
        place = np.arange(nodes)
        key = np.sort(place * components // nodes * classes + place % classes)
        first = np.flatnonzero(np.diff(key, prepend=-1))
        numbers = rng.permutation(nodes).astype(np.int32)
        propensity = rng.lognormal(-(spread**2) / 2, spread, nodes)
        labels = np.empty(nodes, dtype=np.int64)
        labels[numbers] = key % classes
        blocks = cls(
            nodes=numbers,
            tickets=np.ceil(TICKETS * propensity).astype(np.int64) if spread else np.ones_like(key),
            block=np.repeat(np.arange(first.size), np.diff(first, append=nodes)),
            group=key[first] // classes,
        )
        return blocks, labels

    @cached_property
    def size(self) -> Ints:
        """Number of nodes of each block."""
        return np.bincount(self.block)

    @cached_property
    def start(self) -> Ints:
        """Place of the first node of each block in the list."""
        return starts(self.size)

    @cached_property
    def group_size(self) -> Ints:
        """Number of nodes of each block's component."""
        return self.of_group(self.size)

    @cached_property
    def lone(self) -> npt.NDArray[np.bool_]:
        """Whether each block is the only one of its component."""
        return np.equal(self.size, self.group_size)

    def of_group(self, amounts: Ints) -> Ints:
        """For each block the sum of its component's amounts."""
        sums = np.zeros(int(self.group[-1]) + 1, dtype=np.int64)
        np.add.at(sums, self.group, amounts)
        return sums[self.group]

    def capacity(self, same: bool) -> int:
        """Number of pairs of nodes in one block, or in two blocks of one component."""
        others = self.size - 1 if same else self.group_size - self.size
        return int((self.size * others).sum()) // 2


class Urn:
    """Draws random pairs, a node as often as it has tickets; O(1) for each."""

    def __init__(self, blocks: Blocks, tickets: Ints) -> None:
        self.blocks = blocks
        self.tickets = np.repeat(blocks.nodes, tickets)
        self.size = np.bincount(blocks.block, weights=tickets).astype(np.int64)
        self.start = starts(self.size)
        self.group_size = blocks.of_group(self.size)
        firsts = np.flatnonzero(np.diff(blocks.group, prepend=-1))
        self.group_start = self.start[firsts][blocks.group]

    def keys(self, count: int, same: bool, rng: np.random.Generator) -> Ints:
        """Draw pairs of one block, or of two blocks of one component, as P(u, v) ~ w_u w_v.

        A node drawn twice is no pair, so there can be fewer than `count`. They come as keys.
        """
        others = self.size * (self.blocks.size > 1) if same else self.group_size - self.size
        chance = self.size.astype(np.float64) * others
        chance /= chance.sum()
        batches = [
            self._batch(rng.multinomial(min(BATCH, count - done), chance), same, rng)
            for done in range(0, count, BATCH)
        ]
        return np.concatenate(batches)

    def _batch(self, counts: Ints, same: bool, rng: np.random.Generator) -> Ints:
        own, size = np.repeat(self.start, counts), np.repeat(self.size, counts)
        one = own + _below(size, rng)
        if same:
            two = own + _below(size, rng)
        else:
            two = np.repeat(self.group_start, counts)
            two += _below(np.repeat(self.group_size - self.size, counts), rng)
            two += (two >= own) * size
        first, second = self.tickets[one], self.tickets[two]
        different = first != second
        return edge_keys(first[different], second[different], self.blocks.nodes.size)


def draw_edges(
    blocks: Blocks, known: Ints, target: int, same: bool, rng: np.random.Generator
) -> Ints:
    """Add random edges to the known ones until there are `target`.

    Successive sampling: edges are drawn one after another with probability proportional to
    w_u w_v, and what is drawn again does not count. Where more than half of all pairs are wanted,
    an exponential clock of rate w_u w_v for every pair, the first to ring being taken, has the
    same distribution. Cost: O(target) and a sort of so many numbers.

    Args:
        blocks: the nodes.
        known: keys of the edges that there are; the key of nodes u < v is u N + v. Sorted.
        target: number of edges to return, known ones included; all known ones if they are more.
        same: whether edges join nodes of one block or of two blocks of one component.
        rng: source of randomness.
    """
    if known.size < target > blocks.capacity(same) // 2:
        return _draw_from_all(blocks, known, target, same, rng)
    urn, poor = Urn(blocks, blocks.tickets), 0
    while (missing := target - known.size) > 0:
        keys = urn.keys(missing, same, rng)
        keys.sort()
        known = _union(known, keys[np.diff(keys, prepend=-1) > 0])
        gained = missing - (target - known.size)
        poor = poor + 1 if gained * LOW_YIELD < missing else 0
        if poor == PATIENCE:
            urn = Urn(blocks, np.ones_like(blocks.tickets))
    return known


def _union(known: Ints, keys: Ints) -> Ints:
    """The two sorted arrays in one, without the keys that are known."""
    if known.size == 0:
        return keys
    places = np.searchsorted(known, keys)
    new = known[np.minimum(places, known.size - 1)] != keys
    return np.insert(known, places[new], keys[new])


def _draw_from_all(
    blocks: Blocks, known: Ints, target: int, same: bool, rng: np.random.Generator
) -> Ints:
    place = np.arange(blocks.nodes.size)
    end = (blocks.start + blocks.size)[blocks.block]
    if same:
        begin = place + 1
    else:
        begin, last = end, np.flatnonzero(np.diff(blocks.group, append=-1))
        end = end[blocks.start[last]][blocks.group][blocks.block]
    counts = end - begin
    first = np.repeat(place, counts)
    second = np.arange(first.size) + np.repeat(begin - starts(counts), counts)
    keys = edge_keys(blocks.nodes[first], blocks.nodes[second], place.size)
    rings = rng.exponential(size=keys.size) / (blocks.tickets[first] * blocks.tickets[second])
    rings[np.isin(keys, known)] = -1
    return np.sort(keys[np.argsort(rings)[:target]])


def edge_keys(first: npt.NDArray[np.int32], second: npt.NDArray[np.int32], num_nodes: int) -> Ints:
    """One number for each edge: u N + v for its nodes u < v."""
    keys = np.minimum(first, second).astype(np.int64)
    keys *= num_nodes
    keys += np.maximum(first, second)
    return keys


def starts(sizes: Ints) -> Ints:
    """Where each of some consecutive runs begins."""
    begin: Ints = np.cumsum(sizes) - sizes
    return begin


def _below(limits: Ints, rng: np.random.Generator) -> Ints:
    """A random whole number from 0 to each limit less one."""
    return (rng.random(limits.size) * limits).astype(np.int64)
