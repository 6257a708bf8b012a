"""Node classification: a run and its controls, scored by the same probe on the same splits."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean
from typing import Any

import numpy as np

from ugcl._utils.errors import UGCLError
from ugcl._utils.progress import steps
from ugcl.data import GraphFiles, split_of
from ugcl.data.splits import Split, kind_name, pool_of, random_kind, selection_split
from ugcl.evaluation.comparison import load_comparison
from ugcl.evaluation.control_scores import feature_control_scores
from ugcl.evaluation.controls import MAX_COLUMNS, FeatureControls
from ugcl.evaluation.probe import Score
from ugcl.evaluation.protocols import PROTOCOLS, check_split, is_protocol, linear_probe
from ugcl.evaluation.scorers import Scorer, default_scoring, probe_score, run_scorer
from ugcl.evaluation.statistics import Estimate, Outcomes
from ugcl.graph import Graph
from ugcl.methods.params import check_integer
from ugcl.runs import Run
from ugcl.typing import Embeddings, Protocol, Scoring, SplitKind

logger = logging.getLogger(__name__)

MIN_PER_CLASS = 5
"""Training nodes per class below which scores are unreliable."""

RUN, OTHER = "run", "other"
"""Names of the runs in tables of scores; the controls have their own names."""


@dataclass(frozen=True)
class ManySplits:
    """Accuracies over many random splits, and paired differences.

    Attributes:
        kind: the kind of split.
        count: the number of splits.
        accuracy: the run's mean accuracy.
        controls: the mean accuracies of the controls, by name.
        gains: the run's gain over each control.
        other: the accuracy of the run that it is compared with, and the gain over it.
    """

    kind: str
    count: int
    accuracy: Estimate
    controls: dict[str, Estimate]
    gains: dict[str, Estimate]
    other: tuple[Estimate, Estimate] | None = None

    @classmethod
    def of(
        cls, kind: str, num_nodes: int, splits: Sequence[Split], scores: Sequence[dict[str, Score]]
    ) -> ManySplits:
        """Compute the estimates from the scores of each split, by name."""
        test_nodes = [split["test"] for split in splits]
        outcomes = {
            name: Outcomes.gather(num_nodes, test_nodes, [row[name].correct for row in scores])
            for name in scores[0]
        }
        run, other = outcomes.pop(RUN), outcomes.pop(OTHER, None)
        return cls(
            kind,
            len(splits),
            run.accuracy(),
            {name: control.accuracy() for name, control in outcomes.items()},
            {name: run.gain_over(control) for name, control in outcomes.items()},
            None if other is None else (other.accuracy(), run.gain_over(other)),
        )

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain data."""
        accuracy = self.accuracy.to_json()
        controls = {name: estimate.to_json() for name, estimate in self.controls.items()}
        return {
            "splits": self.count,
            "splits_kind": self.kind,
            **{f"accuracy_{name}": value for name, value in accuracy.items()},
            "controls_mean": {name: values["mean"] for name, values in controls.items()},
            "controls_ci95": {name: values["ci95"] for name, values in controls.items()},
            "differences": {name: gain.to_json() for name, gain in self.gains.items()},
        }


