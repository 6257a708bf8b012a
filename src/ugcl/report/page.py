"""One HTML file that opens from disk: markup, style, script and data, and no network."""

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
from ugcl.evaluation import CONTROLS, Estimate, Evaluation
from ugcl.report.contents import Gathered, RunView
from ugcl.report.svg import Line, line_chart
from ugcl.runs import RunConfig
from ugcl.selection import BEST


def write_page(gathered: Gathered, path: Path) -> None:
    """Write the page."""
    write_text(path, page(gathered))


def page(gathered: Gathered) -> str:
    """The text of the page; all that is data is escaped by the template."""
    template = Environment(autoescape=True, trim_blocks=True).from_string(_asset("page.html"))
    names = [view.name for view in gathered.runs]
    return template.render(
        title=" and ".join(names),
        names=names,
        verdict=verdict(gathered),
        runs=[_summary(view, gathered) for view in gathered.runs],
        differences=_differences(gathered),
        shown=_shown(gathered),
        scores=_scores(gathered),
        paired=_paired(gathered),
        unscored=_sentence(gathered.unscored),
        loss=_loss(gathered),
        scope=_scope(gathered),
        collapse=[_collapse(view) for view in gathered.runs],
        css=_asset("page.css"),
        script=_asset("page.js"),
        data=_json(_data(gathered)),
    )


def verdict(gathered: Gathered) -> str:
    """A plain sentence for each run: did training help?"""
    if not gathered.scores:
        return f"Whether training helped cannot be said: {_sentence(gathered.unscored)}"
    sentences = [
        _verdict(view, score) for view, score in zip(gathered.runs, gathered.scores, strict=True)
    ]
    if len(sentences) > 1:
        names = (view.name for view in gathered.runs)
        sentences = [f"{name}: {words}" for name, words in zip(names, sentences, strict=True)]
    return " ".join(sentences)


def _verdict(view: RunView, score: Evaluation) -> str:
    assert score.many is not None
    many = score.many
    best = max(many.controls, key=lambda control: many.controls[control].mean)
    gain, words = many.gains[best], f"{CONTROLS[best]}, the best of what needs no training"
    if not view.metrics["epochs"]:
        return f"Nothing was trained: {gain.mean:+.1f} points beside {words}."
    between = f"95 % interval {gain.low:+.1f} to {gain.high:+.1f}"
    if gain.clear:
        helped, side = ("helped", "above") if gain.mean > 0 else ("did not help", "below")
        return f"Training {helped}: {abs(gain.mean):.1f} points {side} {words} ({between})."
    return (
        "Training made no difference that can be told from chance: "
        f"{gain.mean:+.1f} points beside {words} ({between})."
    )


def _summary(view: RunView, gathered: Gathered) -> dict[str, Any]:
    config, metrics = view.run.config, view.metrics
    memory, commit = metrics.get("peak_memory_bytes"), metrics.get("commit")
    versions = [f"{name} {value}" for name, value in metrics["versions"].items()]
    settings = config.settings.values().items()
    sizes = ", ".join(f"{metrics[name]:,} {name}" for name in ("nodes", "edges", "features"))
    return {
        "path": str(view.run.path),
        "quoted_path": repr(str(view.run.path)),
        "quoted_id": repr(gathered.nodes.ids[0]),
        "settings": ", ".join(f"{name} {value}" for name, value in settings),
        "rows": [
            ("graph", Path(config.graph).name),
            ("size", sizes),
            ("method", f"{config.method}, settings '{config.preset}', seed {config.seed}"),
            ("scope", _scope_words(config)),
            ("training", f"{metrics['epochs']:,} epochs, {metrics['training_seconds']:,.1f} s"),
            ("where", f"{config.device}, {config.threads} threads"),
            ("most memory", "not known" if memory is None else f"{memory / 1e9:.2f} GB"),
            ("embeddings", f"{gathered.nodes.total:,} rows, {view.width:,} columns"),
            ("versions", ", ".join([*versions, *([f"commit {commit[:12]}"] if commit else [])])),
        ],
    }


def _differences(gathered: Gathered) -> list[list[str]]:
    """The settings in which runs differ."""
    tables = [
        {"method": config.method, "seed": config.seed, **config.settings.values()}
        for config in (view.run.config for view in gathered.runs)
    ]
    names = dict.fromkeys(name for table in tables for name in table)
    rows = [[name, *(str(table.get(name, "-")) for table in tables)] for name in names]
    return [row for row in rows if len(set(row[1:])) > 1]


def _shown(gathered: Gathered) -> str:
    nodes = gathered.nodes
    if len(nodes.shown) < nodes.total:
        return f"{len(nodes.shown):,} of {nodes.total:,} nodes, drawn at random"
    return f"{nodes.total:,} nodes"


