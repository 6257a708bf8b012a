"""Test accuracy over several seeds, with the controls and the published accuracy.

The study can be resumed: each run is a folder and each score a row of the result file; neither is
computed again.
"""

from __future__ import annotations

import logging
from itertools import product
from typing import Any

from ugcl._utils.files import check_writable, write_json
from ugcl._utils.provenance import source_commit
from ugcl._utils.results import check_fields, read_result
from ugcl.data import split_of
from ugcl.evaluation import evaluate_run
from ugcl.runs import Run
from ugcl.study.plan import Plan
from ugcl.study.published import published_accuracy
from ugcl.study.summary import combined_difference, mean_and_deviation
from ugcl.typing import Scoring

logger = logging.getLogger(__name__)

ROW_FIELDS = ("variant", "seed", "protocol", "settings", "fingerprint", "splits")


def accuracy_study(plan: Plan) -> dict[str, Any]:
    """Train the runs of a plan and score each by each protocol, on one split and on many."""
    check_writable(plan.out)
    header, protocols = plan.header, plan.protocols
    stored = read_result(plan.out, header, fields=("commands", "rows"), row_fields=ROW_FIELDS)
    rows: list[dict[str, Any]] = stored["rows"] if stored else []
    result = {
        "commands": plan.commands(stored),
        **header,
        "published": published_accuracy(header["method"], header["graph"]),
        "summary": _summary(rows),
        "rows": rows,
    }
    for variant, seed in product(plan.variants, range(plan.seeds)):
        if plan.should_stop():
            break
        prepared = plan.prepare(variant, seed)
        split_of(prepared.graph)  # refuses a graph without labels before training
        config = prepared.config
        expected = {
            "settings": config.settings.values(),
            "fingerprint": config.fingerprint,
            "splits": plan.splits,
        }
        scored = [row for row in rows if (row["variant"], row["seed"]) == (str(variant), seed)]
        for row in scored:
            check_fields(plan.out, row, expected)
        done = {row["protocol"] for row in scored}
        missing = [protocol for protocol in protocols if protocol not in done]
        run = plan.train(variant, seed, prepared) if missing else None
        for protocol in missing:
            if run is None or plan.should_stop():
                break
            title = plan.title(variant, seed)
            logger.info("%s: scoring by protocol '%s' on %s splits", title, protocol, plan.splits)
            rows.append({"variant": str(variant), **_row(run, protocol, plan)})
            result["summary"] = _summary(rows)
            write_json(plan.out, result)
    return result


def _row(run: Run, protocol: Scoring, plan: Plan) -> dict[str, Any]:
    metrics, config = run.metrics(), run.config
    scores = evaluate_run(run, protocol, splits=plan.splits, data_root=plan.data_root)
    return {
        "preset": config.preset,
        **scores.to_json(),
        "epochs": metrics["epochs"],
        "training_seconds": metrics["training_seconds"],
        "collapse": metrics["collapse"],
        "settings": config.settings.values(),
        "threads": config.threads,
        "fingerprint": config.fingerprint,
        "commit": metrics.get("commit", ""),
        "scored_by": source_commit(),
        "versions": metrics["versions"],
    }


def _summary(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return means over the seeds, for each variant and protocol, with the controls.

    `accuracy` and `controls` are on the one split, with the deviation over seeds; `accuracy_mean`
    and `controls_mean` are over the many splits, also with the deviation over seeds; `differences`
    are over the many splits, with 95 % intervals that count seeds, splits and nodes.
    """
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault((row["variant"], row["protocol"]), []).append(row)
    return [
        {
            "variant": variant,
            "protocol": protocol,
            "seeds": len(group),
            "splits": group[0]["splits"],
            "hidden": group[0]["settings"].get("hidden"),
            "accuracy": _over_seeds(group, "accuracy"),
            "controls": _by_control(group, "controls"),
            "accuracy_mean": _over_seeds(group, "accuracy_mean"),
            "controls_mean": _by_control(group, "controls_mean"),
            "differences": {
                control: combined_difference([row["differences"][control] for row in group])
                for control in group[0]["differences"]
            },
            "training_seconds": _over_seeds(group, "training_seconds"),
        }
        for (variant, protocol), group in groups.items()
    ]


def _over_seeds(group: list[dict[str, Any]], field: str) -> tuple[float, float | None]:
    return mean_and_deviation([row[field] for row in group])


def _by_control(group: list[dict[str, Any]], field: str) -> dict[str, tuple[float, float | None]]:
    return {
        control: mean_and_deviation([row[field][control] for row in group])
        for control in group[0][field]
    }
