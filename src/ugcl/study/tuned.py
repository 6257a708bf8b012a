"""What a tuned scope does for a method: of training, of the readout, each by itself.

For every random split the scope is chosen by the accuracy on its validation nodes, the mean over
the training seeds, and compared on its test nodes with the method's own scope: the same seeds,
splits and nodes, paired. Resumable: runs and scores are kept.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from ugcl._utils.errors import UGCLError
from ugcl._utils.files import check_writable, write_json
from ugcl._utils.provenance import source_commit
from ugcl.evaluation import Outcomes
from ugcl.evaluation.classification import control_accuracies, random_splits
from ugcl.runs import Run
from ugcl.runs.config import graph_name
from ugcl.scope import ScopeName
from ugcl.study.accuracy import combined_difference, mean_and_deviation
from ugcl.study.kept import kept_outcomes
from ugcl.study.plan import Plan
from ugcl.study.variant import Variant

Cell = tuple[int | ScopeName, int | ScopeName]
"""A scope of training and one of the readout."""

Scored = dict[tuple[int, Cell], Outcomes]
"""What was classified correctly, by training seed and scopes."""


def tuned_study(
    plan: Plan,
    training: Sequence[int | ScopeName],
    readout: Sequence[int | ScopeName],
) -> dict[str, Any]:
    """Score each scope of training at the method's own readout, and each readout of its own scope.

    Args:
        plan: the runs, of one variant.
        training: scopes of training beside the method's own.
        readout: scopes of the readout beside the method's own.
    """
    check_writable(plan.out)
    plan.require_embeddings("--tune-scopes", scopes=True)
    if len(plan.variants) != 1:
        raise UGCLError("the scopes of one kind of settings are tuned at a time: name one")
    variant = plan.variants[0]
    config, graph = plan.configure(variant, 0)
    splits = random_splits(graph, plan.splits)
    settings = config.settings.values()
    own: Cell = settings["scope"], settings["readout_scope"]
    cells = {
        "training": list(dict.fromkeys([own, *((scope, own[1]) for scope in training)])),
        "readout": list(dict.fromkeys([own, *((own[0], scope) for scope in readout)])),
    }
    about = {
        "graph": graph_name(plan.graph),
        "method": plan.method,
        "variant": str(variant),
        "splits": plan.splits,
        "settings": settings,
        "fingerprint": config.fingerprint,
        "commit": source_commit(),
        "controls": control_accuracies(graph, splits, plan.tell),
    }
    commands = plan.commands(_commands(plan, about))
    scored: Scored = {}
    variants = {scope: _with_scopes(variant, scope, own[1]) for scope, _ in cells["training"]}
    variants[own[0]] = variant
    for other in variants.values():  # what cannot be trained is refused before anything is
        plan.configure(other, 0)
    for seed in range(plan.seeds):
        runs: dict[int | ScopeName, Run] = {}
        for cell in dict.fromkeys([*cells["training"], *cells["readout"]]):
            trained = variants[cell[0]]
            if not plan.should_stop() and cell[0] not in runs:
                run = plan.train(trained, seed)
                runs |= {} if run is None else {cell[0]: run}
            if plan.should_stop() or cell[0] not in runs:
                return _result(about, commands, scored, cells)
            plan.tell(f"{plan.title(trained, seed)}: scoring the readout at {cell[1]}")
            scored[seed, cell] = kept_outcomes(runs[cell[0]], graph, splits, cell[1])
        write_json(plan.out, _result(about, commands, scored, cells))
    return _result(about, commands, scored, cells)


def _with_scopes(variant: Variant, training: int | ScopeName, readout: int | ScopeName) -> Variant:
    changes = {**variant.changes, "scope": training, "readout_scope": readout}
    return Variant(variant.preset, changes)


def _result(
    about: dict[str, Any], commands: list[str], scored: Scored, cells: dict[str, list[Cell]]
) -> dict[str, Any]:
    """Means over the seeds that are complete: of each scope, and of the one that is chosen."""
    every = dict.fromkeys([*cells["training"], *cells["readout"]])
    started = sorted({seed for seed, _ in scored})
    seeds = [seed for seed in started if all((seed, cell) in scored for cell in every)]
    result = {"commands": commands, **about, "seeds": len(seeds)}
    if not seeds:
        return result
    own = cells["training"][0]
    result |= {"own": {"scope": own[0], "readout_scope": own[1]}}
    result["accuracy"] = mean_and_deviation([scored[s, own].accuracy().mean for s in seeds])
    for name, at in (("training", 0), ("readout", 1)):
        tuned, chosen = _tuned(scored, cells[name], seeds)
        result[name] = {
            "scopes": [
                {
                    "scope": cell[at],
                    "accuracy": mean_and_deviation(
                        [scored[s, cell].accuracy().mean for s in seeds]
                    ),
                    "gain": combined_difference(
                        [scored[s, cell].gain_over(scored[s, own]).to_json() for s in seeds]
                    ),
                }
                for cell in cells[name]
            ],
            "chosen": dict(Counter(str(cell[at]) for cell in chosen).most_common()),
            "accuracy": mean_and_deviation([outcomes.accuracy().mean for outcomes in tuned]),
            "gain": combined_difference(
                [
                    outcomes.gain_over(scored[s, own]).to_json()
                    for s, outcomes in zip(seeds, tuned, strict=True)
                ]
            ),
        }
    return result


def _tuned(
    scored: Scored, cells: Sequence[Cell], seeds: Sequence[int]
) -> tuple[list[Outcomes], list[Cell]]:
    """For each seed the outcomes at the scope that is best on each split's validation nodes."""
    validation = np.array(
        [np.mean([_validation(scored[s, cell]) for s in seeds], axis=0) for cell in cells]
    )
    best = validation.argmax(axis=0)
    tuned = []
    for s in seeds:
        correct = np.stack([scored[s, cell].correct for cell in cells])
        rows = correct[best, np.arange(best.size)]
        tuned.append(Outcomes(scored[s, cells[0]].tested, rows))
    return tuned, [cells[i] for i in best]


def _validation(outcomes: Outcomes) -> Any:
    assert outcomes.validation is not None
    return outcomes.validation


def _commands(plan: Plan, about: dict[str, Any]) -> list[str]:
    """Those that made the result so far, which must be of the same method, graph and splits."""
    if not plan.out.is_file():
        return []
    same = ("graph", "method", "variant", "splits", "settings", "fingerprint")
    try:
        read = json.loads(plan.out.read_text("utf-8"))
        if all(read[name] == about[name] for name in same) and read["seeds"] <= plan.seeds:
            return list(read["commands"])
    except (KeyError, TypeError, ValueError):
        pass
    raise UGCLError(
        f"{plan.out} does not hold tuned scopes of '{about['variant']}' of {about['method']} on "
        f"{about['graph']} over {about['splits']} splits and at most {plan.seeds} seeds: choose "
        "another --out"
    )
