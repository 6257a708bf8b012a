"""Validation of the parts of a graph; each check returns the part as `Graph` stores it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ugcl._utils.errors import UGCLError
from ugcl.typing import CSRMatrix, Features, LabelArray, NodeIndices

SPLIT_PARTS = ("train", "val", "test")
UNLABELLED = -1


def checked_features(features: Features) -> Features:
    """Return N x D finite numbers as float32; a sparse matrix becomes CSR."""
    if sp.issparse(features):
        try:
            with np.errstate(over="ignore"):
                features = sp.csr_array(features, dtype=np.float32, copy=True)
            features.check_format(full_check=True)
        except ValueError as error:
            raise UGCLError(f"the sparse features are not well formed: {error}") from error
        features.sum_duplicates()
        values = features.data
    else:
        try:
            with np.errstate(over="ignore"):
                features = np.array(features, dtype=np.float32, order="C")
        except (RuntimeError, TypeError, ValueError) as error:
            raise UGCLError(f"features must be a table of numbers: {error}") from error
        values = features
    if features.ndim != 2 or 0 in features.shape:
        raise UGCLError(
            f"features must be a table with at least one row and one column, not {features.shape}"
        )
    if not np.isfinite(values).all():
        bad = np.argwhere(~np.isfinite(values))
        row, column = bad[0] if features is values else _entry(features, int(bad[0, 0]))
        raise not_finite(len(bad), int(row), int(column))
    if sp.issparse(features):
        return frozen_csr(features)
    return _frozen(features)


def not_finite(count: int, row: int, column: int) -> UGCLError:
    """Return the error for feature values that are NaN or infinite, the first being here."""
    return UGCLError(
        f"{count:,} feature value(s) are NaN or infinite, the first at node {row}, "
        f"column {column}: replace them, for example by 0 or the column's mean"
    )


def _entry(matrix: CSRMatrix, position: int) -> tuple[int, int]:
    """Return row and column of a stored value of a CSR matrix."""
    row = int(np.searchsorted(matrix.indptr, position, side="right")) - 1
    return row, int(matrix.indices[position])


def checked_labels(labels: npt.ArrayLike | None, num_nodes: int) -> LabelArray | None:
    """Return one integer for each node, at least -1."""
    if labels is None:
        return None
    labels = np.asarray(labels)
    if labels.shape != (num_nodes,):
        raise UGCLError(
            f"there are {num_nodes:,} nodes but the labels have the shape {labels.shape}: give one "
            f"label for each node, {UNLABELLED} where it is unknown"
        )
    if not np.issubdtype(labels.dtype, np.integer):
        raise UGCLError(f"labels must be integers from 0, not {labels.dtype}: number the classes")
    if labels.min() < UNLABELLED:
        raise UGCLError(
            f"labels must be integers from 0 ({UNLABELLED} where unknown), "
            f"but one of them is {labels.min()}"
        )
    return _frozen(labels.astype(np.int64))


def checked_splits(
    splits: Mapping[str, npt.ArrayLike], labels: LabelArray | None, num_nodes: int
) -> Mapping[str, NodeIndices]:
    """Return disjoint sets of labelled nodes as sorted indices."""
    part_of_node = np.full(num_nodes, "", dtype="<U5")
    checked = {}
    for part, members in splits.items():
        if part not in SPLIT_PARTS:
            raise UGCLError(f"there is no split part '{part}': use {', '.join(SPLIT_PARTS)}")
        nodes = np.asarray(members)
        if nodes.dtype == bool:
            if nodes.shape != (num_nodes,):
                raise UGCLError(
                    f"the mask of split part '{part}' has the shape {nodes.shape} "
                    f"but there are {num_nodes:,} nodes"
                )
            nodes = np.flatnonzero(nodes)
        if nodes.size and not np.issubdtype(nodes.dtype, np.integer):
            raise UGCLError(
                f"split part '{part}' must hold node indices or a boolean mask, not {nodes.dtype}"
            )
        if np.unique(nodes).size < nodes.size:
            raise UGCLError(
                f"split part '{part}' contains a node twice: give distinct indices or a mask"
            )
        nodes = np.sort(nodes.astype(np.int64).reshape(-1))
        if nodes.size and (nodes[0] < 0 or nodes[-1] >= num_nodes):
            raise UGCLError(
                f"split part '{part}' contains node {nodes[0] if nodes[0] < 0 else nodes[-1]}, "
                f"but the graph has {num_nodes:,} nodes, numbered from 0"
            )
        if (overlap := part_of_node[nodes] != "").any():
            node = nodes[overlap][0]
            raise UGCLError(
                f"split parts '{part_of_node[node]}' and '{part}' share {int(overlap.sum()):,} "
                f"node(s), the first being {node}: a node belongs to one part at most"
            )
        if labels is not None and (unlabelled := labels[nodes] == UNLABELLED).any():
            raise UGCLError(
                f"split part '{part}' holds {int(unlabelled.sum()):,} node(s) without a label, "
                f"the first being {nodes[unlabelled][0]}: leave them out of the split"
            )
        part_of_node[nodes] = part
        checked[part] = _frozen(nodes)
    return MappingProxyType(checked)


def checked_ids(ids: npt.ArrayLike | None, num_nodes: int) -> npt.NDArray[Any] | None:
    """Return one distinct id for each node; unless all are integers, all become strings."""
    if ids is None:
        return None
    if not (isinstance(ids, np.ndarray) and ids.dtype.kind in "iuU"):
        values = list(cast(Iterable[Any], ids))
        integers = all(isinstance(value, int | np.integer) for value in values)
        if not integers:
            values = [str(value) for value in values]
            _refuse_nul(values)
        ids = np.array(values)
    elif ids.dtype.kind == "U":
        _refuse_nul(ids.tolist())
    if ids.shape != (num_nodes,):
        raise UGCLError(f"there are {num_nodes:,} nodes but {ids.size:,} ids: give one each")
    distinct, counts = np.unique(ids, return_counts=True)
    if distinct.size < num_nodes:
        repeated = distinct[counts.argmax()]
        raise UGCLError(f"ids must be distinct, but {counts.max()} nodes have the id '{repeated}'")
    return _frozen(ids.copy())


def _refuse_nul(texts: list[Any]) -> None:
    """Refuse ids with NUL characters, which NumPy drops at the end of text."""
    if "\0" in "".join(texts):
        shown = repr(next(text for text in texts if "\0" in text))
        raise UGCLError(f"the id {shown:.60} contains a NUL character: remove it from the ids")


def checked_names(what: str, names: Iterable[str] | None, count: int) -> tuple[str, ...] | None:
    """Return one distinct name for each class or feature."""
    if names is None:
        return None
    names = tuple(str(name) for name in names)
    if len(names) != count or len(set(names)) != count:
        raise UGCLError(
            f"there must be {count:,} distinct {what} names, but there are {len(names):,}, "
            f"{len(set(names)):,} of them distinct"
        )
    return names


def num_classes(labels: LabelArray | None) -> int:
    """Return the number of classes; 0 without labels."""
    return 0 if labels is None else int(labels.max(initial=UNLABELLED)) + 1


def _frozen(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    array.flags.writeable = False
    return array


def frozen_csr(matrix: CSRMatrix) -> CSRMatrix:
    """Make the three arrays of a CSR matrix read-only and return the matrix."""
    matrix.has_canonical_format = True
    for part in (matrix.data, matrix.indices, matrix.indptr):
        _frozen(part)
    return matrix
