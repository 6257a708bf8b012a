"""The named data sets, and `load_graph`, which finds a graph by name or path."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from ugcl.data.gnn_benchmark import read_gnn_benchmark
from ugcl.data.npz import read_npz
from ugcl.data.planetoid import PARTS, read_planetoid
from ugcl.errors import UGCLError
from ugcl.graph import Graph
from ugcl.suggest import unknown


@dataclass(frozen=True)
class Dataset:
    """A named data set and where it comes from.

    Attributes:
        name: what `load_graph` calls it.
        nodes: number of nodes.
        edges: number of undirected edges without duplicates and self-loops.
        features: number of feature columns.
        classes: number of classes.
        files: its raw files, relative to the data root.
        read: the reader of these files.
        embedded: whether it comes with the package.
    """

    name: str
    nodes: int
    edges: int
    features: int
    classes: int
    files: tuple[str, ...]
    read: Callable[[Sequence[Path], str], Graph]
    embedded: bool = False


def _planetoid(folder: str) -> tuple[str, ...]:
    return tuple(f"Planetoid/{folder}/raw/ind.{folder.lower()}.{part}" for part in PARTS)


DATASETS = {
    dataset.name: dataset
    for dataset in (
        Dataset("cora", 2708, 5278, 1433, 7, _planetoid("Cora"), read_planetoid),
        Dataset(
            "citeseer", 3327, 4552, 3703, 6, _planetoid("CiteSeer"), read_planetoid, embedded=True
        ),
        Dataset("pubmed", 19717, 44324, 500, 3, _planetoid("PubMed"), read_planetoid),
        Dataset(
            "coauthor-cs",
            18333,
            81894,
            6805,
            15,
            ("Coauthor/CS/raw/ms_academic_cs.npz",),
            read_gnn_benchmark,
        ),
        Dataset(
            "coauthor-physics",
            34493,
            247962,
            8415,
            5,
            ("Coauthor/Physics/raw/ms_academic_phy.npz",),
            read_gnn_benchmark,
        ),
        Dataset(
            "amazon-computers",
            13752,
            245861,
            767,
            10,
            ("Amazon/Computers/raw/amazon_electronics_computers.npz",),
            read_gnn_benchmark,
        ),
        Dataset(
            "amazon-photo",
            7650,
            119081,
            745,
            8,
            ("Amazon/Photo/raw/amazon_electronics_photo.npz",),
            read_gnn_benchmark,
        ),
    )
}


def load_graph(name_or_path: str | Path, data_root: str | Path | None = None) -> Graph:
    """Load a graph by the name of a data set or the path of a file.

    Args:
        name_or_path: a name that `ugcl datasets` lists, or a file written by `Graph.save`.
        data_root: the folder of raw data sets, laid out as PyTorch Geometric does; by default
            the environment's UGCL_DATA, else the user's cache. A data set that comes with the
            package is read from a data root only if it is given here.
    """
    if (dataset := DATASETS.get(str(name_or_path).lower())) is not None:
        if dataset.embedded and data_root is None:
            with resources.as_file(resources.files("ugcl.data") / f"{dataset.name}.npz") as path:
                return read_npz(path)
        return dataset.read(_raw_files(dataset, default_data_root(data_root)), dataset.name)
    path = Path(name_or_path)
    if path.is_file():
        return read_npz(path)
    raise UGCLError(_not_found(str(name_or_path), path))


def _raw_files(dataset: Dataset, root: Path) -> list[Path]:
    """The raw files, all of them there."""
    files = [root / file for file in dataset.files]
    if missing := [file.name for file in files if not file.is_file()]:
        raise UGCLError(
            f"{dataset.name} is not complete: {', '.join(missing)} missing in {files[0].parent}; "
            "put the files there, or name the folder that holds them with --data-root or UGCL_DATA"
        )
    return files


def default_data_root(given: str | Path | None = None) -> Path:
    """The data root: as given, else UGCL_DATA, else `ugcl` in the user's cache folder."""
    if given is not None:
        return Path(given)
    if named := os.environ.get("UGCL_DATA"):
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ugcl"


def _not_found(asked: str, path: Path) -> str:
    known = ", ".join(DATASETS)
    if path.is_dir():
        return f"{asked} is a folder: give a data set's name ({known}) or a graph file"
    if path.suffix or len(path.parts) > 1:
        return f"there is no file {asked}: check the path, or give a data set's name ({known})"
    return unknown("data set or file", asked, DATASETS)
