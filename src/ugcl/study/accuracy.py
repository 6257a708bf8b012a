"""Test accuracy over several seeds, beside the controls and the published figure.

The study is resumable: each run is a folder, each score a row of the result file, and what is there
already is not computed again.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ugcl.errors import UGCLError
from ugcl.evaluation import CONTROLS, Protocol
from ugcl.files import check_writable, write_json
from ugcl.runs import Reporter, Run, evaluate_run, new_config, open_run, train_run
from ugcl.study.published import published_accuracy

PROTOCOLS: tuple[Protocol, ...] = ("honest", "paper")


def accuracy_study(
    graph: str,
    out: Path,
    runs: Path,
    *,
    method: str = "ugcl",
    presets: Sequence[str] = ("fast", "paper", "authors"),
    seeds: int = 5,
    given: dict[str, dict[str, Any]] | None = None,
    command: str = "",
    data_root: str | None = None,
    device: str = "auto",
    threads: int | None = None,
    reporter: Callable[[str], Reporter | None] = lambda title: None,
    should_stop: Callable[[], bool] = lambda: False,
) -> dict[str, Any]:
    """Train and score `seeds` runs of each preset; write the result to `out` as it grows.

    Args:
        graph: a data set's name or a path.
        out: the JSON file of the result.
        runs: the folder that keeps the run folders.
        method: the method's name.
        presets: which presets.
        seeds: how many training seeds, from 0.
        given: settings that replace a preset's, by preset: for a width that fits the budget.
        command: the command that makes the result, to stand beside it.
        data_root: the folder of raw data sets.
        device: where to compute.
        threads: threads on the CPU.
        reporter: who is told about the training of a run, given its title.
        should_stop: asked after every epoch and every run.
    """
    check_writable(out)
    rows = _known_rows(out, graph, method) if out.is_file() else []
    for preset in presets:
        changed = (given or {}).get(preset, {})
        for seed in range(seeds):
            if should_stop():
                break
            config, loaded = new_config(
                graph,
                method=method,
                preset=preset,
                given=changed,
                seed=seed,
                data_root=data_root,
                device=device,
                threads=threads,
            )
            asked = {**config.settings.values(), "fingerprint": config.fingerprint}
            known = [row for row in rows if (row["preset"], row["seed"]) == (preset, seed)]
            if any({**r["settings"], "fingerprint": r["fingerprint"]} != asked for r in known):
                raise UGCLError(
                    f"{out} holds results of '{preset}' with other settings or another graph: "
                    "choose another --out"
                )
            missing = [p for p in PROTOCOLS if p not in {row["protocol"] for row in known}]
            if not missing:
                continue
            run = open_run(runs / f"{preset}-{seed}", config, loaded, resume=True)
            title = f"{config.graph}, {preset}, seed {seed}"
            train_run(run, loaded, reporter=reporter(title), should_stop=should_stop)
            if not run.finished:
                break
            rows += [_row(run, protocol) for protocol in missing]
            write_json(out, _result(graph, method, command, rows))
    return _result(graph, method, command, rows)


def _row(run: Run, protocol: Protocol) -> dict[str, Any]:
    metrics = run.metrics()
    return {
        "preset": run.config.preset,
        "seed": run.config.seed,
        "protocol": protocol,
        **{
            name: value
            for name, value in evaluate_run(run, protocol).to_json().items()
            if name not in ("protocol", "seed")
        },
        "epochs": metrics["epochs"],
        "training_seconds": metrics["training_seconds"],
        "collapse": metrics["collapse"],
        "settings": run.config.settings.values(),
        "threads": run.config.threads,
        "fingerprint": run.config.fingerprint,
        "commit": metrics.get("commit", ""),
        "versions": metrics["versions"],
    }


def _result(graph: str, method: str, command: str, rows: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "command": command,
        "graph": graph,
        "method": method,
        "published": published_accuracy(method, graph),
        "summary": summary(rows),
        "rows": rows,
    }


def summary(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Mean and deviation over the seeds, for each preset and protocol, with the controls."""
    keys = list(dict.fromkeys((row["preset"], row["protocol"]) for row in rows))
    result = []
    for preset, protocol in keys:
        group = [r for r in rows if (r["preset"], r["protocol"]) == (preset, protocol)]
        controls = {
            name: mean_and_deviation([row["controls"][name] for row in group]) for name in CONTROLS
        }
        gains = {
            name: mean_and_deviation([row["accuracy"] - row["controls"][name] for row in group])
            for name in CONTROLS
        }
        result.append(
            {
                "preset": preset,
                "protocol": protocol,
                "seeds": len(group),
                "hidden": group[0]["settings"].get("hidden"),
                "accuracy": mean_and_deviation([row["accuracy"] for row in group]),
                "controls": controls,
                "gain_over": gains,
                "training_seconds": mean_and_deviation([row["training_seconds"] for row in group]),
            }
        )
    return result


def mean_and_deviation(values: list[float]) -> tuple[float, float | None]:
    """Mean and standard deviation (of a sample, so with n - 1), to two decimals."""
    deviation = round(statistics.stdev(values), 2) if len(values) > 1 else None
    return round(statistics.fmean(values), 2), deviation


def _known_rows(out: Path, graph: str, method: str) -> list[dict[str, Any]]:
    """The rows of a result file, which must be of this graph and method."""
    needed = {"preset", "seed", "protocol", "settings", "fingerprint"}
    try:
        read = json.loads(out.read_text("utf-8"))
        rows: list[dict[str, Any]] = read["rows"]
        of_study = all(needed <= set(row) for row in rows)
        about = (read["graph"], read["method"])
    except (KeyError, TypeError, ValueError):
        of_study, about = False, (graph, method)
    if not of_study:
        raise UGCLError(f"{out} is not the result of a study: choose another --out")
    if about != (graph, method):
        raise UGCLError(f"{out} is about {about[1]} on {about[0]}: choose another --out")
    return rows
