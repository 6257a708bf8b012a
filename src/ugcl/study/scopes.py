"""Accuracy at every readout scope n, from one training for each seed.

The regret of an n is the accuracy at the best n, the oracle's, less that at n. The oracle uses test
labels, so it cannot choose n; choices are compared with it. It is the best on the same outcomes
that regret is measured on, so regrets are biased upwards.
"""

from __future__ import annotations

from typing import Any

from ugcl._utils.files import write_json
from ugcl.evaluation import Outcomes
from ugcl.study.outcomes import ReadoutStudy
from ugcl.study.plan import Plan
from ugcl.study.summary import combined_difference, mean_and_deviation


def scope_study(plan: Plan, max_n: int) -> dict[str, Any]:
    """Score the readout at n = 0, ..., `max_n` of the runs of the plan's one variant.

    The study can be resumed: the outcomes of every seed and n are stored in the run folders.
    """
    study = ReadoutStudy.open(plan, max_n=max_n)
    by_seed: list[list[Outcomes]] = []
    for seed in range(plan.seeds):
        run = plan.train(study.variant, seed)
        outcomes: list[Outcomes] = []
        for n in range(max_n + 1):
            if run is None or plan.should_stop():
                return _result(study, by_seed)
            outcomes.append(study.outcomes(run, n))
        by_seed.append(outcomes)
        write_json(plan.out, _result(study, by_seed))
    return _result(study, by_seed)


def _result(study: ReadoutStudy, by_seed: list[list[Outcomes]]) -> dict[str, Any]:
    """Return the means over seeds and the regret of each n."""
    result = {**study.header, "seeds": len(by_seed), "oracle": None, "scopes": []}
    if not by_seed:
        return result
    by_n = list(zip(*by_seed, strict=True))
    means = [[outcomes.accuracy().mean for outcomes in seeds] for seeds in by_n]
    oracle = max(range(len(means)), key=lambda n: sum(means[n]))
    scopes = [
        {
            "n": n,
            "accuracy": mean_and_deviation(means[n]),
            "by_seed": [round(mean, 4) for mean in means[n]],
            "regret": combined_difference(
                [outcomes[oracle].gain_over(outcomes[n]).to_json() for outcomes in by_seed]
            ),
        }
        for n in range(len(means))
    ]
    return result | {"oracle": oracle, "scopes": scopes}
