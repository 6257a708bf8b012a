"""DeepWalk and node2vec: skip-gram on random walks.

Perozzi et al., "DeepWalk: Online Learning of Social Representations", KDD 2014; Grover and
Leskovec, "node2vec: Scalable Feature Learning for Networks", KDD 2016. Walks are the sentences and
nodes the words of a skip-gram model, which gensim trains. In every epoch each node starts one new
walk, so the papers' number of walks per node is the number of epochs. Differences:

- The learning rate falls linearly over the epochs, to a hundredth.
- Negatives are sampled, and the tree of the hierarchical softmax is built, by degrees plus one
  instead of by frequencies in walks.
- The loss of an epoch is estimated on a few thousand pairs of nodes within the window, with as many
  uniform negatives as in training.

The methods are transductive: a vector belongs to a node, and later nodes have none. A node without
neighbours keeps its random vector. With one worker the same seed gives the same bits; more workers
are faster and race for the same vectors, so their result differs slightly from run to run.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from ugcl._utils.errors import UGCLError
from ugcl.methods.method import Method, Shape
from ugcl.methods.params import integer, number
from ugcl.methods.preset import load_presets
from ugcl.methods.settings import TrainingSettings

if TYPE_CHECKING:
    from ugcl.methods.models.skip_gram import SkipGram

MIN_LR_FRACTION = 0.01
"""The last learning rate relative to the first."""

MAX_WALK_LENGTH = 10_000
"""gensim cuts longer sentences."""


@dataclass(frozen=True)
class DeepWalkSettings(TrainingSettings):
    """Settings of DeepWalk."""

    hidden: int = integer("width D' of the embeddings", 1)
    walk_length: int = integer("nodes of a walk", 2)
    window: int = integer("maximum distance of two nodes in a walk that count as a pair", 1)
    negatives: int = integer("negatives of each pair; 0: hierarchical softmax", 0)
    workers: int = integer("threads of gensim; with more than one, runs are not repeatable", 1)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.walk_length > MAX_WALK_LENGTH:
            raise UGCLError(
                f"`walk_length` {self.walk_length:,} is more than the {MAX_WALK_LENGTH:,} nodes of "
                "a walk that skip-gram takes in: use less"
            )

    def lr_at(self, epoch: int) -> float:
        """Return the learning rate at the start of an epoch: it falls linearly."""
        done = epoch / max(self.epochs, 1)
        return self.lr * (1 - (1 - MIN_LR_FRACTION) * done)


@dataclass(frozen=True)
class Node2vecSettings(DeepWalkSettings):
    """Settings of node2vec."""

    p: float = number("return parameter: how unlikely a step back is", minimum=1e-6, below=1e7)
    q: float = number(
        "in-out parameter: how unlikely a step away from the previous node is",
        minimum=1e-6,
        below=1e7,
    )


def _model(name: str, shape: Shape, settings: DeepWalkSettings, seed: int) -> SkipGram:
    from ugcl.methods.models.skip_gram import SkipGram

    return SkipGram(name, shape, settings, seed)


DEEPWALK = Method(
    name="deepwalk",
    kind="unsupervised",
    needs=("A",),
    scope="nodes within the window of a random walk",
    inductive=False,
    paper="Perozzi et al., DeepWalk: Online Learning of Social Representations, KDD 2014",
    settings=DeepWalkSettings,
    presets=load_presets("deepwalk"),
    model=partial(_model, "deepwalk"),
    library="gensim",
)

NODE2VEC = replace(
    DEEPWALK,
    name="node2vec",
    scope="nodes within the window of a second-order random walk",
    paper="Grover and Leskovec, node2vec: Scalable Feature Learning for Networks, KDD 2016",
    settings=Node2vecSettings,
    presets=load_presets("node2vec"),
    model=partial(_model, "node2vec"),
)

METHODS = (DEEPWALK, NODE2VEC)
