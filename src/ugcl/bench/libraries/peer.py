"""A peer: a name, and functions from a graph to embeddings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Any

from ugcl.graph import Graph
from ugcl.typing import Embeddings

WIDTH = 256
"""Columns of the embeddings of peers whose width can be chosen; the default of pycleora."""


@dataclass(frozen=True)
class Run:
    """How a peer runs.

    Attributes:
        threads: CPU threads.
        seed: the random seed.
        brief: whether this is the warm-up, for which one epoch is enough.
    """

    threads: int
    seed: int = 0
    brief: bool = False


@dataclass(frozen=True)
class Peer:
    """A way to embed a graph, of another library or of this one.

    Attributes:
        name: its name in the results.
        package: the package to install, as pip calls it.
        module: the package's module; it is skipped where that is not installed.
        about: what it computes.
        prepare: from a graph to the library's own input, which is timed apart.
        embed: from that input to embeddings, one row for each node.
    """

    name: str
    package: str
    module: str
    about: str
    prepare: Callable[[Graph, Run], Any]
    embed: Callable[[Any, Run], Embeddings]

    @property
    def missing(self) -> str | None:
        """Why the peer cannot run here; None if it can."""
        if find_spec(self.module) is not None:
            return None
        return f"{self.package} is not installed: pip install 'ugcl[peers]'"

    @property
    def version(self) -> str:
        """The installed version of the package; "" where it is not installed."""
        try:
            return version(self.package)
        except PackageNotFoundError:
            return ""
