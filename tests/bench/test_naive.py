from __future__ import annotations

import numpy as np
import pytest
import torch

import reference
from conftest import make_graph
from ugcl.bench.naive import naive_loss
from ugcl.engine import Trainer
from ugcl.methods.ugcl import UGCLSettings


@pytest.mark.parametrize("context", ["power", "lazy"])
def test_naive_loss_is_equation_5(context: str) -> None:
    graph = make_graph(12, sparse=False)
    sizes = {"hidden": 24, "sample": 12, "negatives": "all", "scope": 3}
    trainer = Trainer("ugcl", graph, preset="fast", device="cpu", context=context, **sizes)
    model, settings = trainer.model.double(), trainer.settings
    assert isinstance(settings, UGCLSettings)
    adjacency = reference.normalised_adjacency(graph.adjacency.toarray())
    parameters = {name: value.detach() for name, value in model.named_parameters()}

    def encode(encoder: str) -> np.ndarray:
        weight, bias, slope = (
            parameters[f"{encoder}.{name}"].numpy() for name in ("weight", "bias", "slope")
        )
        return reference.gcn(adjacency, graph.features, weight, bias, float(slope[0]))

    lazy = (np.eye(12) + adjacency) / 2 if context == "lazy" else adjacency
    across = np.linalg.matrix_power(lazy, 3) @ encode("context_encoder")
    expected = reference.ugcl_loss(encode("encoder"), across, settings.temperature)
    features = torch.from_numpy(graph.features.astype(float))
    loss = naive_loss(torch.from_numpy(adjacency), features, parameters, settings)
    assert loss.item() == pytest.approx(expected)
