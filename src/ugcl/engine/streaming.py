"""Embeddings of graphs that are larger than memory, row by row."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from ugcl import __version__
from ugcl._utils.errors import UGCLError
from ugcl._utils.files import cannot_write, tensor_bytes
from ugcl._utils.locks import locked
from ugcl._utils.sizes import size
from ugcl._utils.workspace import Progress, Workspace, anonymous_memory
from ugcl.engine.divergence import check_embeddings
from ugcl.engine.ranks import Ranks
from ugcl.engine.requirements import available_memory
from ugcl.graph import Graph
from ugcl.methods import Settings
from ugcl.methods.models.model import BlockModel, Model
from ugcl.typing import Embeddings, FloatName

IN_MEMORY = 2**28
"""Bytes of embeddings up to which all is kept in memory, unless a limit is given."""


@dataclass
class StoredEmbeddings:
    """Embeddings whose columns are stored in blocks: indexing returns finished rows as an array.

    A row that is not finite raises an error when it is read.

    Attributes:
        shape: N and D'.
        dtype: float32 or float16.
    """

    shape: tuple[int, int]
    dtype: np.dtype[Any]
    model: BlockModel
    settings: Settings
    graph: Graph
    work: Workspace
    blocks: list[tuple[int, Tensor]] = field(default_factory=list)

    def __len__(self) -> int:
        return self.shape[0]

    @torch.no_grad()
    def __getitem__(self, rows: Any) -> npt.NDArray[Any]:
        picked = rows if isinstance(rows, slice) else torch.as_tensor(np.asarray(rows))
        parts = [block[picked] for _, block in self.blocks]
        values = self.model.finish_rows(torch.cat(parts, dim=1)).numpy()
        check_embeddings(values, self.settings, self.graph)
        return values.astype(self.dtype, copy=False)


@contextmanager
def streamed(
    model: Model,
    graph: Graph,
    settings: Settings,
    *,
    device: str,
    folder: Path,
    memory: int | None = None,
    dtype: FloatName = "float32",
    progress: Progress | None = None,
    ranks: Ranks | None = None,
) -> Iterator[Embeddings | StoredEmbeddings]:
    """Yield the embeddings of a graph, with what does not fit into memory in files.

    The files are deleted at the end. After a kill or an error they stay, and the same call
    continues after the last block of columns that was finished. Models without blocks of columns,
    and devices other than the CPU, return an array in memory.

    Args:
        model: the trained model.
        graph: the graph, which may be mapped.
        settings: the settings of the model.
        device: where to compute.
        folder: where the files are; it is made, and belongs to this embedding.
        memory: bytes of anonymous memory that the process may use; by default small embeddings
            are computed in memory, and others in half of what there is.
        dtype: of the embeddings.
        progress: called after each product.
        ranks: the ranks that have computed columns by `compute_columns`.
    """
    kind = np.dtype(dtype)
    stored = isinstance(model, BlockModel) and torch.device(device).type == "cpu"
    if isinstance(model, BlockModel) and memory is None:
        stored = stored and 4 * graph.num_nodes * model.num_columns(graph) > IN_MEMORY
        memory = default_memory()
    parts = 1 if ranks is None else ranks.size
    if parts > 1:
        stored = shares_columns(model, device)
    if not stored:
        values = model.embed(graph, device)
        check_embeddings(values, settings, graph)
        yield values
        return
    assert isinstance(model, BlockModel)
    shape = graph.num_nodes, model.num_columns(graph)
    with _workspace(
        model, graph, dtype, folder, memory=memory, progress=progress, parts=parts
    ) as work:
        _check_disk(folder, graph, shape, kind, work)
        embeddings = StoredEmbeddings(shape, kind, model, settings, graph, work)
        try:
            with torch.no_grad():
                embeddings.blocks = sorted(
                    model.column_blocks(graph, work), key=lambda each: each[0]
                )
        except UGCLError:
            if not any(folder.glob("*.npy*")):  # nothing to continue with
                work.delete()
            raise
        work.release()
        yield embeddings
        work.check()
        work.delete()


def shares_columns(model: Model, device: str) -> bool:
    """Return whether ranks can share the columns of a model's embeddings."""
    return isinstance(model, BlockModel) and torch.device(device).type == "cpu"


