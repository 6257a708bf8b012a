"""DeepWalk and node2vec: nodes that random walks find near each other are alike.

Perozzi et al., "DeepWalk: Online Learning of Social Representations", KDD 2014; Grover and
Leskovec, "node2vec: Scalable Feature Learning for Networks", KDD 2016. Walks are sentences and
nodes are words of a skip-gram model, which gensim trains. In every epoch each node starts one new
walk, so that the publications' number of walks from a node is the number of epochs. Where this
differs:

- The learning rate falls from epoch to epoch, to a hundredth, linearly.
- Negatives are drawn, and the tree of the hierarchical softmax is made, by degrees plus one instead
  of by frequencies in walks.
- The loss of an epoch is estimated on some thousand pairs of nodes within the window, beside as
  many uniform negatives as training has.

The methods are transductive: a row of the model belongs to a node, and there is none for a node
that came later. A node without neighbours keeps its random row. With one worker the same seed gives
the same bits; more workers are faster and race for the same rows, so that their result differs a
little from run to run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from ugcl._utils.errors import UGCLError
from ugcl._utils.extras import required
from ugcl.graph import Graph
from ugcl.methods.method import Method
from ugcl.methods.model import Model, Shape
from ugcl.methods.options import integer, number
from ugcl.methods.presets import Preset
from ugcl.methods.settings import TrainedSettings
from ugcl.views import Walker

LOWEST_RATE = 0.01
"""The last learning rate as a share of the first."""

LONGEST = 10_000
"""gensim cuts longer sentences."""

MAX_PAIRS = 4096
"""Pairs of nodes that the loss is estimated on."""


@dataclass(frozen=True)
class DeepWalkSettings(TrainedSettings):
    """What walks and skip-gram need."""

    hidden: int = integer("width D' of the embeddings", 1)
    walk_length: int = integer("nodes of a walk", 2)
    window: int = integer("how far apart in a walk two nodes are near each other", 1)
    negatives: int = integer(
        "random nodes that each pair of near ones is told from; 0: a hierarchical softmax", 0
    )
    workers: int = integer("threads of the skip-gram; more than one: not the same bits again", 1)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.walk_length > LONGEST:
            raise UGCLError(
                f"--walk-length {self.walk_length:,} is more than the {LONGEST:,} nodes of a walk "
                "that skip-gram takes in: use less"
            )

    def rate(self, epoch: int) -> float:
        """The learning rate at the start of an epoch: it falls linearly."""
        done = epoch / max(self.epochs, 1)
        return self.lr * (1 - (1 - LOWEST_RATE) * done)


@dataclass(frozen=True)
class Node2vecSettings(DeepWalkSettings):
    """What walks that look back need."""

    p: float = number("how unlikely a walk goes straight back", minimum=1e-6, below=1e7)
    q: float = number(
        "how unlikely a walk goes away from where it came from", minimum=1e-6, below=1e7
    )


class SkipGram(Model):
    """A row for every node, and one for every node as the neighbour of others.

    Args:
        name: what the method is called.
        shape: of the graph.
        settings: the method's settings.
        seed: the training seed.
    """

    def __init__(self, name: str, shape: Shape, settings: DeepWalkSettings, seed: int) -> None:
        super().__init__()
        self.name, self.settings, self.seed = name, settings, seed
        rng = np.random.default_rng(seed)
        rows = (
            rng.random((shape.nodes, settings.hidden), dtype=np.float32) - 0.5
        ) / settings.hidden
        self.vectors: Tensor
        self.register_buffer("vectors", torch.from_numpy(rows))
        self.outputs: Tensor
        self.register_buffer("outputs", torch.zeros(shape.nodes, settings.hidden))
        self.trained_on: Tensor
        self.register_buffer("trained_on", torch.zeros(32, dtype=torch.uint8))

    def prepare(self, graph: Graph) -> None:
        """Remember which graph the rows belong to."""
        self.trained_on.copy_(_digest(graph))

    def loss_fn(self, graph: Graph, device: torch.device | str) -> Callable[[int], Tensor]:
        """An epoch of skip-gram on new walks, and the loss after it."""
        del device  # gensim computes on the CPU
        chosen = self.settings
        words = self._words(graph)
        walker = Walker(graph.adjacency, getattr(chosen, "p", 1.0), getattr(chosen, "q", 1.0))
        nodes = np.arange(graph.num_nodes).astype(object)

        def epoch_of(epoch: int) -> Tensor:
            rng = np.random.default_rng([self.seed, epoch])
            walks = walker.walks(chosen.walk_length, rng)
            words.wv.vectors = self.vectors.cpu().numpy().copy()
            outputs = self.outputs.cpu().numpy().copy()
            words.syn1, words.syn1neg = outputs, outputs
            words.random = np.random.RandomState(rng.integers(2**31))
            words.train(
                nodes[walks].tolist(),
                total_examples=walks.shape[0],
                total_words=walks.size,
                epochs=1,
                start_alpha=chosen.rate(epoch),
                end_alpha=chosen.rate(epoch + 1),
            )
            self.vectors.copy_(torch.from_numpy(words.wv.vectors))
            self.outputs.copy_(torch.from_numpy(outputs))
            return torch.tensor(self._loss(words, walks, rng))

        return epoch_of

    def _words(self, graph: Graph) -> Any:
        """The skip-gram model, with a word for every node."""
        chosen = self.settings
        words = required("gensim.models", self.name).Word2Vec(
            vector_size=chosen.hidden,
            window=chosen.window,
            negative=chosen.negatives,
            hs=int(chosen.negatives == 0),
            sg=1,
            sample=0,
            min_count=0,
            sorted_vocab=0,
            workers=chosen.workers,
        )
        degrees = np.diff(graph.adjacency.indptr)
        words.build_vocab_from_freq({node: int(d) + 1 for node, d in enumerate(degrees)})
        return words

    def _loss(self, words: Any, walks: npt.NDArray[np.int64], rng: np.random.Generator) -> float:
        """The mean over random pairs in the window of `-log P(near | node)`, estimated."""
        length, window = walks.shape[1], min(self.settings.window, walks.shape[1] - 1)
        count = min(MAX_PAIRS, walks.size)
        rows, apart = rng.integers(walks.shape[0], size=count), rng.integers(1, window + 1, count)
        first = rng.integers(length - apart)
        nodes, near = walks[rows, first], walks[rows, first + apart]
        vectors, outputs = words.wv.vectors, words.syn1neg
        if self.settings.negatives:
            others = rng.integers(vectors.shape[0], size=(count, self.settings.negatives))
            together = np.einsum("ij,ij->i", vectors[nodes], outputs[near])
            alone = np.einsum("ij,ikj->ik", vectors[nodes], outputs[others])
            loss = np.logaddexp(0, -together) + np.logaddexp(0, alone).sum(axis=1)
        else:
            loss = np.array(
                [
                    np.logaddexp(
                        0,
                        (2.0 * words.wv.get_vecattr(int(n), "code") - 1)
                        * (outputs[words.wv.get_vecattr(int(n), "point")] @ vectors[v]),
                    ).sum()
                    for v, n in zip(nodes, near, strict=True)
                ]
            )
        return float(loss.mean())

    def embed(self, graph: Graph, device: torch.device | str) -> npt.NDArray[np.float32]:
        """The rows of the nodes that it was trained on."""
        del device
        if not torch.equal(self.trained_on.cpu(), _digest(graph)):
            raise UGCLError(
                f"{self.name} has embeddings of the nodes that it was trained on and of no others, "
                "and this is another graph: train on this one, or use an inductive method (ugcl "
                "methods)"
            )
        return self.vectors.cpu().numpy().copy()


def _digest(graph: Graph) -> Tensor:
    return torch.frombuffer(bytearray.fromhex(graph.fingerprint), dtype=torch.uint8)


_DEEPWALK: dict[str, Any] = {
    "epochs": 80,
    "lr": 0.025,
    "patience": 0,
    "hidden": 128,
    "walk_length": 40,
    "window": 10,
    "negatives": 0,
    "workers": 1,
}

_NODE2VEC: dict[str, Any] = {
    **_DEEPWALK,
    "epochs": 10,
    "walk_length": 80,
    "negatives": 5,
    "p": 1.0,
    "q": 1.0,
}

_OURS = "ours: chosen on training and validation nodes for a fraction of the cost"

DEEPWALK = Method(
    name="deepwalk",
    kind="unsupervised",
    needs=("A",),
    scope="nodes within the window of a random walk",
    inductive=False,
    paper="Perozzi et al., DeepWalk: Online Learning of Social Representations, KDD 2014",
    settings=DeepWalkSettings,
    presets={
        "fast": Preset(
            about=_OURS,
            base={**_DEEPWALK, "epochs": 10, "lr": 0.05, "walk_length": 80, "negatives": 5},
            ours=frozenset(_DEEPWALK),
        ),
        "paper": Preset(
            about="the publication of DeepWalk",
            base=_DEEPWALK,
            ours=frozenset({"lr", "workers", "patience"}),
        ),
    },
    build=lambda shape, settings, seed: SkipGram("deepwalk", shape, settings, seed),
    library="gensim",
)

NODE2VEC = Method(
    name="node2vec",
    kind="unsupervised",
    needs=("A",),
    scope="nodes within the window of a random walk that looks back",
    inductive=False,
    paper=("Grover and Leskovec, node2vec: Scalable Feature Learning for Networks, KDD 2016"),
    settings=Node2vecSettings,
    presets={
        "fast": Preset(
            about=_OURS,
            base={**_NODE2VEC, "lr": 0.05, "p": 4.0, "q": 0.25},
            ours=frozenset(_NODE2VEC),
        ),
        "paper": Preset(
            about="the publication of node2vec, which chooses p and q for each graph",
            base=_NODE2VEC,
            ours=frozenset({"lr", "workers", "patience", "p", "q"}),
        ),
    },
    build=lambda shape, settings, seed: SkipGram("node2vec", shape, settings, seed),
    library="gensim",
)
