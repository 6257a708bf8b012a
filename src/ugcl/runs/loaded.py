"""`load_run`: a finished run from Python."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ugcl._utils.errors import UGCLError
from ugcl._utils.extras import required
from ugcl._utils.suggest import unknown
from ugcl.engine import resolve_device
from ugcl.graph import Graph
from ugcl.runs.embed import embed_graph
from ugcl.runs.export import check_ending, write_embeddings
from ugcl.runs.folder import Run
from ugcl.runs.neighbors import indexed_nearest, nearest

FEW = 100_000
"""Up to so many ids are searched for one that is spelt like an unknown one."""


class LoadedRun(Run):
    """A finished run, and what one asks of it."""

    def frame(self) -> Any:
        """The embeddings as a pandas frame whose index are the ids."""
        pandas = required("pandas", "a frame", "interop")
        embeddings = self.embeddings()
        columns = [f"e{i}" for i in range(embeddings.shape[1])]
        index = pandas.Index(self.ids(), name="id")
        if isinstance(embeddings, np.ndarray):
            return pandas.DataFrame(np.array(embeddings), index=index, columns=columns)
        return pandas.DataFrame.sparse.from_spmatrix(embeddings, index=index, columns=columns)

    def neighbors(
        self,
        node: Any,
        k: int = 10,
        *,
        approximate: bool = False,
        tell: Callable[[str], None] = lambda text: None,
    ) -> list[Neighbor]:
        """The k nodes whose embeddings have the largest cosine with that of a node.

        Args:
            node: the node's id.
            k: how many.
            approximate: by an index that is made the first time and kept in the folder: faster for
                millions of nodes, and a near one may be missing.
            tell: is told what takes time.
        """
        if k < 1:
            raise UGCLError(f"k must be at least 1, not {k}")
        ids = self.ids()
        row = _row(ids, node)
        if approximate:
            numbers, cosines = indexed_nearest(self, row, k, tell)
        else:
            numbers, cosines = nearest(self.embeddings(), row, k)
        pairs = zip(ids[numbers].tolist(), cosines.tolist(), strict=True)
        return [(name, round(cosine, 6)) for name, cosine in pairs]

    def labels(self) -> npt.NDArray[np.str_] | None:
        """The label of each node as the user calls it, "" where it is not known; or None."""
        nodes = self.nodes()
        if "class" in nodes.column_names:
            return np.asarray(nodes["class"].to_numpy()).astype(np.str_)
        if "label" not in nodes.column_names:
            return None
        numbers = nodes["label"].to_numpy()
        return np.where(numbers < 0, "", numbers.astype(np.str_))

    def embed(self, graph: Graph) -> Any:
        """Embeddings of any graph with the same features, where the method can."""
        return embed_graph(self, graph, resolve_device(self.config.device))

    def save(self, path: str | Path) -> None:
        """Write the embeddings with their ids, in the format that the file's ending names."""
        check_ending(Path(path))
        write_embeddings(Path(path), self.embeddings(), self.ids(), self.labels())


Neighbor = tuple[int | str, float]
"""A node's id and its cosine."""


def load_run(path: str | Path) -> LoadedRun:
    """Open the folder of a finished run."""
    run = LoadedRun.open(path)
    run.require_finished()
    return run


def _row(ids: npt.NDArray[Any], node: Any) -> int:
    """The row of a node."""
    wanted = str(node)
    if ids.dtype.kind == "U":
        found = np.flatnonzero(ids == wanted)
    else:
        try:
            found = np.flatnonzero(ids == int(wanted))
        except (OverflowError, ValueError):
            found = np.empty(0, dtype=np.int64)
    if found.size:
        return int(found[0])
    if ids.dtype.kind == "U" and len(ids) <= FEW:
        raise UGCLError(unknown("node", wanted, ids.tolist(), most=3))
    raise UGCLError(f"there is no node called '{wanted}' in the run: give one of the graph's ids")
