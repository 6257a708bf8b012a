"""`config.toml`: everything that is needed to repeat a run."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import tomli_w

from ugcl import __version__
from ugcl._utils.errors import UGCLError
from ugcl._utils.formats import FormatError, check_format, from_toml
from ugcl.data import DATASETS, GraphFiles, hold_out_edges, load_graph, split_of
from ugcl.data.readers.paths import absolute
from ugcl.data.splits import Split
from ugcl.graph import Graph
from ugcl.methods import Method, Settings, get_method, method_file
from ugcl.methods.params import MAX_THREADS, check_integer
from ugcl.runs.manifest import FORMAT
from ugcl.runs.method import RecordedSettings, find_method
from ugcl.runs.supervision import labels_fingerprint
from ugcl.typing import SplitKind

PLACES = (
    *("graph", "files", "data_root", "method_file", "method_sha256", "device", "threads"),
    *("format", "version"),
)
"""What may be changed in the `config.toml` of a finished run: where things are and computed."""


@dataclass(frozen=True)
class RunConfig:
    """Configuration of a run, fully resolved.

    Attributes:
        method: the method's name.
        graph: a data set's name, or the absolute path of a graph file or edge file.
        fingerprint: the graph's fingerprint, so that a repetition uses the same graph.
        preset: the preset that the settings started from.
        settings: all settings of the method.
        seed: the training seed.
        device: where it computes.
        threads: CPU threads; another number may change the last bits of a result.
        data_root: the folder of raw data sets, where one was given; else "".
        hold_out_edges: the fraction of edges that training does not see.
        split: for a supervised method, the kind of split that it learns from; else "".
        split_seed: the seed of a random split and of the held-out edges.
        labels: the fingerprint of the labels that it learns from; else "".
        files: for a graph of several files, the other files and the columns, as
            `GraphFiles.values` returns them; else empty.
        world_size: the number of ranks that train together; another one gives another result.
        scope_choice: where n was chosen for the graph: n, rule, reason, and the settings that it
            was chosen for; else empty.
        method_file: for a method from a file, its absolute path; else "".
        method_sha256: the SHA-256 of that file, so that a repetition runs the same code; else "".
        format: version of the format of the run folder.
    """

    method: str
    graph: str
    fingerprint: str
    preset: str
    settings: Settings
    seed: int
    device: str
    threads: int
    data_root: str = ""
    hold_out_edges: float = 0.0
    split: str = ""
    split_seed: int = 0
    labels: str = ""
    world_size: int = 1
    files: dict[str, Any] = field(default_factory=dict)
    scope_choice: dict[str, Any] = field(default_factory=dict)
    method_file: str = ""
    method_sha256: str = ""
    format: int = field(default=FORMAT, compare=False)

    def __post_init__(self) -> None:
        texts = ("method", "graph", "fingerprint", "preset", "device", "data_root", "split")
        for name in (*texts, "labels", "method_file", "method_sha256"):
            if not isinstance(value := getattr(self, name), str):
                raise UGCLError(f"{name} must be text, not {value!r}")
        if self.files:
            GraphFiles.from_values(self.graph, self.files)
        for name in ("seed", "split_seed"):
            check_integer(f"`{name}`", getattr(self, name), 0)
        check_integer("`threads`", self.threads, 1, MAX_THREADS)
        check_integer("world_size", self.world_size, 1)
        if not isinstance(self.hold_out_edges, float) or not 0 <= self.hold_out_edges < 1:
            raise UGCLError(
                f"`hold_out_edges` must be at least 0 and below 1, not {self.hold_out_edges!r}"
            )

    @property
    def supervised(self) -> bool:
        """Whether the run learns from labels."""
        return bool(self.split)

    def load_method(self) -> Method:
        """Return the run's method, and check that its file has not changed."""
        return find_method(self.method, self.method_file, self.method_sha256)

    def has_method(self, method: str | Path | Method) -> bool:
        """Return whether a method, given by name, file or as an object, is the run's."""
        known = get_method(method)
        file = method_file(known)
        return (known.name, file.sha256 if file else "") == (self.method, self.method_sha256)

    @property
    def graph_files(self) -> GraphFiles | None:
        """The files of the graph, where it has several or named columns."""
        return GraphFiles.from_values(self.graph, self.files) if self.files else None

    def load_graph(
        self, graph: str | GraphFiles | None = None, data_root: str | None = None
    ) -> Graph:
        """Load the run's graph, and check that it has not changed.

        Args:
            graph: where the graph is now, if it has moved.
            data_root: the folder of raw data sets, if it has moved.
        """
        where = graph_name(graph or self.graph)
        if graph is None and where not in DATASETS and not Path(where).exists():
            how = "--edges FILE" if self.files else "--graph FILE, ugcl train FILE"
            raise UGCLError(
                f"the run's graph is no longer at {where}: say where it is now (ugcl evaluate "
                f"{how})"
            )
        source = graph or self.graph_files or where
        loaded = load_graph(source, data_root or self.data_root or None)
        if loaded.fingerprint != self.fingerprint:
            raise UGCLError(
                f"the edges or features of {where} are not those that this run was configured "
                "for: restore the old graph or train a new run"
            )
        self.check_labels(loaded, where)
        return loaded

    def check_labels(self, graph: Graph, where: str) -> None:
        """Refuse a graph whose labels or split are not those that the run learned from."""
        if self.with_labels_of(graph).labels != self.labels:
            raise UGCLError(
                f"the split or the labels of {where} are not those that this run learned from: "
                "restore the old ones or train a new run"
            )

    def with_labels_of(self, graph: Graph) -> RunConfig:
        """Return the configuration with the fingerprint of the graph's training labels."""
        if not self.split:
            return self
        self.load_method().check_labels(graph)
        return replace(self, labels=labels_fingerprint(graph, self.split_of(graph)))

    def training_graph(self, graph: Graph) -> tuple[Graph, npt.NDArray[np.int64]]:
        """Return the graph that training sees, and the held-out edges, E x 2 node numbers."""
        if self.split:
            graph = replace(graph, splits=self.split_of(graph))
        if self.hold_out_edges:
            return hold_out_edges(graph, self.hold_out_edges, self.split_seed)
        return graph, np.empty((0, 2), dtype=np.int64)

    def split_of(self, graph: Graph) -> Split:
        """Return the split that the run learns from."""
        kind = cast(SplitKind, self.split)
        return split_of(graph, kind, None if kind == "own" else self.split_seed)[0]

    @property
    def split_name(self) -> str:
        """The name of the split that the run learns from."""
        return self.split if self.split == "own" else f"{self.split}, split seed {self.split_seed}"

    def to_toml(self) -> str:
        """Return the text of `config.toml`."""
        names = dict.fromkeys(("method", "method_file", "method_sha256", *vars(self)))
        values = {name: getattr(self, name) for name in names}
        values |= {"settings": self.settings.values(), "version": __version__}
        if self.world_size == 1:
            del values["world_size"]
        if not self.hold_out_edges:
            del values["hold_out_edges"]
            if self.split in ("", "own"):
                del values["split_seed"]
        return tomli_w.dumps(
            {name: value for name, value in values.items() if value not in ("", {})}
        )

    @classmethod
    def read(cls, path: Path) -> RunConfig:
        """Read a `config.toml`.

        If the method cannot be found, the settings are `RecordedSettings`: the results of the run
        can be used, and what needs the method raises the error of `load_method`.
        """
        try:
            values = {"format": 1, **from_toml(path.read_text(encoding="utf-8"))}
            check_format(path, values["format"], FORMAT)
            values.pop("version", None)
            config = cls(**values | {"settings": RecordedSettings(dict(values["settings"]))})
            try:
                method = config.load_method()
            except UGCLError:
                return config
            return replace(config, settings=method.settings.from_values(values["settings"]))
        except FormatError:
            raise
        except FileNotFoundError as error:
            raise UGCLError(
                f"there is no file {path}: pass the config.toml of a run folder"
            ) from error
        except (AttributeError, KeyError, OSError, TypeError, ValueError) as error:
            reason = f" ({error})" if isinstance(error, UGCLError) else ""
            raise UGCLError(
                f"{path} is not the config.toml of a run{reason}: pass one that ugcl train wrote"
            ) from error

    def difference(self, other: RunConfig) -> str | None:
        """Return the first setting in which two runs differ, as a phrase; None where none does."""
        mine, theirs = self.settings.values(), other.settings.values()
        names = set(mine)
        for name in (
            *("method", "method_sha256", "graph", "fingerprint", "seed", "device", "threads"),
            *("hold_out_edges", "split", "split_seed", "labels", "files", "world_size"),
        ):
            mine[name], theirs[name] = getattr(self, name), getattr(other, name)
        for name, value in mine.items():
            if value != theirs.get(name):
                if name == "method_sha256":
                    return f"another version of the method '{other.method}'"
                shown = f"`{name}`" if name in names else name
                return f"{shown} {theirs.get(name)} instead of {value}"
        return None


def changed_setting(path: Path, trained: str) -> str | None:
    """Return the first setting of a `config.toml` that a trained model does not have, as a phrase.

    Args:
        path: the file.
        trained: the text of the `config.toml` that the model was trained with.
    """
    mine, theirs = (_flat(text) for text in (path.read_text("utf-8"), trained))
    for name in sorted(mine.keys() | theirs.keys()):
        if name[0] not in PLACES and mine.get(name) != theirs.get(name):
            shown = f"`{name[-1]}`" if len(name) > 1 else name[-1]
            return f"{shown} is {mine.get(name)!r} instead of {theirs.get(name)!r}"
    return None


def _flat(text: str) -> dict[tuple[str, ...], Any]:
    """Return the entries of a `config.toml`, and those of its settings, by path."""
    values = from_toml(text)
    settings = values.pop("settings")
    flat: dict[tuple[str, ...], Any] = {(name,): value for name, value in values.items()}
    return flat | {("settings", name): value for name, value in settings.items()}


def graph_name(graph: str | GraphFiles) -> str:
    """Return a data set's name as the catalogue has it, or the absolute path of a file."""
    if isinstance(graph, GraphFiles):
        return graph.resolved().edges
    return graph.lower() if graph.lower() in DATASETS else absolute(graph)