def _scores(gathered: Gathered) -> list[dict[str, Any]]:
    tables = []
    for view, score in zip(gathered.runs, gathered.scores, strict=False):
        assert score.many is not None
        many = score.many
        own = [f"{view.run.config.method}, this run", _accuracy(many.accuracy), ""]
        rows = [[*own, f"{score.score.accuracy:.1f}"]]
        for name, estimate in many.controls.items():
            gain, one = _interval(many.gains[name], "+"), f"{score.controls[name].accuracy:.1f}"
            rows.append([CONTROLS[name], _accuracy(estimate), gain, one])
        head = [
            "",
            f"accuracy, %, {many.count} splits",
            "this run has more by",
            f"split '{score.split}'",
        ]
        tables.append({"name": view.name, "head": head, "rows": rows})
    return tables


def _paired(gathered: Gathered) -> list[str]:
    """How the other runs compare with the first."""
    sentences = []
    for view, score in zip(gathered.runs, gathered.scores, strict=False):
        if score.many is not None and score.many.other is not None:
            gain, first = score.many.other[1], gathered.runs[0].name
            words = "which is beyond chance" if gain.clear else "which chance explains"
            has = f"{view.name} has {_interval(gain, '+')} points more than {first}"
            sentences.append(f"{has}, {words}.")
    return sentences


def _loss(gathered: Gathered) -> str:
    lines = [
        Line(view.name, range(1, len(view.loss) + 1), view.loss)
        for view in gathered.runs
        if view.loss
    ]
    return line_chart("Loss of each epoch", "epoch", "loss", lines) if lines else ""


def _scope(gathered: Gathered) -> dict[str, str]:
    config, found = gathered.runs[0].run.config, gathered.scope
    shown = {"words": _sentence(_scope_words(config)), "missing": _sentence(gathered.missing)}
    if found is None:
        return shown
    n = config.settings.values().get("readout_scope")
    mark = n if isinstance(n, int) else None
    across = "scope n, steps" + (f" (this run reads out at {mark})" if mark is not None else "")
    if found.measured is not None:
        measured = _finite(found.measured.mean())
        steps = range(1, len(measured) + 1)
        lines = [Line("measured: share of a node's context that has its class", steps, measured)]
        if found.lower_bound is not None:
            lines.append(Line("Lemma 1", steps, found.lower_bound))
        shown["homophily"] = line_chart("Homophily against n", across, "homophily", lines, mark)
    choice = found.choice(BEST)
    shown["why"] = f"{BEST}: {_sentence(choice.why)}"
    if choice.scores is not None:
        scores = _finite(choice.scores)
        lines = [Line(BEST, range(len(scores)), scores)]
        title = "How well the context of each n predicts hidden features"
        shown["estimate"] = line_chart(title, across, "score without labels", lines, mark)
    return shown


def _scope_words(config: RunConfig) -> str:
    values = config.settings.values()
    if "scope" not in values:
        return "this method has no scope"
    words = f"n = {values['scope']} in training, {values['readout_scope']} at the readout"
    chosen = config.scope_choice
    return f"{words}, by {chosen['rule']}: {chosen['why']}" if chosen else f"{words}, as set"


def _collapse(view: RunView) -> list[str]:
    known = view.metrics["collapse"]
    alignment = known["alignment"]
    return [
        view.name,
        f"{known['effective_rank']:.1f} of {view.width:,}",
        "-" if alignment is None else f"{alignment:.2f}",
        f"{known['uniformity']:.2f}",
        "collapsed" if known["collapsed"] else "no",
    ]


def _data(gathered: Gathered) -> dict[str, Any]:
    """What the script needs."""
    nodes = gathered.nodes
    columns = {"degree": nodes.degree, "component": nodes.component, "label": nodes.label}
    packed = {
        name: None if values is None else _packed(values, "<i4") for name, values in columns.items()
    }
    runs = [
        {
            "k": int(view.neighbours.shape[1]),
            "x": _packed(view.positions[:, 0] * 65535, "<u2"),
            "y": _packed(view.positions[:, 1] * 65535, "<u2"),
            "neighbours": _packed(view.neighbours, "<i4"),
            "cosines": _packed(np.clip(view.cosines, -1, 1) * 32767, "<i2"),
            "clusters": _packed(view.clusters, "<i4"),
        }
        for view in gathered.runs
    ]
    return {"nodes": {"ids": nodes.ids, "classes": nodes.classes, **packed}, "runs": runs}


def _packed(values: npt.NDArray[Any], kind: str) -> str:
    """Numbers as base64, which is a third of what they are as text."""
    rounded = np.rint(values) if values.dtype.kind == "f" else values
    return base64.b64encode(np.ascontiguousarray(rounded.astype(kind)).tobytes()).decode()


def _json(value: Any) -> str:
    """JSON that cannot end a script element, whatever is in it."""
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


def _finite(values: Any) -> list[float | None]:
    return [float(value) if np.isfinite(value) else None for value in values]


def _sentence(text: str) -> str:
    text = text.strip()
    return text if not text or text.endswith((".", "?")) else f"{text}."
