"""Ranks: processes that train one model together, each on samples of its own.

All of `torch.distributed` is here. Nothing of it is imported unless the environment variables of
`torchrun` name more than one rank.

Gradients are averaged by one all-reduce of a flat vector, not by `DistributedDataParallel`. A
training step is a function of the epoch that samples, encodes and contrasts; there is no one
`forward` that could be wrapped. And a vector that always has the same layout is always summed in
the same order, so a run that is resumed has the bits of one that was not; the buckets of DDP are
laid out anew after the first step of a process.
"""

from __future__ import annotations

import io
import logging
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, TypeVar

import torch
from torch import Tensor

from ugcl._utils.errors import UGCLError
from ugcl._utils.signals import interruptible
from ugcl.engine.callbacks import Callback, TrainingState
from ugcl.engine.checkpoint import describe
from ugcl.graph import Graph
from ugcl.methods import Settings

logger = logging.getLogger(__name__)

T = TypeVar("T")

TIMEOUT = 300
"""Seconds after which a rank that does not answer is an error."""

POLL = 0.02
"""Seconds between two looks at who is there."""


class Ranks:
    """The processes that train together; one of them is this process.

    Args:
        rank: the number of this process; 0 writes.
        size: the number of processes.

    Attributes:
        seconds: time spent in communication, most of it waiting for slower ranks.
    """

    def __init__(self, rank: int = 0, size: int = 1) -> None:
        self.rank, self.size, self.seconds = rank, size, 0.0

    def share(self, value: T) -> T:
        """Return the value of rank 0."""
        if self.size == 1:
            return value
        from torch import distributed

        values = [value]
        with self._communication():
            distributed.broadcast_object_list(values)
        return values[0]

    def share_tensors(self, values: Any) -> Any:
        """Return the tensors of rank 0, in any nesting of lists and dictionaries, on the CPU."""
        if self.size == 1:
            return values
        file = io.BytesIO()
        if self.rank == 0:
            torch.save(values, file)
        return torch.load(io.BytesIO(self.share(file.getvalue())), "cpu", weights_only=True)

    def check_same(self, value: object, what: str) -> None:
        """Raise an error on all ranks where one of them has another value than rank 0."""
        if self.size == 1:
            return
        from torch import distributed

        values = [None] * self.size
        with self._communication():
            distributed.all_gather_object(values, value)
        if others := [rank for rank in range(self.size) if values[rank] != values[0]]:
            raise UGCLError(
                f"rank {others[0]} has {what} than rank 0: start all ranks by the same command, on "
                "copies of the same files"
            )

    def mean(self, parameters: Sequence[Tensor], loss: Tensor) -> Tensor:
        """Average the gradients over the ranks, in place; return the mean loss.

        A parameter without a gradient counts as one whose gradient is zero.
        """
        if self.size == 1:
            return loss
        from torch import distributed

        for each in parameters:
            if each.grad is None:
                each.grad = torch.zeros_like(each)
        gradients = [each.grad for each in parameters if each.grad is not None]
        parts = [*gradients, loss.detach().to(gradients[0].dtype)]
        flat = torch.cat([part.reshape(-1) for part in parts])
        with self._communication():
            distributed.all_reduce(flat)
            flat /= self.size
        *means, loss = torch.split(flat, [part.numel() for part in parts])
        for gradient, value in zip(gradients, means, strict=True):
            gradient.copy_(value.view_as(gradient))
        return loss

    @contextmanager
    def _communication(self) -> Iterator[None]:
        """Measure the time, and say what a lost connection means.

        A signal that came meanwhile counts before the error: it has ended the other ranks, too.
        """
        start = time.perf_counter()
        try:
            yield
        except RuntimeError as error:
            with interruptible():
                raise UGCLError(
                    f"rank {self.rank} has lost the other ranks ({_reason(error)}): see the errors "
                    "of the others, and start all again with --resume"
                ) from error
        finally:
            self.seconds += time.perf_counter() - start


_current = Ranks()


def current() -> Ranks:
    """Return the ranks that this process has joined; by default it is the only one."""
    return _current


