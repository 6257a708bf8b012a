from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from conftest import make_graph
from ugcl import Graph, UGCLError
from ugcl.bench import bench_multiscope
from ugcl.bench.multiscope import PARTS, products
from ugcl.cli import main
from ugcl.engine import Trainer
from ugcl.methods.models.multiscope import MultiScopeModel
from ugcl.nn import MLP
from ugcl.sparse import SparseMatrix


def graph_of(sparse: bool) -> Graph:
    """Features with one entry in each row, sparse or stored dense."""
    edges = make_graph(60).adjacency.nonzero()
    return Graph.from_edges(
        np.stack(edges, axis=1), sp.csr_array(np.eye(60)) if sparse else np.eye(60)
    )


@pytest.mark.usefixtures("same_process")
@pytest.mark.parametrize("sparse", [True, False])
def test_measures_a_step(sparse: bool, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", logger="ugcl")
    path = str(tmp_path / "graph.npz")
    graph_of(sparse).save(path)
    params = {"hidden": 24, "sample": 40, "scope": 3, "epochs": 2}
    result = bench_multiscope(path, "fast", params=params)
    assert (result["method"], result["params"]) == ("multiscope", params)
    assert (result["S"], result["D"], result["n"]) == (40, 24, 3)
    assert result["floor_seconds"] > 0
    assert result["step"] > 0
    assert tuple(result["parts"]) == PARTS
    assert all(time > 0 for time in result["parts"].values())
    assert result["peak_bytes"] == 1000
    assert len(caplog.messages) == 2


@pytest.mark.usefixtures("same_process")
def test_command_prints_the_measurements(saved: str, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["bench", "step", saved, "--method", "multiscope", "--hidden", "16"]
    assert main([*command, "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["S"] == 54  # the others are held out
    assert result["machine"]["torch"] == torch.__version__
    assert main(command) == 0
    shown = capsys.readouterr().out
    assert "times in units of the floor" in shown
    assert all(part in shown for part in PARTS)


def test_other_methods_and_presets_are_errors(
    saved: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bench", "step", saved, "--method", "grace"]) == 2
    assert "grace" in capsys.readouterr().err
    assert main(["bench", "step", saved, "--method", "multiscope", "--preset", "paper"]) == 2
    assert "no preset called 'paper'" in capsys.readouterr().err


def test_two_layers_have_no_floor(saved: str) -> None:
    with pytest.raises(UGCLError, match="set `encoder` to 'mlp'"):
        bench_multiscope(saved, "fast", params={"encoder": "deep"})


COPIES = (
    "empty",
    "detach",
    "slice",
    "copy_",
    "lift_fresh",
    "values",
    "crow_indices",
    "col_indices",
)
"""Operations on the memory of a sparse product."""


@pytest.mark.parametrize("sparse", [True, False])
def test_the_floor_has_the_products_of_a_step_and_nothing_else(sparse: bool) -> None:
    """Operations on matrices, by the numbers of rows and columns of their results."""
    trainer = Trainer("multiscope", graph_of(sparse), hidden=24, sample=40)
    model = trainer.model
    assert isinstance(model, MultiScopeModel)
    sample = model.training_views(trainer.graph, "cpu").sample(model.rng(0))
    rows = [view.features for view in sample.views if view.features is not None]
    assert [isinstance(each, SparseMatrix) for each in rows] == [sparse] * 2
    assert isinstance(model.encoder, MLP)
    weight = model.encoder.weights[0].detach()
    compute, seen = products(rows, weight), []

    class Watch(torch.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
            out = func(*args, **(kwargs or {}))
            name = func.__name__.split(".")[0]
            if "mm" in name or "embedding_bag" in name:
                seen.append(tuple(out.shape if isinstance(out, torch.Tensor) else out[0].shape))
            else:
                assert name in ("t", "permute", "new_empty", *COPIES)
            return out

    with Watch():
        compute()
    features = weight.shape[0]
    assert seen == [(40, 24), (features, 24)] * 2 + [(40, 80), (40, 24), (80, 24)]