@dataclass(frozen=True)
class Evaluation:
    """Accuracies of a run and of its controls, in percent.

    Attributes:
        protocol: the probe, or "predictions".
        split: the name of the split.
        sizes: the number of nodes of its parts.
        seed: the training seed.
        score: the score of the run.
        controls: the scores of the controls, by name.
        other: the score of the run that it is compared with; None without one.
        many: the results over many random splits, where requested.
        full_width: whether the controls keep all columns.
    """

    protocol: Scoring
    split: str
    sizes: dict[str, int]
    seed: int
    score: Score
    controls: dict[str, Score]
    other: Score | None = None
    many: ManySplits | None = None
    full_width: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain data."""
        controls = self.controls.items()
        result: dict[str, Any] = {
            "accuracy": round(self.score.accuracy, 4),
            "validation": _rounded(self.score.validation),
            "controls": {name: round(score.accuracy, 4) for name, score in controls},
            "controls_validation": {name: _rounded(score.validation) for name, score in controls},
            "protocol": self.protocol,
            "split": self.split,
            "split_sizes": self.sizes,
            "seed": self.seed,
            "chosen": dict(self.score.chosen),
            "controls_chosen": {name: dict(score.chosen) for name, score in controls},
            "full_width": self.full_width,
        }
        if self.other is not None:
            result["against"] = {"accuracy": round(self.other.accuracy, 4)}
        if self.many is None:
            return result
        if self.many.other is not None:
            accuracy, gain = self.many.other
            result["against"]["accuracy_mean"] = round(accuracy.mean, 4)
            result["against"]["difference"] = gain.to_json()
        return result | self.many.to_json()


def evaluate_run(
    run: Run,
    protocol: Scoring | None = None,
    *,
    split: SplitKind | None = None,
    split_seed: int | None = None,
    splits: int | None = None,
    full_width: bool = False,
    against: Run | None = None,
    graph: str | GraphFiles | None = None,
    labels: GraphFiles | None = None,
    data_root: str | None = None,
    device: str | None = None,
) -> Evaluation:
    """Score a finished run and its controls by node classification.

    The controls are tuned on the training and validation nodes of the graph's own split (of the
    random one with seed 0 where it has none); random splits never test these nodes. Presets for
    data sets with their own split were chosen on the same nodes.

    A supervised run is scored by its predictions, on the split that it was trained on; for any
    other split it is trained again.

    Args:
        run: the run.
        protocol: the probe, or "predictions"; by default "predictions" for supervised methods and
            "honest" for all others. The protocols of other harnesses have their own random splits
            and are for embeddings that were learned without labels.
        split: the kind of split; by default the graph's own where it has one.
        split_seed: seed of a random split.
        splits: also score on this many random splits, with seeds from `split_seed` (or 0) on.
        full_width: let the controls keep all columns of the features, in each block; by default
            they have at most `controls.MAX_COLUMNS` in total.
        against: another run on the same graph to compare with.
        graph: as for `load_comparison`, like all others.
        labels: files of labels for a graph that had none in training.
        data_root: the folder of raw data sets, if it has moved.
        device: where to embed the untrained control and to train again.
    """
    if splits is not None:
        check_integer("`splits`", splits, 2)
        if split == "own":
            raise UGCLError("the graph has only one own split: leave out `splits` or `split` own")
    if protocol == "predictions" and not run.config.supervised:
        raise UGCLError(
            f"{run.config.method} learns without labels and predicts none: use the protocol "
            "'honest' or 'paper'"
        )
    probe: Protocol = protocol if is_protocol(protocol) else "honest"
    fractions = PROTOCOLS[probe].fractions
    if fractions is not None:
        _check_own_splits(probe, split, [run] if against is None else [run, against])
    comparison = load_comparison(
        run, against, graph=graph, labels=labels, data_root=data_root, device=device
    )
    loaded = comparison.graph
    selection = selection_split(loaded)
    if split is None and split_seed is None and run.config.split:
        first, name = run.config.split_of(loaded), run.config.split_name
    else:
        first, name = split_of(loaded, fractions or split, split_seed)
    kind = fractions or split or random_kind(loaded)
    seeds = range(split_seed or 0, (split_seed or 0) + (splits or 0))
    first = _without_pool(first, selection)
    random = [_without_pool(split_of(loaded, kind, seed)[0], selection) for seed in seeds]

    supervised = run.config.split or (against is not None and against.config.split)
    _check_splits(loaded, selection, [first, *random], "honest" if supervised else probe)

    device = device or run.config.device
    scorers = {RUN: run_scorer(run, loaded, comparison.embeddings, protocol, device)}
    if against is not None:
        other_protocol = None if protocol == "predictions" else protocol
        scorers[OTHER] = run_scorer(against, loaded, comparison.other, other_protocol, device)
    for control, rows in comparison.untrained.items():
        scorers[control] = partial(probe_score, rows, loaded, probe, run.config.seed)
    controls = FeatureControls(loaded, None if full_width else MAX_COLUMNS)
    score_table = partial(_score_table, controls, selection, probe, scorers)
    scores = score_table([first])[0]
    many = None
    if random:
        many = ManySplits.of(kind_name(kind), loaded.num_nodes, random, score_table(random))
    return Evaluation(
        default_scoring(run, protocol),
        name,
        {part: int(nodes.size) for part, nodes in first.items()},
        run.config.seed,
        scores.pop(RUN),
        other=scores.pop(OTHER, None),
        controls=scores,
        many=many,
        full_width=full_width,
    )


def random_splits(graph: Graph, count: int) -> list[Split]:
    """Return the random splits of `evaluate_run(run, splits=count)`, for the honest probe."""
    selection, kind = selection_split(graph), random_kind(graph)
    splits = [_without_pool(split_of(graph, kind, seed)[0], selection) for seed in range(count)]
    assert graph.labels is not None
    for split in splits:
        check_split(graph.labels, split, "honest")
    return splits


def control_accuracies(graph: Graph, splits: Sequence[Split]) -> dict[str, float]:
    """Return the mean accuracy of the feature controls over splits, by the honest probe.

    They are tuned on the selection split, as in `evaluate_run`.
    """
    selection = selection_split(graph)
    scores = feature_control_scores(FeatureControls(graph), selection, splits, "honest")
    return {name: round(fmean(row[name].accuracy for row in scores), 4) for name in scores[0]}


def honest_outcomes(embeddings: Embeddings, graph: Graph, splits: Sequence[Split]) -> Outcomes:
    """Return which test nodes of each split the honest probe classifies correctly."""
    labels = graph.labels
    assert labels is not None
    scores = [linear_probe(embeddings, labels, split, "honest") for split in splits]
    return Outcomes.gather(
        graph.num_nodes,
        [split["test"] for split in splits],
        [score.correct for score in scores],
        np.array([score.validation for score in scores], dtype=np.float64),
    )


def _check_own_splits(protocol: Protocol, split: SplitKind | None, runs: Sequence[Run]) -> None:
    """Refuse what does not go with a protocol that has its own random splits."""
    if split is not None:
        raise UGCLError(
            f"the protocol '{protocol}' has its own random splits: leave out `split`; `split_seed` "
            "and `splits` choose among them"
        )
    for run in runs:
        if run.config.supervised:
            raise UGCLError(
                f"{run.config.method} learns from labels of its own split, and the protocol "
                f"'{protocol}' has other splits: use 'predictions', 'honest' or 'paper'"
            )


def _without_pool(split: Split, selection: Split) -> Split:
    """Return the split without the test nodes that settings were chosen on."""
    test = np.setdiff1d(split["test"], pool_of(selection))
    if test.size < 2 <= split["test"].size:
        raise UGCLError(
            "nearly all nodes are training or validation nodes of the split that settings are "
            "chosen on, and random splits have none left to test: leave out `split`, `split_seed` "
            "and `splits`, and use the protocol 'honest' or 'paper'"
        )
    return split | {"test": test}


def _check_splits(
    graph: Graph, selection: Split, splits: Sequence[Split], protocol: Protocol
) -> None:
    """Refuse splits that cannot be scored, and warn about few training nodes."""
    assert graph.labels is not None
    check_split(graph.labels, selection, "paper")
    for split in splits:
        check_split(graph.labels, split, protocol)
    num_train = splits[0]["train"].size
    if num_train < MIN_PER_CLASS * graph.num_classes:
        logger.warning(
            "note: %s training nodes for %d classes are few, and scores unreliable: add labels, or "
            "use a split with more training nodes",
            f"{num_train:,}",
            graph.num_classes,
        )


def _score_table(
    controls: FeatureControls,
    selection: Split,
    protocol: Protocol,
    scorers: dict[str, Scorer],
    splits: Sequence[Split],
) -> list[dict[str, Score]]:
    """Return for each split the scores of the feature controls and of all scorers, by name."""
    table = feature_control_scores(controls, selection, splits, protocol)
    for name, score in scorers.items():
        pairs = zip(splits, table, strict=True)
        for split, row in steps(f"scoring {name}", pairs, len(splits)):
            row[name] = score(split)
    return table


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
