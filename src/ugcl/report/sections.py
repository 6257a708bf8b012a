"""The sections of the page, as values for its template."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from ugcl.evaluation import CONTROLS, Estimate, ManySplits
from ugcl.report.contents import ReportData, ReportRun
from ugcl.report.svg import Interval, Line, interval_chart, line_chart
from ugcl.report.text import accuracy, interval, sentence, typographic
from ugcl.runs import RunConfig
from ugcl.selection import DEFAULT_CRITERION

MAX_UNIFORMITY, MAX_ALIGNMENT = 4.0, 2.0
"""Ends of the bars of uniformity and alignment: rows that are spread evenly, unrelated rows."""


def headlines(report: ReportData) -> list[dict[str, str]]:
    """Return for each run the gain over the best control as a large number with its interval."""
    found = []
    for entry, score in zip(report.runs, report.scores, strict=False):
        assert score.many is not None
        best, gain = best_control(score.many)
        found.append(
            {
                "name": entry.name,
                "value": typographic(f"{gain.mean:+.1f}"),
                "interval": typographic(f"{gain.low:+.1f} to {gain.high:+.1f}"),
                "accuracy": f"{score.many.accuracy.mean:.1f} %",
                "control": f"{score.many.controls[best].mean:.1f} %",
                "style": _style(gain),
            }
        )
    return found


def best_control(many: ManySplits) -> tuple[str, Estimate]:
    """Return the name of the control with the highest accuracy, and the gain over it."""
    best = max(many.controls, key=lambda control: many.controls[control].mean)
    return best, many.gains[best]


def _style(gain: Estimate) -> str:
    if not gain.clear:
        return "open"
    return "good" if gain.mean > 0 else "bad"


def accuracies(report: ReportData) -> str:
    """Chart the accuracies of the runs and of all controls."""
    if not report.scores:
        return ""
    rows, controls = [], []
    several = len(report.runs) > 1
    for number, (entry, score) in enumerate(zip(report.runs, report.scores, strict=True)):
        assert score.many is not None
        many = score.many
        note, style = "", ""
        if many.other is not None:
            gain = many.other[1]
            note = f"{interval(gain, '+')} over {report.runs[0].name}"
            style = _style(gain)
        name = entry.name if several else f"{entry.run.config.method}, trained"
        rows.append(_row(name, many.accuracy, f"own series-{number % 8}", note, style))
        for control, estimate in many.controls.items():
            own = several and control == "untrained"
            if number and not own:
                continue
            gain = many.gains[control]
            note = "" if several else interval(gain, "+")
            name = CONTROLS[control] + (f" of {entry.name}" if own else "")
            controls.append(
                _row(typographic(name), estimate, "control", note, _style(gain) if note else "")
            )
    controls.sort(key=lambda row: -row.mean)
    best = controls[0].mean if controls else None
    return interval_chart(
        "Accuracy of the embeddings and of every control",
        "accuracy, %",
        rows + controls,
        best,
        "" if several else "gain over control",
    )


def _row(name: str, estimate: Estimate, style: str, note: str, note_style: str) -> Interval:
    low, high = max(estimate.low, 0.0), min(estimate.high, 100.0)
    return Interval(name, estimate.mean, low, high, style, note, note_style)


def scores(report: ReportData) -> list[dict[str, Any]]:
    """Return a table of accuracies for each run: its own, and those of its controls."""
    tables = []
    for entry, score in zip(report.runs, report.scores, strict=False):
        assert score.many is not None
        many = score.many
        own = [f"{entry.run.config.method}, this run", accuracy(many.accuracy), ""]
        rows = [[*own, f"{score.score.accuracy:.1f}", _chosen(score.score.chosen)]]
        for name, estimate in many.controls.items():
            control = score.controls[name]
            gain = interval(many.gains[name], "+")
            row = [typographic(CONTROLS[name]), accuracy(estimate), gain]
            rows.append([*row, f"{control.accuracy:.1f}", _chosen(control.chosen)])
        head = [
            "",
            f"accuracy, %, {many.count} splits",
            "gain over control, points",
            f"split '{score.split}', %",
            "chosen on validation nodes",
        ]
        tables.append({"name": entry.name, "head": head, "rows": rows})
    return tables


def _chosen(values: Any) -> str:
    return ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in dict(values).items())


def paired(report: ReportData) -> list[str]:
    """Compare the other runs with the first."""
    sentences = []
    for entry, score in zip(report.runs, report.scores, strict=False):
        if score.many is not None and score.many.other is not None:
            gain, first = score.many.other[1], report.runs[0].name
            difference = f"gain of {interval(gain, '+')} points over {first}"
            significant = "significant" if gain.clear else "not significant"
            sentences.append(f"{entry.name}: {difference}, {significant}.")
    return sentences


def loss(report: ReportData) -> str:
    """Chart the losses of all runs, on training and validation nodes."""
    lines = []
    for number, entry in enumerate(report.runs):
        for losses, of in ((entry.loss, "training"), (entry.validation, "validation")):
            if losses:
                name = f"{entry.name}, {of}" if entry.validation else entry.name
                lines.append(Line(name, range(1, len(losses) + 1), losses, number))
    return line_chart("Loss of each epoch", "epoch", "loss", lines) if lines else ""


def scope(report: ReportData) -> dict[str, Any]:
    """Return the charts of homophily and of the criterion, with what must be known to read them."""
    config, survey = report.runs[0].run.config, report.scope
    shown: dict[str, Any] = {
        "setting": sentence(typographic(describe_scope(config))),
        "missing": sentence(report.missing),
    }
    if survey is None:
        return shown
    n = config.settings.values().get("readout_scope")
    mark = n if isinstance(n, int) else None
    marked = f"n = {mark}, this run's readout"
    across = "n, steps"
    if survey.measured is not None:
        measured = _finite(survey.measured.mean())
        steps = range(1, len(measured) + 1)
        lines = [Line("measured", steps, measured)]
        if survey.lower_bound is not None:
            lines.append(Line("Lemma 1", steps, survey.lower_bound))
        labels = survey.graph.labels
        assert labels is not None
        sizes = np.bincount(labels[labels >= 0])
        chance = float(((sizes / sizes.sum()) ** 2).sum())
        lines.append(Line("classes at random", steps, [chance] * len(measured)))
        title = "Homophily within n steps"
        shown["homophily"] = line_chart(
            title, across, "fraction of the same class", lines, mark, marked
        )
        shown["chance"] = f"{chance:.2f}"
        if mark is not None and 1 <= mark <= len(measured) and measured[mark - 1] is not None:
            shown["at_mark"] = f"{measured[mark - 1]:.2f} at n = {mark}"
    choice = survey.choice(DEFAULT_CRITERION)
    shown["why"] = sentence(typographic(choice.why[:1].upper() + choice.why[1:]))
    if choice.scores is not None:
        values = _finite(choice.scores)
        lines = [Line(DEFAULT_CRITERION, range(len(values)), values)]
        title = "How well the readout at each n predicts masked features"
        shown["estimate"] = line_chart(title, across, "score", lines, mark, marked)
    return shown


def describe_scope(config: RunConfig) -> str:
    """Say in words which scope a run has, and who chose it."""
    values = config.settings.values()
    if "scope" not in values:
        return "this method has no scope"
    if (readout := values.get("readout_scope")) is None:
        text = f"n = {values['scope']}"
    else:
        text = f"n = {values['scope']} in training, {readout} at the readout"
    chosen = config.scope_choice
    return f"{text}, by {chosen['rule']}: {chosen['why']}" if chosen else f"{text}, as set"


def collapse(report: ReportData) -> list[dict[str, Any]]:
    """Return for each run the measures of collapse, as text and as parts of the largest value."""
    found = []
    for entry in report.runs:
        values = entry.metrics["collapse"]
        rank, alignment, uniformity = (
            values[name] for name in ("effective_rank", "alignment", "uniformity")
        )
        measures = [
            ("effective rank", f"{rank:.1f} of {entry.width:,}", rank / entry.width),
            (
                "alignment",
                "unknown" if alignment is None else f"{alignment:.2f}",
                (alignment or 0.0) / MAX_ALIGNMENT,
            ),
            ("uniformity", typographic(f"{uniformity:.2f}"), -uniformity / MAX_UNIFORMITY),
        ]
        found.append(
            {
                "name": entry.name,
                "collapsed": values["collapsed"],
                "measures": [
                    (name, text, f"{100 * min(max(part, 0.0), 1.0):.1f}")
                    for name, text, part in measures
                ],
            }
        )
    return found


def summary(entry: ReportRun, report: ReportData) -> dict[str, Any]:
    """Return the facts about a run and how to load it."""
    config, metrics = entry.run.config, entry.metrics
    memory, commit = metrics.get("peak_memory_bytes"), metrics.get("commit")
    versions = [f"{name} {value}" for name, value in metrics["versions"].items()]
    settings = config.settings.values().items()
    sizes = ", ".join(f"{metrics[name]:,} {name}" for name in ("nodes", "edges", "features"))
    return {
        "path": str(entry.run.path),
        "path_literal": repr(str(entry.run.path)),
        "id_literal": repr(report.nodes.ids[0]),
        "settings": ", ".join(f"{name} {value}" for name, value in settings),
        "rows": [
            ("graph", Path(config.graph).name),
            ("size", sizes),
            ("method", f"{config.method}, preset '{config.preset}', seed {config.seed}"),
            ("scope", describe_scope(config)),
            ("training", f"{metrics['epochs']:,} epochs, {metrics['training_seconds']:,.1f} s"),
            ("device", f"{config.device}, {config.threads} threads"),
            ("peak memory", "unknown" if memory is None else f"{memory / 1e9:.2f} GB"),
            ("embeddings", f"{report.nodes.total:,} rows, {entry.width:,} columns"),
            ("versions", ", ".join([*versions, *([f"commit {commit[:12]}"] if commit else [])])),
        ],
    }


def differences(report: ReportData) -> list[list[str]]:
    """Return the rows of the settings that differ between runs."""
    tables = [
        {"method": config.method, "seed": config.seed, **config.settings.values()}
        for config in (entry.run.config for entry in report.runs)
    ]
    names = dict.fromkeys(name for table in tables for name in table)
    rows = [[name, *(str(table.get(name, "-")) for table in tables)] for name in names]
    return [row for row in rows if len(set(row[1:])) > 1]


def shown(report: ReportData) -> str:
    """Say which nodes are on the map."""
    nodes = report.nodes
    if len(nodes.shown) < nodes.total:
        return f"{len(nodes.shown):,} of {nodes.total:,} nodes, sampled at random"
    return f"{nodes.total:,} nodes"


def facts(report: ReportData) -> str:
    """Return what was trained on what, in one line."""
    first = report.runs[0]
    config, metrics = first.run.config, first.metrics
    parts = [
        Path(config.graph).name,
        *(f"{metrics[name]:,} {name}" for name in ("nodes", "edges")),
    ]
    if len(report.runs) == 1:
        parts.append(f"{config.method}, {metrics['epochs']:,} epochs")
        parts.append(f"trained in {metrics['training_seconds']:,.1f} s")
    return " · ".join(parts)


def _finite(values: Iterable[float]) -> list[float | None]:
    return [float(value) if np.isfinite(value) else None for value in values]
