"""Splits of the labelled nodes into training, validation and test nodes."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from ugcl._utils.errors import UGCLError
from ugcl._utils.suggest import unknown
from ugcl.graph import Graph
from ugcl.graph.validation import UNLABELLED

Split = dict[str, npt.NDArray[np.int64]]
SplitKind = Literal["own", "per-class", "fraction"]

PER_CLASS = 20
NUM_VALIDATION = 500
FRACTION = 0.1


def split_of(
    graph: Graph, kind: SplitKind | None = None, seed: int | None = None
) -> tuple[Split, str]:
    """The split to score a graph on, and its name.

    Without a kind and a seed it is the graph's own split, where it has one. A random split is a
    function of the labels and the split seed alone. `per-class` draws 20 training nodes of each
    class (half of a small class) and 500 validation nodes (half of what is left in a small
    graph); `fraction` draws 10 % and 10 %; all others are test nodes. With a seed but no kind it
    is `per-class` for a graph that has its own split (as Planetoid's are) and `fraction` for one
    that has not.
    """
    if graph.labels is None or graph.num_classes == 0:
        raise UGCLError(
            f"the graph {graph.name or 'given'} has no labels, so its embeddings cannot be scored: "
            "give the same graph with labels (ugcl evaluate --labels FILE)"
        )
    if kind is None:
        kind = "own" if has_own_split(graph) and seed is None else random_kind(graph)
    if kind not in get_args(SplitKind):
        raise UGCLError(unknown("kind of split", kind, get_args(SplitKind)))
    if kind == "own":
        if not has_own_split(graph):
            raise UGCLError("the graph has no split of its own: use per-class or fraction")
        if seed is not None:
            raise UGCLError("the graph's own split has no seed: leave out one of the two")
        return dict(graph.splits), "own"
    draw = _per_class if kind == "per-class" else _fraction
    return draw(graph.labels, np.random.default_rng(seed or 0)), f"{kind}, split seed {seed or 0}"


def has_own_split(graph: Graph) -> bool:
    """Whether the graph came with training and test nodes."""
    return {"train", "test"} <= set(graph.splits)


def random_kind(graph: Graph) -> SplitKind:
    """The kind of random split that suits a graph where none is asked for."""
    return "per-class" if has_own_split(graph) else "fraction"


def selection_split(graph: Graph) -> Split:
    """The split whose training and validation nodes settings are chosen on.

    The graph's own where it has one, else the random `fraction` of split seed 0. Its test nodes are
    the only ones whose labels no choice of ours has seen.
    """
    return split_of(graph)[0]


def pool_of(split: Split) -> npt.NDArray[np.int64]:
    """The training and validation nodes of a split, those that choices may look at."""
    return np.union1d(split["train"], split.get("val", np.empty(0, dtype=np.int64)))


def resplits(labels: npt.NDArray[np.int64], split: Split, count: int) -> list[Split]:
    """Splits of a split's training and validation nodes, to choose on with less chance.

    Each draws at random as many training nodes of each class as the split has (at most half of the
    class); all other nodes of the pool are for validation, the same ones where none are left. There
    are no test nodes.
    """
    pool = pool_of(split)
    wanted = np.bincount(labels[split["train"]], minlength=int(labels.max()) + 1)
    drawn = []
    for seed in range(count):
        shuffled = np.random.default_rng(seed).permutation(pool)
        members = [shuffled[labels[shuffled] == c] for c in range(wanted.size)]
        train = np.concatenate(
            [nodes[: min(w, -(-nodes.size // 2))] for nodes, w in zip(members, wanted, strict=True)]
        )
        rest = np.setdiff1d(pool, train)
        drawn.append({"train": np.sort(train), "val": rest if rest.size else np.sort(train)})
    return drawn


def _per_class(labels: npt.NDArray[np.int64], rng: np.random.Generator) -> Split:
    shuffled = rng.permutation(np.flatnonzero(labels != UNLABELLED))
    classes = range(int(labels.max()) + 1)
    members = [shuffled[labels[shuffled] == c] for c in classes]
    train = np.concatenate([nodes[: min(PER_CLASS, nodes.size // 2)] for nodes in members])
    rest = shuffled[~np.isin(shuffled, train)]
    count = min(NUM_VALIDATION, rest.size // 2)
    return _sorted(train, rest[:count], rest[count:])


def _fraction(labels: npt.NDArray[np.int64], rng: np.random.Generator) -> Split:
    shuffled = rng.permutation(np.flatnonzero(labels != UNLABELLED))
    count = max(1, round(FRACTION * shuffled.size))
    return _sorted(shuffled[:count], shuffled[count : 2 * count], shuffled[2 * count :])


def _sorted(*parts: npt.NDArray[np.int64]) -> Split:
    return {
        name: np.sort(nodes) for name, nodes in zip(("train", "val", "test"), parts, strict=True)
    }
