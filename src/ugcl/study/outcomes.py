"""Outcomes of one variant's runs at several readout scopes, stored in the run folders."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ugcl._utils.errors import UGCLError
from ugcl._utils.files import READ_ERRORS, atomic, check_writable
from ugcl._utils.provenance import source_commit
from ugcl._utils.results import read_result
from ugcl.data.splits import Split
from ugcl.evaluation import Outcomes
from ugcl.evaluation.classification import control_accuracies, honest_outcomes, random_splits
from ugcl.graph import Graph
from ugcl.runs import Run
from ugcl.study.plan import Plan
from ugcl.study.variant import Variant
from ugcl.typing import ScopeName

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class ReadoutStudy:
    """One variant of a plan, scored on random splits; `scope_study` and `tuned_study` share it.

    Attributes:
        variant: the variant.
        settings: the settings of the variant.
        graph: the graph.
        splits: the random splits.
        header: the fields of the result that do not depend on the scores.
    """

    variant: Variant
    settings: dict[str, Any]
    graph: Graph
    splits: Sequence[Split]
    header: dict[str, Any]

    @classmethod
    def open(cls, plan: Plan, **fields: Any) -> ReadoutStudy:
        """Check the plan and the stored result, whose `fields` must be these, and load the graph.

        A stored result with more seeds is refused: it would be replaced by one with fewer.
        """
        check_writable(plan.out)
        plan.require_embeddings(readout_scope=True)
        if len(plan.variants) != 1:
            raise UGCLError(f"this study takes one variant, not {len(plan.variants)}")
        variant = plan.variants[0]
        prepared = plan.prepare(variant, 0)
        settings, graph = prepared.config.settings.values(), prepared.graph
        splits = random_splits(graph, plan.splits)
        header = {
            **plan.header,
            "variant": str(variant),
            "splits": plan.splits,
            "settings": settings,
            "fingerprint": prepared.config.fingerprint,
            **fields,
        }
        stored = read_result(plan.out, header, fields=("commands", "seeds"))
        if stored and stored["seeds"] > plan.seeds:
            raise UGCLError(
                f"{plan.out} holds a result of {stored['seeds']} seeds: raise `seeds`, or choose "
                "another `out`"
            )
        header |= {"commit": source_commit(), "controls": control_accuracies(graph, splits)}
        header = {"commands": plan.commands(stored), **header}
        return cls(variant, settings, graph, splits, header)

    def outcomes(self, run: Run, readout_scope: int | ScopeName) -> Outcomes:
        """Return what the honest probe classifies correctly at a readout scope; computed once."""
        graph = self.graph
        assert graph.labels is not None
        parts = [split[name].tobytes() for split in self.splits for name in sorted(split)]
        parts = [graph.labels.tobytes(), *parts, run.model_checksum.encode()]
        digest = hashlib.sha256(b"".join(parts)).hexdigest()[:16]
        path = run.path / f"outcomes-{readout_scope}-{digest}.npz"
        if (stored := _read(path, len(self.splits), graph.num_nodes)) is not None:
            return stored
        logger.info("%s: scoring the readout scope %s", run.path.name, readout_scope)
        embeddings = run.embed(graph, readout_scope=readout_scope)
        outcomes = honest_outcomes(embeddings, graph, self.splits)
        assert outcomes.validation is not None
        with atomic(path) as temporary, temporary.open("wb") as file:
            np.savez_compressed(
                file,
                tested=np.packbits(outcomes.tested, axis=1),
                correct=np.packbits(outcomes.correct, axis=1),
                validation=outcomes.validation,
            )
        return outcomes


def _read(path: Path, splits: int, nodes: int) -> Outcomes | None:
    """Return stored outcomes; None where there are none or the file is damaged."""
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in ("tested", "correct", "validation")}
        validation = arrays["validation"]
        if validation.shape != (splits,) or not np.isfinite(validation).all():
            raise ValueError("it has no validation accuracy for each split")
        for name in ("tested", "correct"):
            if arrays[name].shape != (splits, (nodes + 7) // 8) or arrays[name].dtype != np.uint8:
                raise ValueError("it is of other splits")
    except FileNotFoundError:
        return None
    except READ_ERRORS as error:
        logger.warning("%s is damaged (%s): scoring again", path, error)
        return None
    tested, correct = (
        np.unpackbits(arrays[name], axis=1, count=nodes).astype(bool)
        for name in ("tested", "correct")
    )
    return Outcomes(tested, correct, validation)
