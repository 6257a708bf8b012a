"""Training that diverges is an error that says what to change."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from ugcl import Graph, UGCLError, fit
from ugcl.engine import Trainer
from ugcl.engine.divergence import INTERVAL, MAX_GROWTH, Divergence
from ugcl.methods import METHODS

SMALL: dict[str, Any] = {"hidden": 8, "projector": 8, "predictor": 8, "inner": 8, "heads": 2}
TRAINED = [name for name, method in METHODS.items() if method.trained]


def small(name: str, **params: Any) -> dict[str, Any]:
    return {key: value for key, value in (SMALL | params).items() if key in METHODS[name].params}


@pytest.mark.parametrize("lr", [1e5, 1e10, 1e30])
@pytest.mark.parametrize("name", TRAINED)
def test_a_learning_rate_that_is_far_too_high_is_an_error(
    name: str, lr: float, graph: Graph
) -> None:
    """Also where the loss stays finite, as that of cosines does."""
    with pytest.raises(UGCLError, match=r"^training has diverged .*: use a smaller `lr`") as error:
        fit(name, graph, device="cpu", **small(name, lr=lr, epochs=3, walk_length=10))
    assert set(re.findall(r"`(\w+)`", str(error.value))) <= set(METHODS[name].params)


@pytest.mark.parametrize(("epoch", "found"), [(0, 1), (INTERVAL - 3, INTERVAL), (20, 22)])
def test_divergence_is_found_at_the_start_from_time_to_time_and_at_the_end(
    epoch: int, found: int, graph: Graph
) -> None:
    trainer = Trainer("ugcl", graph, device="cpu", **small("ugcl", epochs=22))
    loss_fn = trainer.setup()

    def growing(now: int) -> Any:
        if now == epoch:
            next(trainer.model.parameters()).data.fill_(MAX_GROWTH)
        return loss_fn(now)

    trainer._loss_fn = growing
    with pytest.raises(UGCLError, match=f"has diverged in epoch {found},"):
        trainer.run()


@pytest.mark.parametrize("name", ["ugcl", "multiscope", "bgrl", "vgae", "gat", "deepwalk"])
def test_healthy_weights_are_far_from_divergence(name: str, graph: Graph) -> None:
    """A high learning rate moves them by a thousandth of the limit."""
    params = small(name, lr=0.1, epochs=50, walk_length=10)
    trainer = Trainer(name, graph, device="cpu", **params)
    limit = Divergence(trainer.model).limit
    trainer.run()
    assert sum(float(each.norm()) for each in trainer.model.trained_tensors()) < 1e-3 * limit


def test_features_that_are_too_large_are_named() -> None:
    star = np.stack([np.zeros(30, dtype=int), np.arange(1, 31)], axis=1)
    graph = Graph.from_edges(star, np.full((31, 2), 3e38))
    fitted = fit("smooth", graph, device="cpu", scope=1, feature_scaling="none")
    said = "the embeddings are not finite: use `feature_scaling` l2 (the largest entry is 3e+38)"
    with pytest.raises(UGCLError, match=re.escape(said)):
        fitted.embed(graph)
