"""What a method that learns from labels learns from: a split, and the labels of its nodes."""

from __future__ import annotations

import hashlib
from typing import Literal

from ugcl._utils.errors import UGCLError
from ugcl.data import SplitKind, split_of
from ugcl.data.splits import Split, has_own_split, random_kind
from ugcl.graph import Graph
from ugcl.methods import method_named


def split_kind(
    method: str, graph: Graph, split: SplitKind | None, seed: int | None, *, held_out: bool
) -> SplitKind | Literal[""]:
    """Which kind of split a method learns from: none where it needs no labels.

    Args:
        method: the method's name.
        graph: the graph.
        split: the kind that the user asks for; by default the graph's own where it has one and no
            seed is given.
        seed: the split seed that the user asks for.
        held_out: whether edges are held out, by the same seed.
    """
    known = method_named(method)
    if not known.supervised:
        _refuse_split(method, split, seed, held_out)
        return ""
    known.check_labels(graph)
    own = has_own_split(graph) and seed is None
    kind = split or ("own" if own else random_kind(graph))
    split_of(graph, kind, None if kind == "own" and held_out else seed)  # refuses what cannot be
    return kind


def _refuse_split(method: str, split: SplitKind | None, seed: int | None, held_out: bool) -> None:
    advice = "leave it out here, and give it to ugcl evaluate"
    if split is not None:
        raise UGCLError(f"{method} learns without labels and has no split: {advice} (--split)")
    if seed is not None and not held_out:
        raise UGCLError(
            f"--split-seed decides nothing here, as {method} learns without labels and no edges "
            f"are held out: {advice}"
        )


def labels_fingerprint(graph: Graph, split: Split) -> str:
    """SHA-256 of the training and validation nodes and of their labels."""
    assert graph.labels is not None
    digest = hashlib.sha256()
    for part in ("train", "val"):
        nodes = split[part] if part in split else graph.labels[:0]
        for numbers in (nodes, graph.labels[nodes]):
            digest.update(f"{part} {numbers.size} ".encode() + numbers.astype("<i8").tobytes())
    return digest.hexdigest()
