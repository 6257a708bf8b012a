"""Scores of the controls that depend on the graph alone, computed once for all its runs."""

from __future__ import annotations

import contextlib
import hashlib
import inspect
import json
from collections.abc import Callable, Sequence
from functools import cache
from importlib.metadata import version
from typing import Any

import numpy as np

import ugcl.evaluation.controls as controls_module
import ugcl.evaluation.probe as probe_module
from ugcl._utils.errors import UGCLError
from ugcl._utils.files import write_json
from ugcl.data import splits as splits_module
from ugcl.data.cache import user_cache
from ugcl.data.splits import Split, resplits
from ugcl.evaluation.controls import SMOOTHING, Candidate, FeatureControls
from ugcl.evaluation.probe import Protocol, Score, linear_probe

RESPLITS = 4
"""How often the pool is split anew to choose a control's smoothing and scaling."""


def feature_control_scores(
    controls: FeatureControls,
    chosen_on: Split,
    splits: Sequence[Split],
    protocol: Protocol,
    tell: Callable[[str], None] = lambda text: None,
) -> list[dict[str, Score]]:
    """For each split, the score of each control that features and edges give without training.

    Results are kept in the user's cache folder, by everything that they depend on.

    Args:
        controls: the controls of a graph with labels.
        chosen_on: the split on whose training and validation nodes the controls are chosen.
        splits: the splits to score on.
        protocol: which probe.
        tell: is told what takes time.
    """
    graph = controls.graph
    labels = graph.labels
    assert labels is not None
    base = _digest(graph.fingerprint, graph.name, labels, chosen_on)

    def choose() -> dict[str, Any]:
        tell("choosing how far the controls smooth and how they scale, on validation nodes")
        chosen = controls.choose(resplits(labels, chosen_on, RESPLITS))
        return {control: [candidate.scaling, candidate.k] for control, candidate in chosen.items()}

    choice = _kept(f"choice-{base}", choose)
    wanted = frozenset(Candidate(control, *how) for control, how in choice.items())

    def score() -> dict[str, Any]:
        tell(f"scoring the controls on {len(splits)} split{'s' * (len(splits) > 1)}")
        return {
            candidate.control: [
                _to_row(linear_probe(matrix, labels, split, protocol, dataset=graph.name))
                for split in splits
            ]
            for candidate, matrix in controls.candidates(wanted)
        }

    rows = _kept(f"scores-{_digest(base, protocol, *splits)}", score)
    return [
        {
            control: _from_row(rows[control][number], {"scaling": scaling, "k": k})
            for control, (scaling, k) in choice.items()
        }
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


def _from_row(row: dict[str, Any], how: dict[str, Any]) -> Score:
    packed = np.frombuffer(bytes.fromhex(row["correct"]), dtype=np.uint8)
    correct = np.unpackbits(packed, count=row["tested"]).astype(bool)
    return Score(row["accuracy"], row["validation"], how | row["chosen"], correct)


def _kept(name: str, compute: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """What is known of each control: from the user's cache folder, or computed and kept there."""
    path = user_cache() / "controls" / f"{name}.json"
    with contextlib.suppress(OSError, ValueError):
        read = json.loads(path.read_text("utf-8"))
        if isinstance(read, dict) and set(read) == set(SMOOTHING):
            return read
    value = compute()
    with contextlib.suppress(OSError, UGCLError):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_json(path, value)
    return value


def _digest(*parts: Any) -> str:
    """Of everything that a score depends on: the parts given, and the code that scores."""
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
    sources = [
        inspect.getsource(module) for module in (controls_module, probe_module, splits_module)
    ]
    libraries = [version(name) for name in ("ugcl", "numpy", "scipy", "scikit-learn", "torch")]
    return repr((sources, libraries, RESPLITS))
