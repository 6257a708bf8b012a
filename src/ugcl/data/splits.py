"""Splits of the labelled nodes into training, validation and test nodes."""

from __future__ import annotations

from typing import get_args

import numpy as np

from ugcl._utils.errors import UGCLError
from ugcl._utils.random import numpy_generator
from ugcl._utils.suggest import unknown
from ugcl.graph import Graph
from ugcl.graph.validation import UNLABELLED
from ugcl.typing import LabelArray, NodeIndices, SplitKind

Split = dict[str, NodeIndices]
"""Sorted node indices of "train", "val" and "test"."""

Fractions = tuple[float, float]
"""Fractions of the labelled nodes for training and for validation; the others are test nodes."""

PER_CLASS = 20
NUM_VALIDATION = 500
FRACTION = 0.1


def split_of(
    graph: Graph, kind: SplitKind | Fractions | None = None, seed: int | None = None
) -> tuple[Split, str]:
    """Return the split for evaluating a graph, and its name.

    Random splits depend on the labels and the seed only.

    Args:
        graph: a graph with labels.
        kind: `own`, the split that comes with the graph; `per-class`, 20 training nodes per class
            (at most half of it) and 500 validation nodes (at most half of the rest); `fraction`,
            10 % and 10 %; or other fractions, which divide the same permutation of the nodes. All
            other labelled nodes are test nodes. By default `own` if the graph has a split and there
            is no seed, else `random_kind`.
        seed: seed of a random split.
    """
    if graph.labels is None or graph.num_classes == 0:
        raise UGCLError(
            f"the graph {graph.name or 'given'} has no labels to evaluate embeddings with: pass "
            "`labels`"
        )
    if kind is None:
        kind = "own" if has_own_split(graph) and seed is None else random_kind(graph)
    if not isinstance(kind, tuple) and kind not in get_args(SplitKind):
        raise UGCLError(unknown("kind of split", kind, get_args(SplitKind)))
    if kind == "own":
        if not has_own_split(graph):
            raise UGCLError("the graph comes without a split: set `split` to per-class or fraction")
        if seed is not None:
            raise UGCLError("the graph's own split takes no seed: leave out `split_seed`")
        return dict(graph.splits), "own"
    rng = numpy_generator("split", seed or 0)
    if kind == "per-class":
        split = _per_class(graph.labels, rng)
    else:
        fractions = kind if isinstance(kind, tuple) else (FRACTION, FRACTION)
        split = _fractions(graph.labels, rng, fractions)
    return split, f"{kind_name(kind)}, split seed {seed or 0}"


def kind_name(kind: SplitKind | Fractions) -> str:
    """Return the name of a kind of split; of fractions, for example random 20/0/80 %."""
    if not isinstance(kind, tuple):
        return kind
    percent = [round(100 * fraction) for fraction in kind]
    return f"random {percent[0]}/{percent[1]}/{100 - sum(percent)} %"


def has_own_split(graph: Graph) -> bool:
    """Return whether the graph comes with training and test nodes."""
    return {"train", "test"} <= set(graph.splits)


def random_kind(graph: Graph) -> SplitKind:
    """Return the default kind of random split: `per-class` for graphs that come with a split."""
    return "per-class" if has_own_split(graph) else "fraction"


def selection_split(graph: Graph) -> Split:
    """Return the split whose training and validation nodes are used to choose settings.

    It is the graph's own split if there is one, else `fraction` with seed 0. The labels of its test
    nodes are never used for a choice.
    """
    return split_of(graph)[0]


def pool_of(split: Split) -> NodeIndices:
    """Return the training and validation nodes of a split."""
    return np.union1d(split["train"], split.get("val", np.empty(0, dtype=np.int64)))


def resplits(labels: LabelArray, split: Split, count: int) -> list[Split]:
    """Split the training and validation nodes of a split again, to choose settings more reliably.

    Each result has as many random training nodes per class as the split (at most half of the
    class); the other nodes are for validation (the same ones if none are left).
    """
    pool = pool_of(split)
    sizes = np.bincount(labels[split["train"]], minlength=int(labels.max()) + 1)
    splits = []
    for seed in range(count):
        shuffled = numpy_generator("resplit", seed).permutation(pool)
        members = [shuffled[labels[shuffled] == c] for c in range(sizes.size)]
        train = np.concatenate(
            [nodes[: min(n, -(-nodes.size // 2))] for nodes, n in zip(members, sizes, strict=True)]
        )
        rest = np.setdiff1d(pool, train)
        splits.append({"train": np.sort(train), "val": rest if rest.size else np.sort(train)})
    return splits


def _per_class(labels: LabelArray, rng: np.random.Generator) -> Split:
    shuffled = rng.permutation(np.flatnonzero(labels != UNLABELLED))
    classes = range(int(labels.max()) + 1)
    members = [shuffled[labels[shuffled] == c] for c in classes]
    train = np.concatenate([nodes[: min(PER_CLASS, nodes.size // 2)] for nodes in members])
    rest = shuffled[~np.isin(shuffled, train)]
    count = min(NUM_VALIDATION, rest.size // 2)
    return _sorted(train, rest[:count], rest[count:])


def _fractions(labels: LabelArray, rng: np.random.Generator, fractions: Fractions) -> Split:
    shuffled = rng.permutation(np.flatnonzero(labels != UNLABELLED))
    sizes = [max(1, round(part * shuffled.size)) if part else 0 for part in fractions]
    return _sorted(*np.split(shuffled, np.cumsum(sizes)))


def _sorted(*parts: NodeIndices) -> Split:
    return {
        name: np.sort(nodes) for name, nodes in zip(("train", "val", "test"), parts, strict=True)
    }