@contextmanager
def joined(timeout: float = TIMEOUT) -> Iterator[Ranks]:
    """Join the ranks that torchrun, or another launcher with its environment, has started.

    Every `fit` inside this context is one training of all ranks. Without `RANK` and `WORLD_SIZE` in
    the environment, or with one rank, it changes nothing.

    Args:
        timeout: seconds after which a rank that does not answer is an error.
    """
    global _current
    if "RANK" not in os.environ or os.environ.get("WORLD_SIZE", "1") == "1":
        yield _current
        return
    from torch import distributed

    started, before = not distributed.is_initialized(), _current
    if started:
        _start(timeout)
    _current = Ranks(distributed.get_rank(), distributed.get_world_size())
    try:
        yield _current
    finally:
        _current = before
        if started:
            distributed.destroy_process_group()


def _start(timeout: float) -> None:
    from torch import distributed
    from torch.distributed.distributed_c10d import PrefixStore
    from torch.distributed.rendezvous import rendezvous

    backend = "gloo"
    if torch.cuda.is_available():
        backend = "cpu:gloo,cuda:nccl"
        torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", "0")))
    limit = timedelta(seconds=timeout)
    try:
        store, rank, size = next(rendezvous("env://", timeout=limit))
        store.set_timeout(limit)
        store = PrefixStore(_meet(store, rank, size, timeout), store)
        distributed.init_process_group(
            backend, store=store, rank=rank, world_size=size, timeout=limit
        )
    except (RuntimeError, ValueError) as error:
        raise UGCLError(
            f"rank {os.environ['RANK']} cannot join the other ranks ({_reason(error)}): start the "
            "command by torchrun, and check that its hosts reach each other"
        ) from error


def _meet(store: Any, rank: int, size: int, timeout: float) -> str:
    """Return a name of this start, on which all ranks agree.

    The store of torchrun outlives a restart, and with it the addresses of the processes before. So
    every process writes a token of its own, and rank 0 lists those that it reads until the list is
    confirmed by all: a process confirms a list with its own token, so none is of a process before.
    """
    token, deadline = f"{rank}-{os.getpid()}-{time.time_ns()}", time.monotonic() + timeout
    store.set(f"token {rank}", token)
    while time.monotonic() < deadline:
        if rank == 0:
            tokens: list[bytes] = [store.get(f"token {each}") for each in range(size)]
            names = b" ".join(tokens).decode()
            store.set("list", names)
            if store.check([f"{names}: {each}" for each in range(1, size)]):
                store.set("start", names)
                return names
        else:
            names = store.get("list").decode()
            if token in names.split():
                store.set(f"{names}: {rank}", "")
            started = store.get("start").decode() if store.check(["start"]) else ""
            if token in started.split():
                return str(started)
        time.sleep(POLL)
    raise RuntimeError(f"not all of {size} ranks were there after {timeout:.0f} s")


def _reason(error: Exception) -> str:
    """Return the part of an error of PyTorch that says what happened."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0].rpartition("] ")[2].partition(". ")[0].rstrip(". ")


class SharedState(Callback):
    """Starts all ranks from the state of rank 0, which may have loaded a checkpoint.

    Args:
        ranks: the ranks.
    """

    def __init__(self, ranks: Ranks) -> None:
        self.ranks = ranks

    def on_fit_start(self, state: TrainingState) -> None:
        """Check that all ranks train the same, and take over the state of rank 0."""
        if self.ranks.size == 1:
            return
        self.ranks.check_same(describe(state), "another method, graph, seed or settings")
        optimizer = state.optimizer
        moments = {} if optimizer is None else optimizer.state_dict()
        values = state.model.state_dict(), moments, state.progress()
        weights, moments, progress = self.ranks.share_tensors(values)
        if self.ranks.rank == 0:
            return
        state.model.load_state_dict(weights)
        if optimizer is not None:
            optimizer.load_state_dict(moments)
        for name, value in progress.items():
            setattr(state, name, value)


def check_method(method: str, settings: Settings, graph: Graph, size: int) -> None:
    """Refuse a method that does not gain from ranks: one whose steps are on the whole graph.

    Methods that train on samples have a setting `sample`.
    """
    if size == 1:
        return
    sample = settings.values().get("sample")
    if sample is None:
        raise UGCLError(
            f"{method} does not train on samples of nodes, so it does not gain from {size} ranks: "
            "start it without torchrun, or use a method with the setting `sample`"
        )
    if sample == "all" or sample >= graph.num_nodes:
        raise UGCLError(
            f"{method} with `sample` {sample} takes all {graph.num_nodes:,} nodes in every step, "
            f"so it does not gain from {size} ranks: use fewer nodes, or start it without torchrun"
        )
