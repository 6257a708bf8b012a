"""The five ablations of UGCL, the paper's Table V: each takes one of its parts away.

Where the ablation changes the training scope, the paper does not say what `A^n` is at the readout.
By default it is the scope of training, so that nothing of the power is left: the mean of all rows,
which shifts all embeddings alike; `A^100 H`; H. Giving `--readout-scope` UGCL's own n is the other
reading, in which the readout alone still has its scope.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ugcl.methods.method import Method
from ugcl.methods.recipe import Recipe
from ugcl.methods.ugcl import RECIPE, UGCL, UGCLSettings


def _ablation(
    name: str, about: str, recipe: Recipe[UGCLSettings] = RECIPE, **changes: Any
) -> Method:
    return Method.of(
        recipe,
        UGCLSettings,
        {preset: values.changed(**changes) for preset, values in UGCL.presets.items()},
        name=name,
        scope=about,
        paper=f"{UGCL.paper}, ablation study",
    )


_ONE_ENCODER = replace(RECIPE, auxiliary=None)

ABLATIONS = (
    _ablation("ugcl-mean", "whole graph: the mean of all rows", scope="graph"),
    _ablation("ugcl-smooth", "A^100, towards the connected component", scope=100),
    _ablation("ugcl-sig", "A^n, n free; one encoder for both views", _ONE_ENCODER),
    _ablation("ugcl-no-sample", "A^n, n free; without subsampling", sample="all"),
    _ablation("ugcl-no-power", "A^0, the node itself", scope=0),
)
