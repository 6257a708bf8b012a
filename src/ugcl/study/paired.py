"""Settings against settings: the same seeds, the same splits, the same test nodes.

A difference of a few tenths is smaller than the spread of any one score. Subtracting node by node
what both share leaves it visible. Resumable, as `accuracy_study` is: each run is a folder, each
comparison a row of the result file.
"""

from __future__ import annotations

import json
import statistics
from pathlib import Path
from typing import Any

from ugcl._utils.errors import UGCLError
from ugcl._utils.files import check_writable, write_json
from ugcl._utils.provenance import source_commit
from ugcl.evaluation import Outcomes
from ugcl.evaluation.classification import control_accuracies, honest_outcomes, random_splits
from ugcl.evaluation.comparison import embeddings_of
from ugcl.runs import Run
from ugcl.runs.config import RunConfig, graph_name
from ugcl.study.accuracy import combined_difference, mean_and_deviation
from ugcl.study.plan import Plan
from ugcl.study.variant import Variant


def paired_study(plan: Plan, against: Variant) -> dict[str, Any]:
    """Compare the variants of a plan with another one, seed by seed, on the same random splits."""
    check_writable(plan.out)
    plan.require_embeddings("--against")
    result = _known(plan, against)
    result["commands"] = plan.commands(result["commands"])
    rows: list[dict[str, Any]] = result["rows"]
    base, graph = plan.configure(against, 0)
    splits = random_splits(graph, plan.splits)  # refuses a graph without labels
    result["controls"] = control_accuracies(graph, splits, plan.tell)
    for variant in plan.variants:
        _check_rows(plan.out, rows, variant, plan.configure(variant, 0)[0], base)

    def scored(variant: Variant, seed: int) -> tuple[Run, Outcomes] | None:
        """The variant's run and what it gets right; None if somebody asked to stop."""
        if plan.should_stop() or (run := plan.train(variant, seed)) is None:
            return None
        plan.tell(f"{plan.title(variant, seed)}: scoring on {plan.splits} splits")
        return run, honest_outcomes(embeddings_of(run, graph), graph, splits)

    done = {(row["variant"], row["seed"]) for row in rows}
    for seed in range(plan.seeds):
        missing = {str(v): v for v in plan.variants if (str(v), seed) not in done}
        expected = scored(against, seed) if missing else None
        for variant in missing.values():
            found = scored(variant, seed) if expected is not None else None
            if expected is None or found is None:
                break
            rows.append(_row(variant, seed, found, expected))
            result["summary"] = _summary(rows)
            write_json(plan.out, result)
    return result


def _row(
    variant: Variant, seed: int, compared: tuple[Run, Outcomes], base: tuple[Run, Outcomes]
) -> dict[str, Any]:
    (run, found), (other, expected) = compared, base
    return {
        "variant": str(variant),
        "seed": seed,
        "accuracy": round(found.accuracy().mean, 4),
        "against_accuracy": round(expected.accuracy().mean, 4),
        "difference": found.gain_over(expected).to_json(),
        "training_seconds": run.metrics()["training_seconds"],
        "against_seconds": other.metrics()["training_seconds"],
        "settings": run.config.settings.values(),
        "against_settings": other.config.settings.values(),
        "fingerprint": run.config.fingerprint,
        "commit": source_commit(),
    }


def _check_rows(
    out: Path, rows: list[dict[str, Any]], variant: Variant, mine: RunConfig, base: RunConfig
) -> None:
    """Refuse to go on with rows of the variant that were made of another graph or settings."""
    expected = (mine.settings.values(), base.settings.values(), mine.fingerprint)
    for row in rows:
        held = (row["settings"], row["against_settings"], row["fingerprint"])
        if row["variant"] == str(variant) and held != expected:
            raise UGCLError(
                f"{out} holds comparisons of '{variant}' with other settings or of another graph: "
                "choose another --out"
            )


def _summary(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    result = []
    for variant in dict.fromkeys(row["variant"] for row in rows):
        group = [row for row in rows if row["variant"] == variant]
        result.append(
            {
                "variant": variant,
                "seeds": len(group),
                "accuracy": mean_and_deviation([row["accuracy"] for row in group]),
                "against_accuracy": mean_and_deviation([row["against_accuracy"] for row in group]),
                "difference": combined_difference([row["difference"] for row in group]),
                "seconds": round(statistics.fmean(row["training_seconds"] for row in group), 1),
                "against_seconds": round(
                    statistics.fmean(row["against_seconds"] for row in group), 1
                ),
            }
        )
    return result


def _known(plan: Plan, against: Variant) -> dict[str, Any]:
    """What the result file holds, which must be of the same comparison, or an empty result."""
    needed = {"variant", "seed", "difference", "settings", "against_settings", "fingerprint"}
    out, graph, splits = plan.out, graph_name(plan.graph), plan.splits
    about = {"graph": graph, "method": plan.method, "against": str(against), "splits": splits}
    if not out.is_file():
        return {"commands": [], **about, "summary": [], "rows": []}
    try:
        read: dict[str, Any] = {"method": "ugcl"} | json.loads(out.read_text("utf-8"))
        same = {name: read[name] for name in about} == about and "commands" in read
        same &= all(needed <= set(row) for row in read["rows"])
    except (KeyError, TypeError, ValueError):
        same = False
    if not same:
        raise UGCLError(
            f"{out} does not hold comparisons with '{against}' on {graph} over {splits} splits: "
            "choose another --out"
        )
    return read
