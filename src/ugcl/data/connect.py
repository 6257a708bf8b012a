"""Random edges that leave each component in one piece."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from ugcl.data.blocks import Blocks, Ints, draw_edges, edge_keys
from ugcl.data.measures import pieces


def connected_edges(blocks: Blocks, same: int, other: int, rng: np.random.Generator) -> Ints:
    """Draw edges such that each component is one piece.

    Most edges are drawn freely, a few are kept back; each small piece that is left is joined to
    an earlier piece by one of those, and the rest of them is drawn freely too. Where too few were
    kept back, it starts anew with more; with all of them kept back the result is a random tree
    and some free edges. A chain through one node of each block of a component, there from the
    start, makes a first piece that a node of any class can be joined to inside its class and,
    unless the component has one class alone, outside of it; so the numbers of edges are exact.

    Args:
        blocks: the nodes.
        same: number of edges inside blocks, enough for the components of one class alone.
        other: number of edges between blocks, enough for the chains.
        rng: source of randomness.

    Returns:
        The sorted keys of the edges.
    """
    edges, num_nodes = same + other, blocks.nodes.size
    heads = blocks.nodes[blocks.start]
    linked = np.flatnonzero(np.diff(blocks.group) == 0)
    chain = np.sort(edge_keys(heads[linked], heads[linked + 1], num_nodes))
    kept_back = min(edges, 2 * round(_expected_alone(blocks, edges)) + 16)
    while True:
        share = kept_back / max(edges, 1)
        inside = draw_edges(blocks, chain[:0], same - math.ceil(share * same), True, rng)
        between = draw_edges(blocks, chain, other - math.ceil(share * other), False, rng)
        piece = pieces(*np.divmod(np.concatenate([inside, between]), num_nodes), num_nodes)
        loose = _first_nodes(blocks, piece)
        stay = _kinds(blocks, loose, same - inside.size, other - between.size, rng)
        if stay is not None:
            break
        kept_back = min(edges, 2 * max(kept_back, loose.size))
    links = _links(blocks, piece, loose, stay, rng)
    inside = np.sort(np.concatenate([inside, links[stay]]))
    between = np.sort(np.concatenate([between, links[~stay]]))
    inside = draw_edges(blocks, inside, same, True, rng)
    between = draw_edges(blocks, between, other, False, rng)
    return np.sort(np.concatenate([inside, between]))


def _expected_alone(blocks: Blocks, edges: int) -> float:
    """How many nodes would have no edge, were all drawn freely: sum_v exp(-d w_v)."""
    expected_degrees = 2 * edges / blocks.tickets.sum() * blocks.tickets
    return float(np.exp(-expected_degrees).sum())


def _kinds(
    blocks: Blocks, loose: Ints, same: int, other: int, rng: np.random.Generator
) -> npt.NDArray[np.bool_] | None:
    """Whether to join each loose node inside its block.

    As near as can be in proportion to the edges that are left, `same` and `other`; None where
    they do not suffice.
    """
    stay = blocks.lone[blocks.block[loose]]
    forced = int(stay.sum())
    choices = loose.size - forced
    if loose.size > same + other or forced > same:
        return None
    within = round(choices * same / max(same + other, 1))
    within = min(max(within, choices - other), same - forced)
    stay[rng.permutation(np.flatnonzero(~stay))[:within]] = True
    return stay


def _first_nodes(blocks: Blocks, piece: npt.NDArray[np.int32]) -> Ints:
    """Places of one node of each piece but those that hold the chains."""
    listed = piece[blocks.nodes]
    numbers, places = np.unique(listed, return_index=True)
    return places[~np.isin(numbers, listed[blocks.start])]


def _links(
    blocks: Blocks,
    piece: npt.NDArray[np.int32],
    loose: Ints,
    stay: npt.NDArray[np.bool_],
    rng: np.random.Generator,
) -> Ints:
    """Join each loose node to a node of an earlier piece, one of many tickets the more likely.

    Pieces are in random order after those that hold the chains.
    """
    listed = piece[blocks.nodes]
    rank = 1 + rng.permutation(int(piece.max()) + 1)
    rank[listed[blocks.start]] = 0
    time = blocks.block * (rank.size + 1) + rank[listed]
    order = np.argsort(time, kind="stable")
    sums = np.concatenate([[0], np.cumsum(blocks.tickets[order])])
    target = np.where(stay, blocks.block[loose], _other_blocks(blocks, blocks.block[loose], rng))
    earlier = np.searchsorted(time[order], target * (rank.size + 1) + rank[listed[loose]])
    low, high = sums[blocks.start[target]], sums[earlier]
    ticket = low + (rng.random(loose.size) * (high - low)).astype(np.int64)
    found = order[np.searchsorted(sums, ticket, side="right") - 1]
    return edge_keys(blocks.nodes[loose], blocks.nodes[found], listed.size)


def _other_blocks(blocks: Blocks, own: Ints, rng: np.random.Generator) -> Ints:
    """A random other block of the same component, or the block itself where there is none."""
    count = np.bincount(blocks.group)
    first = (np.cumsum(count) - count)[blocks.group[own]]
    others = count[blocks.group[own]] - 1
    step = 1 + (rng.random(own.size) * others).astype(np.int64)
    return first + (own - first + step) % (others + 1)
