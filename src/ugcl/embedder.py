"""`Embedder` and `Classifier`: any method by name, as an estimator in scikit-learn's sense."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from ugcl import __version__
from ugcl._utils.errors import UGCLError
from ugcl._utils.suggest import unknown
from ugcl.engine import Callback, Fitted, fit, load_fitted, save_fitted
from ugcl.graph import Graph
from ugcl.methods import DEFAULT_METHOD, DEFAULT_PRESET, Method, Settings, get_method
from ugcl.methods.models.model import Model
from ugcl.methods.signature import docstring_of, signature_of
from ugcl.selection import Choice
from ugcl.typing import Embeddings

COMMON: dict[str, Any] = {"preset": DEFAULT_PRESET, "seed": 0, "device": "auto"}
"""Parameters that every estimator has, and their defaults; those of settings are None."""


class UnknownParameterError(UGCLError, TypeError):
    """Exception for an unknown keyword of a constructor or of `set_params`."""


class Embedder(BaseEstimator):  # type: ignore[misc]
    """Node embeddings by any method: `Embedder("grace", scope=3).fit(graph).embed(graph)`.

    The methods of this package have estimators of their own, such as `ugcl.GRACE`, whose help
    describes their settings. A setting that is None has the value of the preset for the graph.

    Args:
        method: the method's name (`ugcl methods` lists them), or a `Method` of your own.
        preset: the preset, for example `fast` or `paper`.
        seed: the training seed.
        device: where to compute, "auto", "cpu" or "cuda".
        **params: settings of the method.

    Attributes:
        fitted_: the result of `ugcl.engine.fit`.
        settings_: the resolved settings.
        scope_choice_: how n was chosen, where it was "auto"; else None.
        model_: the trained model.
        loss_: the losses, one for each epoch.
        n_features_in_: the number of features.
    """

    method: str | Method
    preset: str
    seed: int
    device: str
    fitted_: Fitted

    def __init__(
        self,
        method: str | Method = DEFAULT_METHOD,
        preset: str = DEFAULT_PRESET,
        *,
        seed: int = 0,
        device: str = "auto",
        **params: Any,
    ) -> None:
        common = {"preset": preset, "seed": seed, "device": device}
        self._store(get_method(method), common | params)
        self.method = method

    def _store(self, method: Method, values: Mapping[str, Any]) -> None:
        """Store the parameters, or raise an error that suggests a name for an unknown one."""
        method.check_training(values)
        names = [*COMMON, *method.params]
        if strange := [name for name in values if name not in names]:
            raise UnknownParameterError(unknown(f"parameter of {method.name}", strange[0], names))
        for name in names:
            setattr(self, name, values.get(name, COMMON.get(name)))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return all parameters by name: method, preset, settings of the method, seed, device.

        Args:
            deep: ignored, present for scikit-learn.
        """
        by_name = {"method": self.method} if "method" in vars(self) else {}
        names = ("preset", *get_method(self.method).params, "seed", "device")
        return by_name | {name: getattr(self, name, None) for name in names}

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name; another `method` keeps the settings that were set."""
        type(self).__init__(self, **self._given() | params)
        return self

    def _given(self) -> dict[str, Any]:
        """Return the parameters without the settings that are None."""
        return {k: v for k, v in self.get_params().items() if v is not None or k in COMMON}

    def __repr__(self) -> str:
        given = self._given()
        if "method" in given:
            given["method"] = get_method(self.method).name
        shown = (f"{k}={v!r}" for k, v in given.items() if repr(v) != repr(COMMON.get(k)))
        return f"{type(self).__name__}({', '.join(shown)})"

    def fit(self, graph: Graph, y: None = None, *, callbacks: Sequence[Callback] = ()) -> Self:
        """Train on a graph; only supervised methods look at its labels.

        Args:
            graph: the graph.
            y: ignored, present for scikit-learn.
            callbacks: called during training.
        """
        given = {"method": self.method} | self._given()
        self.fitted_ = fit(graph=graph, callbacks=callbacks, **given)
        return self

    def embed(self, graph: Graph) -> Embeddings:
        """Embed a graph: the training graph or another one with the same features.

        Returns:
            A float32 array; for `raw` and a few others on sparse features a SciPy CSR matrix.
        """
        return self._check_fitted().embed(graph)

    def fit_embed(
        self, graph: Graph, y: None = None, *, callbacks: Sequence[Callback] = ()
    ) -> Embeddings:
        """Train on a graph and embed it; the arguments are those of `fit`."""
        return self.fit(graph, y, callbacks=callbacks).embed(graph)

    def save(self, path: str | Path) -> None:
        """Write the trained estimator to one safetensors file, atomically."""
        params = {name: value for name, value in self.get_params().items() if name != "method"}
        save_fitted(self._check_fitted(), path, params=params, version=__version__)

    @classmethod
    def load(cls, path: str | Path, *, device: str | None = None) -> Self:
        """Read an estimator that `save` wrote; `Embedder.load` reads that of any method.

        Args:
            path: the file.
            device: where to compute; by default the estimator's own.
        """
        fitted, params = load_fitted(path, device)
        params |= {} if device is None else {"device": device}
        own = NAMED.get(fitted.method.name)
        if own is not None and issubclass(cls, own):
            estimator: Embedder = cls(**params)
        else:
            estimator = _new(fitted.method, params)
        if not isinstance(estimator, cls):
            found, wanted = type(estimator).__name__, cls.__name__
            raise UGCLError(f"{path} is of class {found}, not {wanted}: use {found}.load")
        estimator.fitted_ = fitted
        return estimator

    def _check_fitted(self) -> Fitted:
        if not hasattr(self, "fitted_"):
            name = type(self).__name__
            raise NotFittedError(f"this {name} is not fitted: call fit(graph) first")
        return self.fitted_

    @property
    def settings_(self) -> Settings:
        """The resolved settings."""
        return self._check_fitted().settings

    @property
    def scope_choice_(self) -> Choice | None:
        """How n was chosen, where it was "auto"; else None."""
        return self._check_fitted().scope_choice

    @property
    def model_(self) -> Model:
        """The trained model."""
        return self._check_fitted().model

    @property
    def loss_(self) -> list[float]:
        """The losses, one for each epoch."""
        return self._check_fitted().history.losses

    @property
    def n_features_in_(self) -> int:
        """The number of features."""
        return self._check_fitted().shape.features


class Classifier(Embedder):
    """Node classification by a supervised method: `Classifier("gcn").fit(graph).predict(graph)`.

    It learns from the graph's training nodes and stops by its validation nodes. The methods of
    this package have estimators of their own, such as `ugcl.GCNClassifier`.

    Args:
        method: the name of a supervised method, or a `Method` of your own.
        preset: the preset, for example `fast` or `paper`.
        seed: the training seed.
        device: where to compute, "auto", "cpu" or "cuda".
        **params: settings of the method.

    Attributes:
        classes_: the classes, 0 to C - 1; all others are those of `Embedder`.
    """

    def __init__(
        self,
        method: str | Method = "gcn",
        preset: str = DEFAULT_PRESET,
        *,
        seed: int = 0,
        device: str = "auto",
        **params: Any,
    ) -> None:
        super().__init__(method, preset, seed=seed, device=device, **params)

    def fit(self, graph: Graph, y: None = None, *, callbacks: Sequence[Callback] = ()) -> Self:
        """Train on the training nodes of a graph with labels and a split.

        Args:
            graph: the graph.
            y: ignored, present for scikit-learn.
            callbacks: called during training.
        """
        method = get_method(self.method)
        if not method.supervised:
            raise UGCLError(
                f"{method.name} learns without labels and predicts none: use Embedder for it"
            )
        return super().fit(graph, y, callbacks=callbacks)

    @property
    def classes_(self) -> npt.NDArray[np.int64]:
        """The classes, 0 to C - 1."""
        return np.arange(self._check_fitted().shape.classes)

    def predict(self, graph: Graph) -> npt.NDArray[np.int64]:
        """Return the class of each node."""
        return np.asarray(self.predict_proba(graph).argmax(axis=1))

    def predict_proba(self, graph: Graph) -> npt.NDArray[np.float32]:
        """Return the probability of each class for each node, N x C."""
        return self._check_fitted().predict_proba(graph)


NAMED: dict[str, type[Embedder]] = {}
"""The estimators of single methods, by method."""


def named_estimator(name: str, method: str, module: str) -> type[Embedder]:
    """Return the estimator of one method, whose constructor has the method's settings.

    Args:
        name: name of the class.
        method: name of the method.
        module: name of the module that has the class.
    """
    known = get_method(method)

    def __init__(self: Embedder, preset: str = DEFAULT_PRESET, **params: Any) -> None:
        self._store(get_method(method), {"preset": preset} | params)

    __init__.__signature__ = signature_of(known, COMMON)  # type: ignore[attr-defined]
    __init__.__qualname__ = f"{name}.__init__"
    base = Classifier if known.supervised else Embedder
    body = {"method": method, "__init__": __init__, "__doc__": docstring_of(known, name)}
    NAMED[method] = type(name, (base,), body | {"__module__": module})
    return NAMED[method]


def _new(method: Method, params: Mapping[str, Any]) -> Embedder:
    """Return the estimator of a method, of its own class where there is one."""
    if method.name in NAMED:
        return NAMED[method.name](**params)
    return (Classifier if method.supervised else Embedder)(method.name, **params)
