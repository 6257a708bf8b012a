"""Memory that training and embedding need, and how much there is."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import scipy.sparse as sp

from ugcl._utils.errors import UGCLError
from ugcl._utils.linalg import OVERSAMPLES
from ugcl._utils.rows import is_mapped
from ugcl.graph import Graph
from ugcl.methods import Method, Settings, TrainingSettings
from ugcl.methods.multiscope import MultiScopeSettings
from ugcl.methods.settings import resolved
from ugcl.methods.ugcl import UGCLSettings
from ugcl.views import propagation
from ugcl.views.directions import MAX_EXACT, MAX_ROWS
from ugcl.views.reliability import COLUMNS, LARGE_GRAPH, MAX_NEIGHBOURS, SAMPLE
from ugcl.views.structure import ENTRIES, MAX_WALKED

PARAMETERS, STEP_ARRAYS, EMBEDDING, GRAPH = 4, 12, 1.4, 2.5
"""Copies in memory of an encoder's weights (with gradients and Adam's two moments), of S x D'
arrays in a step, of the embeddings and of the graph. Measured; a test compares the estimate with
training."""

LIBRARIES = 310 * 2**20
"""Bytes of a process that has imported PyTorch and SciPy and taken a step. Measured on Linux."""

NODE_BYTES = 24
"""Bytes that training needs for each node of a mapped graph: its degree, and how that is found."""

OTHER_ARRAYS = 8
"""S x D' arrays in a step of other methods than UGCL and multiscope: fewer than any of them has."""

GRAMS, DESCRIPTIONS, HIDDEN, WALKS = 12, 12, 3, 14
"""Floats in memory of multiscope for each entry of a Gram matrix, of a description of all nodes by
`COLUMNS` columns, of H, and of the walks that are factorised. Measured, as above."""

TOLERANCE = 1.25
"""Factor by which an estimate must exceed the available memory to be refused: its own error."""

FORCE = "UGCL_FORCE_MEMORY"
"""Environment variable that, if it is not empty, lets a training start that cannot fit."""

CGROUPS = Path("/sys/fs/cgroup")


def check_memory(graph: Graph, method: Method, settings: Settings) -> None:
    """Refuse a training that clearly needs more memory than is available.

    A scope may still be "auto" in the settings.
    """
    if not isinstance(settings, TrainingSettings) or os.environ.get(FORCE):
        return
    limits = memory_limits()
    needed = required_bytes(graph, method, settings)
    limit = min(limits, key=limits.__getitem__, default="")
    if not limit or needed - held_bytes(graph) <= TOLERANCE * limits[limit]:
        return
    values = settings.values()
    names = [name for name in ("hidden", "sample") if name in values]
    of = f" with `hidden` {values['hidden']}" if "hidden" in values else ""
    smaller = " or ".join(f"`{name}`" for name in names) or "graph"
    raise UGCLError(
        f"{method.name}{of} needs about {size_text(needed)} of memory for "
        f"this graph and {size_text(max(limits[limit], 0))} are available ({limit}): use a smaller "
        f"{smaller}, or set {FORCE}=1 to try it"
    )


def required_bytes(graph: Graph, method: Method, settings: TrainingSettings) -> int:
    """Estimate the peak memory of a process that trains and embeds, on the CPU.

    It is that of the libraries, `GRAPH` times the graph, and the larger of a training step and the
    embedding. For UGCL and multiscope it is within a quarter of the resident memory that
    `tools/memory_estimates.py` measures; for others it is too low rather than too high.

    Of a mapped graph with more than `LARGE_GRAPH` nodes, of which these two read what a step
    touches, neither mapped pages count nor the embeddings, which are computed in blocks.
    """
    if reads_rows(graph, settings):
        held: float = NODE_BYTES * graph.num_nodes
    else:
        held = GRAPH * num_bytes(graph)
    return int(LIBRARIES + held + 4 * _num_floats(graph, method, settings))


def reads_rows(graph: Graph, settings: Settings) -> bool:
    """Return whether training reads no more of a mapped graph than what its steps touch."""
    sampled = isinstance(settings, MultiScopeSettings | UGCLSettings) and settings.sample != "all"
    return sampled and graph.num_nodes > LARGE_GRAPH and is_mapped(graph.adjacency.indices)


def _num_floats(graph: Graph, method: Method, settings: TrainingSettings) -> float:
    """Return the floats that training and embedding hold at most at a time."""
    only_steps = reads_rows(graph, settings)
    values = settings.values()
    width, sample = int(values.get("hidden", 0)), values.get("sample", "all")
    rows = graph.num_nodes if sample == "all" else int(sample)
    parameters = PARAMETERS * graph.num_features * width if "X" in method.needs else 0
    if isinstance(settings, MultiScopeSettings):  # the allocator keeps what training has freed
        scopes = {n: 1 for n in ("scope", "readout_scope") if values[n] == "auto"}
        settings = settings.replace(**scopes)
        embedding = (_sampled_floats if only_steps else multiscope_floats)(graph, settings)
        return parameters + STEP_ARRAYS * rows * width + embedding
    is_ugcl = isinstance(settings, UGCLSettings)  # two encoders
    arrays = STEP_ARRAYS if is_ugcl else OTHER_ARRAYS
    step = (2 if is_ugcl else 1) * parameters + arrays * rows * width
    return step if only_steps else max(step, EMBEDDING * graph.num_nodes * width)


