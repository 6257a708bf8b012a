"""Reader of the package's own graph format, the `.npz` that `Graph.save` writes."""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from ugcl._utils.errors import UGCLError
from ugcl.graph import FORMAT, Graph
from ugcl.graph.validation import SPLIT_PARTS

UNREADABLE = (
    AttributeError,
    EOFError,
    LookupError,
    OSError,
    OverflowError,
    RuntimeError,
    TypeError,
    ValueError,
    zipfile.BadZipFile,
    zlib.error,
)
"""What NumPy, SciPy and PyArrow raise at a file that is damaged or something else."""


def read_npz(path: Path) -> Graph:
    """Read a graph, without unpickling anything."""
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        if (found := str(arrays["format"])) != FORMAT:
            raise UGCLError(f"{path} is in the format '{found}', this version reads '{FORMAT}'")
        return _graph(arrays)
    except UGCLError:
        raise
    except UNREADABLE as error:
        raise UGCLError(
            f"{path} is not a graph that ugcl can read: give a data set's name or an .npz file "
            "written by Graph.save"
        ) from error


def _graph(arrays: dict[str, Any]) -> Graph:
    if "features" in arrays:
        features = arrays["features"]
    else:
        features = sp.csr_array(
            tuple(arrays[f"features_{part}"] for part in ("data", "indices", "indptr")),
            shape=tuple(arrays["features_shape"]),
        )
    indices = arrays["adjacency_indices"]
    weights = arrays.get("adjacency_data")
    upper = sp.csr_array(
        (
            np.ones(indices.size, dtype=np.float32) if weights is None else weights,
            indices,
            arrays["adjacency_indptr"],
        ),
        shape=(features.shape[0],) * 2,
    )
    upper.check_format(full_check=True)
    return Graph(
        upper + upper.T,
        features,
        labels=arrays.get("labels"),
        splits={part: arrays[f"split_{part}"] for part in SPLIT_PARTS if f"split_{part}" in arrays},
        ids=arrays.get("ids"),
        name=str(arrays["name"]),
        weighted=weights is not None,
        notes=_texts(arrays, "notes") or (),
        class_names=_texts(arrays, "class_names"),
        feature_names=_texts(arrays, "feature_names"),
    )


def _texts(arrays: dict[str, Any], name: str) -> tuple[str, ...] | None:
    return tuple(arrays[name].tolist()) if name in arrays else None
