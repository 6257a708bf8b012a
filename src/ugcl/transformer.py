"""`NodeTransformer`: ids of nodes in, embeddings out, as a step of scikit-learn's pipelines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ugcl._utils.errors import UGCLError
from ugcl.estimators import Embedder
from ugcl.graph import Graph
from ugcl.methods import DEFAULT_PRESET, method_named

_trained: WeakKeyDictionary[Graph, tuple[str, Any]] = WeakKeyDictionary()
"""The last embeddings of each graph and what they came from: clones of a transformer, as cross
validation makes them, train once."""


class NodeTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Ids of nodes as input, embeddings as output: a step of a scikit-learn pipeline.

    `fit` trains on the whole graph, without labels, whichever ids it is given, so that nothing of
    the labels of a fold gets into the embeddings of another. Clones with the same parameters share
    one training.

    Args:
        graph: the graph; its ids, or 0 to N - 1 where it has none, are what `transform` takes.
        method: the method's name; one that learns without labels.
        settings: the preset, `fast` or `paper`.
        scope: training scope: n, "component", "graph" or "auto".
        readout_scope: scope of the embeddings, the same.
        epochs: training steps.
        options: any other settings of the method, by name.
        seed: the training seed.
        device: where to compute, "auto", "cpu" or "cuda".

    Attributes:
        embeddings_: the embeddings of all nodes, in the graph's order.
        n_features_in_: 1, the column of ids.
    """

    embeddings_: Any
    n_features_in_: int

    def __init__(
        self,
        graph: Graph,
        method: str = "ugcl",
        settings: str = DEFAULT_PRESET,
        *,
        scope: int | str | None = None,
        readout_scope: int | str | None = None,
        epochs: int | None = None,
        options: Mapping[str, Any] | None = None,
        seed: int = 0,
        device: str = "auto",
    ) -> None:
        self.graph = graph
        self.method = method
        self.settings = settings
        self.scope = scope
        self.readout_scope = readout_scope
        self.epochs = epochs
        self.options = options
        self.seed = seed
        self.device = device

    def fit(self, X: Any, y: Any = None) -> Self:
        """Train on the graph.

        Args:
            X: ids of nodes, which must be in the graph.
            y: ignored, there for scikit-learn's sake.
        """
        del y
        if not isinstance(self.graph, Graph):
            raise UGCLError(
                f"NodeTransformer takes a Graph, not {type(self.graph).__name__}: see read_graph"
            )
        if method_named(self.method).supervised:
            raise UGCLError(
                f"{self.method} learns from labels, and a transformer must not know those that are "
                "tested: use another method, or Classifier"
            )
        self._rows(X)
        given = self.get_params(deep=False)
        del given["graph"]
        key = repr(sorted(given.items(), key=lambda pair: str(pair[0])))
        known = _trained.get(self.graph)
        if known is None or known[0] != key:
            embeddings = Embedder(**given).fit(self.graph).embed(self.graph)
            (embeddings.data if sp.issparse(embeddings) else embeddings).flags.writeable = False
            _trained[self.graph] = known = key, embeddings
        self.embeddings_ = known[1]
        self.n_features_in_ = 1
        return self

    def transform(self, X: Any) -> Any:
        """The embeddings of these nodes, a row for each."""
        check_is_fitted(self, "embeddings_")
        return self.embeddings_[self._rows(X)]

    @property
    def _n_features_out(self) -> int:
        """How many columns come out; scikit-learn names them by it."""
        return int(self.embeddings_.shape[1])

    def _rows(self, X: Any) -> npt.NDArray[np.int64]:
        """The graph's numbers of these nodes."""
        names = _column(X)
        known = np.arange(self.graph.num_nodes) if self.graph.ids is None else self.graph.ids
        if known.dtype.kind == "U":
            names = names.astype(np.str_)
        elif names.dtype.kind not in "iu":
            names = _whole(names)
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


def _column(X: Any) -> npt.NDArray[Any]:
    """Ids as an array: from a list, an array, or the one column of a frame."""
    if sp.issparse(X):
        raise UGCLError("X must hold ids of nodes, not a sparse matrix")
    names = np.asarray(X)
    if names.ndim == 2 and names.shape[1] == 1:
        names = names[:, 0]
    if names.ndim != 1:
        raise UGCLError(f"X must hold one id for each row, not {names.shape}")
    if names.size == 0:
        raise UGCLError("X has no ids: give at least one")
    return names


def _whole(names: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Ids that came as text or floating-point numbers, as the whole numbers they are."""
    try:
        whole = names.astype(np.int64)
        if names.dtype.kind == "U" or (names.dtype.kind != "b" and (whole == names).all()):
            return whole
    except (OverflowError, TypeError, ValueError):
        pass
    raise UGCLError(
        f"the graph's ids are whole numbers, and {names[0]!r} or another of X is none: X must hold "
        "ids of the graph's nodes"
    )
