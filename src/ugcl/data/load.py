"""`load_graph`, which finds a graph by name or path."""

from __future__ import annotations

import os
from importlib import resources
from pathlib import Path

from ugcl._utils.errors import UGCLError
from ugcl._utils.suggest import unknown
from ugcl.data.cache import parsed, user_cache
from ugcl.data.catalogue import DATASETS, Dataset
from ugcl.data.download import raw_files
from ugcl.data.npz import UNREADABLE, read_npz
from ugcl.data.readers import GraphFiles, with_labels
from ugcl.data.readers.arrays import is_matrix
from ugcl.data.readers.nodes import Like
from ugcl.data.readers.read import read_files
from ugcl.graph import Graph


def load_graph(
    name_or_path: str | Path | GraphFiles,
    data_root: str | Path | None = None,
    *,
    like: Like | None = None,
) -> Graph:
    """Load a graph by the name of a data set or the path of a file.

    Args:
        name_or_path: a name that `ugcl datasets` lists; a file written by `Graph.save`; a file of
            edges, as `read_graph` takes it; or the files of a graph, whose edges may be any of
            these if nothing but labels comes with them.
        data_root: the folder of raw data sets, laid out as PyTorch Geometric and OGB do; by
            default the environment's UGCL_DATA, else the user's cache. Files that are missing
            there are downloaded. A data set that comes with the package is read from a data
            root only if it is given here.
        like: what the features are to be like, where they must suit a trained model.
    """
    if isinstance(name_or_path, GraphFiles):
        return _from_files(name_or_path, data_root, like)
    if (dataset := DATASETS.get(str(name_or_path).lower())) is not None:
        if dataset.embedded and data_root is None:
            with resources.as_file(resources.files("ugcl.data") / f"{dataset.name}.npz") as path:
                return read_npz(path)
        return _from_raw_files(dataset, raw_files(dataset, default_data_root(data_root)))
    path = Path(name_or_path)
    if path.is_file():
        return read_files(GraphFiles(edges=str(path)), like) if _is_list(path) else read_npz(path)
    raise UGCLError(_not_found(str(name_or_path), path))


def default_data_root(given: str | Path | None = None) -> Path:
    """The data root: as given, else UGCL_DATA, else `ugcl` in the user's cache folder."""
    return Path(given or os.environ.get("UGCL_DATA") or user_cache())


def _from_files(files: GraphFiles, data_root: str | Path | None, like: Like | None) -> Graph:
    named = files.edges.lower() in DATASETS
    if not named and (_is_list(Path(files.edges)) or not Path(files.edges).is_file()):
        return read_files(files, like)
    of_labels = ("labels", "id", "label", "split")
    if others := [name for name in files.values() if name not in of_labels]:
        raise UGCLError(
            f"{files.edges} is a whole graph and takes no '{others[0]}' from elsewhere: give a "
            "file of edges (--edges), or leave it out"
        )
    graph = load_graph(files.edges, data_root)
    return with_labels(graph, files) if files.labels else graph


def _is_list(path: Path) -> bool:
    """Whether a file holds edges alone: any but an `.npz` that is no SciPy matrix."""
    return path.suffix.lower() != ".npz" or is_matrix(path)


def _from_raw_files(dataset: Dataset, files: list[Path]) -> Graph:
    try:
        return parsed(dataset.name, files, dataset.source.read)
    except UNREADABLE as error:
        folder = os.path.commonpath([file.parent for file in files])
        raise UGCLError(
            f"the files of {dataset.name} in {folder} cannot be read ({error}): delete them to "
            f"have them downloaded again, or get them from {dataset.source.page}"
        ) from error


def _not_found(asked: str, path: Path) -> str:
    known = ", ".join(DATASETS)
    if path.is_dir():
        return f"{asked} is a folder: give a data set's name ({known}) or a graph file"
    if path.suffix or len(path.parts) > 1:
        return f"there is no file {asked}: check the path, or give a data set's name ({known})"
    return unknown("data set or file", asked, DATASETS)
