"""`config.toml`: everything that is needed to repeat a run."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import tomli_w
import torch

from ugcl._utils.errors import UGCLError
from ugcl.data import DATASETS, GraphFiles, SplitKind, hold_out_edges, load_graph, split_of
from ugcl.data.splits import Split
from ugcl.engine import resolve_device
from ugcl.graph import Graph
from ugcl.methods import DEFAULT_PRESET, Model, Settings, Shape, method_named
from ugcl.methods.options import check_integer, flag
from ugcl.runs.learned import labels_fingerprint, split_kind
from ugcl.selection import Choice, resolve_scope


@dataclass(frozen=True)
class RunConfig:
    """What a run does, fully resolved.

    Attributes:
        method: the method's name.
        graph: a data set's name or the absolute path of a graph file or of a file of edges.
        fingerprint: the graph's fingerprint, so that a repetition meets the same graph.
        preset: the preset that the settings started from.
        settings: all settings of the method.
        seed: the training seed.
        device: where it computes.
        threads: threads on the CPU; another number may change the last bits of a result.
        data_root: the folder of raw data sets, where one was given; else "".
        hold_out_edges: the share of edges that training does not see.
        split: for a method that learns from labels, which split it learns from; else "".
        split_seed: the seed of a random split and of the edges that are held out.
        labels: the fingerprint of the labels that it learns from; else "".
        files: where the graph's edges are a file of their own, where the other parts are and
            which column is what, as `GraphFiles.values` has it; else empty.
        scope_choice: where n was chosen for the graph: which, by which rule, why, and for which
            settings; else empty.
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
    files: dict[str, Any] = field(default_factory=dict)
    scope_choice: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        texts = ("method", "graph", "fingerprint", "preset", "device", "data_root", "split")
        for name in (*texts, "labels"):
            if not isinstance(value := getattr(self, name), str):
                raise UGCLError(f"{name} must be text, not {value!r}")
        if self.files:
            GraphFiles.from_values(self.graph, self.files)
        for name, least in (("seed", 0), ("threads", 1), ("split_seed", 0)):
            check_integer(name, getattr(self, name), least)
        if not isinstance(self.hold_out_edges, float) or not 0 <= self.hold_out_edges < 1:
            raise UGCLError(
                f"hold_out_edges must be at least 0 and below 1, not {self.hold_out_edges!r}"
            )

    @property
    def graph_files(self) -> GraphFiles | None:
        """The files of the graph, where it has several or columns that have names."""
        return GraphFiles.from_values(self.graph, self.files) if self.files else None

    def load_graph(
        self, graph: str | GraphFiles | None = None, data_root: str | None = None
    ) -> Graph:
        """The run's graph, from where it is now if it has moved; an error if it has changed."""
        where = graph_name(graph or self.graph)
        if graph is None and where not in DATASETS and not Path(where).is_file():
            how = "--edges FILE" if self.files else "--graph FILE, ugcl train FILE"
            raise UGCLError(
                f"the run's graph is not at {where} any more: say where it is now (ugcl evaluate "
                f"{how})"
            )
        source = graph or self.graph_files or where
        loaded = load_graph(source, data_root or self.data_root or None)
        if loaded.fingerprint != self.fingerprint:
            raise UGCLError(
                f"the edges or features of {where} are not those that this run was configured "
                "for: bring the old graph back or train a new run"
            )
        self.check_labels(loaded, where)
        return loaded

    def check_labels(self, graph: Graph, where: str) -> None:
        """Refuse a graph whose labels or split are not those that the run learned from."""
        if self.learning_from(graph).labels != self.labels:
            raise UGCLError(
                f"the split or the labels of {where} are not those that this run learned from: "
                "bring the old ones back or train a new run"
            )

    def learning_from(self, graph: Graph) -> RunConfig:
        """The same, with the fingerprint of the labels of this graph that it learns from."""
        if not self.split:
            return self
        method_named(self.method).check_labels(graph)
        return replace(self, labels=labels_fingerprint(graph, self.split_of(graph)))

    def seen(self, graph: Graph) -> tuple[Graph, npt.NDArray[np.int64]]:
        """What of its graph the run sees: its split, without held-out edges; and those edges."""
        if self.split:
            graph = replace(graph, splits=self.split_of(graph))
        if self.hold_out_edges:
            return hold_out_edges(graph, self.hold_out_edges, self.split_seed)
        return graph, np.empty((0, 2), dtype=np.int64)

    def split_of(self, graph: Graph) -> Split:
        """The split that the run learns from."""
        kind = cast(SplitKind, self.split)
        return split_of(graph, kind, None if kind == "own" else self.split_seed)[0]

    @property
    def split_name(self) -> str:
        """What the split that the run learns from is called."""
        return self.split if self.split == "own" else f"{self.split}, split seed {self.split_seed}"

    def untrained_model(self, shape: Shape) -> Model:
        """The model before training."""
        return method_named(self.method).build(shape, self.settings, self.seed)

    def to_toml(self) -> str:
        """The text of `config.toml`."""
        values = {**vars(self), "settings": self.settings.values(), "version": version("ugcl")}
        if not self.hold_out_edges:
            del values["hold_out_edges"]
            if self.split in ("", "own"):
                del values["split_seed"]
        return tomli_w.dumps(
            {name: value for name, value in values.items() if value not in ("", {})}
        )

    @classmethod
    def read(cls, path: Path) -> RunConfig:
        """Read a `config.toml`."""
        try:
            values = tomllib.loads(path.read_text(encoding="utf-8"))
            values.pop("version", None)
            kind = method_named(str(values["method"])).settings
            return cls(**values | {"settings": kind.from_values(values["settings"])})
        except FileNotFoundError as error:
            raise UGCLError(
                f"there is no file {path}: give the config.toml of a run folder"
            ) from error
        except (AttributeError, KeyError, OSError, TypeError, ValueError) as error:
            reason = f" ({error})" if isinstance(error, UGCLError) else ""
            raise UGCLError(
                f"{path} is not the config.toml of a run{reason}: give one that ugcl train wrote"
            ) from error

    def changed(
        self,
        given: Mapping[str, Any],
        *,
        graph: str | GraphFiles | None = None,
        data_root: str | None = None,
        seed: int | None = None,
        device: str | None = None,
        threads: int | None = None,
        hold_out_edges: float | None = None,
        split: SplitKind | None = None,
        split_seed: int | None = None,
        tell: Callable[[str], None] = lambda text: None,
    ) -> tuple[RunConfig, Graph]:
        """The same run but for what the user gives, and its graph.

        Nothing is shrunk to fit another graph: a repetition that does less must not pass silently.
        """
        stored = self.settings.values()
        values = stored | dict(given)
        follows = method_named(self.method).readout_follows(self.preset, stored)
        together = "readout_scope" in stored and stored["scope"] == stored["readout_scope"]
        if follows and together and "readout_scope" not in given:
            values["readout_scope"] = values["scope"]
        asked = type(self.settings).from_values(values)
        config = replace(
            self,
            seed=self.seed if seed is None else seed,
            device=resolve_device(device or self.device),
            threads=threads or self.threads,
            data_root=self.data_root if data_root is None else str(Path(data_root).resolve()),
            hold_out_edges=self.hold_out_edges if hold_out_edges is None else hold_out_edges,
            split_seed=self.split_seed if split_seed is None else split_seed,
        )
        if graph is None:
            loaded = replace(self, data_root=config.data_root).load_graph()
        else:
            loaded = load_graph(graph, config.data_root or None)
            config = replace(config, **_source(graph), fingerprint=loaded.fingerprint)
        reseeded = self.split == "own" and split_seed is not None and not config.hold_out_edges
        if split is None and graph is None and self.split and not reseeded:
            split = cast(SplitKind, self.split)
        held_out = config.hold_out_edges > 0
        kind = split_kind(self.method, loaded, split, split_seed, held_out=held_out)
        config = replace(config, split=kind).learning_from(loaded)
        seen, _ = config.seen(loaded)
        settings, choice = resolve_scope(asked, seen, tell)
        same = config.fingerprint == self.fingerprint
        kept = _left(self.scope_choice, given) if same else {}
        config = replace(config, settings=settings, scope_choice=_as_table(choice) or kept)
        try:
            settings.fitted(seen, frozenset(values))
        except UGCLError as error:
            raise UGCLError(f"the stored configuration does not fit this graph: {error}") from error
        return config, loaded

    def difference(self, other: RunConfig) -> str | None:
        """The first setting in which two runs differ, as a phrase, or None."""
        mine, theirs = self.settings.values(), other.settings.values()
        for name in (
            *("method", "graph", "fingerprint", "seed", "device", "threads"),
            *("hold_out_edges", "split", "split_seed", "labels", "files"),
        ):
            mine[name], theirs[name] = getattr(self, name), getattr(other, name)
        for name, value in mine.items():
            if value != theirs.get(name):
                shown = flag(name) if name in self.settings.values() else name
                return f"{shown} {theirs.get(name)} instead of {value}"
        return None


