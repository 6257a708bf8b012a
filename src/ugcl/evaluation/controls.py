"""Controls: what an embedding must beat before training can claim to have helped."""

from __future__ import annotations

from typing import Any

import torch

from ugcl.graph import Graph
from ugcl.methods import Model

CONTROLS = {
    "raw": "raw features",
    "smooth": "smoothed features A^n X",
    "untrained": "untrained encoder, same readout",
}
"""The controls and what they are."""


def control_embeddings(
    untrained: Model, graph: Graph, device: torch.device | str = "cpu"
) -> dict[str, Any]:
    """The controls of a model, under the names of `CONTROLS`; sparse features stay sparse.

    Args:
        untrained: the model as it was before training, with the same settings and seed.
        graph: the graph.
        device: where to compute.
    """
    return {
        "raw": untrained.raw(graph),
        "smooth": untrained.smooth(graph),
        "untrained": untrained.to(device).embed(graph, device),
    }
