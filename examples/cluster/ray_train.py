"""Train on two workers of a Ray cluster, with GRAPH and RUN on a file system that both see.

python examples/cluster/ray_train.py GRAPH --out RUN [options of ugcl train]
"""

from __future__ import annotations

import sys
from typing import Any

from ugcl.cli import main

WORKERS = 2


def train(config: dict[str, Any]) -> None:
    """Run `ugcl train` in one worker; Ray sets the environment that torchrun sets."""
    if code := main(["train", *config["arguments"], "--resume"]):
        raise RuntimeError(f"ugcl train has ended with the exit code {code}")


def start(arguments: list[str]) -> None:
    """Start the workers, up to three more times after a failure."""
    from ray.train import FailureConfig, RunConfig, ScalingConfig
    from ray.train.torch import TorchConfig, TorchTrainer

    TorchTrainer(
        train,
        train_loop_config={"arguments": arguments},
        torch_config=TorchConfig(backend="gloo", timeout_s=300),
        scaling_config=ScalingConfig(num_workers=WORKERS),
        run_config=RunConfig(failure_config=FailureConfig(max_failures=3)),
    ).fit()


if __name__ == "__main__":
    start(sys.argv[1:])
