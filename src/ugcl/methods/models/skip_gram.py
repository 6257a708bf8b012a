"""Skip-gram on random walks, trained by gensim."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from ugcl._utils.errors import UGCLError
from ugcl._utils.extras import required
from ugcl._utils.random import numpy_generator, seed_of
from ugcl.graph import Graph
from ugcl.methods.method import Shape
from ugcl.methods.models.model import Model
from ugcl.methods.skip_gram import DeepWalkSettings
from ugcl.typing import Device
from ugcl.views import Walker

MAX_PAIRS = 4096
"""Pairs of nodes that the loss is estimated on."""


class SkipGram(Model):
    """Input and output vectors of all nodes of one graph.

    Args:
        name: the method's name.
        shape: shape of the graph.
        settings: the method's settings.
        seed: the training seed.
    """

    def __init__(self, name: str, shape: Shape, settings: DeepWalkSettings, seed: int) -> None:
        super().__init__()
        self.name, self.settings, self.seed = name, settings, seed
        rng = numpy_generator("initial weights", seed)
        rows = (
            rng.random((shape.nodes, settings.hidden), dtype=np.float32) - 0.5
        ) / settings.hidden
        self.vectors: Tensor
        self.register_buffer("vectors", torch.from_numpy(rows))
        self.outputs: Tensor
        self.register_buffer("outputs", torch.zeros(shape.nodes, settings.hidden))
        self.trained_on: Tensor
        self.register_buffer("trained_on", torch.zeros(32, dtype=torch.uint8))

    def fit_buffers(self, graph: Graph) -> None:
        """Store the fingerprint of the training graph."""
        self.trained_on.copy_(_digest(graph))

    def trained_tensors(self) -> Iterable[Tensor]:
        """Return the vectors, which gensim trains."""
        return self.vectors, self.outputs

    def loss_fn(self, graph: Graph, device: Device) -> Callable[[int], Tensor]:
        """Return the function that trains one epoch on new walks and returns the loss after it.

        gensim computes on the CPU, whatever the device.
        """
        settings = self.settings
        words = self._words(graph)
        walker = Walker(graph.adjacency, getattr(settings, "p", 1.0), getattr(settings, "q", 1.0))
        nodes = np.arange(graph.num_nodes).astype(object)

        def train_epoch(epoch: int) -> Tensor:
            rng = numpy_generator("walks", self.seed, epoch)
            walks = walker.walks(settings.walk_length, rng)
            words.wv.vectors = self.vectors.cpu().numpy().copy()
            outputs = self.outputs.cpu().numpy().copy()
            words.syn1, words.syn1neg = outputs, outputs
            words.random = np.random.RandomState(seed_of("skip-gram", self.seed, epoch))
            words.train(
                nodes[walks].tolist(),
                total_examples=walks.shape[0],
                total_words=walks.size,
                epochs=1,
                start_alpha=settings.lr_at(epoch),
                end_alpha=settings.lr_at(epoch + 1),
            )
            self.vectors.copy_(torch.from_numpy(words.wv.vectors))
            self.outputs.copy_(torch.from_numpy(outputs))
            return torch.tensor(self._loss(words, walks, rng))

        return train_epoch

    def _words(self, graph: Graph) -> Any:
        """Return the gensim model with a word for every node."""
        settings = self.settings
        words = required("gensim.models", self.name).Word2Vec(
            vector_size=settings.hidden,
            window=settings.window,
            negative=settings.negatives,
            hs=int(settings.negatives == 0),
            sg=1,
            sample=0,
            min_count=0,
            sorted_vocab=0,
            workers=settings.workers,
        )
        degrees = np.diff(graph.adjacency.indptr)
        words.build_vocab_from_freq({node: int(d) + 1 for node, d in enumerate(degrees)})
        return words

    def _loss(self, words: Any, walks: npt.NDArray[np.int64], rng: np.random.Generator) -> float:
        """Estimate the mean of `-log P(near | node)` over pairs within the window."""
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

    def embed(self, graph: Graph, device: Device) -> npt.NDArray[np.float32]:
        """Return the input vectors; only the training graph has them."""
        if not torch.equal(self.trained_on.cpu(), _digest(graph)):
            raise UGCLError(
                f"{self.name} is transductive and was trained on another graph: train on this one, "
                "or use an inductive method (ugcl methods)"
            )
        return self.vectors.cpu().numpy().copy()


def _digest(graph: Graph) -> Tensor:
    return torch.frombuffer(bytearray.fromhex(graph.fingerprint), dtype=torch.uint8)
