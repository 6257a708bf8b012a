"""Gain from a tuned scope: of training, and of the readout, each by itself.

For every random split the scope with the highest validation accuracy, averaged over seeds, is
chosen and compared on the test nodes with the method's own scope: a paired comparison on the same
seeds, splits and nodes. The study can be resumed: runs and outcomes are stored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from ugcl._utils.files import write_json
from ugcl.evaluation import Outcomes
from ugcl.runs import Run
from ugcl.study.outcomes import ReadoutStudy
from ugcl.study.plan import Plan
from ugcl.study.summary import combined_difference, mean_and_deviation
from ugcl.study.variant import Variant
from ugcl.typing import ScopeName

Scopes = tuple[int | ScopeName, int | ScopeName]
"""A training scope and a readout scope."""

SeedOutcomes = dict[Scopes, Outcomes]
"""The outcomes of one training seed."""


def tuned_study(
    plan: Plan,
    training: Sequence[int | ScopeName],
    readout: Sequence[int | ScopeName],
) -> dict[str, Any]:
    """Score training scopes at the method's own readout scope, and readout scopes at its own.

    Args:
        plan: the runs, of one variant.
        training: training scopes besides the method's own.
        readout: readout scopes besides the method's own.
    """
    study = ReadoutStudy.open(plan)
    own: Scopes = study.settings["scope"], study.settings["readout_scope"]
    grid = {
        "training": list(dict.fromkeys([own, *((scope, own[1]) for scope in training)])),
        "readout": list(dict.fromkeys([own, *((own[0], scope) for scope in readout)])),
    }
    variants = {scope: _with_scopes(study.variant, scope, own[1]) for scope, _ in grid["training"]}
    variants[own[0]] = study.variant
    for variant in variants.values():  # refuses settings that cannot be trained before training
        plan.prepare(variant, 0)
    by_seed: list[SeedOutcomes] = []
    for seed in range(plan.seeds):
        runs: dict[int | ScopeName, Run | None] = {}
        outcomes: SeedOutcomes = {}
        for scopes in dict.fromkeys([*grid["training"], *grid["readout"]]):
            if scopes[0] not in runs:
                runs[scopes[0]] = plan.train(variants[scopes[0]], seed)
            run = runs[scopes[0]]
            if run is None or plan.should_stop():
                return _result(study, by_seed, grid)
            outcomes[scopes] = study.outcomes(run, scopes[1])
        by_seed.append(outcomes)
        write_json(plan.out, _result(study, by_seed, grid))
    return _result(study, by_seed, grid)


def _with_scopes(variant: Variant, scope: int | ScopeName, readout: int | ScopeName) -> Variant:
    return Variant(variant.preset, {**variant.params, "scope": scope, "readout_scope": readout})


def _result(
    study: ReadoutStudy, by_seed: list[SeedOutcomes], grid: dict[str, list[Scopes]]
) -> dict[str, Any]:
    """Return means over seeds: of each scope, and of the chosen ones."""
    result = {**study.header, "seeds": len(by_seed)}
    if not by_seed:
        return result
    own = grid["training"][0]
    result["own"] = {"scope": own[0], "readout_scope": own[1]}
    own_outcomes = [outcomes[own] for outcomes in by_seed]
    result["accuracy"] = _accuracy(own_outcomes)
    for index, name in enumerate(("training", "readout")):
        tuned, chosen = _tune(by_seed, grid[name])
        rows = []
        for scopes in grid[name]:
            outcomes = [each[scopes] for each in by_seed]
            rows.append({"scope": scopes[index], **_compare(outcomes, own_outcomes)})
        counts = Counter(str(scopes[index]) for scopes in chosen)
        result[name] = {
            "scopes": rows,
            "chosen": dict(counts.most_common()),
            **_compare(tuned, own_outcomes),
        }
    return result


def _compare(outcomes: list[Outcomes], own: list[Outcomes]) -> dict[str, Any]:
    """Return accuracy and gain over the method's own scopes, from the outcomes of each seed."""
    gains = [each.gain_over(base).to_json() for each, base in zip(outcomes, own, strict=True)]
    return {"accuracy": _accuracy(outcomes), "gain": combined_difference(gains)}


def _accuracy(outcomes: list[Outcomes]) -> tuple[float, float | None]:
    return mean_and_deviation([each.accuracy().mean for each in outcomes])


def _tune(
    by_seed: list[SeedOutcomes], candidates: Sequence[Scopes]
) -> tuple[list[Outcomes], list[Scopes]]:
    """Return, for each seed, the outcomes at the best scopes of each split, and these scopes."""
    validation = [[outcomes[scopes].validation for outcomes in by_seed] for scopes in candidates]
    best = np.array(validation, dtype=np.float64).mean(axis=1).argmax(axis=0)
    tuned = []
    for outcomes in by_seed:
        correct = np.stack([outcomes[scopes].correct for scopes in candidates])
        tested = outcomes[candidates[0]].tested
        tuned.append(Outcomes(tested, correct[best, np.arange(best.size)]))
    return tuned, [candidates[i] for i in best]
