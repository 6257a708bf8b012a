"""The catalogue of data sets: sizes, raw files and their sources."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ugcl.data.gnn_benchmark import read_gnn_benchmark
from ugcl.data.ogb import SPLIT_PARTS, TABLES, read_ogb
from ugcl.data.planetoid import PARTS, read_planetoid
from ugcl.graph import Graph


@dataclass(frozen=True)
class RawFile:
    """A raw file of a data set, as its authors published it.

    Attributes:
        path: path under the data root, in the layout of PyTorch Geometric or OGB.
        url: URL of the file, or of the archive that contains it.
        member: name in the archive; "" if the URL is that of the file.
    """

    path: str
    url: str
    member: str = ""


@dataclass(frozen=True)
class Source:
    """Raw files of a data set and their reader.

    Attributes:
        page: web page of the files.
        files: the raw files, in the order that the reader expects.
        read: the reader, called with the paths of the files and the graph's name.
        split: name of the published split; "" if there is none.
    """

    page: str
    files: tuple[RawFile, ...]
    read: Callable[[Sequence[Path], str], Graph]
    split: str = ""


@dataclass(frozen=True)
class Dataset:
    """A data set of the catalogue.

    Attributes:
        name: its name for `load_graph`.
        nodes: number of nodes.
        edges: number of undirected edges without duplicates and self-loops.
        features: number of feature columns.
        classes: number of classes.
        source: its raw files and their reader.
        embedded: whether it is shipped with the package.
    """

    name: str
    nodes: int
    edges: int
    features: int
    classes: int
    source: Source
    embedded: bool = False


def _planetoid(folder: str) -> Source:
    home = "https://github.com/kimiyoung/planetoid"
    names = [f"ind.{folder.lower()}.{part}" for part in PARTS]
    return Source(
        f"{home}/tree/master/data",
        tuple(
            RawFile(f"Planetoid/{folder}/raw/{name}", f"{home}/raw/master/data/{name}")
            for name in names
        ),
        read_planetoid,
        split="public",
    )


def _gnn_benchmark(folder: str, name: str) -> Source:
    home = "https://github.com/shchur/gnn-benchmark"
    return Source(
        f"{home}/tree/master/data/npz",
        (RawFile(f"{folder}/raw/{name}", f"{home}/raw/master/data/npz/{name}"),),
        read_gnn_benchmark,
    )


def _ogbn(name: str, split: str) -> Source:
    tables = [f"raw/{table}.csv.gz" for table in TABLES]
    parts = [f"split/{split}/{part}.csv.gz" for part in SPLIT_PARTS]
    url = f"https://snap.stanford.edu/ogb/data/nodeproppred/{name}.zip"
    return Source(
        f"https://ogb.stanford.edu/docs/nodeprop/#ogbn-{name}",
        tuple(RawFile(f"ogbn_{name}/{file}", url, f"{name}/{file}") for file in tables + parts),
        read_ogb,
        split,
    )


_CS = _gnn_benchmark("Coauthor/CS", "ms_academic_cs.npz")
_PHYSICS = _gnn_benchmark("Coauthor/Physics", "ms_academic_phy.npz")
_COMPUTERS = _gnn_benchmark("Amazon/Computers", "amazon_electronics_computers.npz")
_PHOTO = _gnn_benchmark("Amazon/Photo", "amazon_electronics_photo.npz")

DATASETS = {
    dataset.name: dataset
    for dataset in (
        Dataset("cora", 2708, 5278, 1433, 7, _planetoid("Cora")),
        Dataset("citeseer", 3327, 4552, 3703, 6, _planetoid("CiteSeer"), embedded=True),
        Dataset("pubmed", 19717, 44324, 500, 3, _planetoid("PubMed")),
        Dataset("coauthor-cs", 18333, 81894, 6805, 15, _CS),
        Dataset("coauthor-physics", 34493, 247962, 8415, 5, _PHYSICS),
        Dataset("amazon-computers", 13752, 245861, 767, 10, _COMPUTERS),
        Dataset("amazon-photo", 7650, 119081, 745, 8, _PHOTO),
        Dataset("ogbn-arxiv", 169343, 1157799, 128, 40, _ogbn("arxiv", split="time")),
    )
}
