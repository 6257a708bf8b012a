"""Two ranks on one host: what they compute, and what they say when one is lost."""

from __future__ import annotations

import ast
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch

import ugcl
from conftest import make_graph
from engine.rank_worker import KILLED_AT, SAMPLED, command, trainer_of
from small_runs import assert_same_bits, trained_run
from ugcl._utils.errors import UGCLError
from ugcl.engine import ranks
from ugcl.engine.fit import fit
from ugcl.engine.ranks import Ranks
from ugcl.methods import METHODS
from ugcl.runs import Run, open_run, prepare

TESTS = Path(__file__).parents[1]
WORKER = Path(__file__).with_name("rank_worker.py")

TOLERANCE = 1e-5
"""Largest difference to accumulated gradients after twelve epochs, relative to the largest entry;
docs/cluster.md names it."""


def environment(**values: object) -> dict[str, str]:
    source = Path(ugcl.__file__).parents[1]
    paths = {"PYTHONPATH": f"{source}{os.pathsep}{TESTS}", "OMP_NUM_THREADS": "1"}
    return os.environ | paths | {name: str(value) for name, value in values.items()}


def start(task: str, folder: Path) -> list[subprocess.Popen[str]]:
    """Start a task of the worker in two ranks."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    place = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "WORLD_SIZE": 2}
    return [
        subprocess.Popen(
            [sys.executable, str(WORKER), task, str(folder)],
            env=environment(**place, RANK=rank, LOCAL_RANK=rank),
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]


def errors_of(processes: list[subprocess.Popen[str]]) -> list[str]:
    return [process.communicate(timeout=120)[1] for process in processes]


def torchrun(*arguments: str, restarts: int = 0) -> subprocess.CompletedProcess[str]:
    """Run a program in two ranks."""
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    size = ["--nproc-per-node=2", f"--max-restarts={restarts}", "--monitor-interval=0.1"]
    return subprocess.run(
        [*launcher, *size, *arguments],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what two ranks have trained."""
    folder = tmp_path_factory.mktemp("trained")
    errors = errors_of(start("together", folder))
    assert errors == ["", ""]
    return folder


def test_the_methods_that_train_on_samples() -> None:
    ablations = ["ugcl-mean", "ugcl-no-power", "ugcl-no-sample", "ugcl-sig", "ugcl-smooth"]
    assert {"multiscope", "subg-con", "ugcl", *ablations} == set(SAMPLED)


@pytest.mark.slow
@pytest.mark.parametrize("name", SAMPLED)
def test_two_ranks_equal_one_process_that_accumulates_gradients(name: str, trained: Path) -> None:
    trainer = trainer_of(name)
    loss_fn, model = trainer.setup(), trainer.model

    def mean_loss(epoch: int) -> torch.Tensor:
        losses = []
        for rank in range(2):
            model.rank = rank
            losses.append(loss_fn(epoch))
        return torch.stack(losses).mean()

    trainer._loss_fn = mean_loss
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    trainer.run()
    torch.set_num_threads(threads)
    found = torch.load(trained / f"{name}.pt")
    for key, value in model.state_dict().items():
        limit = TOLERANCE * float(value.abs().max())
        torch.testing.assert_close(found[key], value, rtol=0, atol=limit, equal_nan=True)


def test_ranks_have_samples_of_their_own() -> None:
    model = trainer_of("ugcl").model
    first = model.rng(3).random(4)
    model.rank = 1
    assert not (model.rng(3).random(4) == first).any()
    model.rank = 0
    assert (model.rng(3).random(4) == first).all()


@pytest.mark.slow
def test_rank_0_decides_when_training_stops(trained: Path) -> None:
    texts = [(trained / f"rank-{rank}").read_text() for rank in range(2)]
    assert texts == ["3 patience"] * 2


@pytest.mark.slow
def test_ranks_with_other_settings_are_an_error(trained: Path) -> None:
    expected = "rank 1 has another method, graph, seed or settings than rank 0: start all ranks by"
    for rank in range(2):
        assert (trained / f"error-{rank}").read_text().startswith(expected)


@pytest.mark.slow
def test_a_rank_that_does_not_answer_is_an_error_after_the_timeout(tmp_path: Path) -> None:
    first, second = start("silent", tmp_path)
    try:
        _, error = first.communicate(timeout=60)
        silent = time.time() - (tmp_path / "silent").stat().st_mtime
    finally:
        second.kill()
        second.communicate()
    last = error.strip().splitlines()[-1]
    assert "rank 0 has lost the other ranks (Timed out waiting 5000ms" in last
    assert last.endswith("see the errors of the others, and start all again with --resume")
    assert 4 < silent < 30


