"""Tables and verdicts that `ugcl evaluate` prints."""

from __future__ import annotations

from pathlib import Path

from ugcl.cli.output import figure, interval, print_table
from ugcl.evaluation import (
    CONTROLS,
    ClusterEvaluation,
    Estimate,
    Evaluation,
    LinkEvaluation,
    ManySplits,
)
from ugcl.evaluation.clusters import MEASURES
from ugcl.evaluation.links import LinkScore
from ugcl.runs import RunConfig
from ugcl.study import published_where


def print_links(evaluation: LinkEvaluation, config: RunConfig, against: str | None) -> None:
    """Print the scores of link prediction."""
    _print_title(config)
    counts = evaluation.counts
    print(
        f"{counts['scored']:,} held-out edges and as many non-edges (seed {evaluation.seed}); "
        f"similarity and controls chosen on {counts['chosen_on']:,} others"
    )
    rows: list[tuple[str, LinkScore, Estimate | None]] = [(_own(config), evaluation.score, None)]
    if evaluation.other is not None:
        rows.append((f"{against}", *evaluation.other))
    rows += [
        (CONTROLS[name], score, evaluation.gains[name])
        for name, score in evaluation.controls.items()
    ]
    hits = list(evaluation.score.hits)
    print_table(
        ("%", "AUC", "AP", *(f"Hits@{k}" for k in hits), "similarity", "gain over control, AUC"),
        (
            (
                name,
                f"{score.auc:.1f}",
                f"{score.average_precision:.1f}",
                *(f"{score.hits[k]:.1f}" for k in hits),
                score.chosen["similarity"],
                "" if gain is None else interval(gain, sign="+"),
            )
            for name, score, gain in rows
        ),
    )
    best = max(evaluation.controls, key=lambda name: evaluation.controls[name].auc)
    subject = _subject(config)
    print(f"{subject} is {_words(evaluation.gains[best])} its best control ({CONTROLS[best]})")
    if evaluation.other is not None:
        print(f"{subject} is {_words(evaluation.other[1])} {against}")


def print_clusters(evaluation: ClusterEvaluation, config: RunConfig, against: str | None) -> None:
    """Print the scores of clustering."""
    _print_title(config)
    print(
        f"k-means into {evaluation.clusters} clusters, the tightest of {evaluation.starts} starts "
        f"(seed {evaluation.seed}) ± deviation over the starts"
    )
    rows = [(_own(config), evaluation.score)]
    if evaluation.other is not None:
        rows.append((f"{against}", evaluation.other))
    rows += [(CONTROLS[name], score) for name, score in evaluation.controls.items()]
    print_table(
        ("%", "NMI", "ARI", "accuracy, matched"),
        (
            (name, *(figure((score.values[m], score.deviations[m])) for m in MEASURES))
            for name, score in rows
        ),
    )
    best = max(evaluation.controls, key=lambda name: evaluation.controls[name].values["nmi"])
    gain = evaluation.score.values["nmi"] - evaluation.controls[best].values["nmi"]
    print(f"{_subject(config)} is {_side(gain)} its best control ({CONTROLS[best]}) by NMI")
    if config.supervised:
        print(f"{config.method} has learned from these labels")


def print_classes(
    evaluation: Evaluation,
    config: RunConfig,
    against: str | None,
    published: tuple[float, float | None] | None,
) -> None:
    """Print the accuracies on one split and, where there are some, on many."""
    _print_title(config)
    sizes = ", ".join(f"{count:,} {part}" for part, count in evaluation.sizes.items())
    print(f"protocol '{evaluation.protocol}', split '{evaluation.split}' ({sizes} nodes)")
    _print_one(evaluation, config, against, published)
    if evaluation.many is None:
        print(_verdict(evaluation, config, against))
    else:
        print()
        _print_many(evaluation.many, config, against)


def _print_title(config: RunConfig) -> None:
    held = f", {config.hold_out_edges:g} of the edges held out" if config.hold_out_edges else ""
    print(
        f"{config.method} on {Path(config.graph).stem}, preset '{config.preset}', "
        f"seed {config.seed}{held}"
    )


def _subject(config: RunConfig) -> str:
    """Return the subject of a verdict: a trained run, or a control."""
    return "trained" if config.load_method().trained else config.method


def _own(config: RunConfig) -> str:
    """Return the name of the run's row."""
    return f"{config.method}, trained" if _subject(config) == "trained" else f"{config.method}, run"


def _print_one(
    evaluation: Evaluation,
    config: RunConfig,
    against: str | None,
    published: tuple[float, float | None] | None,
) -> None:
    rows = [(_own(config), evaluation.score)]
    if evaluation.other is not None:
        rows.append((f"{against}", evaluation.other))
    rows += [(CONTROLS[name], score) for name, score in evaluation.controls.items()]
    shown = [
        (
            name,
            f"{score.accuracy:.1f}",
            "-" if score.validation is None else f"{score.validation:.1f}",
        )
        for name, score in rows
    ]
    if published is not None:
        where = f"{config.method} {published_where(config.method)}"
        shown.insert(1, (where, figure(published), "-"))
    print_table(("accuracy, %", "test", "validation"), shown)


def _verdict(evaluation: Evaluation, config: RunConfig, against: str | None) -> str:
    """Say whether training helped; one split cannot resolve small differences."""
    name, best = max(evaluation.controls.items(), key=lambda item: item[1].accuracy)
    mine = evaluation.score.accuracy
    side = _side(mine - best.accuracy)
    words = f"{_subject(config)} is {side} its best control ({CONTROLS[name]}) here"
    if evaluation.other is None:
        return words
    other = _side(mine - evaluation.other.accuracy)
    return f"{words}\n{_subject(config)} is {other} {against} here"


def _side(gain: float, remark: str = "") -> str:
    if abs(gain) < 0.05:
        return "level with"
    return f"{abs(gain):.1f} points{remark} {'above' if gain > 0 else 'below'}"


def _print_many(many: ManySplits, config: RunConfig, against: str | None) -> None:
    print(f"{many.count} random splits, {many.kind}, with 95 % confidence intervals")
    rows = [(_own(config), interval(many.accuracy), "")]
    if many.other is not None:
        accuracy, gain = many.other
        rows.append((f"{against}", interval(accuracy), interval(gain, sign="+")))
    rows += [
        (CONTROLS[name], interval(estimate), interval(many.gains[name], sign="+"))
        for name, estimate in many.controls.items()
    ]
    subject = _subject(config)
    print_table(("accuracy, %", "mean", "gain over control"), rows)
    best = max(many.controls, key=lambda name: many.controls[name].mean)
    print(f"{subject} is {_words(many.gains[best])} its best control ({CONTROLS[best]})")
    if many.other is not None:
        print(f"{subject} is {_words(many.other[1])} {against}")


def _words(gain: Estimate) -> str:
    return _side(gain.mean, ", beyond noise," if gain.clear else ", within noise,")
