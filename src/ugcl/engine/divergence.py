"""Divergence: a loss or embeddings that are not finite, or weights that have grown beyond use."""

from __future__ import annotations

import math

import numpy as np
import scipy.sparse as sp
import torch

from ugcl._utils.errors import UGCLError
from ugcl.engine.callbacks import Callback, TrainingState
from ugcl.graph import Graph
from ugcl.methods import Settings
from ugcl.methods.models.model import Model
from ugcl.typing import Embeddings

MAX_GROWTH = 1e5
"""Growth of the norm of all weights that is a divergence.

Initial weights have entries near sqrt(1 / width), 0.02 at least in practice. Adam and AdamW move an
entry by about `lr` in a step, so at the largest useful rate of 0.1 it would take 20,000 steps in
one direction; the vectors of skip-gram grow from 1 / width to about 1. In runs that learn, norms
grow by a factor below 100. Losses that see cosines or normalised rows stay finite whatever the
weights, so neither they nor the embeddings show a divergence reliably.
"""

INTERVAL = 16
"""Epochs between two looks at the weights: it reads all of them once."""

ROWS = 2**16
"""Rows that are tested for finite numbers at a time."""

LARGE = 1e6
"""Features beyond this are named as a cause."""


class Divergence(Callback):
    """Raises an error when the weights have grown `MAX_GROWTH` times since training began.

    Args:
        model: the model with its initial weights.
    """

    def __init__(self, model: Model) -> None:
        self.limit = MAX_GROWTH * max(1.0, _norm(model))

    def on_epoch_end(self, state: TrainingState) -> None:
        """Look at the weights after the first epoch, from time to time, and at the end."""
        ends = state.epoch in (1, state.epochs) or state.ended is not None
        if not ends and state.epoch % INTERVAL:
            return
        norm = _norm(state.model)
        if not norm <= self.limit:  # nor NaN
            raise UGCLError(
                f"training has diverged in epoch {state.epoch}, where the norm of the weights is "
                f"{norm:.0e}: {advice(state.settings, state.graph)}"
            )


def check_loss(state: TrainingState) -> None:
    """Raise an error where the loss is not finite."""
    assert state.loss is not None
    if not math.isfinite(state.loss):
        what = advice(state.settings, state.graph)
        raise UGCLError(f"the loss is {state.loss} in epoch {state.epoch}: {what}")


def check_embeddings(embeddings: Embeddings, settings: Settings, graph: Graph) -> None:
    """Raise an error where embeddings are not finite."""
    values = embeddings.data if sp.issparse(embeddings) else embeddings
    blocks = (values[start : start + ROWS] for start in range(0, len(values), ROWS))
    if not all(np.isfinite(block).all() for block in blocks):
        raise UGCLError(f"the embeddings are not finite: {advice(settings, graph)}")


def advice(settings: Settings, graph: Graph) -> str:
    """Return what to do against divergence, with settings that the method has."""
    values = settings.values()
    entries = graph.features.data if sp.issparse(graph.features) else graph.features
    largest = max(entries.max(initial=0), -entries.min(initial=0))
    advised = ["use a smaller `lr`"] if "lr" in values else []
    if "temperature" in values:
        advised.append("a larger `temperature`")
    if largest > LARGE or not advised:
        scaled = values.get("feature_scaling", "l2") != "none"
        scale = "features of one scale" if scaled else "`feature_scaling` l2"
        advised.insert(0, f"use {scale} (the largest entry is {largest:.0e})")
    return " or ".join([advised[0], *(each.removeprefix("use ") for each in advised[1:])])


def _norm(model: Model) -> float:
    """Return the norm of all weights; infinite where it overflows."""
    return math.hypot(*(torch.linalg.vector_norm(each).item() for each in model.trained_tensors()))
