from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
import torch

from ugcl.nn import Adam, AdamW

STEPS = """
import sys, torch
from ugcl.nn import Adam, AdamW
for optimizer_class in (Adam, AdamW):
    weights = torch.ones(3, requires_grad=True)
    optimizer = optimizer_class([weights], fused=True)
    optimizer.zero_grad()
    weights.sum().backward()
    optimizer.step()
    optimizer.load_state_dict(optimizer.state_dict())
print("torch._dynamo" in sys.modules)
"""


def steps(optimizer_class: type[torch.optim.Optimizer], **arguments: Any) -> torch.Tensor:
    """Weights after three steps, a copy of the state, and two more."""
    weights = torch.linspace(-1, 2, 12).reshape(4, 3).requires_grad_()
    optimizer = optimizer_class([{"params": [weights], "lr": 0.1}], **arguments)  # type: ignore[call-arg]
    for i in range(5):
        if i == 3:
            state = optimizer.state_dict()
            optimizer = optimizer_class([{"params": [weights], "lr": 0.3}], **arguments)  # type: ignore[call-arg]
            optimizer.load_state_dict(state)
        optimizer.zero_grad()
        (weights**4).sum().backward()
        optimizer.step()
    return weights.detach()


@pytest.mark.parametrize("fused", [True, False])
def test_the_steps_are_those_of_pytorch(fused: bool) -> None:
    adam = {"weight_decay": 0.01, "fused": fused}
    assert torch.equal(steps(Adam, **adam), steps(torch.optim.Adam, **adam))
    assert torch.equal(steps(AdamW, **adam), steps(torch.optim.AdamW, **adam))
    assert not torch.equal(steps(Adam, **adam), steps(AdamW, **adam))


def test_a_step_may_evaluate_the_loss_again() -> None:
    weights = torch.ones(2, requires_grad=True)

    def loss() -> torch.Tensor:
        assert torch.is_grad_enabled()
        weights.grad = torch.ones(2)
        return weights.sum()

    assert Adam([weights]).step(loss) == 2  # type: ignore[func-returns-value]


def test_steps_do_not_import_the_compiler() -> None:
    done = subprocess.run([sys.executable, "-c", STEPS], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
