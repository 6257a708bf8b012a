"""Test accuracy over several seeds, beside the controls and the published figure.

The study is resumable: each run is a folder, each score a row of the result file, and what is there
already is not computed again.
"""

from __future__ import annotations

import json
import math
import statistics
from itertools import product
from pathlib import Path
from typing import Any

from ugcl._utils.errors import UGCLError
from ugcl._utils.files import check_writable, write_json
from ugcl._utils.provenance import source_commit
from ugcl.data import split_of
from ugcl.evaluation import evaluate_run, half_width, standard_error
from ugcl.evaluation.scorers import Scoring
from ugcl.methods import method_named
from ugcl.runs import Run
from ugcl.runs.config import graph_name
from ugcl.study.plan import Plan
from ugcl.study.published import published_accuracy


def protocols_of(method: str) -> tuple[Scoring, ...]:
    """How a study scores the runs of a method: by both probes, or by its own predictions."""
    return ("predictions",) if method_named(method).supervised else ("honest", "paper")


def accuracy_study(plan: Plan) -> dict[str, Any]:
    """Train and score the runs of a plan by each protocol, on the one split and on many."""
    check_writable(plan.out)
    graph, method, out = graph_name(plan.graph), plan.method, plan.out
    known = _known(out, graph, method) if out.is_file() else {"rows": [], "commands": []}
    rows, commands = known["rows"], plan.commands(known["commands"])
    for variant, seed in product(plan.variants, range(plan.seeds)):
        if plan.should_stop():
            break
        config, loaded = plan.configure(variant, seed)
        split_of(loaded)  # a graph without labels is refused before it is trained on
        about = {"fingerprint": config.fingerprint, "splits": plan.splits}
        asked = {**config.settings.values(), **about}
        mine = [row for row in rows if (row["variant"], row["seed"]) == (str(variant), seed)]
        if any({**row["settings"], **_about(row)} != asked for row in mine):
            raise UGCLError(
                f"{out} holds results of '{variant}' with other settings, another graph or another "
                "number of splits: choose another --out"
            )
        missing = [p for p in protocols_of(method) if p not in {row["protocol"] for row in mine}]
        run = plan.train(variant, seed) if missing else None
        for protocol in missing:
            if run is None or plan.should_stop():
                break
            title = plan.title(variant, seed)
            plan.tell(f"{title}: scoring by protocol '{protocol}' on {plan.splits} splits")
            row = _row(run, protocol, plan)
            rows.append({"variant": str(variant)} | row)
            write_json(out, _result(graph, method, commands, rows))
    return _result(graph, method, commands, rows)


def _about(row: dict[str, Any]) -> dict[str, Any]:
    return {"fingerprint": row["fingerprint"], "splits": row["splits"]}


def _row(run: Run, protocol: Scoring, plan: Plan) -> dict[str, Any]:
    metrics = run.metrics()
    scored = evaluate_run(
        run, protocol, splits=plan.splits, data_root=plan.data_root, tell=plan.tell
    )
    return {
        "preset": run.config.preset,
        "seed": run.config.seed,
        "protocol": protocol,
        **{
            name: value
            for name, value in scored.to_json().items()
            if name not in ("protocol", "seed")
        },
        "epochs": metrics["epochs"],
        "training_seconds": metrics["training_seconds"],
        "collapse": metrics["collapse"],
        "settings": run.config.settings.values(),
        "threads": run.config.threads,
        "fingerprint": run.config.fingerprint,
        "commit": metrics.get("commit", ""),
        "scored_by": source_commit(),
        "versions": metrics["versions"],
    }


def _result(
    graph: str, method: str, commands: list[str], rows: list[dict[str, Any]]
) -> dict[str, Any]:
    return {
        "commands": commands,
        "graph": graph,
        "method": method,
        "published": published_accuracy(method, graph),
        "summary": summary(rows),
        "rows": rows,
    }


def summary(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Means over the seeds, for each variant and protocol, with the controls.

    `accuracy` and `controls` are on the one split, with the deviation over seeds; `accuracy_mean`
    is over the many splits, also with the deviation over seeds; `differences` are those over the
    many splits with their 95 % intervals, in which seeds, splits and nodes count.
    """
    keys = list(dict.fromkeys((row["variant"], row["protocol"]) for row in rows))
    result = []
    for variant, protocol in keys:
        group = [r for r in rows if (r["variant"], r["protocol"]) == (variant, protocol)]
        controls = list(group[0]["controls"])
        result.append(
            {
                "variant": variant,
                "protocol": protocol,
                "seeds": len(group),
                "splits": group[0]["splits"],
                "hidden": group[0]["settings"].get("hidden"),
                "accuracy": mean_and_deviation([row["accuracy"] for row in group]),
                "controls": {
                    name: mean_and_deviation([row["controls"][name] for row in group])
                    for name in controls
                },
                "accuracy_mean": mean_and_deviation([row["accuracy_mean"] for row in group]),
                "controls_mean": {
                    name: mean_and_deviation([row["controls_mean"][name] for row in group])
                    for name in controls
                },
                "differences": {
                    name: combined_difference([row["differences"][name] for row in group])
                    for name in controls
                },
                "training_seconds": mean_and_deviation([row["training_seconds"] for row in group]),
            }
        )
    return result


def combined_difference(of_seeds: list[dict[str, Any]]) -> dict[str, Any]:
    """The mean over seeds of a paired difference, and its interval.

    All seeds share splits and nodes, so these errors do not shrink with more seeds; the spread of
    the seeds comes on top.
    """
    means = [difference["mean"] for difference in of_seeds]
    mean = statistics.fmean(means)
    errors = [
        (math.sqrt(statistics.fmean(d[name] ** 2 for d in of_seeds)), degrees)
        for name, degrees in (
            ("error_splits", len(of_seeds[0]["by_split"]) - 1),
            ("error_nodes", math.inf),
        )
    ]
    half = half_width([(standard_error(means), len(means) - 1), *errors])
    return {"mean": round(mean, 2), "ci95": [round(mean - half, 2), round(mean + half, 2)]}


def mean_and_deviation(values: list[float]) -> tuple[float, float | None]:
    """Mean and standard deviation (of a sample, so with n - 1), to two decimals."""
    deviation = round(statistics.stdev(values), 2) if len(values) > 1 else None
    return round(statistics.fmean(values), 2), deviation


def _known(out: Path, graph: str, method: str) -> dict[str, Any]:
    """What a result file holds, which must be of this graph and method."""
    needed = {"variant", "seed", "protocol", "settings", "fingerprint", "splits"}
    try:
        read: dict[str, Any] = json.loads(out.read_text("utf-8"))
        of_study = all(needed <= set(row) for row in read["rows"]) and "commands" in read
        about = (read["graph"], read["method"])
    except (KeyError, TypeError, ValueError):
        of_study, about = False, (graph, method)
    if not of_study:
        raise UGCLError(f"{out} is not the result of a study: choose another --out")
    if about != (graph, method):
        raise UGCLError(f"{out} is about {about[1]} on {about[0]}: choose another --out")
    return read