def compute_columns(
    model: Model,
    graph: Graph,
    *,
    device: str,
    folder: Path,
    memory: int | None = None,
    dtype: FloatName = "float32",
    progress: Progress | None = None,
    ranks: Ranks,
) -> None:
    """Compute the columns of this rank, into files; return when all ranks have done so.

    There is no communication until then. Rank 0 takes over the files, and `streamed` finds them.
    Those of the other ranks are in folders beside it, which all ranks see.

    Args:
        model: as for `streamed`, like all others.
        graph: the graph.
        device: where to compute.
        folder: where the files are.
        memory: bytes of anonymous memory that each process may use.
        dtype: of the embeddings.
        progress: called after each product.
        ranks: the ranks.
    """
    if ranks.size == 1 or not shares_columns(model, device):
        return
    assert isinstance(model, BlockModel)
    ranks.check_same((_digest(model), graph.fingerprint, dtype), "another model, graph or `dtype`")
    folders = [folder, *(folder.with_name(f"{folder.name}.{r}") for r in range(1, ranks.size))]
    own = {"part": ranks.rank, "parts": ranks.size}
    memory = default_memory() if memory is None else memory
    with (
        _workspace(
            model, graph, dtype, folders[ranks.rank], memory=memory, progress=progress, **own
        ) as work,
        torch.no_grad(),
    ):
        for _ in model.column_blocks(graph, work):
            pass
    ranks.check_same(True, "")  # all are done
    if ranks.rank == 0:
        for other in folders[1:]:
            for file in other.glob("*.npy"):
                file.replace(folder / file.name)
            shutil.rmtree(other)


@contextmanager
def _workspace(
    model: BlockModel,
    graph: Graph,
    dtype: FloatName,
    folder: Path,
    *,
    memory: int | None,
    progress: Progress | None,
    part: int | None = None,
    parts: int = 1,
) -> Iterator[Workspace]:
    """Open the folder of an embedding, which no other process may use meanwhile."""
    key = {
        "version": __version__,
        "torch": torch.__version__,
        "model": _digest(model),
        "graph": graph.fingerprint,
        "shape": [graph.num_nodes, model.num_columns(graph)],
        "dtype": dtype,
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UGCLError(cannot_write(folder, error)) from error
    with (
        locked(folder, "another process embeds into"),
        Workspace(
            folder, memory=memory, key=key, progress=progress, part=part, parts=parts
        ) as work,
    ):
        finishes = type(model).finish_rows is not BlockModel.finish_rows
        if dtype == "float16" and not finishes:
            work.dtype = torch.float16
        yield work


def default_memory() -> int | None:
    """Return half of the memory that this process can still use, and what it uses already."""
    available = available_memory()
    return None if available is None else anonymous_memory() + available // 2


def _check_disk(
    folder: Path, graph: Graph, shape: tuple[int, int], kind: np.dtype[Any], work: Workspace
) -> None:
    """Refuse an embedding for which the disk has no room."""
    entries = graph.adjacency.nnz + graph.num_nodes
    columns = graph.num_features + shape[1]
    needed = 8 * entries + 4 * graph.num_nodes * columns
    there = sum(file.stat().st_size for file in folder.iterdir())
    needed += kind.itemsize * shape[0] * shape[1]
    free = shutil.disk_usage(folder).free
    if needed - there > free:
        work.delete()
        raise UGCLError(
            f"the embedding needs about {size(needed)} in {folder.parent} and {size(free)} are "
            "free: make room, or choose another `out`"
        )


def _digest(model: Model) -> str:
    """Return a checksum of all that is stored of a model."""
    digest = hashlib.sha256()
    for name, value in sorted(model.state_dict().items()):
        digest.update(f"{name} {value.dtype} {tuple(value.shape)}".encode())
        digest.update(tensor_bytes(value))
    return digest.hexdigest()
