"""The parts of a method: what its `build` function returns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from ugcl.losses import Loss
    from ugcl.nn import Encoder
    from ugcl.views import ViewSampler


@dataclass(frozen=True)
class Parts:
    """The parts of a method. The training scope and the readout are settings.

    In every step the encoder computes H of each view. Contexts are those of the context encoder's
    representations where there is one, else of H, and come from the next view (with a single view,
    from itself). The loss compares patches and contexts.

    Attributes:
        views: samples the views of a step.
        encoder: the encoder.
        loss: the loss.
        context_encoder: encoder of the contexts; None to use the encoder itself.
        second_encoder: encoder of all views but the first; None for one shared encoder.
        momentum: for a context encoder that is a moving average of the encoder: from an epoch to
            the fraction of the average that is kept.
        optimizer: the optimizer, with the weight decay of the settings where they have one.
    """

    views: ViewSampler
    encoder: Encoder
    loss: Loss
    context_encoder: Encoder | None = None
    second_encoder: Encoder | None = None
    momentum: Callable[[int], float] | None = None
    optimizer: Literal["adam", "adamw"] = "adam"
