"""`load_graph`: load a graph by name or path."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ugcl._utils.errors import UGCLError
from ugcl._utils.files import READ_ERRORS
from ugcl._utils.suggest import unknown
from ugcl.data.cache import read_cached, user_cache
from ugcl.data.catalogue import DATASETS, Dataset
from ugcl.data.download import raw_files, sha256_sums
from ugcl.data.readers.files import GraphFiles
from ugcl.data.readers.paths import is_several
from ugcl.graph import Graph
from ugcl.graph.folder import is_graph_folder

if TYPE_CHECKING:
    from ugcl.data.readers.nodes import ExpectedFeatures


def load_graph(
    name_or_path: Any,
    data_root: str | Path | None = None,
    *,
    expected: ExpectedFeatures | None = None,
) -> Graph:
    """Load a graph by the name of a data set or the path of a file.

    Args:
        name_or_path: a name that `ugcl datasets` lists; a file written by `Graph.save`; the folder
            of a graph, whose arrays are mapped into memory; a file of edges, or several as a folder
            or a glob, as `read_graph` accepts them; or `GraphFiles`, whose edges may be any of
            these if only labels are added. A graph of NetworkX, igraph or PyTorch Geometric, or
            any other object that `read_graph` takes as edges, stands for a file.
        data_root: folder of raw data sets in the layouts of PyTorch Geometric and OGB; by default
            the environment variable UGCL_DATA, else the user's cache. Missing files are
            downloaded. A data set that is shipped with the package is read from a data root only if
            it is passed here.
        expected: features that a trained model expects.
    """
    if isinstance(name_or_path, Graph):
        return name_or_path
    if not isinstance(name_or_path, str | Path | GraphFiles | Sequence):
        from ugcl.data.readers.read import read_graph  # slow to import

        return read_graph(name_or_path, expected=expected)
    if isinstance(name_or_path, GraphFiles):
        return _from_files(name_or_path, data_root, expected)
    if (dataset := DATASETS.get(str(name_or_path).lower())) is not None:
        if dataset.embedded and data_root is None:
            with resources.as_file(resources.files("ugcl.data") / f"{dataset.name}.npz") as path:
                return Graph.load(path)
        return _from_raw_files(dataset, default_data_root(data_root))
    path = Path(str(name_or_path))
    if is_graph_folder(path):
        return Graph.open(path)
    if is_several(name_or_path):
        return _from_files(GraphFiles(edges=str(name_or_path)), data_root, expected)
    if path.is_file():
        if _is_edge_file(path):
            return _from_files(GraphFiles(edges=str(path)), data_root, expected)
        return Graph.load(path)
    raise UGCLError(_not_found(str(name_or_path), path))


def default_data_root(data_root: str | Path | None = None) -> Path:
    """Return `data_root`, else UGCL_DATA, else `ugcl` in the user's cache folder."""
    return Path(data_root or os.environ.get("UGCL_DATA") or user_cache())


def _from_files(
    files: GraphFiles, data_root: str | Path | None, expected: ExpectedFeatures | None
) -> Graph:
    from ugcl.data.readers.read import read_files, with_labels  # slow to import

    path = Path(files.edges)
    if files.edges.lower() not in DATASETS and (_is_edge_file(path) or not path.exists()):
        return read_files(files, expected)
    for_labels = ("labels", "id", "label", "split")
    if others := [name for name in files.values() if name not in for_labels]:
        raise UGCLError(
            f"{files.edges} is a complete graph and cannot be combined with `{others[0]}`: pass a "
            "file of edges as `edges`, or leave it out"
        )
    graph = load_graph(files.edges, data_root)
    return with_labels(graph, files) if files.labels else graph


def _is_edge_file(path: Path) -> bool:
    """Return whether a file contains edges: any but the folder or the `.npz` of a graph."""
    from ugcl.data.readers.arrays import is_matrix

    if is_graph_folder(path):
        return False
    return path.suffix.lower() != ".npz" or is_matrix(path)


def _from_raw_files(dataset: Dataset, root: Path) -> Graph:
    files = raw_files(dataset, root)
    known = {root / path: digest for path, digest in sha256_sums().items()}
    try:
        return read_cached(dataset.name, files, dataset.source.read, known)
    except READ_ERRORS as error:
        folder = os.path.commonpath([file.parent for file in files])
        raise UGCLError(
            f"the files of {dataset.name} in {folder} cannot be read ({error}): delete them to "
            f"have them downloaded again, or get them from {dataset.source.page}"
        ) from error


def _not_found(name: str, path: Path) -> str:
    names = ", ".join(DATASETS)
    if path.suffix or len(path.parts) > 1:
        return f"there is no file {name}: check the path, or give a data set's name ({names})"
    return unknown("data set or file", name, DATASETS)
