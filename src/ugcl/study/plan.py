"""The runs of a study: which are trained, and where they are stored."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ugcl._utils.errors import UGCLError
from ugcl.engine import Callback
from ugcl.methods import DEFAULT_METHOD, DEFAULT_PRESET, Method, get_method, method_file
from ugcl.runs import Prepared, Run, open_run, prepare, train_run
from ugcl.runs.config import graph_name
from ugcl.study.variant import Variant
from ugcl.typing import Protocol, Scoring


@dataclass(frozen=True)
class Plan:
    """A graph, a method, and the variants and seeds to train.

    Attributes:
        graph: a data set's name or a path.
        out: the JSON file of the result, written after every score.
        runs: the folder of the run folders.
        method: the method's name, or the path of its file.
        variants: presets, with settings that differ from them.
        seeds: number of training seeds, from 0.
        splits: number of random splits that each run is scored on.
        protocol: the only protocol that scores the runs; None for `honest` and `paper`.
        command: the command line that makes the result, recorded in it.
        data_root: the folder of raw data sets.
        device: where to compute.
        threads: CPU threads.
        callbacks: from the title of a run to its training callbacks.
        should_stop: called between runs and scores; True ends the study.
    """

    graph: str
    out: Path
    runs: Path
    method: str = DEFAULT_METHOD
    variants: Sequence[Variant] = (Variant(DEFAULT_PRESET, {}),)
    seeds: int = 5
    splits: int = 20
    protocol: Protocol | None = None
    command: str = ""
    data_root: str | None = None
    device: str = "auto"
    threads: int | None = None
    callbacks: Callable[[str], Sequence[Callback]] = lambda title: ()
    should_stop: Callable[[], bool] = lambda: False

    @property
    def known_method(self) -> Method:
        """The method."""
        return get_method(self.method)

    @property
    def protocols(self) -> tuple[Scoring, ...]:
        """The protocols that score the runs: the probes, or a method's own predictions."""
        if self.known_method.supervised:
            if self.protocol is not None:
                raise UGCLError(
                    f"{self.known_method.name} is scored by its own predictions: leave out "
                    "`protocol`"
                )
            return ("predictions",)
        return ("honest", "paper") if self.protocol is None else (self.protocol,)

    @property
    def header(self) -> dict[str, str]:
        """The fields that a result has of the graph and the method."""
        method = self.known_method
        header = {"graph": graph_name(self.graph), "method": method.name}
        if file := method_file(method):
            header["method_sha256"] = file.sha256
        return header

    def prepare(self, variant: Variant, seed: int) -> Prepared:
        """Load the graph and resolve the settings of a run."""
        return prepare(
            self.graph,
            method=self.method,
            preset=variant.preset,
            params=variant.params,
            seed=seed,
            data_root=self.data_root,
            device=self.device,
            threads=self.threads,
        )

    def train(self, variant: Variant, seed: int, prepared: Prepared | None = None) -> Run | None:
        """Train a run, or continue it; None if the study or the training was stopped."""
        if self.should_stop():
            return None
        prepared = prepared or self.prepare(variant, seed)
        folder = self.runs / f"{self.known_method.name}-{variant}-{seed}".replace(":", "+")
        run = open_run(folder, prepared, resume=True, wait=True)
        train_run(run, prepared, self.callbacks(self.title(variant, seed)), wait=True)
        return run if run.finished and not self.should_stop() else None

    def require_embeddings(self, *, readout_scope: bool = False) -> None:
        """Refuse a supervised method and, where it is needed, a method without a readout scope."""
        method = self.known_method
        if method.supervised:
            raise UGCLError(
                f"this study probes embeddings on many splits, but {method.name} learns from "
                "labels that these test: use another `method`, or ugcl evaluate --against"
            )
        if readout_scope and "readout_scope" not in method.params:
            raise UGCLError(
                f"this study varies the readout scope, but {method.name} has none: use another "
                "`method`"
            )

    def title(self, variant: Variant, seed: int) -> str:
        """Return the title of a run in progress messages."""
        return f"{self.known_method.name} on {self.graph}, {variant}, seed {seed}"

    def commands(self, stored: Mapping[str, Any] | None) -> list[str]:
        """Return the commands of the stored result, with this one."""
        commands: list[str] = [] if stored is None else list(stored["commands"])
        new = self.command and self.command not in commands
        return [*commands, self.command] if new else commands
