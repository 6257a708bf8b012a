"""`NodeTransformer`: from node ids to embeddings, as a step of scikit-learn pipelines."""

from __future__ import annotations

import threading
from copy import copy
from typing import Any, Self
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from ugcl._utils.errors import UGCLError
from ugcl.estimators import Embedder, MultiScope
from ugcl.graph import Graph
from ugcl.methods import get_method

MAX_CACHED = 2**28
"""Bytes of embeddings that are kept for a graph; those of the last training are always kept."""

_cache: WeakKeyDictionary[Graph, dict[str, tuple[Embedder, Any]]] = WeakKeyDictionary()
"""The last trainings on each graph, by parameters: fitted estimator and embeddings, so that clones
of a transformer, as in cross-validation and grid search, train once."""

_lock = threading.Lock()


class NodeTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """From node ids to embeddings: a step of a scikit-learn pipeline.

    `fit` trains on the whole graph, without labels, whichever ids it gets, so no labels leak from
    one fold into the embeddings of another. Clones with the same parameters share one training
    in a process; the workers of `n_jobs` above 1 train once each.
    Settings of the estimator are nested parameters, for example `estimator__hidden`.

    Args:
        graph: the graph, whose ids (0 to N - 1 where it has none) `transform` takes.
        estimator: an unsupervised estimator, for example `ugcl.GRACE()`; by default
            `ugcl.MultiScope()`.

    Attributes:
        estimator_: the fitted estimator.
        embeddings_: the embeddings of all nodes, in the graph's order.
        n_features_in_: 1, the column of ids.
    """

    estimator_: Embedder
    embeddings_: Any
    n_features_in_: int

    def __init__(self, graph: Graph, estimator: Embedder | None = None) -> None:
        self.graph = graph
        self.estimator = estimator

    def fit(self, X: Any, y: Any = None) -> Self:
        """Train on the graph.

        Args:
            X: ids of nodes of the graph.
            y: ignored, present for scikit-learn.
        """
        if not isinstance(self.graph, Graph):
            raise UGCLError(
                f"NodeTransformer takes a Graph, not {type(self.graph).__name__}: see read_graph"
            )
        estimator = MultiScope() if self.estimator is None else self.estimator
        if not isinstance(estimator, Embedder):
            raise UGCLError(
                f"`estimator` must be an estimator of ugcl, for example GRACE(), not {estimator!r}"
            )
        if (method := get_method(estimator.method)).supervised:
            raise UGCLError(
                f"{method.name} learns from labels, which would leak into the test nodes: use an "
                "unsupervised method, or Classifier"
            )
        self._rows(X)
        fitted, self.embeddings_ = _trained(estimator, self.graph)
        self.estimator_ = copy(fitted)
        self.n_features_in_ = 1
        return self

    def transform(self, X: Any) -> Any:
        """Return the embeddings of these nodes, one row for each."""
        check_is_fitted(self, "embeddings_")
        return self.embeddings_[self._rows(X)]

    @property
    def _n_features_out(self) -> int:
        """Number of output columns, by which scikit-learn names them."""
        return int(self.embeddings_.shape[1])

    def _rows(self, X: Any) -> npt.NDArray[np.int64]:
        """Return the row of each node."""
        names = _column(X)
        known = np.arange(self.graph.num_nodes) if self.graph.ids is None else self.graph.ids
        if known.dtype.kind == "U":
            names = names.astype(np.str_)
        elif names.dtype.kind not in "iu":
            names = _integers(names)
        order = np.argsort(known, kind="stable")
        places = np.searchsorted(known, names, sorter=order).clip(0, known.size - 1)
        rows = order[places]
        if (strange := known[rows] != names).any():
            shown = ", ".join(str(name) for name in names[strange][:3])
            raise UGCLError(
                f"{int(strange.sum()):,} of {names.size:,} ids are not in the graph ({shown}): X "
                "must hold ids of the graph's nodes"
            )
        return np.asarray(rows)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.one_d_array = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.no_validation = True
        tags.transformer_tags.preserves_dtype = []
        return tags


def _trained(estimator: Embedder, graph: Graph) -> tuple[Embedder, Any]:
    """Return a fitted clone and the embeddings, which are computed once for equal parameters."""
    key = f"{type(estimator)} {estimator.get_params()}"
    with _lock:
        cached = _cache.setdefault(graph, {})
        if key in cached:
            return cached[key]
        fitted = clone(estimator)
        embeddings = fitted.fit_embed(graph)
        (embeddings.data if sp.issparse(embeddings) else embeddings).flags.writeable = False
        cached[key] = fitted, embeddings
        while len(cached) > 1 and sum(_num_bytes(rows) for _, rows in cached.values()) > MAX_CACHED:
            del cached[next(iter(cached))]
    return fitted, embeddings


def _num_bytes(embeddings: Any) -> int:
    return int((embeddings.data if sp.issparse(embeddings) else embeddings).nbytes)


def _column(X: Any) -> npt.NDArray[Any]:
    """Return ids as an array, from a list, an array or the one column of a frame."""
    if sp.issparse(X):
        raise UGCLError("X must hold ids of nodes, not a sparse matrix")
    names = np.asarray(X)
    if names.ndim == 2 and names.shape[1] == 1:
        names = names[:, 0]
    if names.ndim != 1:
        raise UGCLError(f"X must hold one id for each row, not {names.shape}")
    if names.size == 0:
        raise UGCLError("X has no ids: pass at least one")
    return names


def _integers(names: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Convert ids from text or floats to integers."""
    try:
        integers = names.astype(np.int64)
        if names.dtype.kind == "U" or (names.dtype.kind != "b" and (integers == names).all()):
            return integers
    except (OverflowError, TypeError, ValueError):
        pass
    raise UGCLError(
        f"the graph's ids are integers, but X has {names[0]!r} or another id that is not: X must "
        "hold ids of the graph's nodes"
    )
