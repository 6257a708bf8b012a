"""Type aliases and names of choices that the packages share. Importing it is cheap."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import torch

CSRMatrix: TypeAlias = Any
"""A SciPy CSR array (`scipy.sparse.csr_array`), float32; SciPy ships no annotations."""

Features: TypeAlias = Any
"""X, N x D float32: a NumPy array, or a SciPy CSR array where few entries are not zero."""

Embeddings: TypeAlias = Any
"""N x D' float32, rows in node order: a NumPy array, or a SciPy CSR array for sparse features."""

NodeIndices: TypeAlias = "npt.NDArray[np.int64]"
"""Numbers of nodes, from 0 to N - 1."""

LabelArray: TypeAlias = "npt.NDArray[np.int64]"
"""The class of each node, -1 where it is unknown."""

Device: TypeAlias = "torch.device | str"

ScopeName = Literal["component", "graph"]
"""The contextual scopes that are not a power n."""

ContextKind = Literal["power", "lazy"]
"""Powers of A (the paper) or of (I + A)/2 (the authors' code)."""

Readout = Literal["sum", "mean", "concat", "hidden", "context", "context-l2", "blocks"]
"""How H and A^n H become the embedding; blocks: `[H | A H | A^2 H | A^n H]`, rows of norm 1."""

FeatureEncoder = Literal["mlp", "deep", "linear", "gcn"]
"""One layer of a node's own features, two layers, a linear map, one layer of smoothed features."""

ContextLoss = Literal["infonce", "jsd"]
BlockWeights = Literal["reliability", "equal"]

FeatureScaling = Literal["none", "row", "l2", "tfidf", "standard"]
"""X as it is, rows of L1 norm 1, rows of L2 norm 1, TF-IDF, columns of mean 0 and deviation 1."""

Activation = Literal["relu", "prelu"]
Sampling = Literal["random", "window", "ball"]
"""How the nodes of a subgraph are sampled."""

Normalisation = Literal["graph", "subgraph"]
"""Degrees of the whole graph, or of the sampled subgraph."""

Centrality = Literal["degree", "pagerank", "eigenvector"]
Diffusion = Literal["pagerank", "heat"]
Degree = Literal["average", "paper"]
"""Degree in Lemma 1: the average degree d = 2E/N, or (E/N)(S/N) as in the paper's table."""

SplitKind = Literal["own", "per-class", "fraction"]
"""The graph's own split, 20 random nodes a class, or a random 10/10/80 %."""

Protocol = Literal["honest", "paper", "bgrl", "pygcl", "gca"]
"""Our probe, the authors', or those of other published harnesses on their random splits."""

Scoring = Literal["honest", "paper", "bgrl", "pygcl", "gca", "predictions"]
"""How a run is scored: by a probe, or by the predictions of a classifier."""

FloatName = Literal["float32", "float16"]
"""The dtypes of exported embeddings."""
