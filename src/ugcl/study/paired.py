"""Settings against settings: the same seeds, the same splits, the same test nodes.

A difference of a few tenths is smaller than the spread of any one score. Subtracting node by node
what both share leaves it visible. Resumable, as `accuracy_study` is: each run is a folder, each
comparison a row of the result file.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ugcl.errors import UGCLError
from ugcl.evaluation import Outcomes
from ugcl.files import check_writable, write_json
from ugcl.graph import Graph
from ugcl.provenance import source_commit
from ugcl.runs import Reporter, Run, new_config, open_run, train_run
from ugcl.runs.config import RunConfig, graph_name
from ugcl.runs.evaluate import honest_outcomes, random_splits
from ugcl.study.accuracy import combined_difference, mean_and_deviation
from ugcl.study.variant import Variant


def paired_study(
    graph: str,
    out: Path,
    runs: Path,
    *,
    against: Variant,
    variants: Sequence[Variant],
    seeds: int = 5,
    splits: int = 20,
    command: str = "",
    data_root: str | None = None,
    device: str = "auto",
    threads: int | None = None,
    reporter: Callable[[str], Reporter | None] = lambda title: None,
    tell: Callable[[str], None] = lambda text: None,
    should_stop: Callable[[], bool] = lambda: False,
) -> dict[str, Any]:
    """Compare variants with one of them by the honest probe on random splits.

    Args:
        graph: a data set's name or a path.
        out: the JSON file of the result, written as it grows.
        runs: the folder that keeps the run folders.
        against: the variant that the others are compared with.
        variants: the others.
        seeds: how many training seeds, from 0; runs of the same seed are compared.
        splits: how many random splits.
        command: the command that makes the result, to stand beside it.
        data_root: the folder of raw data sets.
        device: where to compute.
        threads: threads on the CPU.
        reporter: who is told about the training of a run, given its title.
        tell: is told what else takes time.
        should_stop: asked after every epoch and every comparison.
    """
    check_writable(out)
    graph = graph_name(graph)
    result = _known(out, graph, against, splits)
    rows: list[dict[str, Any]] = result["rows"]
    if command and command not in result["commands"]:
        result["commands"].append(command)

    def configured(variant: Variant, seed: int) -> tuple[RunConfig, Graph]:
        return new_config(
            graph,
            preset=variant.preset,
            given=variant.changes,
            seed=seed,
            data_root=data_root,
            device=device,
            threads=threads,
        )

    def outcomes(variant: Variant, seed: int) -> tuple[Run, Outcomes] | None:
        """The variant's run and what it gets right; None if somebody asked to stop."""
        config, loaded = configured(variant, seed)
        run = open_run(runs / f"{variant}-{seed}".replace(":", "+"), config, loaded, resume=True)
        title = f"{config.graph}, {variant}, seed {seed}"
        train_run(run, loaded, reporter=reporter(title), should_stop=should_stop)
        if not run.finished or should_stop():
            return None
        tell(f"{title}: scoring on {splits} splits")
        return run, honest_outcomes(run, loaded, drawn)

    config, loaded = configured(against, 0)
    drawn = random_splits(loaded, splits)  # a graph without labels is refused before any training
    for variant in variants:
        _check_rows(out, rows, variant, configured(variant, 0)[0], config)
    done = {(row["variant"], row["seed"]) for row in rows}
    for seed in range(seeds):
        missing = {str(v): v for v in variants if (str(v), seed) not in done}
        base = outcomes(against, seed) if missing and not should_stop() else None
        for variant in missing.values():
            compared = outcomes(variant, seed) if base is not None else None
            if base is None or compared is None:
                break
            rows.append(_row(variant, seed, compared, base))
            result["summary"] = _summary(rows)
            write_json(out, result)
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


def _known(out: Path, graph: str, against: Variant, splits: int) -> dict[str, Any]:
    """What the result file holds, which must be of the same comparison, or an empty result."""
    needed = {"variant", "seed", "difference", "settings", "against_settings", "fingerprint"}
    about = {"graph": graph, "against": str(against), "splits": splits}
    if not out.is_file():
        return {"commands": [], **about, "summary": [], "rows": []}
    try:
        read: dict[str, Any] = json.loads(out.read_text("utf-8"))
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