def num_columns(graph: Graph, settings: MultiScopeSettings) -> int:
    """Return the columns of the embeddings of multiscope."""
    hidden = min(settings.block_columns, settings.hidden)
    raw = min(settings.raw_columns, graph.num_features)
    powers, limits = len(settings.powers), not isinstance(resolved(settings.readout_scope), int)
    structure = settings.structure_columns
    return hidden * (1 + powers + limits) + raw * (1 + len(settings.raw_powers)) + structure


def multiscope_floats(graph: Graph, settings: MultiScopeSettings) -> int:
    """Return the floats that reliability, directions and embeddings need at most at a time."""
    nodes, features = graph.num_nodes, graph.num_features
    columns, structure = num_columns(graph, settings), settings.structure_columns
    walks = WALKS * min(ENTRIES, nodes) if structure else 0
    if structure and nodes > MAX_WALKED:
        walks = 2 * structure + OVERSAMPLES + 2 * propagation.BLOCK
    return max(
        _gram_floats(graph, settings),
        DESCRIPTIONS * nodes * min(COLUMNS, features),
        HIDDEN * min(nodes, MAX_ROWS) * settings.hidden,
        nodes * (columns + max(columns, walks)),
    )


def _sampled_floats(graph: Graph, settings: MultiScopeSettings) -> int:
    """Return the floats that reliability and directions of a large graph need."""
    degree = min(graph.adjacency.nnz / graph.num_nodes, MAX_NEIGHBOURS)
    return max(
        _gram_floats(graph, settings),
        int(2 * SAMPLE * degree * min(COLUMNS, graph.num_features)),
        HIDDEN * MAX_ROWS * settings.hidden,
    )


def _gram_floats(graph: Graph, settings: MultiScopeSettings) -> int:
    exact = graph.num_features if graph.num_features <= MAX_EXACT else 0
    return GRAMS * max(exact, settings.hidden) ** 2


def held_bytes(graph: Graph) -> int:
    """Return what this process holds of the libraries and of the graph, which it needs no more.

    Other memory that it holds does not count: training cannot use it.
    """
    return min(_resident_bytes(), LIBRARIES + num_bytes(graph))


def _resident_bytes() -> int:
    """Return the anonymous memory of this process; 0 where the system does not say."""
    try:
        status = Path("/proc/self/status").read_text("utf-8")
        return 1024 * int(status.partition("RssAnon:")[2].split()[0])
    except (IndexError, OSError, ValueError):
        return 0


def num_bytes(graph: Graph) -> int:
    """Return the size of the adjacency and the features."""
    return sum(
        sum(part.nbytes for part in (matrix.data, matrix.indices, matrix.indptr))
        if sp.issparse(matrix)
        else matrix.nbytes
        for matrix in (graph.adjacency, graph.features)
    )


def available_memory() -> int | None:
    """Return the memory that this process can still use; None where the system does not say."""
    return min(memory_limits().values(), default=None)


def memory_limits() -> dict[str, int]:
    """Return the bytes that this process can still use, by what limits them."""
    limits = {
        "free memory and swap": _free(),
        "address space, ulimit -v": _address_space(),
        "cgroup": min(_cgroups(), default=None),
    }
    return {name: limit for name, limit in limits.items() if limit is not None}


def _free() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text("utf-8").splitlines()
        values = {name: value for name, _, value in (line.partition(":") for line in lines)}
        return 1024 * sum(int(values[name].split()[0]) for name in ("MemAvailable", "SwapFree"))
    except (KeyError, OSError, ValueError):
        return None


def _address_space() -> int | None:
    try:
        import resource

        limit, _ = resource.getrlimit(resource.RLIMIT_AS)
        used = int(Path("/proc/self/statm").read_text("utf-8").split()[0])
    except (ImportError, OSError, ValueError):
        return None
    return None if limit == resource.RLIM_INFINITY else limit - used * resource.getpagesize()


def _cgroups(own: Path = Path("/proc/self/cgroup"), root: Path = CGROUPS) -> Iterator[int]:
    """Yield what the cgroups of this process leave; those of a container are at the root."""
    try:
        paths = [line.split(":", 2)[1:] for line in own.read_text("utf-8").splitlines()]
    except OSError:
        return
    for controllers, path in paths:
        if controllers not in ("", "memory"):
            continue
        files = ("memory.max", "memory.current", "inactive_file")
        if controllers == "memory":  # version 1
            files = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
        top = root / controllers
        for folder in (top / path.lstrip("/"), *(top / path.lstrip("/")).parents):
            if (left := _left_in(folder, *files)) is not None:
                yield left
            if folder == top:
                break


def _left_in(folder: Path, limit: str, used: str, cached: str) -> int | None:
    """Return the limit of a cgroup without what is used; a cache of files can be freed."""
    try:
        statistics = dict(map(str.split, (folder / "memory.stat").read_text("utf-8").splitlines()))
        most, now = (int((folder / name).read_text("utf-8")) for name in (limit, used))
        return most - now + int(statistics.get(cached, 0))
    except (OSError, ValueError):  # no such file, or "max"
        return None


def size_text(count: int) -> str:
    """Return a number of bytes as text."""
    return f"{count / 2**30:,.1f} GB" if count >= 2**30 else f"{max(count / 2**20, 1):.0f} MB"
