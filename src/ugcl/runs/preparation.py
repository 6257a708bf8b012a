"""Preparation of a run: load its graph and resolve its settings, once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import torch

from ugcl._utils.errors import UGCLError
from ugcl.data import GraphFiles, load_graph
from ugcl.engine import resolve_device
from ugcl.engine.ranks import check_method, current
from ugcl.engine.requirements import check_memory
from ugcl.graph import Graph
from ugcl.methods import DEFAULT_METHOD, DEFAULT_PRESET, Method, Settings, get_method
from ugcl.runs.config import RunConfig, graph_name
from ugcl.runs.manifest import FORMAT
from ugcl.runs.method import method_fields
from ugcl.runs.supervision import split_kind
from ugcl.selection import Choice, resolve_scope
from ugcl.typing import SplitKind


@dataclass(frozen=True)
class Prepared:
    """A run that is ready to train: its configuration and its graph, loaded once.

    Attributes:
        config: the configuration.
        graph: the graph as loaded.
        training_graph: the graph that training sees: with the split, without held-out edges.
        held_out: the held-out edges, E x 2 node numbers.
    """

    config: RunConfig
    graph: Graph
    training_graph: Graph
    held_out: npt.NDArray[np.int64]

    @classmethod
    def of(cls, config: RunConfig, graph: Graph) -> Prepared:
        """Prepare a configured run on its loaded graph."""
        return cls(config, graph, *config.training_graph(graph))

    def resolve(self, settings: Settings, previous: dict[str, Any]) -> Prepared:
        """Return the run with the scope of its settings chosen; refuse one that cannot fit.

        Args:
            settings: the settings, whose scope may be "auto".
            previous: the recorded choice to keep where nothing is chosen now.
        """
        size = self.config.world_size
        check_method(self.config.method, settings, self.training_graph, size)
        if self.config.device == "cpu":
            check_memory(self.training_graph, self.config.load_method(), settings)
        resolved, choice = resolve_scope(settings, self.training_graph)
        config = replace(self.config, settings=resolved, scope_choice=_as_table(choice) or previous)
        return replace(self, config=config)


def prepare(
    graph: str | GraphFiles,
    *,
    method: str | Path | Method = DEFAULT_METHOD,
    preset: str = DEFAULT_PRESET,
    params: Mapping[str, Any] | None = None,
    seed: int = 0,
    device: str = "auto",
    threads: int | None = None,
    data_root: str | None = None,
    hold_out_edges: float = 0.0,
    split: SplitKind | None = None,
    split_seed: int | None = None,
) -> Prepared:
    """Load a graph and resolve a new run on it.

    Args:
        graph: a data set's name, a path, or the files of a graph.
        method: the method, its name, or the path of its file.
        preset: the preset whose values hold where `params` has none.
        params: the user's own settings.
        seed: the training seed.
        device: "auto", "cpu" or "cuda".
        threads: CPU threads; by default as many as PyTorch uses.
        data_root: the folder of raw data sets.
        hold_out_edges: the fraction of edges that training does not see.
        split: for a supervised method, the kind of split; by default the graph's own.
        split_seed: seed of a random split and of the held-out edges.
    """
    known = get_method(method)
    fields = method_fields(known)
    loaded = load_graph(graph, data_root)
    kind = split_kind(known, loaded, split, split_seed, held_out=hold_out_edges > 0)
    settings = known.resolve(preset, loaded, params or {})
    config = RunConfig(
        **fields,
        **_source(graph),
        fingerprint=loaded.fingerprint,
        preset=preset,
        settings=settings,
        seed=seed,
        device=resolve_device(device),
        threads=threads or torch.get_num_threads(),
        data_root="" if data_root is None else str(Path(data_root).resolve()),
        hold_out_edges=hold_out_edges,
        split=kind,
        split_seed=split_seed or 0,
        world_size=current().size,
    ).with_labels_of(loaded)
    return Prepared.of(config, loaded).resolve(settings, previous={})


def prepare_again(
    stored: RunConfig,
    params: Mapping[str, Any],
    *,
    graph: str | GraphFiles | None = None,
    data_root: str | None = None,
    seed: int | None = None,
    device: str | None = None,
    threads: int | None = None,
    hold_out_edges: float | None = None,
    split: SplitKind | None = None,
    split_seed: int | None = None,
) -> Prepared:
    """Load the graph of a stored configuration and repeat its run with some changes.

    Nothing is reduced to fit another graph: a repetition that does less must not pass silently.

    Args:
        stored: the stored configuration.
        params: settings that differ from it; the other arguments replace stored values, too.
        graph: another graph, or where the graph is now.
        data_root: the folder of raw data sets.
        seed: the training seed.
        device: where to compute.
        threads: CPU threads.
        hold_out_edges: the fraction of edges that training does not see.
        split: the kind of split.
        split_seed: seed of a random split and of the held-out edges.
    """
    method = stored.load_method()
    values = _changed_values(stored, method, params)
    settings = method.settings.from_values(values)
    config = replace(
        stored,
        format=FORMAT,
        seed=stored.seed if seed is None else seed,
        device=resolve_device(device or stored.device),
        threads=threads or stored.threads,
        data_root=stored.data_root if data_root is None else str(Path(data_root).resolve()),
        hold_out_edges=stored.hold_out_edges if hold_out_edges is None else hold_out_edges,
        split_seed=stored.split_seed if split_seed is None else split_seed,
    )
    if graph is None:
        loaded = replace(stored, data_root=config.data_root).load_graph()
    else:
        loaded = load_graph(graph, config.data_root or None)
        config = replace(config, **_source(graph), fingerprint=loaded.fingerprint)
    reseeded = stored.split == "own" and split_seed is not None and not config.hold_out_edges
    if split is None and graph is None and stored.split and not reseeded:
        split = cast(SplitKind, stored.split)
    held_out = config.hold_out_edges > 0
    kind = split_kind(method, loaded, split, split_seed, held_out=held_out)
    config = replace(config, split=kind).with_labels_of(loaded)
    same = config.fingerprint == stored.fingerprint
    previous = _remaining_choice(stored.scope_choice, params) if same else {}
    prepared = Prepared.of(config, loaded).resolve(settings, previous)
    try:
        prepared.config.settings.adapted_to(prepared.training_graph, frozenset(values))
    except UGCLError as error:
        raise UGCLError(f"the stored configuration does not fit this graph: {error}") from error
    return prepared


def _changed_values(stored: RunConfig, method: Method, params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the stored settings with changes; a readout scope that followed still follows."""
    old = stored.settings.values()
    values = old | dict(params)
    follows = method.readout_follows_scope(stored.preset)
    followed = "readout_scope" in old and old["scope"] == old["readout_scope"]
    if follows and followed and "readout_scope" not in params:
        values["readout_scope"] = values["scope"]
    return values


def _as_table(choice: Choice | None) -> dict[str, Any]:
    if choice is None:
        return {}
    table = {"n": choice.n, "rule": choice.rule, "why": choice.why}
    return {**table, "settings": list(choice.settings)}


def _remaining_choice(choice: dict[str, Any], params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the recorded choice for the settings that the user has not set."""
    replaced = {*params, *({"readout_scope"} if "scope" in params else ())}
    remaining = [name for name in choice.get("settings", []) if name not in replaced]
    return {**choice, "settings": remaining} if remaining else {}


def _source(graph: str | GraphFiles) -> dict[str, Any]:
    files = graph.resolved().values() if isinstance(graph, GraphFiles) else {}
    return {"graph": graph_name(graph), "files": files}
