from __future__ import annotations

import atexit
import gc
import os

# Before NumPy is imported. Child processes inherit it.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import socket
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import settings

from ugcl import Graph, load_graph
from ugcl.data import DATASETS

torch.set_num_threads(1)  # the graphs here are too small for more to help
settings.register_profile("ugcl", deadline=None, max_examples=50, derandomize=True)
settings.load_profile("ugcl")


def pytest_sessionfinish() -> None:
    """Let DuckDB's bindings be collected: commands in this process have asked to spare that."""
    atexit.unregister(gc.freeze)


def make_graph(
    num_nodes: int = 40,
    num_features: int = 12,
    *,
    seed: int = 0,
    sparse: bool = True,
    classes: int = 3,
    **optional: object,
) -> Graph:
    """A small graph whose classes show in its edges and its features."""
    rng = np.random.default_rng(seed)
    labels = np.arange(num_nodes) % classes
    same = labels[:, None] == labels[None, :]
    upper = np.triu(rng.random((num_nodes, num_nodes)) < np.where(same, 0.2, 0.03), k=1)
    upper[np.arange(num_nodes - 1), np.arange(1, num_nodes)] |= rng.random(num_nodes - 1) < 0.2
    upper[0, 1] = True
    signal = labels[:, None] == np.arange(num_features)[None, :] % classes
    features = (rng.random((num_nodes, num_features)) < np.where(signal, 0.6, 0.2)) * 1.0
    features[:, 0] += 0.1
    parts = np.split(rng.permutation(num_nodes), [num_nodes // 3, num_nodes // 2])
    return Graph.from_edges(
        np.argwhere(upper),
        sp.csr_array(features) if sparse else features,
        **{
            "labels": labels,
            "splits": dict(zip(("train", "val", "test"), parts, strict=True)),
            "name": "small",
        }
        | optional,
    )


@pytest.fixture
def graph() -> Graph:
    return make_graph()


@pytest.fixture
def graph_file(tmp_path: Path, graph: Graph) -> Path:
    path = tmp_path / "small.npz"
    graph.save(path)
    return path


@pytest.fixture
def large_file(tmp_path: Path) -> Path:
    """A graph of 90 nodes, enough to hold edges out."""
    path = tmp_path / "large.npz"
    make_graph(90, classes=2).save(path)
    return path


@pytest.fixture
def raw_data() -> Callable[[str], Path]:
    """The data root that holds a real data set's raw file, or a skip that says what is missing."""

    def find(file: str) -> Path:
        root = os.environ.get("UGCL_DATA")
        if not root:
            pytest.skip("UGCL_DATA does not name a folder of raw data sets")
        if not (Path(root) / file).is_file():
            pytest.skip(f"there is no {file} in the folder that UGCL_DATA names")
        return Path(root)

    return find


@pytest.fixture
def real_graph(raw_data: Callable[[str], Path]) -> Callable[[str], Graph]:
    """A real data set, or a skip that says what is missing."""
    return lambda name: load_graph(name, raw_data(DATASETS[name].source.files[0].path))


@pytest.fixture(scope="session")
def _shared_controls(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("controls")


@pytest.fixture(autouse=True)
def _own_cache(
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    _shared_controls: Path,
) -> None:
    """No test reads or writes the user's cache.

    For speed all share the scores of the controls, which are chosen on one split, not on four.
    """
    monkeypatch.setattr("ugcl.evaluation.control_scores.RESPLITS", 1)
    cache = tmp_path_factory.mktemp("cache")
    (cache / "ugcl").mkdir()
    (cache / "ugcl/controls").symlink_to(_shared_controls)
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))


@pytest.fixture(scope="session")
def _controls_of_short_probes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("short")


@pytest.fixture
def short_probes(monkeypatch: pytest.MonkeyPatch, _controls_of_short_probes: Path) -> None:
    """Fewer steps and values of C for the probes of other harnesses, with their own cache."""
    from ugcl.evaluation import PROTOCOLS
    from ugcl.evaluation.harnesses import AdamProbe

    monkeypatch.setenv("XDG_CACHE_HOME", str(_controls_of_short_probes))
    monkeypatch.setattr("ugcl.evaluation.harnesses.ONE_VS_REST_C", (0.1, 10.0))
    for name, rule in PROTOCOLS.items():
        if isinstance(rule.probe, AdamProbe):
            shorter = replace(rule, probe=replace(rule.probe, steps=100))
            monkeypatch.setitem(PROTOCOLS, name, shorter)


@pytest.fixture(autouse=True)
def _no_loaded_methods(monkeypatch: pytest.MonkeyPatch) -> None:
    """Methods that a test loads from files are forgotten after it."""
    monkeypatch.setattr("ugcl.methods.from_file._LOADED", {})


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test looks up a host but this one, nor is sent to one by a proxy."""
    look_up = socket.getaddrinfo

    def local(host: object, *rest: object, **named: object) -> object:
        if host not in ("127.0.0.1", "localhost"):
            raise socket.gaierror(socket.EAI_NONAME, "no network in tests")
        return look_up(host, *rest, **named)

    monkeypatch.setattr(socket, "getaddrinfo", local)
    monkeypatch.setenv("no_proxy", "*")


@pytest.fixture(autouse=True)
def _keep_threads() -> Iterator[None]:
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)