@pytest.mark.slow
def test_a_killed_rank_is_started_again_and_the_run_has_the_same_bits(tmp_path: Path) -> None:
    make_graph(60).save(tmp_path / "graph.npz")
    whole = torchrun("-m", "ugcl", *command(tmp_path / "whole", tmp_path))
    assert whole.returncode == 0, whole.stderr
    assert whole.stdout.count("trained 12 epochs") == 1
    killed = torchrun(str(WORKER), "killed", str(tmp_path), restarts=1)
    assert killed.returncode == 0, killed.stderr
    assert f"resuming after epoch {KILLED_AT}" in killed.stderr
    assert f"exitcode: {-signal.SIGKILL}" in killed.stderr
    assert_same_bits(tmp_path / "whole", tmp_path / "killed")
    assert Run.open(tmp_path / "whole").config.world_size == 2


@pytest.mark.slow
def test_ranks_that_share_the_columns_of_embeddings_write_the_same_bits(tmp_path: Path) -> None:
    graph = make_graph(60)
    graph.save(tmp_path / "graph.npz")
    small = {"epochs": 2, "hidden": 40, "scope": 2}
    params = {
        "ugcl": small | {"sample": 30},
        "multiscope": small | {"block_columns": 36, "readout_scope": 3},
        "grace": small | {"readout": "blocks", "projector": 8},
        "pca": {"columns": 9},
        "structure": {"block_columns": 9, "structure_columns": 6},
    }
    runs = {
        name: trained_run(tmp_path / "graph.npz", tmp_path / f"run-{name}", values, method=name)
        for name, values in params.items()
    }
    errors = errors_of(start("embed", tmp_path))
    for name, run in runs.items():
        found = np.load(tmp_path / f"run-{name}.npy")
        assert found.tobytes() == run.embeddings().tobytes(), (name, errors)
    assert not list(tmp_path.glob("*.partial*"))


@pytest.fixture
def two_ranks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Prepare as the first of two ranks."""
    monkeypatch.setattr(ranks, "_current", Ranks(0, 2))


@pytest.mark.usefixtures("two_ranks")
@pytest.mark.parametrize("name", sorted(METHODS.keys() - set(SAMPLED)))
def test_methods_on_the_whole_graph_refuse_ranks(name: str, graph: ugcl.Graph) -> None:
    with pytest.raises(UGCLError, match=r"does not train on samples .* not gain from 2 ranks"):
        fit(name, graph)


@pytest.mark.usefixtures("two_ranks")
def test_a_sample_of_all_nodes_is_refused_before_anything_is_written(
    graph_file: Path, tmp_path: Path
) -> None:
    with pytest.raises(UGCLError, match="`sample` all takes all 40 nodes in every step"):
        prepare(str(graph_file), method="ugcl", params={"sample": "all"})


def test_a_run_keeps_its_world_size(
    graph_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    params = {"sample": 20, "epochs": 2}
    with monkeypatch.context() as patch:
        patch.setattr(ranks, "_current", Ranks(0, 2))
        two = prepare(str(graph_file), method="ugcl", params=params)
        open_run(tmp_path / "run", two)
    with pytest.raises(UGCLError, match=r"one of 2 ranks, not of 1: start it by torchrun --nproc"):
        open_run(tmp_path / "run", two, resume=True)
    one = prepare(str(graph_file), method="ugcl", params=params)
    with pytest.raises(UGCLError, match="cannot be resumed with world_size 1 instead of 2"):
        open_run(tmp_path / "run", one, resume=True)
    assert "world_size" not in one.config.to_toml()


def test_ranks_that_cannot_meet_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"RANK": "0", "WORLD_SIZE": "2"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("MASTER_ADDR", raising=False)
    with (
        pytest.raises(UGCLError, match=r"rank 0 cannot join the other ranks \(.*MASTER_ADDR"),
        ranks.joined(),
    ):
        pass


def test_one_module_owns_torch_distributed() -> None:
    source = Path(ugcl.__file__).parent
    using = set()
    for path in source.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                names = [f"{node.module}.{each.name}" for each in node.names]
            if any(name.startswith("torch.distributed") for name in names):
                using.add(path.relative_to(source).as_posix())
    assert using == {"engine/ranks.py"}
    tree = ast.parse(Path(ranks.__file__).read_text("utf-8"))
    assert not any(
        "distributed" in ast.unparse(n) for n in tree.body if isinstance(n, ast.ImportFrom)
    )
