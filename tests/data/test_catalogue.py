"""The data sets themselves, where they are at hand: their counts and their known traps."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from ugcl import load_graph
from ugcl.data import DATASETS
from ugcl.data.download import sha256_sums
from ugcl.graph import Graph
from ugcl.study.published import published

PACKAGE = Path(__file__).parents[2] / "src/ugcl/data"
PUBLISHED = published()["datasets"]


def counts(graph: Graph) -> tuple[int, ...]:
    return graph.num_nodes, graph.num_edges, graph.num_features, graph.num_classes


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_catalogue_has_the_published_counts(name: str) -> None:
    listed, known = DATASETS[name], PUBLISHED[name]
    assert (listed.nodes, listed.features, listed.classes) == (
        known["nodes"],
        known["features"],
        known["classes"],
    )
    if "edges_simple" in known:
        assert listed.edges == known["edges_simple"]


@pytest.mark.parametrize("name", PUBLISHED)
def test_real_data_sets(name: str, raw_data: Callable[[str], Path]) -> None:
    listed = DATASETS[name]
    graph = load_graph(name, data_root=raw_data(listed.source.files[0].path))
    assert counts(graph) == (listed.nodes, listed.edges, listed.features, listed.classes)
    assert graph.name == name
    assert not graph.weighted
    assert set(graph.splits) == ({"train", "val", "test"} if listed.source.split else set())
    if listed.source.split == "public":
        sizes = [len(graph.splits[part]) for part in ("train", "val", "test")]
        assert sizes == [20 * listed.classes, 500, 1000]
    if listed.embedded:
        assert graph.fingerprint == load_graph(name).fingerprint


@pytest.mark.parametrize(
    ("name", "isolated", "notes"),
    [
        ("cora", 0, ["merged 302 duplicate edges"]),
        ("citeseer", 48, ["removed 248 self-loops", "merged 112 duplicate edges"]),
        ("pubmed", 0, ["removed 6 self-loops", "merged 22 duplicate edges"]),
        ("coauthor-cs", 0, []),
        ("coauthor-physics", 0, []),
        ("amazon-computers", 281, ["symmetrised 204,513 edges listed in one direction only"]),
        (
            "amazon-photo",
            115,
            ["removed 1 self-loop", "symmetrised 94,500 edges listed in one direction only"],
        ),
    ],
)
def test_known_traps(
    name: str, isolated: int, notes: list[str], raw_data: Callable[[str], Path]
) -> None:
    """What the guide says of the real files."""
    graph = load_graph(name, data_root=raw_data(DATASETS[name].source.files[0].path))
    assert int((np.diff(graph.adjacency.indptr) == 0).sum()) == isolated
    assert list(graph.notes) == notes
    if name != "pubmed":
        assert (graph.features.data == 1).all()


def test_the_known_checksums_are_those_of_the_files_at_hand(
    raw_data: Callable[[str], Path],
) -> None:
    for path, known in sha256_sums().items():
        content = (raw_data(path) / path).read_bytes()
        assert hashlib.sha256(content).hexdigest() == known, path


def test_known_checksums_are_of_files_in_the_catalogue() -> None:
    listed = {file.path for dataset in DATASETS.values() for file in dataset.source.files}
    assert set(sha256_sums()) <= listed


def test_the_embedded_file_is_the_recorded_one() -> None:
    digest = hashlib.sha256((PACKAGE / "citeseer.npz").read_bytes()).hexdigest()
    assert digest in (PACKAGE / "citeseer.md").read_text("utf-8")


def test_embedded_citeseer() -> None:
    graph = load_graph("CiteSeer")
    listed = DATASETS["citeseer"]
    assert counts(graph) == (listed.nodes, listed.edges, listed.features, listed.classes)
    assert {part: len(nodes) for part, nodes in graph.splits.items()} == {
        "train": 120,
        "val": 500,
        "test": 1000,
    }
    assert graph.labels is not None
    assert np.bincount(graph.labels[graph.splits["train"]]).tolist() == [20] * 6
    unlabelled = np.flatnonzero(graph.labels == -1)
    assert unlabelled.size == 15
    assert graph.features[unlabelled].nnz == 0
    assert sp.issparse(graph.features)
