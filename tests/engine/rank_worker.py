"""What each of two ranks does in the tests of ranks: `python rank_worker.py TASK FOLDER`."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

import torch

from conftest import make_graph
from ugcl._utils.errors import UGCLError
from ugcl.cli import main
from ugcl.engine import Checkpoint, Trainer
from ugcl.engine.ranks import current, joined
from ugcl.engine.weights import digest
from ugcl.methods import METHODS, get_method

EPOCHS = 12
KILLED_AT = 7
SAMPLED = sorted(name for name, method in METHODS.items() if "sample" in method.params)
PARAMS = {"epochs": EPOCHS, "lr": 0.01, "hidden": 8, "sample": 20, "negatives": 10, "subgraph": 8}


def trainer_of(name: str, **params: object) -> Trainer:
    """Return the trainer of a small training on samples."""
    known = get_method(name).params
    values = {key: value for key, value in (PARAMS | params).items() if key in known}
    return Trainer(name, make_graph(60), preset="fast", seed=3, device="cpu", **values)


def train(folder: Path) -> None:
    """Train every method that has samples; rank 0 writes its weights."""
    for name in SAMPLED:
        trainer = trainer_of(name)
        trainer.run()
        weights = {key: value.detach() for key, value in trainer.model.named_parameters()}
        current().check_same(digest(weights), "other weights")
        if current().rank == 0:
            torch.save(trainer.model.state_dict(), folder / f"{name}.pt")


def stop_early(folder: Path) -> None:
    """Let the ranks see different losses of the held-out nodes; both must stop at one epoch."""
    trainer = trainer_of("multiscope", patience=2, tolerance=0.0)
    rank, state = current().rank, trainer.state
    trainer.model.validation_loss = lambda: float(rank * -state.epoch)  # falls on rank 1 alone
    trainer.run()
    (folder / f"rank-{rank}").write_text(f"{state.epoch} {state.ended}")


def disagree(folder: Path) -> None:
    """Train with another learning rate on rank 1."""
    rank = current().rank
    try:
        trainer_of("ugcl", lr=0.01 * (1 + rank)).run()
    except UGCLError as error:
        (folder / f"error-{rank}").write_text(str(error))


def together(folder: Path) -> None:
    """Do what needs two ranks that live, in one start."""
    train(folder)
    stop_early(folder)
    disagree(folder)


def embed(folder: Path) -> None:
    """Embed with runs of several methods; each rank computes some columns."""
    for run in sorted(folder.glob("run-*")):
        out = folder / f"{run.name}.npy"
        assert main(["embed", str(run), str(folder / "graph.npz"), "--out", str(out)]) == 0


def silent(folder: Path) -> None:
    """Let rank 1 stop without a word in its fifth epoch, as a host whose link is cut."""
    trainer = trainer_of("ugcl")
    loss_fn = trainer.setup()

    def loss(epoch: int) -> torch.Tensor:
        if epoch == 4 and current().rank:
            (folder / "silent").write_text(str(os.getpid()))
            time.sleep(600)
        return loss_fn(epoch)

    trainer._loss_fn = loss
    trainer.run()


def killed(folder: Path) -> None:
    """Run `ugcl train` with checkpoints in every epoch; SIGKILL ends rank 1 in the first start."""
    step, start = Trainer.step, int(os.environ["TORCHELASTIC_RESTART_COUNT"])

    def changed(trainer: Trainer) -> float:
        if trainer.state.epoch == KILLED_AT and trainer.ranks.rank and start == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return step(trainer)

    Trainer.step = changed  # type: ignore[method-assign]
    Checkpoint.on_epoch_end = Checkpoint.save  # type: ignore[method-assign]
    sys.exit(main(command(folder / "killed", folder)))


def command(out: Path, folder: Path) -> list[str]:
    """Return the arguments of the command that trains in both ranks."""
    size = ["--sample", "30", "--hidden", "8", "--epochs", "12", "--lr", "0.01"]
    return ["train", str(folder / "graph.npz"), *size, "--out", str(out), "--resume"]


if __name__ == "__main__":
    task, place = globals()[sys.argv[1]], Path(sys.argv[2])
    if task is killed:
        task(place)
    with joined(timeout=5 if task is silent else 60):
        task(place)
