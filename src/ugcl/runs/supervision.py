"""What a supervised run learns from: a split and the labels of its nodes."""

from __future__ import annotations

import hashlib
from typing import Literal

from ugcl._utils.errors import UGCLError
from ugcl.data import split_of
from ugcl.data.splits import Split, has_own_split, random_kind
from ugcl.graph import Graph
from ugcl.methods import Method
from ugcl.typing import SplitKind


def split_kind(
    method: Method, graph: Graph, split: SplitKind | None, seed: int | None, *, held_out: bool
) -> SplitKind | Literal[""]:
    """Return the kind of split that a method learns from; "" for an unsupervised method.

    Args:
        method: the method.
        graph: the graph.
        split: the requested kind; by default the graph's own split where it has one and no seed is
            given.
        seed: the requested split seed.
        held_out: whether edges are held out, which uses the same seed.
    """
    if not method.supervised:
        advice = "leave it out here, and pass it to ugcl evaluate"
        if split is not None:
            raise UGCLError(f"{method.name} learns without labels and has no `split`: {advice}")
        if seed is not None and not held_out:
            raise UGCLError(
                f"`split_seed` has no effect, because {method.name} learns without labels and no "
                f"edges are held out: {advice}"
            )
        return ""
    method.check_labels(graph)
    own = has_own_split(graph) and seed is None
    kind = split or ("own" if own else random_kind(graph))
    split_of(graph, kind, None if kind == "own" and held_out else seed)  # raises where impossible
    return kind


def labels_fingerprint(graph: Graph, split: Split) -> str:
    """Return the SHA-256 of the training and validation nodes and of their labels."""
    assert graph.labels is not None
    digest = hashlib.sha256()
    for part in ("train", "val"):
        nodes = split[part] if part in split else graph.labels[:0]
        for numbers in (nodes, graph.labels[nodes]):
            digest.update(f"{part} {numbers.size} ".encode() + numbers.astype("<i8").tobytes())
    return digest.hexdigest()
