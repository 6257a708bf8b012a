"""Scores of the feature controls, cached because all runs on a graph share them."""

from __future__ import annotations

import contextlib
import hashlib
import inspect
import logging
from collections.abc import Callable, Sequence
from functools import cache
from importlib.metadata import version
from typing import Any

import numpy as np

import ugcl._utils.linalg as linalg_module
import ugcl._utils.random as random_module
import ugcl.evaluation.controls as controls_module
import ugcl.evaluation.harnesses as harnesses_module
import ugcl.evaluation.probe as probe_module
import ugcl.evaluation.protocols as protocols_module
import ugcl.views.blocks as blocks_module
import ugcl.views.directions as directions_module
import ugcl.views.scaling as scaling_module
import ugcl.views.structure as structure_module
from ugcl import __version__
from ugcl._utils.errors import UGCLError
from ugcl._utils.files import write_json
from ugcl._utils.formats import from_json
from ugcl._utils.progress import steps
from ugcl.data import splits as splits_module
from ugcl.data.cache import user_cache
from ugcl.data.splits import Split, resplits
from ugcl.evaluation.controls import FEATURE_CONTROLS, Candidate, FeatureControls
from ugcl.evaluation.probe import Score
from ugcl.evaluation.protocols import linear_probe
from ugcl.typing import Protocol

logger = logging.getLogger(__name__)

RESPLITS = 4
"""Random splits of the selection pool on which a control's smoothing and scaling are chosen."""


def feature_control_scores(
    controls: FeatureControls, selection: Split, splits: Sequence[Split], protocol: Protocol
) -> list[dict[str, Score]]:
    """Return for each split the score of each feature control.

    Results are cached in the user's cache folder; the key is all that they depend on.

    Args:
        controls: the controls of a graph with labels. Those of full width have the settings that
            are best at the usual width, for choosing among many wide ones would take long.
        selection: the split on whose training and validation nodes the controls are tuned.
        splits: the splits to score on.
        protocol: which probe.
    """
    graph, labels = controls.graph, controls.graph.labels
    assert labels is not None
    key = _digest(graph.fingerprint, graph.name, labels, selection)

    def choose() -> dict[str, Any]:
        logger.info("choosing the controls' smoothing and scaling on validation nodes")
        usual = FeatureControls(graph) if controls.max_columns is None else controls
        chosen = usual.choose(resplits(labels, selection, RESPLITS))
        return {control: candidate.to_json() for control, candidate in chosen.items()}

    chosen = _cached(f"choice-{key}", choose)
    wanted = [Candidate.from_json(control, values) for control, values in chosen.items()]

    def score() -> dict[str, Any]:
        logger.info("scoring the controls on %d split%s", len(splits), "s" * (len(splits) > 1))
        return {
            candidate.control: [
                _to_row(linear_probe(matrix, labels, split, protocol, dataset=graph.name))
                for split in splits
            ]
            for candidate, matrix in steps(
                "scoring the controls", controls.candidates(wanted), len(wanted)
            )
        }

    rows = _cached(f"scores-{_digest(key, protocol, controls.max_columns, *splits)}", score)
    return [
        {control: _from_row(rows[control][number], values) for control, values in chosen.items()}
        for number in range(len(splits))
    ]


def _to_row(score: Score) -> dict[str, Any]:
    return {
        "accuracy": score.accuracy,
        "validation": score.validation,
        "chosen": dict(score.chosen),
        "tested": score.correct.size,
        "correct": np.packbits(score.correct).tobytes().hex(),
    }


def _from_row(row: dict[str, Any], candidate: dict[str, Any]) -> Score:
    packed = np.frombuffer(bytes.fromhex(row["correct"]), dtype=np.uint8)
    correct = np.unpackbits(packed, count=row["tested"]).astype(bool)
    return Score(row["accuracy"], row["validation"], candidate | row["chosen"], correct)


def _cached(name: str, compute: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Return values by control, from the user's cache folder or computed and stored there."""
    path = user_cache() / "controls" / f"{name}.json"
    with contextlib.suppress(OSError, ValueError):
        stored = from_json(path.read_text("utf-8"))
        if isinstance(stored, dict) and set(stored) == set(FEATURE_CONTROLS):
            return stored
    values = compute()
    with contextlib.suppress(OSError, UGCLError):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_json(path, values)
    return values


def _digest(*parts: Any) -> str:
    """Return the hash of the parts and of the code that computes scores."""
    digest = hashlib.sha256(_code().encode())
    for part in parts:
        if isinstance(part, dict):
            for name, nodes in sorted(part.items()):
                digest.update(name.encode() + np.ascontiguousarray(nodes, np.int64).tobytes())
        elif isinstance(part, np.ndarray):
            digest.update(np.ascontiguousarray(part).tobytes())
        else:
            digest.update(f" {part} ".encode())
    return digest.hexdigest()[:32]


@cache
def _code() -> str:
    modules = (
        *(controls_module, probe_module, harnesses_module, protocols_module),
        *(random_module, splits_module),
        *(blocks_module, directions_module, scaling_module, structure_module, linalg_module),
    )
    sources = [inspect.getsource(module) for module in modules]
    names = ("numpy", "scipy", "scikit-learn", "torch")
    libraries = [__version__, *(version(name) for name in names)]
    return repr((sources, libraries, RESPLITS))
