"""Scoring a run: its embeddings and its controls, by the same probe on the same split."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ugcl.data import SplitKind, split_of
from ugcl.errors import UGCLError
from ugcl.evaluation import Protocol, Score, control_embeddings, linear_probe
from ugcl.runs.folder import Run
from ugcl.training import resolve_device


@dataclass(frozen=True)
class Evaluation:
    """Accuracies of a run and of its controls, in percent.

    Attributes:
        protocol: which probe.
        split: which split.
        sizes: how many nodes its parts have.
        seed: the training seed.
        score: the run's.
        controls: those of the controls, by name.
    """

    protocol: Protocol
    split: str
    sizes: dict[str, int]
    seed: int
    score: Score
    controls: dict[str, Score]

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "accuracy": round(self.score.accuracy, 4),
            "validation": _rounded(self.score.validation),
            "controls": {name: round(s.accuracy, 4) for name, s in self.controls.items()},
            "controls_validation": {
                name: _rounded(score.validation) for name, score in self.controls.items()
            },
            "protocol": self.protocol,
            "split": self.split,
            "split_sizes": self.sizes,
            "seed": self.seed,
            "chosen": dict(self.score.chosen),
        }


def evaluate_run(
    run: Run,
    protocol: Protocol = "honest",
    *,
    split: SplitKind | None = None,
    split_seed: int | None = None,
    graph: str | None = None,
    data_root: str | None = None,
    device: str | None = None,
) -> Evaluation:
    """Score a finished run beside its controls.

    Args:
        run: the run.
        protocol: which probe.
        split: which kind of split; by default the graph's own where it has one.
        split_seed: seed of a random split.
        graph: where the run's graph is now, if it has moved or has labels that it had not.
        data_root: the folder of raw data sets, where it is not that of training any more.
        device: where to embed the untrained control; by default where the run was trained.
    """
    run.require_finished()
    config = run.config
    loaded = config.load_graph(graph, data_root)
    parts, name = split_of(loaded, split, split_seed)
    embeddings = run.embeddings()
    if embeddings.shape[0] != loaded.num_nodes:
        raise UGCLError(
            f"{run.path} has embeddings of {embeddings.shape[0]:,} nodes but its graph has "
            f"{loaded.num_nodes:,}: train the run again"
        )
    assert loaded.labels is not None
    compared = {"": embeddings} | control_embeddings(
        config.untrained_model(loaded.num_features), loaded, resolve_device(device or config.device)
    )
    scores = {
        who: linear_probe(
            matrix, loaded.labels, parts, protocol, dataset=loaded.name, seed=config.seed
        )
        for who, matrix in compared.items()
    }
    sizes = {part: int(nodes.size) for part, nodes in parts.items()}
    return Evaluation(protocol, name, sizes, config.seed, scores.pop(""), scores)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
