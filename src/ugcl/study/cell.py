"""Cells: the units of a study that are computed, stored and found again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from ugcl.data import GraphFiles, load_graph
from ugcl.data.readers.paths import matching_files
from ugcl.methods import get_method, method_file
from ugcl.runs.config import graph_name


@dataclass(frozen=True)
class Cell:
    """One task on one graph.

    Attributes:
        task: the name of the task, one of `ugcl.study.tasks.TASKS`.
        graph: a data set's name, a path, or the files of a graph.
        params: what the task is given, as JSON values. Results differ with it.
        seed: the seed of the task.
        scores: for "accuracy", the number of random splits by protocol (0: one split only).
        readouts: for "accuracy", readout scopes that are scored besides the method's own.
    """

    task: str
    graph: str | GraphFiles
    params: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    scores: Mapping[str, int] = field(default_factory=dict)
    readouts: tuple[int, ...] = ()

    @property
    def name(self) -> str:
        """What progress messages call it."""
        settings = self.params.get("settings", {})
        parts = [
            self.params["method"] if self.task == "accuracy" else self.task.replace("_", " "),
            self.params.get("method", "") if self.task != "accuracy" else "",
            Path(graph_name(self.graph)).name,
            ", ".join(f"{name} {value}" for name, value in settings.items()),
            f"seed {self.seed}" if self.task in ("accuracy", "compare") else "",
        ]
        return ", ".join(filter(None, parts))

    def identity(self, data_root: str | None = None) -> dict[str, Any]:
        """Return what the result depends on: it is computed again where any of this changes.

        `scores` and `readouts` are not part of it: a stored result is used where it has them.
        """
        from ugcl.study.tasks import TASKS

        identity = {
            "task": self.task,
            "task_version": TASKS[self.task].version,
            "graph": graph_name(self.graph),
            "fingerprint": _fingerprint(self.graph, data_root, _stamps(self.graph)),
            "seed": self.seed,
            **self.params,
        }
        name, preset = identity["graph"], self.params.get("preset", "")
        if "method" in self.params:
            identity |= _method_identity(self.params["method"], preset, name)
        if "methods" in self.params:
            names = self.params["methods"]
            identity["methods"] = [_method_identity(each, preset, name) for each in names]
        return identity


def preset_of(method: str, preset: str) -> str:
    """Return the preset that a study uses: a method that has only one, such as a control, has it.

    A method with several presets must have this one.
    """
    known = get_method(method)
    if len(known.presets) > 1:
        known.preset(preset)  # refuses an unknown one
        return preset
    return next(iter(known.presets))


def _method_identity(method: str, preset: str, graph: str) -> dict[str, Any]:
    known = get_method(method)
    file = method_file(known)
    return {
        "method": known.name,
        "method_version": known.version,
        "preset_values": known.preset(preset_of(method, preset)).values(graph),
        **({} if file is None else {"method_sha256": file.sha256}),
    }


def key_of(identity: Mapping[str, Any]) -> str:
    """Return a short hash of what a result depends on."""
    text = json.dumps(identity, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _stamps(graph: str | GraphFiles) -> tuple[tuple[int, int], ...]:
    """Return time and size of a graph's files, which tell whether they have changed."""
    files = graph if isinstance(graph, GraphFiles) else GraphFiles(edges=graph)
    sources = (path for path in (files.edges, files.features, files.labels, files.ids) if path)
    paths = (path for source in sources for path in matching_files(source))
    stats = (path.stat() for path in paths if path.is_file())
    return tuple((stat.st_mtime_ns, stat.st_size) for stat in stats)


@cache
def _fingerprint(
    graph: str | GraphFiles, data_root: str | None, stamps: tuple[tuple[int, int], ...]
) -> str:
    """Return a hash of edges, features, labels and the graph's own split."""
    loaded = load_graph(graph, data_root)
    parts = [loaded.fingerprint.encode()]
    if loaded.labels is not None:
        parts.append(loaded.labels.tobytes())
    parts += [loaded.splits[part].tobytes() for part in sorted(loaded.splits)]
    return hashlib.sha256(b"".join(parts)).hexdigest()
