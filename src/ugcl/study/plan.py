"""What a study trains and where it keeps it: the part that all studies share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ugcl._utils.errors import UGCLError
from ugcl.graph import Graph
from ugcl.methods import DEFAULT_PRESET, method_named
from ugcl.runs import Reporter, Run, new_config, open_run, train_run
from ugcl.runs.config import RunConfig
from ugcl.study.variant import Variant


@dataclass(frozen=True)
class Plan:
    """A graph, variants and seeds to train, and who is told about it.

    Attributes:
        graph: a data set's name or a path.
        out: the JSON file of the result, written as it grows.
        runs: the folder that keeps the run folders.
        method: the method's name.
        variants: which presets, and what is changed in them.
        seeds: how many training seeds, from 0.
        splits: how many random splits each run is scored on.
        command: the command that makes the result, to stand beside it.
        data_root: the folder of raw data sets.
        device: where to compute.
        threads: threads on the CPU.
        reporter: who is told about the training of a run, given its title.
        tell: is told what else takes time.
        should_stop: asked after every epoch and every score.
    """

    graph: str
    out: Path
    runs: Path
    method: str = "ugcl"
    variants: Sequence[Variant] = (Variant(DEFAULT_PRESET, {}),)
    seeds: int = 5
    splits: int = 20
    command: str = ""
    data_root: str | None = None
    device: str = "auto"
    threads: int | None = None
    reporter: Callable[[str], Reporter | None] = lambda title: None
    tell: Callable[[str], None] = lambda text: None
    should_stop: Callable[[], bool] = lambda: False

    def configure(self, variant: Variant, seed: int) -> tuple[RunConfig, Graph]:
        """The configuration of a run, and its graph."""
        return new_config(
            self.graph,
            method=self.method,
            preset=variant.preset,
            given=variant.changes,
            seed=seed,
            data_root=self.data_root,
            device=self.device,
            threads=self.threads,
            tell=self.tell,
        )

    def train(self, variant: Variant, seed: int) -> Run | None:
        """The run, trained to its end; None if somebody asked to stop."""
        config, loaded = self.configure(variant, seed)
        folder = self.runs / f"{self.method}-{variant}-{seed}".replace(":", "+")
        run = open_run(folder, config, loaded, resume=True)
        title = self.title(variant, seed)
        train_run(run, loaded, reporter=self.reporter(title), should_stop=self.should_stop)
        return run if run.finished and not self.should_stop() else None

    def require_embeddings(self, what: str, *, scopes: bool = False) -> None:
        """Refuse a method whose embeddings cannot be probed on any split, or have no scope.

        Args:
            what: the option that asks for it.
            scopes: whether scopes of training and readout are needed.
        """
        method = method_named(self.method)
        if method.supervised:
            raise UGCLError(
                f"{what} probes embeddings on many splits, and {method.name} has learned from "
                "labels that these test: leave it out, or use ugcl evaluate --against"
            )
        if scopes and "readout_scope" not in method.options():
            raise UGCLError(
                f"{what} needs a scope of the readout, and {method.name} has none: name another "
                "--method"
            )

    def title(self, variant: Variant, seed: int) -> str:
        """What a run is called in progress reports."""
        return f"{self.method} on {self.graph}, {variant}, seed {seed}"

    def commands(self, known: list[str]) -> list[str]:
        """The commands that made the result so far, with this one."""
        return [*known, *([self.command] if self.command and self.command not in known else [])]
