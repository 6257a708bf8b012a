"""Resolution of settings: preset, values of the data set, the user's values, scope."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ugcl.engine.requirements import check_memory
from ugcl.graph import Graph
from ugcl.methods import Method, Settings, get_method
from ugcl.selection import Choice, resolve_scope


def resolve_settings(
    method: str | Method,
    graph: Graph,
    preset: str,
    params: Mapping[str, Any],
    device: str = "cpu",
) -> tuple[Settings, Choice | None]:
    """Check the graph, resolve the settings, check the memory, and choose the scope if "auto".

    Args:
        method: the method or its name.
        graph: the training graph.
        preset: the preset whose values hold where `params` has none.
        params: the user's own values.
        device: where to compute; the memory is checked for the CPU.

    Returns:
        The settings, and how n was chosen; None where it was not "auto".
    """
    known = get_method(method)
    known.check(graph)
    settings = known.resolve(preset, graph, params)
    if device == "cpu":
        check_memory(graph, known, settings)
    return resolve_scope(settings, graph)
