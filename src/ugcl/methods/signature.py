"""Signature and docstring of a method's estimator, from the declaration of its settings."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import Parameter, Signature
from textwrap import fill
from typing import Any, Literal, get_type_hints

from ugcl.methods.method import Method


def signature_of(method: Method, common: Mapping[str, Any]) -> Signature:
    """Return the signature of a constructor: a preset and, as keywords, all settings.

    Args:
        method: the method.
        common: defaults of `preset`, `seed` and `device`.
    """
    hints = get_type_hints(method.settings)
    keywords = {
        **{name: (hints[name] | None, None) for name in method.params},
        "seed": (int, common["seed"]),
        "device": (Literal["auto", "cpu", "cuda"], common["device"]),
    }
    return Signature(
        [
            Parameter("self", Parameter.POSITIONAL_OR_KEYWORD),
            Parameter(
                "preset",
                Parameter.POSITIONAL_OR_KEYWORD,
                default=common["preset"],
                annotation=Literal[tuple(method.presets)],
            ),
            *(
                Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=hint)
                for name, (hint, default) in keywords.items()
            ),
        ]
    )


def docstring_of(method: Method, name: str) -> str:
    """Return the docstring of the estimator called `name`: source, scope, all parameters."""
    supervised = method.supervised
    what, use = ("classes", "predict") if supervised else ("embeddings", "embed")
    about = (
        f"Source: {method.paper}. Contextual scope: {method.scope}. Fitted attributes are those of "
        f"`{'Classifier' if supervised else 'Embedder'}`."
    )
    params = {
        "preset": f"values of the settings that are None. One of {', '.join(method.presets)}.",
        **{key: f"{param.help}. {_upper(param.expected)}." for key, param in method.params.items()},
        "seed": "the training seed. An integer of at least 0.",
        "device": "where to compute. One of auto, cpu, cuda.",
    }
    return "\n".join(
        [
            f"Node {what} by the method `{method.name}`: `{name}().fit(graph).{use}(graph)`.",
            "",
            fill(about, 96, initial_indent="    ", subsequent_indent="    "),
            "",
            "    Args:",
            *(_argument(key, text) for key, text in params.items()),
            "    ",
        ]
    )


def _argument(name: str, text: str) -> str:
    return fill(f"{name}: {text}", 96, initial_indent=" " * 8, subsequent_indent=" " * 12)


def _upper(text: str) -> str:
    return text[0].upper() + text[1:]
