"""What a graph's parts must look like; each check returns the part in its stored form."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ugcl._utils.errors import UGCLError

SPLIT_PARTS = ("train", "val", "test")
UNLABELLED = -1


def checked_features(given: Any) -> Any:
    """N x D finite numbers, as float32; sparse stays sparse (CSR)."""
    if sp.issparse(given):
        try:
            with np.errstate(over="ignore"):
                features = sp.csr_array(given, dtype=np.float32, copy=True)
            features.check_format(full_check=True)
        except ValueError as error:
            raise UGCLError(f"the sparse features are not well formed: {error}") from error
        features.sum_duplicates()
        values = features.data
    else:
        try:
            with np.errstate(over="ignore"):
                features = np.array(given, dtype=np.float32, order="C")
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
        raise UGCLError(
            f"{len(bad):,} feature value(s) are NaN or infinite, the first at node {row}, "
            f"column {column}: replace them, for example by 0 or the column's mean"
        )
    if sp.issparse(features):
        return frozen_csr(features)
    features.flags.writeable = False
    return features


def _entry(matrix: Any, position: int) -> tuple[int, int]:
    """Row and column of a CSR matrix's stored value number `position`."""
    row = int(np.searchsorted(matrix.indptr, position, side="right")) - 1
    return row, int(matrix.indices[position])


def checked_labels(given: npt.ArrayLike | None, num_nodes: int) -> npt.NDArray[np.int64] | None:
    """One whole number for each node."""
    if given is None:
        return None
    labels = np.asarray(given)
    if labels.shape != (num_nodes,):
        raise UGCLError(
            f"there are {num_nodes:,} nodes but the labels have the shape {labels.shape}: give one "
            f"label for each node, {UNLABELLED} where it is not known"
        )
    if not np.issubdtype(labels.dtype, np.integer):
        raise UGCLError(
            f"labels must be whole numbers from 0, not {labels.dtype}: number the classes"
        )
    if labels.min() < UNLABELLED:
        raise UGCLError(
            f"labels must be whole numbers from 0 ({UNLABELLED} where not known), "
            f"but one of them is {labels.min()}"
        )
    return _frozen(labels.astype(np.int64))


def checked_splits(
    given: Mapping[str, npt.ArrayLike], labels: npt.NDArray[np.int64] | None, num_nodes: int
) -> Mapping[str, npt.NDArray[np.int64]]:
    """Disjoint sets of labelled nodes, as sorted node numbers."""
    owner = np.full(num_nodes, "", dtype="<U5")
    splits = {}
    for part, members in given.items():
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
                f"split part '{part}' must hold node numbers or a boolean mask, not {nodes.dtype}"
            )
        if np.unique(nodes).size < nodes.size:
            raise UGCLError(
                f"split part '{part}' names a node twice: give distinct node numbers, or a mask "
                "of booleans"
            )
        nodes = np.sort(nodes.astype(np.int64).reshape(-1))
        if nodes.size and (nodes[0] < 0 or nodes[-1] >= num_nodes):
            raise UGCLError(
                f"split part '{part}' names node {nodes[0] if nodes[0] < 0 else nodes[-1]}, "
                f"but the graph has {num_nodes:,} nodes, numbered from 0"
            )
        if (taken := owner[nodes] != "").any():
            node = nodes[taken][0]
            raise UGCLError(
                f"split parts '{owner[node]}' and '{part}' share {int(taken.sum()):,} node(s), "
                f"the first being {node}: a node belongs to one part at most"
            )
        if labels is not None and (unlabelled := labels[nodes] == UNLABELLED).any():
            raise UGCLError(
                f"split part '{part}' holds {int(unlabelled.sum()):,} node(s) without a label, "
                f"the first being {nodes[unlabelled][0]}: leave them out of the split"
            )
        owner[nodes] = part
        splits[part] = _frozen(nodes)
    return MappingProxyType(splits)


def checked_ids(given: npt.ArrayLike | None, num_nodes: int) -> npt.NDArray[Any] | None:
    """One distinct name for each node; unless all are whole numbers, all become text."""
    if given is None:
        return None
    if not (isinstance(given, np.ndarray) and given.dtype.kind in "iuU"):
        names = list(cast(Iterable[Any], given))
        whole = all(isinstance(name, int | np.integer) for name in names)
        given = np.array(names if whole else [str(name) for name in names])
    ids = given
    if ids.shape != (num_nodes,):
        raise UGCLError(f"there are {num_nodes:,} nodes but {ids.size:,} ids: give one each")
    distinct, counts = np.unique(ids, return_counts=True)
    if distinct.size < num_nodes:
        twice = distinct[counts.argmax()]
        raise UGCLError(f"ids must be distinct, but {counts.max()} nodes are called '{twice}'")
    return _frozen(ids.copy())


def checked_names(what: str, given: Iterable[str] | None, count: int) -> tuple[str, ...] | None:
    """One distinct name for each class or column."""
    if given is None:
        return None
    names = tuple(str(name) for name in given)
    if len(names) != count or len(set(names)) != count:
        raise UGCLError(
            f"there must be {count:,} distinct {what} names, one each, but there are "
            f"{len(set(names)):,} of {len(names):,}"
        )
    return names


def num_classes(labels: npt.NDArray[np.int64] | None) -> int:
    """The number of classes; 0 without labels."""
    return 0 if labels is None else int(labels.max(initial=UNLABELLED)) + 1


def _frozen(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    array.flags.writeable = False
    return array


def frozen_csr(matrix: Any) -> Any:
    """The matrix itself, its three arrays made read-only."""
    matrix.has_canonical_format = True
    for part in (matrix.data, matrix.indices, matrix.indptr):
        _frozen(part)
    return matrix
