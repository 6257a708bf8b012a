"""The `.npz` file of a graph, as `Graph.save` writes and `Graph.load` reads it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ugcl._utils.errors import UGCLError
from ugcl._utils.expansion import open_npz
from ugcl._utils.files import READ_ERRORS, write_npz
from ugcl._utils.formats import check_format
from ugcl.graph.validation import SPLIT_PARTS
from ugcl.typing import CSRMatrix, Features

if TYPE_CHECKING:
    from ugcl.graph.graph import Graph

Arrays = Mapping[str, npt.NDArray[Any]]

FORMAT, VERSION = "ugcl-graph", 1
"""What the file says that it is, and the version of its format."""

TEXTS = ("notes", "class_names", "feature_names")


NAMES = {
    *("format", "name", "adjacency_indptr", "adjacency_indices", "adjacency_data", "labels", "ids"),
    *("features", "features_indptr", "features_indices", "features_data", "features_shape"),
    *(f"split_{part}" for part in SPLIT_PARTS),
    *TEXTS,
}
"""Arrays of the file."""


def save_npz(graph: Graph, path: Path, *, compressed: bool) -> None:
    """Write a graph without pickles: the upper triangle of A, X, and what else it has."""
    upper = sp.triu(graph.adjacency, format="csr")
    features = graph.features
    arrays: dict[str, npt.NDArray[Any]] = {
        "format": np.array(f"{FORMAT}-{VERSION}"),
        "name": np.array(graph.name),
        "adjacency_indptr": _narrow(upper.indptr),
        "adjacency_indices": _narrow(upper.indices),
    }
    if graph.weighted:
        arrays["adjacency_data"] = upper.data
    if sp.issparse(features):
        arrays["features_indptr"] = _narrow(features.indptr)
        arrays["features_indices"] = _narrow(features.indices)
        arrays["features_data"] = features.data
        arrays["features_shape"] = np.array(features.shape)
    else:
        arrays["features"] = features
    if graph.labels is not None:
        arrays["labels"] = _narrow(graph.labels)
    for part, nodes in graph.splits.items():
        arrays[f"split_{part}"] = _narrow(nodes)
    if graph.ids is not None:
        arrays["ids"] = graph.ids
    for name in TEXTS:
        if texts := getattr(graph, name):
            arrays[name] = np.array(texts)
    write_npz(path, arrays, compressed=compressed)


def load_npz(path: Path) -> dict[str, Any]:
    """Read the arguments of `Graph` from a file, without unpickling anything."""
    try:
        with open_npz(path) as archive:
            prefix, _, number = str(archive["format"]).rpartition("-")
            if prefix != FORMAT:
                raise ValueError(f"it is in the format '{prefix}'")
            check_format(path, int(number), VERSION)
            if unknown := set(archive.files) - NAMES:
                raise ValueError(f"it has an array '{min(unknown)}'")
            archive.check(archive.files)
            arrays = {name: archive[name] for name in archive.files}
        return _graph_args(arrays)
    except UGCLError:
        raise
    except READ_ERRORS as error:
        raise UGCLError(
            f"{path} is not a graph that ugcl can read: give a data set's name or an .npz file "
            "written by Graph.save"
        ) from error


def _graph_args(arrays: Arrays) -> dict[str, Any]:
    features: Features = arrays.get("features")
    if features is None:
        shape = tuple(arrays["features_shape"])
        features = _csr(arrays, "features", arrays["features_data"], shape)
    weights = arrays.get("adjacency_data")
    values = np.ones(arrays["adjacency_indices"].size, np.float32) if weights is None else weights
    upper = _csr(arrays, "adjacency", values, (features.shape[0],) * 2)
    upper.check_format(full_check=True)
    return {
        "adjacency": upper + upper.T,
        "features": features,
        "labels": arrays.get("labels"),
        "splits": {
            part: arrays[f"split_{part}"] for part in SPLIT_PARTS if f"split_{part}" in arrays
        },
        "ids": arrays.get("ids"),
        "name": str(arrays["name"]),
        "weighted": weights is not None,
        **{name: tuple(arrays[name].tolist()) for name in TEXTS if name in arrays},
    }


def _csr(arrays: Arrays, name: str, values: npt.NDArray[Any], shape: tuple[int, ...]) -> CSRMatrix:
    parts = (values, arrays[f"{name}_indices"], arrays[f"{name}_indptr"])
    return sp.csr_array(parts, shape=shape)


def _narrow(integers: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Cast integers to the smallest type that holds them."""
    low, high = int(integers.min(initial=0)), int(integers.max(initial=0))
    return integers.astype(np.result_type(np.min_scalar_type(low), np.min_scalar_type(high)))
