"""Plots with Matplotlib, an optional dependency."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ugcl._utils.errors import UGCLError
from ugcl._utils.files import atomic
from ugcl.selection import CRITERIA, DEFAULT_CRITERION, Survey

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SUFFIXES = (".png", ".svg", ".pdf")

BOUND, MEASURED, DOMINANT = "#e07a5f", "#3e7cb1", "#81a684"
COLOURS = MEASURED, "#8a5a83", "#c9b458", "#81a684", "#e07a5f"


def check_plotting(path: Path) -> None:
    """Raise an error if Matplotlib is not installed or cannot write to `path`."""
    if find_spec("matplotlib") is None:
        raise UGCLError("plots need Matplotlib, which is not installed: pip install 'ugcl[plot]'")
    if path.suffix not in SUFFIXES:
        raise UGCLError(f"cannot draw {path}: use a name that ends in {', '.join(SUFFIXES)}")


def plot_scope(survey: Survey, path: Path) -> None:
    """Plot homophily against n, and the scores of the label-free criteria."""
    check_plotting(path)
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    _plot_homophily(left, survey)
    _plot_criteria(right, survey)
    figure.suptitle(f"Contextual scope of {survey.graph.name or 'the graph'}")
    with atomic(path) as temporary:
        figure.savefig(temporary, dpi=150)


def _plot_homophily(axes: Axes, survey: Survey) -> None:
    axes.set(xlabel="n", ylabel="fraction", title="Homophily in the scope", ylim=(0, 1.02))
    if survey.measured is None:
        axes.text(0.5, 0.5, "no labels", ha="center", transform=axes.transAxes)
        return
    n = np.arange(1, len(survey.measured.rates) + 1)
    low, high = survey.measured.interval().T
    axes.fill_between(n, low, high, color=MEASURED, alpha=0.25, linewidth=0)
    axes.plot(n, survey.measured.mean(), "o-", ms=4, color=MEASURED, label="measured mean of P_n")
    if survey.lower_bound is not None:
        axes.plot(n, survey.lower_bound, "s--", ms=3, color=BOUND, label="Lemma 1")
    label = "nodes whose own class is the plurality"
    axes.plot(n, survey.measured.dominant(), ":", color=DOMINANT, label=label)
    axes.axhline(0.5, color="#bbbbbb", lw=1, zorder=0)
    _finish(axes)


def _plot_criteria(axes: Axes, survey: Survey) -> None:
    axes.set(xlabel="n", ylabel="score, from worst to best", title="Criteria without labels")
    for name, marker, colour in zip(CRITERIA, "osv^D", COLOURS, strict=True):
        choice = survey.choice(name)
        if choice.scores is None or choice.n is None:
            continue
        default = name == DEFAULT_CRITERION
        known = np.array(survey.scores(name))
        scores = np.where(np.isfinite(known), known, np.nan)
        spread = np.nanmax(scores) - np.nanmin(scores)
        scaled = (scores - np.nanmin(scores)) / (spread or 1)
        if np.unique(scores[~np.isnan(scores)]).size > 2:  # not an indicator of the selected n
            axes.plot(np.arange(scores.size), scaled, color=colour, lw=2 if default else 1)
        label = f"{name}: n = {choice.n}"
        style: dict[str, Any] = {"ms": 11} if default else {"ms": 7, "zorder": 3}
        axes.plot(
            choice.n, np.nan_to_num(scaled[choice.n]), marker, color=colour, label=label, **style
        )
    _finish(axes)


def _finish(axes: Axes) -> None:
    axes.locator_params(axis="x", integer=True)
    if axes.lines:
        axes.legend(frameon=False, fontsize="small")
