"""Random streams, each with a key of its own.

The key is the SHA-256 of the text "ugcl/PURPOSE/SEED/...". No two streams share numbers, and none
shares them with a user's data: labels that were sampled by `np.random.default_rng(0)` are
independent of the split with seed 0. NumPy's lists of seeds are ambiguous: `[3]` and `[3, 0]` give
the same numbers, and so do `[3, 1]` and `3 + 2**32`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from operator import index
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from ugcl._utils.suggest import unknown

if TYPE_CHECKING:
    import torch

Purpose = Literal[
    "agreement",  # two halves of the features, a criterion of n
    "bench",
    "clusters",  # nodes of a silhouette
    "collapse",  # nodes and edges of the diagnosis
    "decay",  # H whose distance to the component subspace is measured
    "denoising",  # signs of Hutchinson's estimate, a criterion of n
    "dropout",
    "held-out edges",
    "held-out links",  # a criterion of n
    "held-out nodes",  # by which training stops
    "homophily",  # sampled nodes
    "initial weights",
    "k-means",
    "lanczos",  # start vector
    "link pairs",  # which held-out edges are for validation
    "map",  # t-SNE
    "masked features",  # masks and nodes, a criterion of n
    "masked walks",  # nodes and walks of a large graph, the same criterion
    "non-edges",
    "probe",  # initial weights of probes that are trained by Adam
    "probe halves",  # halves of the training nodes on which the probe of BGRL is tuned
    "pseudo-labels",  # clusters, a criterion of n
    "reliability",  # two halves of features and edges
    "reliability nodes",  # sampled ones, and their two halves
    "report clusters",
    "report nodes",
    "resplit",
    "sbm",
    "skip-gram",  # windows and negatives of gensim
    "split",
    "structure",  # start of a subspace iteration
    "subsampling",  # sampled subgraphs of a study
    "svd",  # randomised SVD
    "views",  # views of an epoch, and of a rank above 0, and negatives of their loss
    "walks",  # of an epoch, and the pairs that its loss is estimated on
]
"""What random numbers are for."""


def numpy_generator(purpose: Purpose, *seeds: int) -> np.random.Generator:
    """Return NumPy's random generator of a purpose and seeds, for example a seed and an epoch."""
    return np.random.default_rng(_key(purpose, seeds))


def torch_generator(purpose: Purpose, *seeds: int) -> torch.Generator:
    """Return PyTorch's random generator, on the CPU, of a purpose and seeds."""
    from torch import Generator

    return Generator().manual_seed(seed_of(purpose, *seeds))


def seed_of(purpose: Purpose, *seeds: int) -> int:
    """Return 32 bits for libraries that take a seed, such as `random_state` of scikit-learn."""
    return int(np.random.SeedSequence(_key(purpose, seeds)).generate_state(1)[0])


@contextmanager
def seeded_torch(purpose: Purpose, *seeds: int) -> Iterator[None]:
    """Seed PyTorch's global generators, which layers and dropout use, and restore them."""
    import torch

    with torch.random.fork_rng(range(torch.cuda.device_count())):
        torch.manual_seed(seed_of(purpose, *seeds))
        yield


def _key(purpose: Purpose, seeds: tuple[int, ...]) -> int:
    if purpose not in get_args(Purpose):
        raise ValueError(unknown("random stream", purpose, get_args(Purpose)))
    if any(seed < 0 for seed in seeds):
        raise ValueError("expected non-negative integer")  # as NumPy says
    text = "/".join(["ugcl", purpose, *(str(index(seed)) for seed in seeds)])
    return int.from_bytes(hashlib.sha256(text.encode()).digest(), "big")