def new_config(
    graph: str | GraphFiles,
    *,
    method: str = "ugcl",
    preset: str = DEFAULT_PRESET,
    given: Mapping[str, Any] | None = None,
    seed: int = 0,
    device: str = "auto",
    threads: int | None = None,
    data_root: str | None = None,
    hold_out_edges: float = 0.0,
    split: SplitKind | None = None,
    split_seed: int | None = None,
    tell: Callable[[str], None] = lambda text: None,
) -> tuple[RunConfig, Graph]:
    """Resolve what the user asked for into a configuration, and load its graph.

    Args:
        graph: a data set's name, a path, or the files of a graph.
        method: the method's name.
        preset: the preset whose settings hold where the user gives none.
        given: the user's own settings.
        seed: the training seed.
        device: "auto", "cpu" or "cuda".
        threads: threads on the CPU; by default as many as PyTorch takes.
        data_root: the folder of raw data sets.
        hold_out_edges: the share of edges that training does not see.
        split: for a method that learns from labels, from which kind of split; by default the
            graph's own where it has one.
        split_seed: seed of a random split, and of the edges that are held out.
        tell: is told what takes time.
    """
    loaded = load_graph(graph, data_root)
    kind = split_kind(method, loaded, split, split_seed, held_out=hold_out_edges > 0)
    asked = method_named(method).resolve(preset, loaded, given or {})
    config = RunConfig(
        method=method,
        **_source(graph),
        fingerprint=loaded.fingerprint,
        preset=preset,
        settings=asked,
        seed=seed,
        device=resolve_device(device),
        threads=threads or torch.get_num_threads(),
        data_root="" if data_root is None else str(Path(data_root).resolve()),
        hold_out_edges=hold_out_edges,
        split=kind,
        split_seed=split_seed or 0,
    ).learning_from(loaded)
    settings, choice = resolve_scope(asked, config.seen(loaded)[0], tell)
    return replace(config, settings=settings, scope_choice=_as_table(choice)), loaded


def _as_table(choice: Choice | None) -> dict[str, Any]:
    if choice is None:
        return {}
    about = {"n": choice.n, "rule": choice.rule, "why": choice.why}
    return {**about, "settings": list(choice.settings)}


def _left(choice: dict[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """What is left of a choice where the user has given settings himself."""
    followed = {"readout_scope"} if "scope" in given else set()
    left = [name for name in choice.get("settings", []) if name not in {*given, *followed}]
    return {**choice, "settings": left} if left else {}


def graph_name(given: str | GraphFiles) -> str:
    """A data set's name as the catalogue has it, or the absolute path of a file."""
    if isinstance(given, GraphFiles):
        return given.resolved().edges
    return given.lower() if given.lower() in DATASETS else str(Path(given).resolve())


def _source(graph: str | GraphFiles) -> dict[str, Any]:
    """Where a graph is, as a configuration holds it."""
    files = graph.resolved().values() if isinstance(graph, GraphFiles) else {}
    return {"graph": graph_name(graph), "files": files}
