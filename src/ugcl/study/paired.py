"""Paired comparison of variants: the same seeds, the same splits, the same test nodes.

A difference of a few tenths is smaller than the spread of a single score; node by node, what both
variants share cancels. The study can be resumed: each run is a folder and each comparison a row of
the result file.
"""

from __future__ import annotations

import logging
import statistics
from typing import Any

from ugcl._utils.files import check_writable, write_json
from ugcl._utils.provenance import source_commit
from ugcl._utils.results import check_fields, read_result
from ugcl.evaluation import Outcomes
from ugcl.evaluation.classification import control_accuracies, honest_outcomes, random_splits
from ugcl.evaluation.comparison import embeddings_of
from ugcl.runs import Run
from ugcl.study.plan import Plan
from ugcl.study.summary import combined_difference, mean_and_deviation
from ugcl.study.variant import Variant

logger = logging.getLogger(__name__)

ROW_FIELDS = ("variant", "seed", "difference", "settings", "against_settings", "fingerprint")


def paired_study(plan: Plan, against: Variant) -> dict[str, Any]:
    """Compare the variants of a plan with another one, seed by seed, on the same random splits."""
    check_writable(plan.out)
    plan.require_embeddings()
    header = {
        **plan.header,
        "against": str(against),
        "splits": plan.splits,
    }
    stored = read_result(plan.out, header, fields=("commands", "rows"), row_fields=ROW_FIELDS)
    rows: list[dict[str, Any]] = stored["rows"] if stored else []
    base = plan.prepare(against, 0)
    graph = base.graph
    splits = random_splits(graph, plan.splits)  # refuses a graph without labels
    for variant in plan.variants:
        config = plan.prepare(variant, 0).config
        expected = {
            "settings": config.settings.values(),
            "against_settings": base.config.settings.values(),
            "fingerprint": config.fingerprint,
        }
        for row in rows:
            if row["variant"] == str(variant):
                check_fields(plan.out, row, expected)
    result = {
        "commands": plan.commands(stored),
        **header,
        "controls": control_accuracies(graph, splits),
        "summary": _summary(rows),
        "rows": rows,
    }

    def score(variant: Variant, seed: int) -> tuple[Run, Outcomes] | None:
        """Train and score a variant; None if the study was stopped."""
        run = plan.train(variant, seed)
        if run is None:
            return None
        logger.info("%s: scoring on %s splits", plan.title(variant, seed), plan.splits)
        return run, honest_outcomes(embeddings_of(run, graph), graph, splits)

    done = {(row["variant"], row["seed"]) for row in rows}
    for seed in range(plan.seeds):
        missing = {str(v): v for v in plan.variants if (str(v), seed) not in done}
        base_score = score(against, seed) if missing else None
        for variant in missing.values():
            variant_score = score(variant, seed) if base_score is not None else None
            if base_score is None or variant_score is None:
                return result
            rows.append(_row(variant, variant_score, base_score))
            result["summary"] = _summary(rows)
            write_json(plan.out, result)
    return result


def _row(
    variant: Variant, variant_score: tuple[Run, Outcomes], base_score: tuple[Run, Outcomes]
) -> dict[str, Any]:
    (run, outcomes), (base, base_outcomes) = variant_score, base_score
    return {
        "variant": str(variant),
        "seed": run.config.seed,
        "accuracy": round(outcomes.accuracy().mean, 4),
        "against_accuracy": round(base_outcomes.accuracy().mean, 4),
        "difference": outcomes.gain_over(base_outcomes).to_json(),
        "training_seconds": run.metrics()["training_seconds"],
        "against_seconds": base.metrics()["training_seconds"],
        "settings": run.config.settings.values(),
        "against_settings": base.config.settings.values(),
        "fingerprint": run.config.fingerprint,
        "commit": source_commit(),
    }


def _summary(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    groups: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault(row["variant"], []).append(row)
    return [
        {
            "variant": variant,
            "seeds": len(group),
            "accuracy": mean_and_deviation([row["accuracy"] for row in group]),
            "against_accuracy": mean_and_deviation([row["against_accuracy"] for row in group]),
            "difference": combined_difference([row["difference"] for row in group]),
            "seconds": _mean_seconds(group, "training_seconds"),
            "against_seconds": _mean_seconds(group, "against_seconds"),
        }
        for variant, group in groups.items()
    ]


def _mean_seconds(group: list[dict[str, Any]], field: str) -> float:
    return round(statistics.fmean(row[field] for row in group), 1)
