"""All peers by name: those of other libraries, and methods of this one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ugcl._utils.errors import UGCLError
from ugcl._utils.suggest import unknown
from ugcl.bench.libraries import cleora, geometric, network, node2vec, simple
from ugcl.bench.libraries.peer import Peer, Run
from ugcl.graph import Graph
from ugcl.methods import METHODS, get_method
from ugcl.typing import Embeddings

PEERS: dict[str, Peer] = {
    peer.name: peer
    for module in (simple, cleora, network, node2vec, geometric)
    for peer in module.PEERS
}
"""Peers of other libraries by name."""

OURS = ("multiscope", "ugcl", "smooth", "pca", "sign", "structure")
"""Methods of this library that are compared, those of them that it has."""

NONE = ("none",)
"""Instead of a list of names: no peers, or no methods of this library."""


def get_peer(name: str) -> Peer:
    """Return the peer of a name.

    It may be a method of this library, with its default preset for graphs without a name: values
    that were chosen for a data set, by its labels, would not be comparable.
    """
    if name in PEERS:
        return PEERS[name]
    method = get_method(name)
    if method.supervised:
        raise UGCLError(f"{name} learns from labels: name a method that does not")

    def embed(graph: Graph, run: Run) -> Embeddings:
        from ugcl.engine import fit

        params: dict[str, Any] = {"epochs": 1} if run.brief and method.trained else {}
        return fit(method, graph, seed=run.seed, device="cpu", **params).embed(graph)

    def prepare(graph: Graph, run: Run) -> Graph:
        return replace(graph, name="")

    return Peer(name, "ugcl", "ugcl", method.scope, prepare, embed)


def selected(peers: Sequence[str] | None, methods: Sequence[str] | None) -> list[Peer]:
    """Return the peers of these names.

    Args:
        peers: names in `PEERS`, names of packages for all of theirs, or `NONE`; by default all.
        methods: names of methods of this library, or `NONE`; by default `OURS`.
    """
    packages = {peer.package for peer in PEERS.values()}
    names: list[str] = []
    for name in PEERS if peers is None else () if tuple(peers) == NONE else peers:
        if name not in PEERS and name not in packages:
            raise UGCLError(unknown("peer", name, [*PEERS, *packages, *NONE]))
        names += [key for key, peer in PEERS.items() if name in (key, peer.package)]
    ours = [name for name in OURS if name in METHODS] if methods is None else methods
    ours = () if tuple(ours) == NONE else ours
    chosen = [get_peer(name) for name in dict.fromkeys([*ours, *names])]
    if not chosen:
        raise UGCLError("there is nothing to compare: name `peers` or `methods`")
    return chosen
