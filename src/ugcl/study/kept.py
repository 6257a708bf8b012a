"""Scores of a run at a scope of the readout, kept beside the run."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from ugcl._utils.files import atomic
from ugcl.data.splits import Split
from ugcl.evaluation import Outcomes
from ugcl.evaluation.classification import honest_outcomes
from ugcl.graph import Graph
from ugcl.runs import Run, embed_graph
from ugcl.scope import ScopeName


def kept_outcomes(
    run: Run, graph: Graph, splits: Sequence[Split], readout_scope: int | ScopeName
) -> Outcomes:
    """What the honest probe gets right of a run read out at a scope; computed once."""
    parts = [split[name].tobytes() for split in splits for name in sorted(split)]
    assert graph.labels is not None
    digest = hashlib.sha256(b"".join([graph.labels.tobytes(), *parts])).hexdigest()[:16]
    kept = run.path / f"outcomes-{readout_scope}-{digest}.npz"
    if kept.is_file():
        with np.load(kept) as held:
            if "validation" in held:
                tested, correct = (
                    np.unpackbits(held[name], axis=1, count=graph.num_nodes).astype(bool)
                    for name in ("tested", "correct")
                )
                return Outcomes(tested, correct, held["validation"])
    embeddings = embed_graph(run, graph, run.config.device, readout_scope=readout_scope)
    found = honest_outcomes(embeddings, graph, splits)
    assert found.validation is not None
    with atomic(kept) as temporary, temporary.open("wb") as file:
        np.savez_compressed(
            file,
            tested=np.packbits(found.tested, axis=1),
            correct=np.packbits(found.correct, axis=1),
            validation=found.validation,
        )
    return found
