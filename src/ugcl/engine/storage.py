"""A trained model as one safetensors file: its weights and, as metadata, how to rebuild it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from torch import Tensor

from ugcl._utils.errors import UGCLError
from ugcl._utils.files import write_safetensors
from ugcl._utils.formats import check_format, from_json
from ugcl.engine.callbacks import History
from ugcl.engine.device import resolve_device
from ugcl.engine.fitted import Fitted
from ugcl.engine.weights import digest, load_weights
from ugcl.methods import Shape
from ugcl.methods.from_file import loaded_method
from ugcl.methods.registry import named_method
from ugcl.selection import Choice

KEY = "ugcl.fitted"
"""The entry of the metadata that describes the model, as JSON."""

CHECKSUM = "ugcl.sha256"
"""The entry of the metadata with the checksum of the description and the weights."""

FORMAT = 1
"""Version of the file's format; files without one are of development versions, and alike."""

PLAIN = ("seed", "epochs", "loss", "seconds", "ended")
"""Attributes of a `Fitted` that are stored as they are."""


def save_fitted(
    fitted: Fitted, path: str | Path, *, params: Mapping[str, Any], version: str
) -> None:
    """Write a trained model.

    Args:
        fitted: the trained model.
        path: the file.
        params: the parameters of its estimator.
        version: the version of ugcl, for error messages.
    """
    choice = fitted.scope_choice
    weights = fitted.model.state_dict()
    about = {
        "format": FORMAT,
        "version": version,
        "method": fitted.method.name,
        "params": dict(params),
        "settings": fitted.settings.values(),
        "shape": asdict(fitted.shape),
        "scope_choice": None if choice is None else asdict(choice),
        "history": asdict(fitted.history),
        **{name: getattr(fitted, name) for name in PLAIN},
    }
    text = json.dumps(about, default=lambda value: value.item())  # NumPy's numbers
    write_safetensors(Path(path), weights, {KEY: text, CHECKSUM: digest(weights, text)})


def load_fitted(path: str | Path, device: str | None = None) -> tuple[Fitted, dict[str, Any]]:
    """Read a model that `save_fitted` wrote.

    Args:
        path: the file.
        device: where to compute; by default the device of the estimator's parameters.

    Returns:
        The model, and the parameters of its estimator.
    """
    about, weights, metadata = _read(Path(path))
    name = str(about.get("method"))
    method = named_method(name) or loaded_method(name)  # never a path: the file may be foreign
    if method is None:
        raise UGCLError(
            f"{path} is a model of the method '{name}', which is not registered: register it first "
            "(ugcl.methods.register), or load its file (ugcl.methods.get_method)"
        )
    try:
        params, choice = dict(about["params"]), about["scope_choice"]
        settings = method.settings.from_values(about["settings"])
        shape, history = Shape(**about["shape"]), History(**about["history"])
        scope_choice = None if choice is None else _choice(choice)
        plain = {name: about[name] for name in PLAIN}
        where = resolve_device(device or params.get("device", "auto"))
        model = method.new_model(shape, settings, plain["seed"])
    except (AttributeError, KeyError, RuntimeError, TypeError, ValueError) as error:
        raise UGCLError(
            f"{path} cannot be read ({error}): it is damaged, or use ugcl {about.get('version')}, "
            "which wrote it"
        ) from error
    try:
        load_weights(model, weights)
        if "format" in about and metadata.get(CHECKSUM) != digest(weights, metadata[KEY]):
            raise ValueError("its contents have another checksum than it says")
    except ValueError as error:
        raise UGCLError(f"{path} is damaged: {error}; save the estimator again") from error
    fitted = Fitted(
        method=method,
        model=model.to(where),
        settings=settings,
        scope_choice=scope_choice,
        history=history,
        shape=shape,
        device=where,
        **plain,
    )
    return fitted, params


def _read(path: Path) -> tuple[dict[str, Any], dict[str, Tensor], dict[str, str]]:
    """Return the description, the weights and the metadata in a file."""
    if not path.is_file():
        hint = "is a folder: open a run with ugcl.load_run" if path.is_dir() else "does not exist"
        raise UGCLError(f"{path} {hint}; `load` takes a file that `save` of an estimator wrote")
    try:
        with safe_open(path, framework="pt") as file:
            metadata: dict[str, str] = file.metadata() or {}
            weights = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        about = dict(from_json(metadata[KEY])) if KEY in metadata else None
    except (OSError, SafetensorError, TypeError, ValueError) as error:
        raise UGCLError(
            f"{path} cannot be read ({error}): it is damaged, or no file of an estimator's `save`"
        ) from error
    if about is None:
        raise UGCLError(f"{path} was not written by `save` of an estimator: pass such a file")
    check_format(path, about.get("format", FORMAT), FORMAT)
    return about, weights, metadata


def _choice(values: dict[str, Any]) -> Choice:
    tuples = {name: tuple(value) for name, value in values.items() if isinstance(value, list)}
    return Choice(**values | tuples)
