"""Accuracy at every scope of the readout, from one training: what a choice of n is measured by.

The regret of a choice is the accuracy at the best n, the oracle's, less that at the chosen one. The
oracle sees test labels, so nothing can be chosen by it; it is what choices are compared with. It is
the best on the very outcomes that regret is measured by, so regrets are rather too large.
"""

from __future__ import annotations

import json
from typing import Any

from ugcl._utils.errors import UGCLError
from ugcl._utils.files import check_writable, write_json
from ugcl._utils.provenance import source_commit
from ugcl.evaluation import Outcomes
from ugcl.evaluation.classification import control_accuracies, random_splits
from ugcl.runs.config import graph_name
from ugcl.study.accuracy import combined_difference, mean_and_deviation
from ugcl.study.kept import kept_outcomes
from ugcl.study.plan import Plan

Scored = dict[tuple[int, int], Outcomes]
"""What was classified correctly, by training seed and readout scope."""


def scope_study(plan: Plan, max_n: int) -> dict[str, Any]:
    """Score the readout at n = 0, ..., `most` of the runs of the plan's one variant.

    Resumable: which nodes were classified correctly is kept beside the runs, for every seed and n.
    """
    check_writable(plan.out)
    plan.require_embeddings("--scopes", scopes=True)
    if len(plan.variants) != 1:
        raise UGCLError("the scopes of one kind of settings are scored at a time: name one")
    variant = plan.variants[0]
    config, graph = plan.configure(variant, 0)
    splits = random_splits(graph, plan.splits)
    about = {
        "graph": graph_name(plan.graph),
        "method": plan.method,
        "variant": str(variant),
        "splits": plan.splits,
        "settings": config.settings.values(),
        "fingerprint": config.fingerprint,
        "commit": source_commit(),
        "controls": control_accuracies(graph, splits, plan.tell),
    }
    commands = plan.commands(_commands(plan, about, max_n))
    scored: Scored = {}
    for seed in range(plan.seeds):
        run = None if plan.should_stop() else plan.train(variant, seed)
        for n in range(max_n + 1):
            if run is None or plan.should_stop():
                return _result(about, commands, scored, max_n)
            plan.tell(f"{plan.title(variant, seed)}: scoring n = {n} on {plan.splits} splits")
            scored[seed, n] = kept_outcomes(run, graph, splits, n)
        write_json(plan.out, _result(about, commands, scored, max_n))
    return _result(about, commands, scored, max_n)


def _result(
    about: dict[str, Any], commands: list[str], scored: Scored, max_n: int
) -> dict[str, Any]:
    """Means over the seeds that are complete, and each n against the best."""
    seeds = [seed for seed, n in scored if n == max_n]
    means = {n: [scored[seed, n].accuracy().mean for seed in seeds] for n in range(max_n + 1)}
    if not seeds:
        return {"commands": commands, **about, "seeds": 0, "oracle": None, "scopes": []}
    oracle = max(means, key=lambda n: sum(means[n]))
    return {
        "commands": commands,
        **about,
        "seeds": len(seeds),
        "oracle": oracle,
        "scopes": [
            {
                "n": n,
                "accuracy": mean_and_deviation(means[n]),
                "by_seed": [round(mean, 4) for mean in means[n]],
                "regret": combined_difference(
                    [scored[s, oracle].gain_over(scored[s, n]).to_json() for s in seeds]
                ),
            }
            for n in means
        ],
    }


def _commands(plan: Plan, about: dict[str, Any], max_n: int) -> list[str]:
    """Those that made the result so far, which must be of the same runs and splits, and no more."""
    if not plan.out.is_file():
        return []
    same = ("graph", "method", "variant", "splits", "settings", "fingerprint")
    try:
        read = {"method": "ugcl"} | json.loads(plan.out.read_text("utf-8"))
        fits = all(read[name] == about[name] for name in same)
        if fits and read["seeds"] <= plan.seeds and len(read["scopes"]) in (0, max_n + 1):
            return list(read["commands"])
    except (KeyError, TypeError, ValueError):
        pass
    raise UGCLError(
        f"{plan.out} does not hold n = 0 to {max_n} of '{about['variant']}' on {about['graph']} "
        f"over {about['splits']} splits and at most {plan.seeds} seeds: choose another --out"
    )
