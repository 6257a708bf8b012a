"""A graph's scopes as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ugcl._utils.files import atomic
from ugcl.report.plotting import check_plotting
from ugcl.selection import BEST, ESTIMATORS, Survey

BOUND, MEASURED, DOMINANT = "#e07a5f", "#3e7cb1", "#81a684"
COLOURS = MEASURED, "#8a5a83", "#c9b458", "#81a684", "#e07a5f"


def plot_scope(survey: Survey, path: Path) -> None:
    """Draw homophily against n, and what each estimator that needs no labels says."""
    check_plotting(path)
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 4.2), layout="constrained")
    homophily, estimators = figure.subplots(1, 2)
    _homophily(homophily, survey)
    _estimators(estimators, survey)
    figure.suptitle(f"Contextual scope of {survey.graph.name or 'the graph'}")
    with atomic(path) as temporary:
        figure.savefig(temporary, dpi=150)


def _homophily(axes: Any, survey: Survey) -> None:
    axes.set(xlabel="n", ylabel="share", title="Homophily in the scope", ylim=(0, 1.02))
    if survey.measured is None:
        axes.text(0.5, 0.5, "no labels", ha="center", transform=axes.transAxes)
        return
    n = np.arange(1, len(survey.measured.rates) + 1)
    low, high = survey.measured.interval().T
    axes.fill_between(n, low, high, color=MEASURED, alpha=0.25, linewidth=0)
    axes.plot(n, survey.measured.mean(), "o-", ms=4, color=MEASURED, label="measured mean of P_n")
    if survey.lower_bound is not None:
        axes.plot(n, survey.lower_bound, "s--", ms=3, color=BOUND, label="Lemma 1")
    axes.plot(
        n,
        survey.measured.dominant(),
        ":",
        color=DOMINANT,
        label="nodes whose own class is the plurality",
    )
    axes.axhline(0.5, color="#bbbbbb", lw=1, zorder=0)
    _whole_ticks(axes)
    axes.legend(frameon=False, fontsize="small")


def _estimators(axes: Any, survey: Survey) -> None:
    axes.set(xlabel="n", ylabel="score, from worst to best", title="Estimators without labels")
    for name, marker, colour in zip(ESTIMATORS, "osv^D", COLOURS, strict=True):
        choice = survey.choice(name)
        if choice.scores is None or choice.n is None:
            continue
        scores = np.where(np.isfinite(choice.scores), choice.scores, np.nan)
        spread = np.nanmax(scores) - np.nanmin(scores)
        drawn = (scores - np.nanmin(scores)) / (spread or 1)
        if np.unique(scores).size > 2:  # more than the one n that is chosen, and all others
            axes.plot(np.arange(scores.size), drawn, color=colour, lw=2 if name == BEST else 1)
        label = f"{name}: n = {choice.n}"
        style: dict[str, Any] = {"ms": 11} if name == BEST else {"ms": 7, "zorder": 3}
        axes.plot(choice.n, drawn[choice.n], marker, color=colour, label=label, **style)
    _whole_ticks(axes)
    if axes.lines:
        axes.legend(frameon=False, fontsize="small")


def _whole_ticks(axes: Any) -> None:
    axes.xaxis.get_major_locator().set_params(integer=True)
