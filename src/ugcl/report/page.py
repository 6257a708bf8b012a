"""The page: one HTML file with markup, style, script and data, which needs no network."""

from __future__ import annotations

import base64
import json
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from jinja2 import Environment

from ugcl._utils.files import write_text
from ugcl.evaluation import CONTROLS, Evaluation
from ugcl.report import sections
from ugcl.report.contents import ReportData, ReportRun
from ugcl.report.text import sentence, typographic

SCRIPTS = ("colours.js", "points.js", "map.js", "page.js")
"""The parts of the script, in order."""


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
        facts=sections.facts(report),
        verdict=typographic(verdict(report)),
        headlines=sections.headlines(report),
        accuracies=sections.accuracies(report),
        runs=[sections.summary(entry, report) for entry in report.runs],
        differences=sections.differences(report),
        shown=sections.shown(report),
        named=report.nodes.names is not None,
        approximate=any(entry.approximate for entry in report.runs),
        scores=sections.scores(report),
        paired=sections.paired(report),
        unscored=sentence(report.unscored),
        loss=sections.loss(report),
        scope=sections.scope(report),
        collapse=sections.collapse(report),
        css=_asset("page.css"),
        script="\n".join(map(_asset, SCRIPTS)),
        data=_json(_data(report)),
    )


def verdict(report: ReportData) -> str:
    """Say in one sentence for each run whether training helped."""
    if not report.scores:
        return f"Whether training helped is unknown: {sentence(report.unscored)}"
    sentences = [
        _verdict(entry, score) for entry, score in zip(report.runs, report.scores, strict=True)
    ]
    if len(sentences) > 1:
        names = (entry.name for entry in report.runs)
        sentences = [f"{name}: {text}" for name, text in zip(names, sentences, strict=True)]
    return " ".join(sentences)


def _verdict(entry: ReportRun, score: Evaluation) -> str:
    assert score.many is not None
    best, gain = sections.best_control(score.many)
    control = f"{CONTROLS[best]}, the best control without training"
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


def _data(report: ReportData) -> dict[str, Any]:
    """Return the data of the script."""
    nodes = report.nodes
    parts = {"degree": nodes.degree, "component": nodes.component, "label": nodes.label}
    packed = {
        name: None if values is None else _pack(values, "<i4") for name, values in parts.items()
    }
    columns = [
        {"name": column.name, "groups": column.groups, "values": _pack(column.values, "<i4")}
        for column in nodes.columns
    ]
    runs = [
        {
            "k": int(entry.neighbours.shape[1]),
            "x": _pack(entry.positions[:, 0] * 65535, "<u2"),
            "y": _pack(entry.positions[:, 1] * 65535, "<u2"),
            "neighbours": _pack(entry.neighbours, "<i4"),
            "cosines": _pack(np.clip(entry.cosines, -1, 1) * 32767, "<i2"),
            "linked": None if entry.linked is None else _pack(_bits(entry.linked), "<u2"),
            "clusters": _pack(entry.clusters, "<i4"),
        }
        for entry in report.runs
    ]
    named = {"ids": nodes.ids, "names": nodes.names, "classes": nodes.classes, "columns": columns}
    return {"nodes": {**named, **packed}, "runs": runs}


def _bits(linked: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
    """Return a number for each row whose bit j is the value of column j."""
    bits: npt.NDArray[np.int64] = linked @ (1 << np.arange(linked.shape[1]))
    return bits


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
