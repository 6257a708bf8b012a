from __future__ import annotations

import pytest
import torch

from encoder_blocks import encoder_blocks
from ugcl.nn import GCN, DeepGCN, Encoder, LinearEncoder, VariationalGCN
from ugcl.scope import Component, Power, Scope, WholeGraph, normalised_adjacency
from ugcl.views import View
from view_helpers import graph_of

GENERATOR = torch.Generator()
ENCODERS = {
    "GCN": lambda: GCN(12, 4, GENERATOR),
    "DeepGCN": lambda: DeepGCN(12, (6, 4), activation="relu", generator=GENERATOR),
    "LinearEncoder": lambda: LinearEncoder(12, 4, GENERATOR),
    "VariationalGCN": lambda: VariationalGCN(12, (6, 4), GENERATOR).eval(),
}


@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("scope", [Power(0), Power(3), Component(), WholeGraph()], ids=str)
@pytest.mark.parametrize("name", ENCODERS)
def test_contexts_and_blocks_are_consistent_with_the_representations(
    name: str, scope: Scope, sparse: bool
) -> None:
    """For all encoders: H, its contexts, and the same block by block."""
    graph, encoder = graph_of(sparse), ENCODERS[name]()
    assert isinstance(encoder, Encoder)
    view = View.of(normalised_adjacency(graph.adjacency), graph.features, keep_features=True)
    with torch.no_grad():
        hidden = encoder(view)
        expected = view.contexts(scope)(hidden)
        patches, contexts = torch.full((2, 30, 4), torch.nan)
        for columns, patch, context in encoder_blocks(encoder, view, scope):
            patches[:, columns], contexts[:, columns] = patch, context
    assert hidden.shape == (30, encoder.width)
    torch.testing.assert_close(encoder.context(view, scope), expected)
    torch.testing.assert_close(patches, hidden)
    torch.testing.assert_close(contexts, expected)


def test_an_encoder_has_to_define_forward() -> None:
    with pytest.raises(TypeError, match="forward"):
        Encoder()  # type: ignore[abstract]
