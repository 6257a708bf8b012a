"""The page: one HTML file with markup, style, script and data, which needs no network."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from jinja2 import Environment

from ugcl._utils.files import write_text
from ugcl.evaluation import CONTROLS, Estimate, Evaluation
from ugcl.report.contents import ReportData, ReportRun
from ugcl.report.svg import Line, line_chart
from ugcl.runs import RunConfig
from ugcl.selection import DEFAULT_CRITERION


def write_page(report: ReportData, path: Path) -> None:
    """Write the page."""
    write_text(path, page(report))


def render_asset(name: str, path: Path, **values: Any) -> None:
    """Write a page from a template of this package, with its style; all data are escaped."""
    template = Environment(autoescape=True, trim_blocks=True).from_string(_asset(name))
    write_text(path, template.render(css=_asset("page.css"), **values))


def page(report: ReportData) -> str:
    """Return the HTML; the template escapes all data."""
    template = Environment(autoescape=True, trim_blocks=True).from_string(_asset("page.html"))
    names = [entry.name for entry in report.runs]
    return template.render(
        title=" and ".join(names),
        names=names,
        verdict=verdict(report),
        runs=[_summary(entry, report) for entry in report.runs],
        differences=_differences(report),
        shown=_shown(report),
        scores=_scores(report),
        paired=_paired(report),
        unscored=_sentence(report.unscored),
        loss=_loss(report),
        scope=_scope(report),
        collapse=[_collapse(entry) for entry in report.runs],
        css=_asset("page.css"),
        script=_asset("page.js"),
        data=_json(_data(report)),
    )


def verdict(report: ReportData) -> str:
    """Say in one sentence for each run whether training helped."""
    if not report.scores:
        return f"Whether training helped is unknown: {_sentence(report.unscored)}"
    sentences = [
        _verdict(entry, score) for entry, score in zip(report.runs, report.scores, strict=True)
    ]
    if len(sentences) > 1:
        names = (entry.name for entry in report.runs)
        sentences = [f"{name}: {text}" for name, text in zip(names, sentences, strict=True)]
    return " ".join(sentences)


def _verdict(entry: ReportRun, score: Evaluation) -> str:
    assert score.many is not None
    many = score.many
    best = max(many.controls, key=lambda control: many.controls[control].mean)
    gain, control = many.gains[best], f"{CONTROLS[best]}, the best control without training"
    if not entry.metrics["epochs"]:
        return f"Nothing was trained: {gain.mean:+.1f} points over {control}."
    interval = f"95 % interval {gain.low:+.1f} to {gain.high:+.1f}"
    if gain.clear:
        helped, side = ("helped", "above") if gain.mean > 0 else ("did not help", "below")
        return f"Training {helped}: {abs(gain.mean):.1f} points {side} {control} ({interval})."
    return (
        "Training made no significant difference: "
        f"{gain.mean:+.1f} points over {control} ({interval})."
    )


def _summary(entry: ReportRun, report: ReportData) -> dict[str, Any]:
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
            ("scope", _describe_scope(config)),
            ("training", f"{metrics['epochs']:,} epochs, {metrics['training_seconds']:,.1f} s"),
            ("device", f"{config.device}, {config.threads} threads"),
            ("peak memory", "unknown" if memory is None else f"{memory / 1e9:.2f} GB"),
            ("embeddings", f"{report.nodes.total:,} rows, {entry.width:,} columns"),
            ("versions", ", ".join([*versions, *([f"commit {commit[:12]}"] if commit else [])])),
        ],
    }


def _differences(report: ReportData) -> list[list[str]]:
    """Return the rows of the settings that differ between runs."""
    tables = [
        {"method": config.method, "seed": config.seed, **config.settings.values()}
        for config in (entry.run.config for entry in report.runs)
    ]
    names = dict.fromkeys(name for table in tables for name in table)
    rows = [[name, *(str(table.get(name, "-")) for table in tables)] for name in names]
    return [row for row in rows if len(set(row[1:])) > 1]


def _shown(report: ReportData) -> str:
    nodes = report.nodes
    if len(nodes.shown) < nodes.total:
        return f"{len(nodes.shown):,} of {nodes.total:,} nodes, sampled at random"
    return f"{nodes.total:,} nodes"


def _scores(report: ReportData) -> list[dict[str, Any]]:
    tables = []
    for entry, score in zip(report.runs, report.scores, strict=False):
        assert score.many is not None
        many = score.many
        trained = [f"{entry.run.config.method}, this run", _accuracy(many.accuracy), ""]
        rows = [[*trained, f"{score.score.accuracy:.1f}"]]
        for name, estimate in many.controls.items():
            gain, one = _interval(many.gains[name], "+"), f"{score.controls[name].accuracy:.1f}"
            rows.append([CONTROLS[name], _accuracy(estimate), gain, one])
        head = [
            "",
            f"accuracy, %, {many.count} splits",
            "gain over control",
            f"split '{score.split}'",
        ]
        tables.append({"name": entry.name, "head": head, "rows": rows})
    return tables


def _paired(report: ReportData) -> list[str]:
    """Compare the other runs with the first."""
    sentences = []
    for entry, score in zip(report.runs, report.scores, strict=False):
        if score.many is not None and score.many.other is not None:
            gain, first = score.many.other[1], report.runs[0].name
            difference = f"gain of {_interval(gain, '+')} points over {first}"
            significant = "significant" if gain.clear else "not significant"
            sentences.append(f"{entry.name}: {difference}, {significant}.")
    return sentences


def _loss(report: ReportData) -> str:
    lines = [
        Line(entry.name, range(1, len(entry.loss) + 1), entry.loss)
        for entry in report.runs
        if entry.loss
    ]
    return line_chart("Loss of each epoch", "epoch", "loss", lines) if lines else ""


def _scope(report: ReportData) -> dict[str, str]:
    config, survey = report.runs[0].run.config, report.scope
    shown = {"setting": _sentence(_describe_scope(config)), "missing": _sentence(report.missing)}
    if survey is None:
        return shown
    n = config.settings.values().get("readout_scope")
    mark = n if isinstance(n, int) else None
    across = "scope n, steps" + (f" (this run: {mark} at the readout)" if mark is not None else "")
    if survey.measured is not None:
        measured = _finite(survey.measured.mean())
        steps = range(1, len(measured) + 1)
        lines = [Line("measured: fraction of a node's context with its class", steps, measured)]
        if survey.lower_bound is not None:
            lines.append(Line("Lemma 1", steps, survey.lower_bound))
        shown["homophily"] = line_chart("Homophily against n", across, "homophily", lines, mark)
    choice = survey.choice(DEFAULT_CRITERION)
    shown["why"] = f"{DEFAULT_CRITERION}: {_sentence(choice.why)}"
    if choice.scores is not None:
        scores = _finite(choice.scores)
        lines = [Line(DEFAULT_CRITERION, range(len(scores)), scores)]
        title = "How well the readout at each n predicts masked features"
        shown["estimate"] = line_chart(title, across, "score without labels", lines, mark)
    return shown


def _describe_scope(config: RunConfig) -> str:
    values = config.settings.values()
    if "scope" not in values:
        return "this method has no scope"
    if (readout := values.get("readout_scope")) is None:
        text = f"n = {values['scope']}"
    else:
        text = f"n = {values['scope']} in training, {readout} at the readout"
    chosen = config.scope_choice
    return f"{text}, by {chosen['rule']}: {chosen['why']}" if chosen else f"{text}, as set"


def _collapse(entry: ReportRun) -> list[str]:
    collapse = entry.metrics["collapse"]
    alignment = collapse["alignment"]
    return [
        entry.name,
        f"{collapse['effective_rank']:.1f} of {entry.width:,}",
        "-" if alignment is None else f"{alignment:.2f}",
        f"{collapse['uniformity']:.2f}",
        "collapsed" if collapse["collapsed"] else "no",
    ]


def _data(report: ReportData) -> dict[str, Any]:
    """Return the data of the script."""
    nodes = report.nodes
    columns = {"degree": nodes.degree, "component": nodes.component, "label": nodes.label}
    packed = {
        name: None if values is None else _pack(values, "<i4") for name, values in columns.items()
    }
    runs = [
        {
            "k": int(entry.neighbours.shape[1]),
            "x": _pack(entry.positions[:, 0] * 65535, "<u2"),
            "y": _pack(entry.positions[:, 1] * 65535, "<u2"),
            "neighbours": _pack(entry.neighbours, "<i4"),
            "cosines": _pack(np.clip(entry.cosines, -1, 1) * 32767, "<i2"),
            "clusters": _pack(entry.clusters, "<i4"),
        }
        for entry in report.runs
    ]
    return {"nodes": {"ids": nodes.ids, "classes": nodes.classes, **packed}, "runs": runs}


def _pack(values: npt.NDArray[Any], kind: str) -> str:
    """Encode numbers as base64, which takes a third of the space of text."""
    rounded = np.rint(values) if values.dtype.kind == "f" else values
    return base64.b64encode(np.ascontiguousarray(rounded.astype(kind)).tobytes()).decode()


def _json(value: Any) -> str:
    """Encode as JSON in which no text can end a script element."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _asset(name: str) -> str:
    return (resources.files("ugcl.report") / "assets" / name).read_text("utf-8")


def _interval(estimate: Estimate, sign: str = "") -> str:
    return f"{estimate.mean:{sign}.1f} [{estimate.low:{sign}.1f}, {estimate.high:{sign}.1f}]"


def _accuracy(estimate: Estimate) -> str:
    low, high = max(estimate.low, 0.0), min(estimate.high, 100.0)
    return f"{estimate.mean:.1f} [{low:.1f}, {high:.1f}]"


def _finite(values: Iterable[float]) -> list[float | None]:
    return [float(value) if np.isfinite(value) else None for value in values]


def _sentence(text: str) -> str:
    """Return a message as a sentence; parameters lose their backticks."""
    text = re.sub(r"`(\w+)`", r"\1", text.strip())
    return text if not text or text.endswith((".", "?")) else f"{text}."
