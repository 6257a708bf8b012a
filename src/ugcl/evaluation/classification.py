"""Scoring a run: its embeddings and its controls, by the same probe on the same splits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean
from typing import Any

import numpy as np

from ugcl._utils.errors import UGCLError
from ugcl.data import GraphFiles, SplitKind, split_of
from ugcl.data.splits import Split, pool_of, random_kind, selection_split
from ugcl.engine import resolve_device
from ugcl.evaluation.comparison import compared
from ugcl.evaluation.control_scores import feature_control_scores
from ugcl.evaluation.controls import FeatureControls
from ugcl.evaluation.probe import Protocol, Score, check_split, linear_probe
from ugcl.evaluation.scorers import Scorer, Scoring, probed, scorer, scoring_of
from ugcl.evaluation.statistics import Estimate, Outcomes
from ugcl.graph import Graph
from ugcl.methods import method_named
from ugcl.methods.options import check_integer
from ugcl.runs.folder import Run

FEW = 5
"""With fewer training nodes a class, scores say little."""

RUN, OTHER = "run", "other"
"""Whose scores they are, beside the names of the controls."""


@dataclass(frozen=True)
class ManySplits:
    """Accuracies over many random splits, and paired differences.

    Attributes:
        kind: which kind of split.
        count: how many.
        accuracy: the run's mean accuracy.
        controls: those of the controls, by name.
        gains: how much more the run has than each control.
        other: the accuracy of the run it is compared with, and how much more the run has.
    """

    kind: str
    count: int
    accuracy: Estimate
    controls: dict[str, Estimate]
    gains: dict[str, Estimate]
    other: tuple[Estimate, Estimate] | None = None

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        accuracy = self.accuracy.to_json()
        return {
            "splits": self.count,
            "splits_kind": self.kind,
            "accuracy_mean": accuracy.pop("mean"),
            "accuracy_ci95": accuracy.pop("ci95"),
            **{f"accuracy_{name}": value for name, value in accuracy.items()},
            "controls_mean": {n: round(e.mean, 4) for n, e in self.controls.items()},
            "controls_ci95": {
                n: [round(e.low, 4), round(e.high, 4)] for n, e in self.controls.items()
            },
            "differences": {name: gain.to_json() for name, gain in self.gains.items()},
        }


@dataclass(frozen=True)
class Evaluation:
    """Accuracies of a run and of its controls, in percent.

    Attributes:
        protocol: which probe, or the run's own predictions.
        split: which split.
        sizes: how many nodes its parts have.
        seed: the training seed.
        score: the run's.
        controls: those of the controls, by name.
        other: that of the run it is compared with, where there is one.
        many: the same over many splits, where asked for.
    """

    protocol: Scoring
    split: str
    sizes: dict[str, int]
    seed: int
    score: Score
    controls: dict[str, Score]
    other: Score | None = None
    many: ManySplits | None = None

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        result: dict[str, Any] = {
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
            "controls_chosen": {name: dict(score.chosen) for name, score in self.controls.items()},
        }
        if self.other is not None:
            result["against"] = {"accuracy": round(self.other.accuracy, 4)}
        if self.many is None:
            return result
        if self.many.other is not None:
            accuracy, gain = self.many.other
            result["against"] |= {
                "accuracy_mean": round(accuracy.mean, 4),
                "difference": gain.to_json(),
            }
        return result | self.many.to_json()


def evaluate_run(
    run: Run,
    protocol: Scoring | None = None,
    *,
    split: SplitKind | None = None,
    split_seed: int | None = None,
    splits: int | None = None,
    against: Run | None = None,
    graph: str | GraphFiles | None = None,
    labels: GraphFiles | None = None,
    data_root: str | None = None,
    device: str | None = None,
    tell: Callable[[str], None] = lambda text: None,
) -> Evaluation:
    """Score a finished run beside its controls.

    The controls' smoothing and scaling are chosen on the training and validation nodes of the
    graph's own split (of the random one with seed 0 where it has none), the pool on which our
    presets were chosen, too; random splits never test a node of that pool.

    A run that learned from labels is scored on the split that it learned from, by its predictions;
    for any other split it is trained anew, because it knows labels that are tested there.

    Args:
        run: the run.
        protocol: which probe, or "predictions"; by default the predictions of a method that makes
            them, and else the honest probe.
        split: which kind of split; by default the graph's own where it has one.
        split_seed: seed of a random split.
        splits: also score on so many random splits, with seeds from `split_seed` (or 0) on.
        against: another run on the same graph to compare with.
        graph: where the run's graph is now, if it has moved or has labels that it had not.
        labels: where labels are that the run's graph had not, and which column is what.
        data_root: the folder of raw data sets, where it is not that of training any more.
        device: where to embed the untrained control; by default where the run was trained.
        tell: is told what takes time.
    """
    if splits is not None and split == "own":
        raise UGCLError("there is one split of the graph's own: leave out --splits or --split own")
    if splits is not None:
        check_integer("splits", splits, 2)
    if protocol == "predictions" and not method_named(run.config.method).supervised:
        raise UGCLError(
            f"{run.config.method} learns without labels and predicts none: use the protocol "
            "'honest' or 'paper'"
        )
    who = compared(run, against, graph=graph, labels=labels, data_root=data_root, device=device)
    loaded = who.graph
    probe: Protocol = "paper" if protocol == "paper" else "honest"
    chosen_on = selection_split(loaded)
    if split is None and split_seed is None and run.config.split:
        one, name = run.config.split_of(loaded), run.config.split_name
    else:
        one, name = split_of(loaded, split, split_seed)
    kind = random_kind(loaded) if split is None else split
    seeds = range(split_seed or 0, (split_seed or 0) + (splits or 0))
    random = [split_of(loaded, kind, seed)[0] for seed in seeds]
    first, *others = (_testable(parts, chosen_on) for parts in (one, *random))
    assert loaded.labels is not None
    check_split(loaded.labels, chosen_on, "paper")
    learners = [each for each in (run, against) if each is not None and each.config.split]
    for parts in (first, *others):
        check_split(loaded.labels, parts, "honest" if learners else probe)

    if first["train"].size < FEW * loaded.num_classes:
        tell(
            f"note: {first['train'].size:,} training nodes for {loaded.num_classes} classes are "
            "few, and scores largely chance: give more labels, or a split with more for training"
        )
    where = resolve_device(device or run.config.device)
    scorers = {RUN: scorer(run, loaded, who.run, protocol, where, tell)}
    if against is not None:
        own = None if protocol == "predictions" else protocol
        scorers[OTHER] = scorer(against, loaded, who.other, own, where, tell)
    for untrained, rows in who.untrained.items():
        scorers[untrained] = partial(probed, rows, loaded, probe, run.config.seed)
    controls = FeatureControls.for_split(loaded, chosen_on)
    table = _ScoreTable(controls, probe, chosen_on, scorers, tell)
    scores = table.scores([first])[0]
    return Evaluation(
        scoring_of(run, protocol),
        name,
        {part: int(nodes.size) for part, nodes in first.items()},
        run.config.seed,
        scores.pop(RUN),
        other=scores.pop(OTHER, None),
        controls=scores,
        many=_many(kind, loaded.num_nodes, others, table.scores(others)) if others else None,
    )


def random_splits(graph: Graph, count: int) -> list[Split]:
    """The random splits of `evaluate_run(run, splits=count)`, fit for the honest probe."""
    chosen_on, kind = selection_split(graph), random_kind(graph)
    parts = [_testable(split_of(graph, kind, seed)[0], chosen_on) for seed in range(count)]
    assert graph.labels is not None
    for split in parts:
        check_split(graph.labels, split, "honest")
    return parts


def control_accuracies(
    graph: Graph, splits: Sequence[Split], tell: Callable[[str], None] = lambda text: None
) -> dict[str, float]:
    """The mean accuracy over these splits, by the honest probe, of the controls without training.

    As everywhere they are chosen on the pool of the graph's own split.
    """
    chosen_on = selection_split(graph)
    controls = FeatureControls.for_split(graph, chosen_on)
    scores = feature_control_scores(controls, chosen_on, splits, "honest", tell)
    return {
        control: round(fmean(row[control].accuracy for row in scores), 4) for control in scores[0]
    }


def honest_outcomes(embeddings: Any, graph: Graph, splits: Sequence[Split]) -> Outcomes:
    """Which test nodes of these splits the honest probe classifies correctly."""
    labels = graph.labels
    assert labels is not None
    scores = [linear_probe(embeddings, labels, split, "honest") for split in splits]
    return Outcomes.gather(
        graph.num_nodes,
        [split["test"] for split in splits],
        [score.correct for score in scores],
        np.array([score.validation for score in scores], dtype=np.float64),
    )


def _testable(split: Split, chosen_on: Split) -> Split:
    """The split without test nodes that choices were made on."""
    test = np.setdiff1d(split["test"], pool_of(chosen_on))
    if test.size < 2 <= split["test"].size:
        raise UGCLError(
            "nearly all nodes are training or validation nodes of the split that choices are made "
            "on, and random splits have none left to test: leave out --split, --split-seed and "
            "--splits"
        )
    return split | {"test": test}


@dataclass(frozen=True)
class _ScoreTable:
    """Scores embeddings and the graph's controls by one probe on the same splits.

    Attributes:
        controls: the controls of the graph, which has labels.
        protocol: which probe.
        chosen_on: the split on whose training and validation nodes choices are made.
        entrants: what else is scored: each takes a split.
        tell: is told what takes time.
    """

    controls: FeatureControls
    protocol: Protocol
    chosen_on: Split
    scorers: dict[str, Scorer]
    tell: Callable[[str], None]

    def scores(self, splits: Sequence[Split]) -> list[dict[str, Score]]:
        """For each split, the score of everything that is compared and of the controls."""
        result = feature_control_scores(
            self.controls, self.chosen_on, splits, self.protocol, self.tell
        )
        for who, score in self.scorers.items():
            for split, scores in zip(splits, result, strict=True):
                scores[who] = score(split)
        return result


def _many(
    kind: str, num_nodes: int, splits: Sequence[Split], scores: Sequence[dict[str, Score]]
) -> ManySplits:
    outcomes = {
        who: Outcomes.gather(
            num_nodes,
            [split["test"] for split in splits],
            [row[who].correct for row in scores],
        )
        for who in scores[0]
    }
    own, other = outcomes.pop(RUN), outcomes.pop(OTHER, None)
    return ManySplits(
        kind,
        len(splits),
        own.accuracy(),
        {who: outcome.accuracy() for who, outcome in outcomes.items()},
        {who: own.gain_over(outcome) for who, outcome in outcomes.items()},
        None if other is None else (other.accuracy(), own.gain_over(other)),
    )


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
