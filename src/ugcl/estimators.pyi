"""One estimator for each method. Written by tools/make_stubs.py: do not edit."""

from typing import Literal

from ugcl.embedder import Classifier as Classifier
from ugcl.embedder import Embedder as Embedder

ESTIMATORS: dict[str, str]

class UGCL(Embedder):
    """Node embeddings by the method `ugcl`: `UGCL().fit(graph).embed(graph)`.

    Source: Zheng et al., Unifying Graph Contrastive Learning with Flexible Contextual Scopes,
    ICDM 2022. Contextual scope: A^n, any n. Fitted attributes are those of `Embedder`.

    Args:
        preset: values of the settings that are None. One of fast, paper, authors.
        epochs: training steps. An integer of at least 0.
        lr: learning rate of the optimizer. A number above 0.
        patience: stop after this many epochs without a lower loss and keep the last weights; 0:
            never. An integer of at least 0.
        scope: training scope: contrast with A^n H, the connected component or the whole graph;
            auto: n chosen without labels. An integer of at least 0, 'component', 'graph' or
            'auto'.
        readout_scope: scope of the embeddings H + A^n H. An integer of at least 0, 'component',
            'graph' or 'auto'.
        hidden: width D' of the encoder, and so of the embeddings. An integer of at least 1.
        self_loops: weight of the self-loops in the normalised adjacency. A number of at least
            0.
        feature_scaling: features as they are, rows of L1 norm 1, rows of L2 norm 1, TF-IDF,
            columns of mean 0 and standard deviation 1 (sparse ones: deviation 1 only); auto:
            L2, or TF-IDF for counts and standard for others, whichever is more reliable. One of
            none, row, l2, tfidf, standard, auto.
        readout: how H and A^n H become the embedding. One of sum, mean, concat, hidden,
            context, context-l2, blocks.
        sample: nodes S of the subgraph that is sampled in every epoch. An integer of at least 2
            or 'all'.
        sampling: sample random nodes, a window of consecutive nodes, or balls around random
            nodes. One of random, window, ball.
        normalisation: normalise the adjacency by the degrees in the whole graph or in the
            subgraph. One of graph, subgraph.
        context: contextual view in training: power A^n H, lazy ((I+A)/2)^n H. One of power,
            lazy.
        temperature: temperature of the loss. A number of at least 0.02.
        negatives: random nodes that all nodes share as negatives. An integer of at least 2 or
            'all'.
        seed: the training seed. An integer of at least 0.
        device: where to compute. One of auto, cpu, cuda.
    """

    epochs: int | None
    lr: float | None
    patience: int | None
    scope: int | Literal["component", "graph", "auto"] | None
    readout_scope: int | Literal["component", "graph", "auto"] | None
    hidden: int | None
    self_loops: float | None
    feature_scaling: Literal["none", "row", "l2", "tfidf", "standard", "auto"] | None
    readout: Literal["sum", "mean", "concat", "hidden", "context", "context-l2", "blocks"] | None
    sample: int | Literal["all"] | None
    sampling: Literal["random", "window", "ball"] | None
    normalisation: Literal["graph", "subgraph"] | None
    context: Literal["power", "lazy"] | None
    temperature: float | None
    negatives: int | Literal["all"] | None
    def __init__(
        self,
        preset: Literal["fast", "paper", "authors"] = "fast",
        *,
        epochs: int | None = None,
        lr: float | None = None,
        patience: int | None = None,
        scope: int | Literal["component", "graph", "auto"] | None = None,
        readout_scope: int | Literal["component", "graph", "auto"] | None = None,
        hidden: int | None = None,
        self_loops: float | None = None,
        feature_scaling: Literal["none", "row", "l2", "tfidf", "standard", "auto"] | None = None,
        readout: Literal["sum", "mean", "concat", "hidden", "context", "context-l2", "blocks"]
        | None = None,
        sample: int | Literal["all"] | None = None,
        sampling: Literal["random", "window", "ball"] | None = None,
        normalisation: Literal["graph", "subgraph"] | None = None,
        context: Literal["power", "lazy"] | None = None,
        temperature: float | None = None,
        negatives: int | Literal["all"] | None = None,
        seed: int = 0,
        device: Literal["auto", "cpu", "cuda"] = "auto",
    ) -> None: ...

class MultiScope(Embedder):
    """Node embeddings by the method `multiscope`: `MultiScope().fit(graph).embed(graph)`.

    Source: ours. Contextual scope: walks of n steps in the loss, several powers A^k read out.
    Fitted attributes are those of `Embedder`.

    Args:
        preset: values of the settings that are None. One of fast.
        epochs: training steps. An integer of at least 0.
        lr: learning rate of the optimizer. A number above 0.
        patience: stop after this many epochs without a lower loss and keep the last weights; 0:
            never. An integer of at least 0.
        scope: training scope: contrast with A^n H, the connected component or the whole graph;
            auto: n chosen without labels. An integer of at least 0, 'component', 'graph' or
            'auto'.
        readout_scope: scope of the embeddings H + A^n H. An integer of at least 0, 'component',
            'graph' or 'auto'.
        hidden: width D' of the encoder. An integer of at least 1.
        self_loops: weight of the self-loops in the normalised adjacency. A number of at least
            0.
        feature_scaling: features as they are, rows of L1 norm 1, rows of L2 norm 1, TF-IDF,
            columns of mean 0 and standard deviation 1 (sparse ones: deviation 1 only); auto:
            L2, or TF-IDF for counts and standard for others, whichever is more reliable. One of
            none, row, l2, tfidf, standard, auto.
        readout: how H and A^n H become the embedding. One of sum, mean, concat, hidden,
            context, context-l2, blocks.
        encoder: PReLU(X W) of a node's own features, two such layers, X W without activation,
            or smoothed features as in a GCN. One of mlp, deep, linear, gcn.
        loss: loss between nodes and their contexts. One of infonce, jsd.
        sample: nodes S that are sampled in every epoch. An integer of at least 2 or 'all'.
        mask_features: fraction of the entries of X that are masked. A number of at least 0 and
            below 1.
        temperature: temperature of the loss. A number of at least 0.02.
        weight_decay: weight decay of the optimizer. A number of at least 0.
        tolerance: stop when the loss of held-out nodes has fallen since half the epochs by less
            than this fraction of its whole fall; 0: never. A number of at least 0.
        block_columns: columns of each block of z and its powers. An integer of at least 1.
        raw_columns: columns of each block of features, X and its larger powers A^k X; 0: none.
            An integer of at least 0.
        structure_columns: columns of the structural block; 0: none. An integer of at least 0.
        block_weights: weigh blocks by their split-half reliability, or equally. One of
            reliability, equal.
        seed: the training seed. An integer of at least 0.
        device: where to compute. One of auto, cpu, cuda.
    """

    epochs: int | None
    lr: float | None
    patience: int | None
    scope: int | Literal["component", "graph", "auto"] | None
    readout_scope: int | Literal["component", "graph", "auto"] | None
    hidden: int | None
    self_loops: float | None
    feature_scaling: Literal["none", "row", "l2", "tfidf", "standard", "auto"] | None
    readout: Literal["sum", "mean", "concat", "hidden", "context", "context-l2", "blocks"] | None
    encoder: Literal["mlp", "deep", "linear", "gcn"] | None
    loss: Literal["infonce", "jsd"] | None
    sample: int | Literal["all"] | None
    mask_features: float | None
    temperature: float | None
    weight_decay: float | None
    tolerance: float | None
    block_columns: int | None
    raw_columns: int | None
    structure_columns: int | None
    block_weights: Literal["reliability", "equal"] | None
    def __init__(
        self,
        preset: Literal["fast"] = "fast",
        *,
        epochs: int | None = None,
        lr: float | None = None,
        patience: int | None = None,
        scope: int | Literal["component", "graph", "auto"] | None = None,
        readout_scope: int | Literal["component", "graph", "auto"] | None = None,
        hidden: int | None = None,
        self_loops: float | None = None,
        feature_scaling: Literal["none", "row", "l2", "tfidf", "standard", "auto"] | None = None,
        readout: Literal["sum", "mean", "concat", "hidden", "context", "context-l2", "blocks"]
        | None = None,
        encoder: Literal["mlp", "deep", "linear", "gcn"] | None = None,
        loss: Literal["infonce", "jsd"] | None = None,
        sample: int | Literal["all"] | None = None,
        mask_features: float | None = None,
        temperature: float | None = None,
        weight_decay: float | None = None,
        tolerance: float | None = None,
        block_columns: int | None = None,
        raw_columns: int | None = None,
        structure_columns: int | None = None,
        block_weights: Literal["reliability", "equal"] | None = None,
        seed: int = 0,
        device: Literal["auto", "cpu", "cuda"] = "auto",
    ) -> None: ...

class UGCLMean(Embedder):
    """Node embeddings by the method `ugcl-mean`: `UGCLMean().fit(graph).embed(graph)`.

    Source: Zheng et al., Unifying Graph Contrastive Learning with Flexible Contextual Scopes,
    ICDM 2022, ablation study. Contextual scope: whole graph: the mean of all rows. Fitted
    attributes are those of `Embedder`.

    Args:
        preset: values of the settings that are None. One of fast, paper, authors.
        epochs: training steps. An integer of at least 0.
        lr: learning rate of the optimizer. A number above 0.
        patience: stop after this many epochs without a lower loss and keep the last weights; 0:
            never. An integer of at least 0.
        scope: training scope: contrast with A^n H, the connected component or the whole graph;
            auto: n chosen without labels. An integer of at least 0, 'component', 'graph' or
            'auto'.
        readout_scope: scope of the embeddings H + A^n H. An integer of at least 0, 'component',
            'graph' or 'auto'.
        hidden: width D' of the encoder, and so of the embeddings. An integer of at least 1.
        self_loops: weight of the self-loops in the normalised adjacency. A number of at least
            0.
        feature_scaling: features as they are, rows of L1 norm 1, rows of L2 norm 1, TF-IDF,
            columns of mean 0 and standard deviation 1 (sparse ones: deviation 1 only); auto:
            L2, or TF-IDF for counts and standard for others, whichever is more reliable. One of
            none, row, l2, tfidf, standard, auto.
        readout: how H and A^n H become the embedding. One of sum, mean, concat, hidden,
            context, context-l2, blocks.
        sample: nodes S of the subgraph that is sampled in every epoch. An integer of at least 2
            or 'all'.
        sampling: sample random nodes, a window of consecutive nodes, or balls around random
            nodes. One of random, window, ball.
        normalisation: normalise the adjacency by the degrees in the whole graph or in the
            subgraph. One of graph, subgraph.
        context: contextual view in training: power A^n H, lazy ((I+A)/2)^n H. One of power,
            lazy.
        temperature: temperature of the loss. A number of at least 0.02.
        negatives: random nodes that all nodes share as negatives. An integer of at least 2 or
            'all'.
        seed: the training seed. An integer of at least 0.
        device: where to compute. One of auto, cpu, cuda.
    """

    epochs: int | None
    lr: float | None
    patience: int | None
    scope: int | Literal["component", "graph", "auto"] | None
    readout_scope: int | Literal["component", "graph", "auto"] | None
    hidden: int | None
    self_loops: float | None
    feature_scaling: Literal["none", "row", "l2", "tfidf", "standard", "auto"] | None
    readout: Literal["sum", "mean", "concat", "hidden", "context", "context-l2", "blocks"] | None
    sample: int | Literal["all"] | None
    sampling: Literal["random", "window", "ball"] | None
    normalisation: Literal["graph", "subgraph"] | None
    context: Literal["power", "lazy"] | None
    temperature: float | None
    negatives: int | Literal["all"] | None
    def __init__(
        self,
        preset: Literal["fast", "paper", "authors"] = "fast",
        *,
        epochs: int | None = None,
        lr: float | None = None,
        patience: int | None = None,
        scope: int | Literal["component", "graph", "auto"] | None = None,
        readout_scope: int | Literal["component", "graph", "auto"] | None = None,
        hidden: int | None = None,
        self_loops: float | None = None,
        feature_scaling: Literal["none", "row", "l2", "tfidf", "standard", "auto"] | None = None,
        readout: Literal["sum", "mean", "concat", "hidden", "context", "context-l2", "blocks"]
        | None = None,
        sample: int | Literal["all"] | None = None,
        sampling: Literal["random", "window", "ball"] | None = None,
        normalisation: Literal["graph", "subgraph"] | None = None,
        context: Literal["power", "lazy"] | None = None,
        temperature: float | None = None,
        negatives: int | Literal["all"] | None = None,
        seed: int = 0,
        device: Literal["auto", "cpu", "cuda"] = "auto",
    ) -> None: ...

class UGCLSmooth(Embedder):
    """Node embeddings by the method `ugcl-smooth`: `UGCLSmooth().fit(graph).embed(graph)`.

    Source: Zheng et al., Unifying Graph Contrastive Learning with Flexible Contextual Scopes,
    ICDM 2022, ablation study. Contextual scope: A^100, towards the connected component. Fitted
    attributes are those of `Embedder`.

    Args:
        preset: values of the settings that are None. One of fast, paper, authors.
        epochs: training steps. An integer of at least 0.
        lr: learning rate of the optimizer. A number above 0.
        patience: stop after this many epochs without a lower loss and keep the last weights; 0:
            never. An integer of at least 0.
        scope: training scope: contrast with A^n H, the connected component or the whole graph;
            auto: n chosen without labels. An integer of at least 0, 'component', 'graph' or
            'auto'.
        readout_scope: scope of the embeddings H + A^n H. An integer of at least 0, 'component',
            'graph' or 'auto'.
        hidden: width D' of the encoder, and so of the embeddings. An integer of at least 1.
        self_loops: weight of the self-loops in the normalised adjacency. A number of at least
            0.
        feature_scaling: features as they are, rows of L1 norm 1, rows of L2 norm 1, TF-IDF,
            columns of mean 0 and standard deviation 1 (sparse ones: deviation 1 only); auto:
            L2, or TF-IDF for counts and standard for others, whichever is more reliable. One of
            none, row, l2, tfidf, standard, auto.
        readout: how H and A^n H become the embedding. One of sum, mean, concat, hidden,
            context, context-l2, blocks.
        sample: nodes S of the subgraph that is sampled in every epoch. An integer of at least 2
            or 'all'.
        sampling: sample random nodes, a window of consecutive nodes, or balls around random
            nodes. One of random, window, ball.
        normalisation: normalise the adjacency by the degrees in the whole graph or in the
            subgraph. One of graph, subgraph.
        context: contextual view in training: power A^n H, lazy ((I+A)/2)^n H. One of power,
            lazy.
        temperature: temperature of the loss. A number of at least 0.02.
        negatives: random nodes that all nodes share as negatives. An integer of at least 2 or
            'all'.
        seed: the training seed. An integer of at least 0.
        device: where to compute. One of auto, cpu, cuda.
    """

    epochs: int | None
    lr: float | None
    patience: int | None
    scope: int | Literal["component", "graph", "auto"] | None
    readout_scope: int | Literal["component", "graph", "auto"] | None
    hidden: int | None
    self_loops: float | None
    feature_scaling: Literal["none", "row", "l2", "tfidf", "standard", "auto"] | None
    readout: Literal["sum", "mean", "concat", "hidden", "context", "context-l2", "blocks"] | None
    sample: int | Literal["all"] | None
    sampling: Literal["random", "window", "ball"] | None
    normalisation: Literal["graph", "subgraph"] | None
    context: Literal["power", "lazy"] | None
    temperature: float | None
    negatives: int | Literal["all"] | None
    def __init__(
        self,
        preset: Literal["fast", "paper", "authors"] = "fast",
        *,
        epochs: int | None = None,
        lr: float | None = None,
        patience: int | None = None,
        scope: int | Literal["component", "graph", "auto"] | None = None,
        readout_scope: int | Literal["component", "graph", "auto"] | None = None,
        hidden: int | None = None,
        self_loops: float | None = None,
        feature_scaling: Literal["none", "row", "l2", "tfidf", "standard", "auto"] | None = None,
        readout: Literal["sum", "mean", "concat", "hidden", "context", "context-l2", "blocks"]
        | None = None,
        sample: int | Literal["all"] | None = None,
        sampling: Literal["random", "window", "ball"] | None = None,
        normalisation: Literal["graph", "subgraph"] | None = None,
        context: Literal["power", "lazy"] | None = None,
        temperature: float | None = None,
        negatives: int | Literal["all"] | None = None,
        seed: int = 0,
        device: Literal["auto", "cpu", "cuda"] = "auto",
    ) -> None: ...

class UGCLSig(Embedder):
    """Node embeddings by the method `ugcl-sig`: `UGCLSig().fit(graph).embed(graph)`.

    Source: Zheng et al., Unifying Graph Contrastive Learning with Flexible Contextual Scopes,
    ICDM 2022, ablation study. Contextual scope: A^n, any n; one encoder for both views. Fitted
    attributes are those of `Embedder`.

    Args:
        preset: values of the settings that are None. One of fast, paper, authors.
        epochs: training steps. An integer of at least 0.
        lr: learning rate of the optimizer. A number above 0.
        patience: stop after this many epochs without a lower loss and keep the last weights; 0:
            never. An integer of at least 0.
        scope: training scope: contrast with A^n H, the connected component or the whole graph;
            auto: n chosen without labels. An integer of at least 0, 'component', 'graph' or
            'auto'.
        readout_scope: scope of the embeddings H + A^n H. An integer of at least 0, 'component',
            'graph' or 'auto'.
        hidden: width D' of the encoder, and so of the embeddings. An integer of at least 1.
        self_loops: weight of the self-loops in the normalised adjacency. A number of at least
            0.
        feature_scaling: features as they are, rows of L1 norm 1, rows of L2 norm 1, TF-IDF,
            columns of mean 0 and standard deviation 1 (sparse ones: deviation 1 only); auto:
            L2, or TF-IDF for counts and standard for others, whichever is more reliable. One of
            none, row, l2, tfidf, standard, auto.
        readout: how H and A^n H become the embedding. One of sum, mean, concat, hidden,
            context, context-l2, blocks.
        sample: nodes S of the subgraph that is sampled in every epoch. An integer of at least 2
            or 'all'.
        sampling: sample random nodes, a window of consecutive nodes, or balls around random
            nodes. One of random, window, ball.
        normalisation: normalise the adjacency by the degrees in the whole graph or in the
            subgraph. One of graph, subgraph.
        context: contextual view in training: power A^n H, lazy ((I+A)/2)^n H. One of power,
            lazy.
        temperature: temperature of the loss. A number of at least 0.02.
        negatives: random nodes that all nodes share as negatives. An integer of at least 2 or
            'all'.
        seed: the training seed. An integer of at least 0.
        device: where to compute. One of auto, cpu, cuda.
    """

    epochs: int | None
    lr: float | None
    patience: int | None
    scope: int | Literal["component", "graph", "auto"] | None
    readout_scope: int | Literal["component", "graph", "auto"] | None
    hidden: int | None
    self_loops: float | None
    feature_scaling: Literal["none", "row", "l2", "tfidf", "standard", "auto"] | None
    readout: Literal["sum", "mean", "concat", "hidden", "context", "context-l2", "blocks"] | None
    sample: int | Literal["all"] | None
    sampling: Literal["random", "window", "ball"] | None
    normalisation: Literal["graph", "subgraph"] | None
    context: Literal["power", "lazy"] | None
    temperature: float | None
    negatives: int | Literal["all"] | None
    def __init__(
        self,
        preset: Literal["fast", "paper", "authors"] = "fast",
        *,
        epochs: int | None = None,
        lr: float | None = None,
        patience: int | None = None,
        scope: int | Literal["component", "graph", "auto"] | None = None,
        readout_scope: int | Literal["component", "graph", "auto"] | None = None,
        hidden: int | None = None,
        self_loops: float | None = None,
        feature_scaling: Literal["none", "row", "l2", "tfidf", "standard", "auto"] | None = None,
        readout: Literal["sum", "mean", "concat", "hidden", "context", "context-l2", "blocks"]
        | None = None,
        sample: int | Literal["all"] | None = None,
        sampling: Literal["random", "window", "ball"] | None = None,
        normalisation: Literal["graph", "subgraph"] | None = None,
        context: Literal["power", "lazy"] | None = None,
        temperature: float | None = None,
        negatives: int | Literal["all"] | None = None,
        seed: int = 0,
        device: Literal["auto", "cpu", "cuda"] = "auto",
    ) -> None: ...

class UGCLNoSample(Embedder):
    """Node embeddings by the method `ugcl-no-sample`: `UGCLNoSample().fit(graph).embed(graph)`.

    Source: Zheng et al., Unifying Graph Contrastive Learning with Flexible Contextual Scopes,
    ICDM 2022, ablation study. Contextual scope: A^n, any n; without subsampling. Fitted
    attributes are those of `Embedder`.

    Args:
        preset: values of the settings that are None. One of fast, paper, authors.
        epochs: training steps. An integer of at least 0.
        lr: learning rate of the optimizer. A number above 0.
        patience: stop after this many epochs without a lower loss and keep the last weights; 0:
            never. An integer of at least 0.
        scope: training scope: contrast with A^n H, the connected component or the whole graph;
            auto: n chosen without labels. An integer of at least 0, 'component', 'graph' or
            'auto'.
        readout_scope: scope of the embeddings H + A^n H. An integer of at least 0, 'component',
            'graph' or 'auto'.
        hidden: width D' of the encoder, and so of the embeddings. An integer of at least 1.
        self_loops: weight of the self-loops in the normalised adjacency. A number of at least
            0.
        feature_scaling: features as they are, rows of L1 norm 1, rows of L2 norm 1, TF-IDF,
            columns of mean 0 and standard deviation 1 (sparse ones: deviation 1 only); auto:
            L2, or TF-IDF for counts and standard for others, whichever is more reliable. One of
            none, row, l2, tfidf, standard, auto.
        readout: how H and A^n H become the embedding. One of sum, mean, concat, hidden,
            context, context-l2, blocks.
        sample: nodes S of the subgraph that is sampled in every epoch. An integer of at least 2
            or 'all'.
        sampling: sample random nodes, a window of consecutive nodes, or balls around random
            nodes. One of random, window, ball.
        normalisation: normalise the adjacency by the degrees in the whole graph or in the
            subgraph. One of graph, subgraph.
        context: contextual view in training: power A^n H, lazy ((I+A)/2)^n H. One of power,
            lazy.
        temperature: temperature of the loss. A number of at least 0.02.
        negatives: random nodes that all nodes share as negatives. An integer of at least 2 or
            'all'.
        seed: the training seed. An integer of at least 0.
        device: where to compute. One of auto, cpu, cuda.
    """

    epochs: int | None
    lr: float | None
    patience: int | None
    scope: int | Literal["component", "graph", "auto"] | None
    readout_scope: int | Literal["component", "graph", "auto"] | None
    hidden: int | None
    self_loops: float | None
    feature_scaling: Literal["none", "row", "l2", "tfidf", "standard", "auto"] | None
    readout: Literal["sum", "mean", "concat", "hidden", "context", "context-l2", "blocks"] | None
    sample: int | Literal["all"] | None
    sampling: Literal["random", "window", "ball"] | None
    normalisation: Literal["graph", "subgraph"] | None
    context: Literal["power", "lazy"] | None
    temperature: float | None
    negatives: int | Literal["all"] | None
    def __init__(
        self,
        preset: Literal["fast", "paper", "authors"] = "fast",
        *,
        epochs: int | None = None,
        lr: float | None = None,
        patience: int | None = None,
        scope: int | Literal["component", "graph", "auto"] | None = None,
        readout_scope: int | Literal["component", "graph", "auto"] | None = None,
        hidden: int | None = None,
        self_loops: float | None = None,
        feature_scaling: Literal["none", "row", "l2", "tfidf", "standard", "auto"] | None = None,
        readout: Literal["sum", "mean", "concat", "hidden", "context", "context-l2", "blocks"]
        | None = None,
        sample: int | Literal["all"] | None = None,
        sampling: Literal["random", "window", "ball"] | None = None,
        normalisation: Literal["graph", "subgraph"] | None = None,
        context: Literal["power", "lazy"] | None = None,
        temperature: float | None = None,
        negatives: int | Literal["all"] | None = None,
        seed: int = 0,
        device: Literal["auto", "cpu", "cuda"] = "auto",
    ) -> None: ...

class UGCLNoPower(Embedder):
    """Node embeddings by the method `ugcl-no-power`: `UGCLNoPower().fit(graph).embed(graph)`.

    Source: Zheng et al., Unifying Graph Contrastive Learning with Flexible Contextual Scopes,
    ICDM 2022, ablation study. Contextual scope: A^0, the node itself. Fitted attributes are
    those of `Embedder`.

    Args:
        preset: values of the settings that are None. One of fast, paper, authors.
        epochs: training steps. An integer of at least 0.
        lr: learning rate of the optimizer. A number above 0.
        patience: stop after this many epochs without a lower loss and keep the last weights; 0:
            never. An integer of at least 0.
        scope: training scope: contrast with A^n H, the connected component or the whole graph;
            auto: n chosen without labels. An integer of at least 0, 'component', 'graph' or
            'auto'.
        readout_scope: scope of the embeddings H + A^n H. An integer of at least 0, 'component',
            'graph' or 'auto'.
        hidden: width D' of the encoder, and so of the embeddings. An integer of at least 1.
        self_loops: weight of the self-loops in the normalised adjacency. A number of at least
            0.
        feature_scaling: features as they are, rows of L1 norm 1, rows of L2 norm 1, TF-IDF,
            columns of mean 0 and standard deviation 1 (sparse ones: deviation 1 only); auto:
            L2, or TF-IDF for counts and standard for others, whichever is more reliable. One of
            none, row, l2, tfidf, standard, auto.
        readout: how H and A^n H become the embedding. One of sum, mean, concat, hidden,
            context, context-l2, blocks.
        sample: nodes S of the subgraph that is sampled in every epoch. An integer of at least 2
            or 'all'.
        sampling: sample random nodes, a window of consecutive nodes, or balls around random
            nodes. One of random, window, ball.
        normalisation: normalise the adjacency by the degrees in the whole graph or in the
            subgraph. One of graph, subgraph.
        context: contextual view in training: power A^n H, lazy ((I+A)/2)^n H. One of power,
            lazy.
        temperature: temperature of the loss. A number of at least 0.02.
        negatives: random nodes that all nodes share as negatives. An integer of at least 2 or
            'all'.
        seed: the training seed. An integer of at least 0.
        device: where to compute. One of auto, cpu, cuda.
    """

    epochs: int | None
    lr: float | None
    patience: int | None
    scope: int | Literal["component", "graph", "auto"] | None
    readout_scope: int | Literal["component", "graph", "auto"] | None
    hidden: int | None
    self_loops: float | None
    feature_scaling: Literal["none", "row", "l2", "tfidf", "standard", "auto"] | None
    readout: Literal["sum", "mean", "concat", "hidden", "context", "context-l2", "blocks"] | None
    sample: int | Literal["all"] | None
    sampling: Literal["random", "window", "ball"] | None
    normalisation: Literal["graph", "subgraph"] | None
    context: Literal["power", "lazy"] | None
    temperature: float | None
    negatives: int | Literal["all"] | None
    def __init__(
        self,
        preset: Literal["fast", "paper", "authors"] = "fast",
        *,
        epochs: int | None = None,
        lr: float | None = None,
        patience: int | None = None,
        scope: int | Literal["component", "graph", "auto"] | None = None,
        readout_scope: int | Literal["component", "graph", "auto"] | None = None,
        hidden: int | None = None,
        self_loops: float | None = None,
        feature_scaling: Literal["none", "row", "l2", "tfidf", "standard", "auto"] | None = None,
        readout: Literal["sum", "mean", "concat", "hidden", "context", "context-l2", "blocks"]
        | None = None,
        sample: int | Literal["all"] | None = None,
        sampling: Literal["random", "window", "ball"] | None = None,
        normalisation: Literal["graph", "subgraph"] | None = None,
        context: Literal["power", "lazy"] | None = None,
        temperature: float | None = None,
        negatives: int | Literal["all"] | None = None,
        seed: int = 0,
        device: Literal["auto", "cpu", "cuda"] = "auto",
    ) -> None: ...

class GRACE(Embedder):
    """Node embeddings by the method `grace`: `GRACE().fit(graph).embed(graph)`.

    Source: Zhu et al., Deep Graph Contrastive Representation Learning, GRL+ at ICML 2020.
    Contextual scope: A^0, the node in the other view. Fitted attributes are those of
    `Embedder`.

    Args:
        preset: values of the settings that are None. One of fast, paper.
        epochs: training steps. An integer of at least 0.
        lr: learning rate of the optimizer. A number above 0.
        patience: stop after this many epochs without a lower loss and keep the last weights; 0:
            never. An integer of at least 0.
        scope: training scope: contrast with A^n H, the connected component or the whole graph;
            auto: n chosen without labels. An integer of at least 0, 'component', 'graph' or
            'auto'.
        readout_scope: scope of the embeddings H + A^n H. An integer of at least 0, 'component',
            'graph' or 'auto'.
        hidden: width D' of the encoder, and so of the embeddings. An integer of at least 1.
        self_loops: weight of the self-loops in the normalised adjacency. A number of at least
            0.
        feature_scaling: features as they are, rows of L1 norm 1, rows of L2 norm 1, TF-IDF,
            columns of mean 0 and standard deviation 1 (sparse ones: deviation 1 only); auto:
            L2, or TF-IDF for counts and standard for others, whichever is more reliable. One of
            none, row, l2, tfidf, standard, auto.
        readout: how H and A^n H become the embedding. One of sum, mean, concat, hidden,
            context, context-l2, blocks.
        drop_edges_1: fraction of edges dropped in the first view. A number of at least 0 and
            below 1.
        drop_edges_2: fraction of edges dropped in the second view. A number of at least 0 and
            below 1.
        mask_features_1: fraction of features masked in the first view. A number of at least 0
            and below 1.
        mask_features_2: fraction of features masked in the second view. A number of at least 0
            and below 1.
        weight_decay: weight decay of the optimizer. A number of at least 0.
        activation: activation of each layer. One of relu, prelu.
        projector: hidden width of the projector. An integer of at least 1.
        temperature: temperature of the loss. A number of at least 0.02.
        negatives: random nodes that all nodes share as negatives. An integer of at least 2 or
            'all'.
        seed: the training seed. An integer of at least 0.
        device: where to compute. One of auto, cpu, cuda.
    """

    epochs: int | None
    lr: float | None
    patience: int | None
    scope: int | Literal["component", "graph", "auto"] | None
    readout_scope: int | Literal["component", "graph", "auto"] | None
    hidden: int | None
    self_loops: float | None
    feature_scaling: Literal["none", "row", "l2", "tfidf", "standard", "auto"] | None
    readout: Literal["sum", "mean", "concat", "hidden", "context", "context-l2", "blocks"] | None
    drop_edges_1: float | None
    drop_edges_2: float | None
    mask_features_1: float | None
    mask_features_2: float | None
    weight_decay: float | None
    activation: Literal["relu", "prelu"] | None
    projector: int | None
    temperature: float | None
    negatives: int | Literal["all"] | None
    def __init__(
        self,
        preset: Literal["fast", "paper"] = "fast",
        *,
        epochs: int | None = None,
        lr: float | None = None,
        patience: int | None = None,
        scope: int | Literal["component", "graph", "auto"] | None = None,
        readout_scope: int | Literal["component", "graph", "auto"] | None = None,
        hidden: int | None = None,
        self_loops: float | None = None,
        feature_scaling: Literal["none", "row", "l2", "tfidf", "standard", "auto"] | None = None,
        readout: Literal["sum", "mean", "concat", "hidden", "context", "context-l2", "blocks"]
        | None = None,
        drop_edges_1: float | None = None,
        drop_edges_2: float | None = None,
        mask_features_1: float | None = None,
        mask_features_2: float | None = None,
        weight_decay: float | None = None,
        activation: Literal["relu", "prelu"] | None = None,
        projector: int | None = None,
        temperature: float | None = None,
        negatives: int | Literal["all"] | None = None,
        seed: int = 0,
        device: Literal["auto", "cpu", "cuda"] = "auto",
    ) -> None: ...

class GMI(Embedder):
    """Node embeddings by the method `gmi`: `GMI().fit(graph).embed(graph)`.

    Source: Peng et al., Graph Representation Learning via Graphical Mutual Information
    Maximization, WWW 2020. Contextual scope: A^1 X, the neighbours' raw features. Fitted
    attributes are those of `Embedder`.

    Args:
        preset: values of the settings that are None. One of fast, paper.
        epochs: training steps. An integer of at least 0.
        lr: learning rate of the optimizer. A number above 0.
        patience: stop after this many epochs without a lower loss and keep the last weights; 0:
            never. An integer of at least 0.
        scope: training scope: contrast with A^n H, the connected component or the whole graph;
            auto: n chosen without labels. An integer of at least 0, 'component', 'graph' or
            'auto'.
        readout_scope: scope of the embeddings H + A^n H. An integer of at least 0, 'component',
            'graph' or 'auto'.
        hidden: width D' of the encoder, and so of the embeddings. An integer of at least 1.
        self_loops: weight of the self-loops in the normalised adjacency. A number of at least
            0.
        feature_scaling: features as they are, rows of L1 norm 1, rows of L2 norm 1, TF-IDF,
            columns of mean 0 and standard deviation 1 (sparse ones: deviation 1 only); auto:
            L2, or TF-IDF for counts and standard for others, whichever is more reliable. One of
            none, row, l2, tfidf, standard, auto.
        readout: how H and A^n H become the embedding. One of sum, mean, concat, hidden,
            context, context-l2, blocks.
        layers: layers of the encoder. An integer of at least 1.
        negatives: other nodes whose features each node is compared with in every epoch. An
            integer of at least 1 or 'all'.
        non_edges: random nodes that each node is compared with in the edge term. An integer of
            at least 1 or 'all'.
        edge_weight: weight of the edge term. A number of at least 0.
        seed: the training seed. An integer of at least 0.
        device: where to compute. One of auto, cpu, cuda.
    """

    epochs: int | None
    lr: float | None
    patience: int | None
    scope: int | Literal["component", "graph", "auto"] | None
    readout_scope: int | Literal["component", "graph", "auto"] | None
    hidden: int | None
    self_loops: float | None
    feature_scaling: Literal["none", "row", "l2", "tfidf", "standard", "auto"] | None
    readout: Literal["sum", "mean", "concat", "hidden", "context", "context-l2", "blocks"] | None
    layers: int | None
    negatives: int | Literal["all"] | None
    non_edges: int | Literal["all"] | None
    edge_weight: float | None
    def __init__(
        self,
        preset: Literal["fast", "paper"] = "fast",
        *,
        epochs: int | None = None,
        lr: float | None = None,
        patience: int | None = None,
        scope: int | Literal["component", "graph", "auto"] | None = None,
        readout_scope: int | Literal["component", "graph", "auto"] | None = None,
        hidden: int | None = None,
        self_loops: float | None = None,
        feature_scaling: Literal["none", "row", "l2", "tfidf", "standard", "auto"] | None = None,
        readout: Literal["sum", "mean", "concat", "hidden", "context", "context-l2", "blocks"]
        | None = None,
        layers: int | None = None,
        negatives: int | Literal["all"] | None = None,
        non_edges: int | Literal["all"] | None = None,
        edge_weight: float | None = None,
        seed: int = 0,
        device: Literal["auto", "cpu", "cuda"] = "auto",
    ) -> None: ...

class DGI(Embedder):
    """Node embeddings by the method `dgi`: `DGI().fit(graph).embed(graph)`.

    Source: Velickovic et al., Deep Graph Infomax, ICLR 2019. Contextual scope: whole graph: the
    mean of all rows. Fitted attributes are those of `Embedder`.

    Args:
        preset: values of the settings that are None. One of fast, paper.
        epochs: training steps. An integer of at least 0.
        lr: learning rate of the optimizer. A number above 0.
        patience: stop after this many epochs without a lower loss and keep the last weights; 0:
            never. An integer of at least 0.
        scope: training scope: contrast with A^n H, the connected component or the whole graph;
            auto: n chosen without labels. An integer of at least 0, 'component', 'graph' or
            'auto'.
        readout_scope: scope of the embeddings H + A^n H. An integer of at least 0, 'component',
            'graph' or 'auto'.
        hidden: width D' of the encoder, and so of the embeddings. An integer of at least 1.
        self_loops: weight of the self-loops in the normalised adjacency. A number of at least
            0.
        feature_scaling: features as they are, rows of L1 norm 1, rows of L2 norm 1, TF-IDF,
            columns of mean 0 and standard deviation 1 (sparse ones: deviation 1 only); auto:
            L2, or TF-IDF for counts and standard for others, whichever is more reliable. One of
            none, row, l2, tfidf, standard, auto.
        readout: how H and A^n H become the embedding. One of sum, mean, concat, hidden,
            context, context-l2, blocks.
        seed: the training seed. An integer of at least 0.
        device: where to compute. One of auto, cpu, cuda.
    """

    epochs: int | None
    lr: float | None
    patience: int | None
    scope: int | Literal["component", "graph", "auto"] | None
    readout_scope: int | Literal["component", "graph", "auto"] | None
    hidden: int | None
    self_loops: float | None
    feature_scaling: Literal["none", "row", "l2", "tfidf", "standard", "auto"] | None
    readout: Literal["sum", "mean", "concat", "hidden", "context", "context-l2", "blocks"] | None
    def __init__(
        self,
        preset: Literal["fast", "paper"] = "fast",
        *,
        epochs: int | None = None,
        lr: float | None = None,
        patience: int | None = None,
        scope: int | Literal["component", "graph", "auto"] | None = None,
        readout_scope: int | Literal["component", "graph", "auto"] | None = None,
        hidden: int | None = None,
        self_loops: float | None = None,
        feature_scaling: Literal["none", "row", "l2", "tfidf", "standard", "auto"] | None = None,
        readout: Literal["sum", "mean", "concat", "hidden", "context", "context-l2", "blocks"]
        | None = None,
        seed: int = 0,
        device: Literal["auto", "cpu", "cuda"] = "auto",
    ) -> None: ...

class MVGRL(Embedder):
    """Node embeddings by the method `mvgrl`: `MVGRL().fit(graph).embed(graph)`.

    Source: Hassani and Khasahmadi, Contrastive Multi-View Representation Learning on Graphs,
    ICML 2020. Contextual scope: whole graph: the mean of all rows of the other view. Fitted
    attributes are those of `Embedder`.

    Args:
        preset: values of the settings that are None. One of fast, paper.
        epochs: training steps. An integer of at least 0.
        lr: learning rate of the optimizer. A number above 0.
        patience: stop after this many epochs without a lower loss and keep the last weights; 0:
            never. An integer of at least 0.
        scope: training scope: contrast with A^n H, the connected component or the whole graph;
            auto: n chosen without labels. An integer of at least 0, 'component', 'graph' or
            'auto'.
        readout_scope: scope of the embeddings H + A^n H. An integer of at least 0, 'component',
            'graph' or 'auto'.
        hidden: width D' of the encoder, and so of the embeddings. An integer of at least 1.
        self_loops: weight of the self-loops in the normalised adjacency. A number of at least
            0.
        feature_scaling: features as they are, rows of L1 norm 1, rows of L2 norm 1, TF-IDF,
            columns of mean 0 and standard deviation 1 (sparse ones: deviation 1 only); auto:
            L2, or TF-IDF for counts and standard for others, whichever is more reliable. One of
            none, row, l2, tfidf, standard, auto.
        readout: how H and A^n H become the embedding. One of sum, mean, concat, hidden,
            context, context-l2, blocks.
        diffusion: the second view: personalised PageRank or heat. One of pagerank, heat.
        teleport: restart probability of PageRank. A number of at least 0.001 and below 1.
        heat_time: diffusion time of heat. A number above 0 and below 1000.
        neighbours: entries kept for each node of the diffusion. An integer of at least 1.
        seed: the training seed. An integer of at least 0.
        device: where to compute. One of auto, cpu, cuda.
    """

    epochs: int | None
    lr: float | None
    patience: int | None
    scope: int | Literal["component", "graph", "auto"] | None
    readout_scope: int | Literal["component", "graph", "auto"] | None
    hidden: int | None
    self_loops: float | None
    feature_scaling: Literal["none", "row", "l2", "tfidf", "standard", "auto"] | None
    readout: Literal["sum", "mean", "concat", "hidden", "context", "context-l2", "blocks"] | None
    diffusion: Literal["pagerank", "heat"] | None
    teleport: float | None
    heat_time: float | None
    neighbours: int | None
    def __init__(
        self,
        preset: Literal["fast", "paper"] = "fast",
        *,
        epochs: int | None = None,
        lr: float | None = None,
        patience: int | None = None,
        scope: int | Literal["component", "graph", "auto"] | None = None,
        readout_scope: int | Literal["component", "graph", "auto"] | None = None,
        hidden: int | None = None,
        self_loops: float | None = None,
        feature_scaling: Literal["none", "row", "l2", "tfidf", "standard", "auto"] | None = None,
        readout: Literal["sum", "mean", "concat", "hidden", "context", "context-l2", "blocks"]
        | None = None,
        diffusion: Literal["pagerank", "heat"] | None = None,
        teleport: float | None = None,
        heat_time: float | None = None,
        neighbours: int | None = None,
        seed: int = 0,
        device: Literal["auto", "cpu", "cuda"] = "auto",
    ) -> None: ...

class GCA(Embedder):
    """Node embeddings by the method `gca`: `GCA().fit(graph).embed(graph)`.

    Source: Zhu et al., Graph Contrastive Learning with Adaptive Augmentation, WWW 2021.
    Contextual scope: A^0, the node in the other view. Fitted attributes are those of
    `Embedder`.

    Args:
        preset: values of the settings that are None. One of fast, paper.
        epochs: training steps. An integer of at least 0.
        lr: learning rate of the optimizer. A number above 0.
        patience: stop after this many epochs without a lower loss and keep the last weights; 0:
            never. An integer of at least 0.
        scope: training scope: contrast with A^n H, the connected component or the whole graph;
            auto: n chosen without labels. An integer of at least 0, 'component', 'graph' or
            'auto'.
        readout_scope: scope of the embeddings H + A^n H. An integer of at least 0, 'component',
            'graph' or 'auto'.
        hidden: width D' of the encoder, and so of the embeddings. An integer of at least 1.
        self_loops: weight of the self-loops in the normalised adjacency. A number of at least
            0.
        feature_scaling: features as they are, rows of L1 norm 1, rows of L2 norm 1, TF-IDF,
            columns of mean 0 and standard deviation 1 (sparse ones: deviation 1 only); auto:
            L2, or TF-IDF for counts and standard for others, whichever is more reliable. One of
            none, row, l2, tfidf, standard, auto.
        readout: how H and A^n H become the embedding. One of sum, mean, concat, hidden,
            context, context-l2, blocks.
        drop_edges_1: fraction of edges dropped in the first view. A number of at least 0 and
            below 1.
        drop_edges_2: fraction of edges dropped in the second view. A number of at least 0 and
            below 1.
        mask_features_1: fraction of features masked in the first view. A number of at least 0
            and below 1.
        mask_features_2: fraction of features masked in the second view. A number of at least 0
            and below 1.
        weight_decay: weight decay of the optimizer. A number of at least 0.
        activation: activation of each layer. One of relu, prelu.
        projector: hidden width of the projector. An integer of at least 1.
        temperature: temperature of the loss. A number of at least 0.02.
        negatives: random nodes that all nodes share as negatives. An integer of at least 2 or
            'all'.
        centrality: centrality of the nodes. One of degree, pagerank, eigenvector.
        max_drop: maximum probability with which an edge or feature is dropped. A number of at
            least 0 and below 1.
        seed: the training seed. An integer of at least 0.
        device: where to compute. One of auto, cpu, cuda.
    """

    epochs: int | None
    lr: float | None
    patience: int | None
    scope: int | Literal["component", "graph", "auto"] | None
    readout_scope: int | Literal["component", "graph", "auto"] | None
    hidden: int | None
    self_loops: float | None
    feature_scaling: Literal["none", "row", "l2", "tfidf", "standard", "auto"] | None
    readout: Literal["sum", "mean", "concat", "hidden", "context", "context-l2", "blocks"] | None
    drop_edges_1: float | None
    drop_edges_2: float | None
    mask_features_1: float | None
    mask_features_2: float | None
    weight_decay: float | None
    activation: Literal["relu", "prelu"] | None
    projector: int | None
    temperature: float | None
    negatives: int | Literal["all"] | None
    centrality: Literal["degree", "pagerank", "eigenvector"] | None
    max_drop: float | None
    def __init__(
        self,
        preset: Literal["fast", "paper"] = "fast",
        *,
        epochs: int | None = None,
        lr: float | None = None,
        patience: int | None = None,
        scope: int | Literal["component", "graph", "auto"] | None = None,
        readout_scope: int | Literal["component", "graph", "auto"] | None = None,
        hidden: int | None = None,
        self_loops: float | None = None,
        feature_scaling: Literal["none", "row", "l2", "tfidf", "standard", "auto"] | None = None,
        readout: Literal["sum", "mean", "concat", "hidden", "context", "context-l2", "blocks"]
        | None = None,
        drop_edges_1: float | None = None,
        drop_edges_2: float | None = None,
        mask_features_1: float | None = None,
        mask_features_2: float | None = None,
        weight_decay: float | None = None,
        activation: Literal["relu", "prelu"] | None = None,
        projector: int | None = None,
        temperature: float | None = None,
        negatives: int | Literal["all"] | None = None,
        centrality: Literal["degree", "pagerank", "eigenvector"] | None = None,
        max_drop: float | None = None,
        seed: int = 0,
        device: Literal["auto", "cpu", "cuda"] = "auto",
    ) -> None: ...

class BGRL(Embedder):
    """Node embeddings by the method `bgrl`: `BGRL().fit(graph).embed(graph)`.

    Source: Thakoor et al., Large-Scale Representation Learning on Graphs via Bootstrapping,
    ICLR 2022. Contextual scope: A^0, the node in the other view. Fitted attributes are those of
    `Embedder`.

    Args:
        preset: values of the settings that are None. One of fast, paper.
        epochs: training steps. An integer of at least 0.
        lr: learning rate of the optimizer. A number above 0.
        patience: stop after this many epochs without a lower loss and keep the last weights; 0:
            never. An integer of at least 0.
        scope: training scope: contrast with A^n H, the connected component or the whole graph;
            auto: n chosen without labels. An integer of at least 0, 'component', 'graph' or
            'auto'.
        readout_scope: scope of the embeddings H + A^n H. An integer of at least 0, 'component',
            'graph' or 'auto'.
        hidden: width D' of the encoder, and so of the embeddings. An integer of at least 1.
        self_loops: weight of the self-loops in the normalised adjacency. A number of at least
            0.
        feature_scaling: features as they are, rows of L1 norm 1, rows of L2 norm 1, TF-IDF,
            columns of mean 0 and standard deviation 1 (sparse ones: deviation 1 only); auto:
            L2, or TF-IDF for counts and standard for others, whichever is more reliable. One of
            none, row, l2, tfidf, standard, auto.
        readout: how H and A^n H become the embedding. One of sum, mean, concat, hidden,
            context, context-l2, blocks.
        drop_edges_1: fraction of edges dropped in the first view. A number of at least 0 and
            below 1.
        drop_edges_2: fraction of edges dropped in the second view. A number of at least 0 and
            below 1.
        mask_features_1: fraction of features masked in the first view. A number of at least 0
            and below 1.
        mask_features_2: fraction of features masked in the second view. A number of at least 0
            and below 1.
        weight_decay: weight decay of the optimizer. A number of at least 0.
        predictor: hidden width of the predictor. An integer of at least 1.
        momentum: initial momentum of the target encoder. A number of at least 0 and below 1.
        warmup: epochs in which the learning rate rises. An integer of at least 0.
        seed: the training seed. An integer of at least 0.
        device: where to compute. One of auto, cpu, cuda.
    """

    epochs: int | None
    lr: float | None
    patience: int | None
    scope: int | Literal["component", "graph", "auto"] | None
    readout_scope: int | Literal["component", "graph", "auto"] | None
    hidden: int | None
    self_loops: float | None
    feature_scaling: Literal["none", "row", "l2", "tfidf", "standard", "auto"] | None
    readout: Literal["sum", "mean", "concat", "hidden", "context", "context-l2", "blocks"] | None
    drop_edges_1: float | None
    drop_edges_2: float | None
    mask_features_1: float | None
    mask_features_2: float | None
    weight_decay: float | None
    predictor: int | None
    momentum: float | None
    warmup: int | None
    def __init__(
        self,
        preset: Literal["fast", "paper"] = "fast",
        *,
        epochs: int | None = None,
        lr: float | None = None,
        patience: int | None = None,
        scope: int | Literal["component", "graph", "auto"] | None = None,
        readout_scope: int | Literal["component", "graph", "auto"] | None = None,
        hidden: int | None = None,
        self_loops: float | None = None,
        feature_scaling: Literal["none", "row", "l2", "tfidf", "standard", "auto"] | None = None,
        readout: Literal["sum", "mean", "concat", "hidden", "context", "context-l2", "blocks"]
        | None = None,
        drop_edges_1: float | None = None,
        drop_edges_2: float | None = None,
        mask_features_1: float | None = None,
        mask_features_2: float | None = None,
        weight_decay: float | None = None,
        predictor: int | None = None,
        momentum: float | None = None,
        warmup: int | None = None,
        seed: int = 0,
        device: Literal["auto", "cpu", "cuda"] = "auto",
    ) -> None: ...

class SubGCon(Embedder):
    """Node embeddings by the method `subg-con`: `SubGCon().fit(graph).embed(graph)`.

    Source: Jiao et al., Sub-graph Contrast for Scalable Self-Supervised Graph Representation
    Learning, ICDM 2020. Contextual scope: the mean of a subgraph around the node. Fitted
    attributes are those of `Embedder`.

    Args:
        preset: values of the settings that are None. One of fast, paper.
        epochs: training steps. An integer of at least 0.
        lr: learning rate of the optimizer. A number above 0.
        patience: stop after this many epochs without a lower loss and keep the last weights; 0:
            never. An integer of at least 0.
        scope: training scope: contrast with A^n H, the connected component or the whole graph;
            auto: n chosen without labels. An integer of at least 0, 'component', 'graph' or
            'auto'.
        readout_scope: scope of the embeddings H + A^n H. An integer of at least 0, 'component',
            'graph' or 'auto'.
        hidden: width D' of the encoder, and so of the embeddings. An integer of at least 1.
        self_loops: weight of the self-loops in the normalised adjacency. A number of at least
            0.
        feature_scaling: features as they are, rows of L1 norm 1, rows of L2 norm 1, TF-IDF,
            columns of mean 0 and standard deviation 1 (sparse ones: deviation 1 only); auto:
            L2, or TF-IDF for counts and standard for others, whichever is more reliable. One of
            none, row, l2, tfidf, standard, auto.
        readout: how H and A^n H become the embedding. One of sum, mean, concat, hidden,
            context, context-l2, blocks.
        sample: nodes whose subgraphs are sampled in every epoch. An integer of at least 2 or
            'all'.
        subgraph: maximum nodes of a subgraph, its centre included. An integer of at least 2.
        teleport: restart probability of PageRank. A number of at least 0.001 and below 1.
        margin: margin between a node's score and another node's. A number above 0.
        seed: the training seed. An integer of at least 0.
        device: where to compute. One of auto, cpu, cuda.
    """

    epochs: int | None
    lr: float | None
    patience: int | None
    scope: int | Literal["component", "graph", "auto"] | None
    readout_scope: int | Literal["component", "graph", "auto"] | None
    hidden: int | None
    self_loops: float | None
    feature_scaling: Literal["none", "row", "l2", "tfidf", "standard", "auto"] | None
    readout: Literal["sum", "mean", "concat", "hidden", "context", "context-l2", "blocks"] | None
    sample: int | Literal["all"] | None
    subgraph: int | None
    teleport: float | None
    margin: float | None
    def __init__(
        self,
        preset: Literal["fast", "paper"] = "fast",
        *,
        epochs: int | None = None,
        lr: float | None = None,
        patience: int | None = None,
        scope: int | Literal["component", "graph", "auto"] | None = None,
        readout_scope: int | Literal["component", "graph", "auto"] | None = None,
        hidden: int | None = None,
        self_loops: float | None = None,
        feature_scaling: Literal["none", "row", "l2", "tfidf", "standard", "auto"] | None = None,
        readout: Literal["sum", "mean", "concat", "hidden", "context", "context-l2", "blocks"]
        | None = None,
        sample: int | Literal["all"] | None = None,
        subgraph: int | None = None,
        teleport: float | None = None,
        margin: float | None = None,
        seed: int = 0,
        device: Literal["auto", "cpu", "cuda"] = "auto",
    ) -> None: ...

class GGD(Embedder):
    """Node embeddings by the method `ggd`: `GGD().fit(graph).embed(graph)`.

    Source: Zheng et al., Rethinking and Scaling Up Graph Contrastive Learning: An Extremely
    Efficient Approach with Group Discrimination, NeurIPS 2022. Contextual scope: none: each
    node by itself. Fitted attributes are those of `Embedder`.

    Args:
        preset: values of the settings that are None. One of fast, paper.
        epochs: training steps. An integer of at least 0.
        lr: learning rate of the optimizer. A number above 0.
        patience: stop after this many epochs without a lower loss and keep the last weights; 0:
            never. An integer of at least 0.
        scope: training scope: contrast with A^n H, the connected component or the whole graph;
            auto: n chosen without labels. An integer of at least 0, 'component', 'graph' or
            'auto'.
        readout_scope: scope of the embeddings H + A^n H. An integer of at least 0, 'component',
            'graph' or 'auto'.
        hidden: width D' of the encoder, and so of the embeddings. An integer of at least 1.
        self_loops: weight of the self-loops in the normalised adjacency. A number of at least
            0.
        feature_scaling: features as they are, rows of L1 norm 1, rows of L2 norm 1, TF-IDF,
            columns of mean 0 and standard deviation 1 (sparse ones: deviation 1 only); auto:
            L2, or TF-IDF for counts and standard for others, whichever is more reliable. One of
            none, row, l2, tfidf, standard, auto.
        readout: how H and A^n H become the embedding. One of sum, mean, concat, hidden,
            context, context-l2, blocks.
        mask_features: fraction of features masked in every epoch. A number of at least 0 and
            below 1.
        seed: the training seed. An integer of at least 0.
        device: where to compute. One of auto, cpu, cuda.
    """

    epochs: int | None
    lr: float | None
    patience: int | None
    scope: int | Literal["component", "graph", "auto"] | None
    readout_scope: int | Literal["component", "graph", "auto"] | None
    hidden: int | None
    self_loops: float | None
    feature_scaling: Literal["none", "row", "l2", "tfidf", "standard", "auto"] | None
    readout: Literal["sum", "mean", "concat", "hidden", "context", "context-l2", "blocks"] | None
    mask_features: float | None
    def __init__(
        self,
        preset: Literal["fast", "paper"] = "fast",
        *,
        epochs: int | None = None,
        lr: float | None = None,
        patience: int | None = None,
        scope: int | Literal["component", "graph", "auto"] | None = None,
        readout_scope: int | Literal["component", "graph", "auto"] | None = None,
        hidden: int | None = None,
        self_loops: float | None = None,
        feature_scaling: Literal["none", "row", "l2", "tfidf", "standard", "auto"] | None = None,
        readout: Literal["sum", "mean", "concat", "hidden", "context", "context-l2", "blocks"]
        | None = None,
        mask_features: float | None = None,
        seed: int = 0,
        device: Literal["auto", "cpu", "cuda"] = "auto",
    ) -> None: ...

class CCASSG(Embedder):
    """Node embeddings by the method `cca-ssg`: `CCASSG().fit(graph).embed(graph)`.

    Source: Zhang et al., From Canonical Correlation Analysis to Self-supervised Graph Neural
    Networks, NeurIPS 2021. Contextual scope: A^0, the node in the other view. Fitted attributes
    are those of `Embedder`.

    Args:
        preset: values of the settings that are None. One of fast, paper.
        epochs: training steps. An integer of at least 0.
        lr: learning rate of the optimizer. A number above 0.
        patience: stop after this many epochs without a lower loss and keep the last weights; 0:
            never. An integer of at least 0.
        scope: training scope: contrast with A^n H, the connected component or the whole graph;
            auto: n chosen without labels. An integer of at least 0, 'component', 'graph' or
            'auto'.
        readout_scope: scope of the embeddings H + A^n H. An integer of at least 0, 'component',
            'graph' or 'auto'.
        hidden: width D' of the encoder, and so of the embeddings. An integer of at least 1.
        self_loops: weight of the self-loops in the normalised adjacency. A number of at least
            0.
        feature_scaling: features as they are, rows of L1 norm 1, rows of L2 norm 1, TF-IDF,
            columns of mean 0 and standard deviation 1 (sparse ones: deviation 1 only); auto:
            L2, or TF-IDF for counts and standard for others, whichever is more reliable. One of
            none, row, l2, tfidf, standard, auto.
        readout: how H and A^n H become the embedding. One of sum, mean, concat, hidden,
            context, context-l2, blocks.
        drop_edges_1: fraction of edges dropped in the first view. A number of at least 0 and
            below 1.
        drop_edges_2: fraction of edges dropped in the second view. A number of at least 0 and
            below 1.
        mask_features_1: fraction of features masked in the first view. A number of at least 0
            and below 1.
        mask_features_2: fraction of features masked in the second view. A number of at least 0
            and below 1.
        weight_decay: weight decay of the optimizer. A number of at least 0.
        layers: layers of the encoder. An integer of at least 1.
        decorrelation: weight of the decorrelation term. A number of at least 0.
        seed: the training seed. An integer of at least 0.
        device: where to compute. One of auto, cpu, cuda.
    """

    epochs: int | None
    lr: float | None
    patience: int | None
    scope: int | Literal["component", "graph", "auto"] | None
    readout_scope: int | Literal["component", "graph", "auto"] | None
    hidden: int | None
    self_loops: float | None
    feature_scaling: Literal["none", "row", "l2", "tfidf", "standard", "auto"] | None
    readout: Literal["sum", "mean", "concat", "hidden", "context", "context-l2", "blocks"] | None
    drop_edges_1: float | None
    drop_edges_2: float | None
    mask_features_1: float | None
    mask_features_2: float | None
    weight_decay: float | None
    layers: int | None
    decorrelation: float | None
    def __init__(
        self,
        preset: Literal["fast", "paper"] = "fast",
        *,
        epochs: int | None = None,
        lr: float | None = None,
        patience: int | None = None,
        scope: int | Literal["component", "graph", "auto"] | None = None,
        readout_scope: int | Literal["component", "graph", "auto"] | None = None,
        hidden: int | None = None,
        self_loops: float | None = None,
        feature_scaling: Literal["none", "row", "l2", "tfidf", "standard", "auto"] | None = None,
        readout: Literal["sum", "mean", "concat", "hidden", "context", "context-l2", "blocks"]
        | None = None,
        drop_edges_1: float | None = None,
        drop_edges_2: float | None = None,
        mask_features_1: float | None = None,
        mask_features_2: float | None = None,
        weight_decay: float | None = None,
        layers: int | None = None,
        decorrelation: float | None = None,
        seed: int = 0,
        device: Literal["auto", "cpu", "cuda"] = "auto",
    ) -> None: ...

class DeepWalk(Embedder):
    """Node embeddings by the method `deepwalk`: `DeepWalk().fit(graph).embed(graph)`.

    Source: Perozzi et al., DeepWalk: Online Learning of Social Representations, KDD 2014.
    Contextual scope: nodes within the window of a random walk. Fitted attributes are those of
    `Embedder`.

    Args:
        preset: values of the settings that are None. One of fast, paper.
        epochs: training steps. An integer of at least 0.
        lr: learning rate of the optimizer. A number above 0.
        patience: stop after this many epochs without a lower loss and keep the last weights; 0:
            never. An integer of at least 0.
        hidden: width D' of the embeddings. An integer of at least 1.
        walk_length: nodes of a walk. An integer of at least 2.
        window: maximum distance of two nodes in a walk that count as a pair. An integer of at
            least 1.
        negatives: negatives of each pair; 0: hierarchical softmax. An integer of at least 0.
        workers: threads of gensim; with more than one, runs are not repeatable. An integer of
            at least 1.
        seed: the training seed. An integer of at least 0.
        device: where to compute. One of auto, cpu, cuda.
    """

    epochs: int | None
    lr: float | None
    patience: int | None
    hidden: int | None
    walk_length: int | None
    window: int | None
    negatives: int | None
    workers: int | None
    def __init__(
        self,
        preset: Literal["fast", "paper"] = "fast",
        *,
        epochs: int | None = None,
        lr: float | None = None,
        patience: int | None = None,
        hidden: int | None = None,
        walk_length: int | None = None,
        window: int | None = None,
        negatives: int | None = None,
        workers: int | None = None,
        seed: int = 0,
        device: Literal["auto", "cpu", "cuda"] = "auto",
    ) -> None: ...

class Node2Vec(Embedder):
    """Node embeddings by the method `node2vec`: `Node2Vec().fit(graph).embed(graph)`.

    Source: Grover and Leskovec, node2vec: Scalable Feature Learning for Networks, KDD 2016.
    Contextual scope: nodes within the window of a second-order random walk. Fitted attributes
    are those of `Embedder`.

    Args:
        preset: values of the settings that are None. One of fast, paper.
        epochs: training steps. An integer of at least 0.
        lr: learning rate of the optimizer. A number above 0.
        patience: stop after this many epochs without a lower loss and keep the last weights; 0:
            never. An integer of at least 0.
        hidden: width D' of the embeddings. An integer of at least 1.
        walk_length: nodes of a walk. An integer of at least 2.
        window: maximum distance of two nodes in a walk that count as a pair. An integer of at
            least 1.
        negatives: negatives of each pair; 0: hierarchical softmax. An integer of at least 0.
        workers: threads of gensim; with more than one, runs are not repeatable. An integer of
            at least 1.
        p: return parameter: how unlikely a step back is. A number of at least 1e-06 and below
            1e+07.
        q: in-out parameter: how unlikely a step away from the previous node is. A number of at
            least 1e-06 and below 1e+07.
        seed: the training seed. An integer of at least 0.
        device: where to compute. One of auto, cpu, cuda.
    """

    epochs: int | None
    lr: float | None
    patience: int | None
    hidden: int | None
    walk_length: int | None
    window: int | None
    negatives: int | None
    workers: int | None
    p: float | None
    q: float | None
    def __init__(
        self,
        preset: Literal["fast", "paper"] = "fast",
        *,
        epochs: int | None = None,
        lr: float | None = None,
        patience: int | None = None,
        hidden: int | None = None,
        walk_length: int | None = None,
        window: int | None = None,
        negatives: int | None = None,
        workers: int | None = None,
        p: float | None = None,
        q: float | None = None,
        seed: int = 0,
        device: Literal["auto", "cpu", "cuda"] = "auto",
    ) -> None: ...

class GAE(Embedder):
    """Node embeddings by the method `gae`: `GAE().fit(graph).embed(graph)`.

    Source: Kipf and Welling, Variational Graph Auto-Encoders, NIPS Workshop 2016. Contextual
    scope: the node itself. Fitted attributes are those of `Embedder`.

    Args:
        preset: values of the settings that are None. One of fast, paper.
        epochs: training steps. An integer of at least 0.
        lr: learning rate of the optimizer. A number above 0.
        patience: stop after this many epochs without a lower loss and keep the last weights; 0:
            never. An integer of at least 0.
        scope: training scope: contrast with A^n H, the connected component or the whole graph;
            auto: n chosen without labels. An integer of at least 0, 'component', 'graph' or
            'auto'.
        readout_scope: scope of the embeddings H + A^n H. An integer of at least 0, 'component',
            'graph' or 'auto'.
        hidden: width D' of the encoder, and so of the embeddings. An integer of at least 1.
        self_loops: weight of the self-loops in the normalised adjacency. A number of at least
            0.
        feature_scaling: features as they are, rows of L1 norm 1, rows of L2 norm 1, TF-IDF,
            columns of mean 0 and standard deviation 1 (sparse ones: deviation 1 only); auto:
            L2, or TF-IDF for counts and standard for others, whichever is more reliable. One of
            none, row, l2, tfidf, standard, auto.
        readout: how H and A^n H become the embedding. One of sum, mean, concat, hidden,
            context, context-l2, blocks.
        inner: width of the first layer. An integer of at least 1.
        seed: the training seed. An integer of at least 0.
        device: where to compute. One of auto, cpu, cuda.
    """

    epochs: int | None
    lr: float | None
    patience: int | None
    scope: int | Literal["component", "graph", "auto"] | None
    readout_scope: int | Literal["component", "graph", "auto"] | None
    hidden: int | None
    self_loops: float | None
    feature_scaling: Literal["none", "row", "l2", "tfidf", "standard", "auto"] | None
    readout: Literal["sum", "mean", "concat", "hidden", "context", "context-l2", "blocks"] | None
    inner: int | None
    def __init__(
        self,
        preset: Literal["fast", "paper"] = "fast",
        *,
        epochs: int | None = None,
        lr: float | None = None,
        patience: int | None = None,
        scope: int | Literal["component", "graph", "auto"] | None = None,
        readout_scope: int | Literal["component", "graph", "auto"] | None = None,
        hidden: int | None = None,
        self_loops: float | None = None,
        feature_scaling: Literal["none", "row", "l2", "tfidf", "standard", "auto"] | None = None,
        readout: Literal["sum", "mean", "concat", "hidden", "context", "context-l2", "blocks"]
        | None = None,
        inner: int | None = None,
        seed: int = 0,
        device: Literal["auto", "cpu", "cuda"] = "auto",
    ) -> None: ...

class VGAE(Embedder):
    """Node embeddings by the method `vgae`: `VGAE().fit(graph).embed(graph)`.

    Source: Kipf and Welling, Variational Graph Auto-Encoders, NIPS Workshop 2016. Contextual
    scope: the node itself. Fitted attributes are those of `Embedder`.

    Args:
        preset: values of the settings that are None. One of fast, paper.
        epochs: training steps. An integer of at least 0.
        lr: learning rate of the optimizer. A number above 0.
        patience: stop after this many epochs without a lower loss and keep the last weights; 0:
            never. An integer of at least 0.
        scope: training scope: contrast with A^n H, the connected component or the whole graph;
            auto: n chosen without labels. An integer of at least 0, 'component', 'graph' or
            'auto'.
        readout_scope: scope of the embeddings H + A^n H. An integer of at least 0, 'component',
            'graph' or 'auto'.
        hidden: width D' of the encoder, and so of the embeddings. An integer of at least 1.
        self_loops: weight of the self-loops in the normalised adjacency. A number of at least
            0.
        feature_scaling: features as they are, rows of L1 norm 1, rows of L2 norm 1, TF-IDF,
            columns of mean 0 and standard deviation 1 (sparse ones: deviation 1 only); auto:
            L2, or TF-IDF for counts and standard for others, whichever is more reliable. One of
            none, row, l2, tfidf, standard, auto.
        readout: how H and A^n H become the embedding. One of sum, mean, concat, hidden,
            context, context-l2, blocks.
        inner: width of the first layer. An integer of at least 1.
        seed: the training seed. An integer of at least 0.
        device: where to compute. One of auto, cpu, cuda.
    """

    epochs: int | None
    lr: float | None
    patience: int | None
    scope: int | Literal["component", "graph", "auto"] | None
    readout_scope: int | Literal["component", "graph", "auto"] | None
    hidden: int | None
    self_loops: float | None
    feature_scaling: Literal["none", "row", "l2", "tfidf", "standard", "auto"] | None
    readout: Literal["sum", "mean", "concat", "hidden", "context", "context-l2", "blocks"] | None
    inner: int | None
    def __init__(
        self,
        preset: Literal["fast", "paper"] = "fast",
        *,
        epochs: int | None = None,
        lr: float | None = None,
        patience: int | None = None,
        scope: int | Literal["component", "graph", "auto"] | None = None,
        readout_scope: int | Literal["component", "graph", "auto"] | None = None,
        hidden: int | None = None,
        self_loops: float | None = None,
        feature_scaling: Literal["none", "row", "l2", "tfidf", "standard", "auto"] | None = None,
        readout: Literal["sum", "mean", "concat", "hidden", "context", "context-l2", "blocks"]
        | None = None,
        inner: int | None = None,
        seed: int = 0,
        device: Literal["auto", "cpu", "cuda"] = "auto",
    ) -> None: ...

class RawFeatures(Embedder):
    """Node embeddings by the method `raw`: `RawFeatures().fit(graph).embed(graph)`.

    Source: none: the features without a method. Contextual scope: the node itself: the features
    as they are. Fitted attributes are those of `Embedder`.

    Args:
        preset: values of the settings that are None. One of fast.
        feature_scaling: features as they are, rows of L1 norm 1, rows of L2 norm 1, TF-IDF,
            columns of mean 0 and standard deviation 1 (sparse ones: deviation 1 only); auto:
            L2, or TF-IDF for counts and standard for others, whichever is more reliable. One of
            none, row, l2, tfidf, standard, auto.
        seed: the training seed. An integer of at least 0.
        device: where to compute. One of auto, cpu, cuda.
    """

    feature_scaling: Literal["none", "row", "l2", "tfidf", "standard", "auto"] | None
    def __init__(
        self,
        preset: Literal["fast"] = "fast",
        *,
        feature_scaling: Literal["none", "row", "l2", "tfidf", "standard", "auto"] | None = None,
        seed: int = 0,
        device: Literal["auto", "cpu", "cuda"] = "auto",
    ) -> None: ...

class SmoothedFeatures(Embedder):
    """Node embeddings by the method `smooth`: `SmoothedFeatures().fit(graph).embed(graph)`.

    Source: none: features and edges without a method; SGC learns from the same. Contextual
    scope: A^n X. Fitted attributes are those of `Embedder`.

    Args:
        preset: values of the settings that are None. One of fast.
        feature_scaling: features as they are, rows of L1 norm 1, rows of L2 norm 1, TF-IDF,
            columns of mean 0 and standard deviation 1 (sparse ones: deviation 1 only); auto:
            L2, or TF-IDF for counts and standard for others, whichever is more reliable. One of
            none, row, l2, tfidf, standard, auto.
        scope: the power n of A^n X; auto: n chosen without labels. An integer of at least 0 or
            'auto'.
        self_loops: weight of the self-loops in the normalised adjacency. A number of at least
            0.
        seed: the training seed. An integer of at least 0.
        device: where to compute. One of auto, cpu, cuda.
    """

    feature_scaling: Literal["none", "row", "l2", "tfidf", "standard", "auto"] | None
    scope: int | Literal["auto"] | None
    self_loops: float | None
    def __init__(
        self,
        preset: Literal["fast"] = "fast",
        *,
        feature_scaling: Literal["none", "row", "l2", "tfidf", "standard", "auto"] | None = None,
        scope: int | Literal["auto"] | None = None,
        self_loops: float | None = None,
        seed: int = 0,
        device: Literal["auto", "cpu", "cuda"] = "auto",
    ) -> None: ...

class PCAFeatures(Embedder):
    """Node embeddings by the method `pca`: `PCAFeatures().fit(graph).embed(graph)`.

    Source: none: principal components of smoothed features. Contextual scope: A^n H of smoothed
    features H = A^k X. Fitted attributes are those of `Embedder`.

    Args:
        preset: values of the settings that are None. One of fast.
        feature_scaling: features as they are, rows of L1 norm 1, rows of L2 norm 1, TF-IDF,
            columns of mean 0 and standard deviation 1 (sparse ones: deviation 1 only); auto:
            L2, or TF-IDF for counts and standard for others, whichever is more reliable. One of
            none, row, l2, tfidf, standard, auto.
        columns: leading directions of X, and so columns of the embeddings. An integer of at
            least 1.
        smoothing: the power k of H = A^k X, in its leading directions. An integer of at least
            0.
        scope: the power n of the embeddings (H + A^n H)/2; auto: n chosen without labels. An
            integer of at least 0 or 'auto'.
        self_loops: weight of the self-loops in the normalised adjacency. A number of at least
            0.
        seed: the training seed. An integer of at least 0.
        device: where to compute. One of auto, cpu, cuda.
    """

    feature_scaling: Literal["none", "row", "l2", "tfidf", "standard", "auto"] | None
    columns: int | None
    smoothing: int | None
    scope: int | Literal["auto"] | None
    self_loops: float | None
    def __init__(
        self,
        preset: Literal["fast"] = "fast",
        *,
        feature_scaling: Literal["none", "row", "l2", "tfidf", "standard", "auto"] | None = None,
        columns: int | None = None,
        smoothing: int | None = None,
        scope: int | Literal["auto"] | None = None,
        self_loops: float | None = None,
        seed: int = 0,
        device: Literal["auto", "cpu", "cuda"] = "auto",
    ) -> None: ...

class SIGNFeatures(Embedder):
    """Node embeddings by the method `sign`: `SIGNFeatures().fit(graph).embed(graph)`.

    Source: Frasca et al., 2020, without the trained layers. Contextual scope: several powers
    A^k X side by side. Fitted attributes are those of `Embedder`.

    Args:
        preset: values of the settings that are None. One of fast.
        feature_scaling: features as they are, rows of L1 norm 1, rows of L2 norm 1, TF-IDF,
            columns of mean 0 and standard deviation 1 (sparse ones: deviation 1 only); auto:
            L2, or TF-IDF for counts and standard for others, whichever is more reliable. One of
            none, row, l2, tfidf, standard, auto.
        powers: the powers k of the blocks A^k X. Different integers of at least 0, separated by
            commas.
        block_columns: columns of each block: leading directions of X. An integer of at least 1.
        self_loops: weight of the self-loops in the normalised adjacency. A number of at least
            0.
        seed: the training seed. An integer of at least 0.
        device: where to compute. One of auto, cpu, cuda.
    """

    feature_scaling: Literal["none", "row", "l2", "tfidf", "standard", "auto"] | None
    powers: tuple[int, ...] | None
    block_columns: int | None
    self_loops: float | None
    def __init__(
        self,
        preset: Literal["fast"] = "fast",
        *,
        feature_scaling: Literal["none", "row", "l2", "tfidf", "standard", "auto"] | None = None,
        powers: tuple[int, ...] | None = None,
        block_columns: int | None = None,
        self_loops: float | None = None,
        seed: int = 0,
        device: Literal["auto", "cpu", "cuda"] = "auto",
    ) -> None: ...

class StructureFeatures(Embedder):
    """Node embeddings by the method `structure`: `StructureFeatures().fit(graph).embed(graph)`.

    Source: Qiu et al., WSDM 2018, beside Frasca et al., 2020. Contextual scope: several powers
    A^k X, beside walks of 5 steps (NetMF). Fitted attributes are those of `Embedder`.

    Args:
        preset: values of the settings that are None. One of fast.
        feature_scaling: features as they are, rows of L1 norm 1, rows of L2 norm 1, TF-IDF,
            columns of mean 0 and standard deviation 1 (sparse ones: deviation 1 only); auto:
            L2, or TF-IDF for counts and standard for others, whichever is more reliable. One of
            none, row, l2, tfidf, standard, auto.
        powers: the powers k of the blocks A^k X. Different integers of at least 0, separated by
            commas.
        block_columns: columns of each block: leading directions of X. An integer of at least 1.
        self_loops: weight of the self-loops in the normalised adjacency. A number of at least
            0.
        structure_columns: columns of the structural block; 0: none. An integer of at least 0.
        structure_weight: weight of the structural block; that of all others is 1. A number of
            at least 0.
        seed: the training seed. An integer of at least 0.
        device: where to compute. One of auto, cpu, cuda.
    """

    feature_scaling: Literal["none", "row", "l2", "tfidf", "standard", "auto"] | None
    powers: tuple[int, ...] | None
    block_columns: int | None
    self_loops: float | None
    structure_columns: int | None
    structure_weight: float | None
    def __init__(
        self,
        preset: Literal["fast"] = "fast",
        *,
        feature_scaling: Literal["none", "row", "l2", "tfidf", "standard", "auto"] | None = None,
        powers: tuple[int, ...] | None = None,
        block_columns: int | None = None,
        self_loops: float | None = None,
        structure_columns: int | None = None,
        structure_weight: float | None = None,
        seed: int = 0,
        device: Literal["auto", "cpu", "cuda"] = "auto",
    ) -> None: ...

class MLPClassifier(Classifier):
    """Node classes by the method `mlp`: `MLPClassifier().fit(graph).predict(graph)`.

    Source: Kipf and Welling, Semi-Supervised Classification with GCN, ICLR 2017, as a baseline.
    Contextual scope: the node itself: it ignores the edges. Fitted attributes are those of
    `Classifier`.

    Args:
        preset: values of the settings that are None. One of fast, paper.
        epochs: training steps. An integer of at least 0.
        lr: learning rate of the optimizer. A number above 0.
        patience: stop after this many epochs without a lower loss on validation nodes; 0:
            never. An integer of at least 0.
        feature_scaling: features as they are, rows of L1 norm 1, rows of L2 norm 1, TF-IDF,
            columns of mean 0 and standard deviation 1 (sparse ones: deviation 1 only); auto:
            L2, or TF-IDF for counts and standard for others, whichever is more reliable. One of
            none, row, l2, tfidf, standard, auto.
        weight_decay: weight decay (L2 penalty). A number of at least 0.
        hidden: width D' of the penultimate layer. An integer of at least 1.
        dropout: fraction of each layer's inputs that is dropped in training. A number of at
            least 0 and below 1.
        seed: the training seed. An integer of at least 0.
        device: where to compute. One of auto, cpu, cuda.
    """

    epochs: int | None
    lr: float | None
    patience: int | None
    feature_scaling: Literal["none", "row", "l2", "tfidf", "standard", "auto"] | None
    weight_decay: float | None
    hidden: int | None
    dropout: float | None
    def __init__(
        self,
        preset: Literal["fast", "paper"] = "fast",
        *,
        epochs: int | None = None,
        lr: float | None = None,
        patience: int | None = None,
        feature_scaling: Literal["none", "row", "l2", "tfidf", "standard", "auto"] | None = None,
        weight_decay: float | None = None,
        hidden: int | None = None,
        dropout: float | None = None,
        seed: int = 0,
        device: Literal["auto", "cpu", "cuda"] = "auto",
    ) -> None: ...

class GCNClassifier(Classifier):
    """Node classes by the method `gcn`: `GCNClassifier().fit(graph).predict(graph)`.

    Source: Kipf and Welling, Semi-Supervised Classification with Graph Convolutional Networks,
    ICLR 2017. Contextual scope: A^2, by two layers. Fitted attributes are those of
    `Classifier`.

    Args:
        preset: values of the settings that are None. One of fast, paper.
        epochs: training steps. An integer of at least 0.
        lr: learning rate of the optimizer. A number above 0.
        patience: stop after this many epochs without a lower loss on validation nodes; 0:
            never. An integer of at least 0.
        feature_scaling: features as they are, rows of L1 norm 1, rows of L2 norm 1, TF-IDF,
            columns of mean 0 and standard deviation 1 (sparse ones: deviation 1 only); auto:
            L2, or TF-IDF for counts and standard for others, whichever is more reliable. One of
            none, row, l2, tfidf, standard, auto.
        weight_decay: weight decay (L2 penalty). A number of at least 0.
        hidden: width D' of the penultimate layer. An integer of at least 1.
        dropout: fraction of each layer's inputs that is dropped in training. A number of at
            least 0 and below 1.
        self_loops: weight of the self-loops in the normalised adjacency. A number of at least
            0.
        seed: the training seed. An integer of at least 0.
        device: where to compute. One of auto, cpu, cuda.
    """

    epochs: int | None
    lr: float | None
    patience: int | None
    feature_scaling: Literal["none", "row", "l2", "tfidf", "standard", "auto"] | None
    weight_decay: float | None
    hidden: int | None
    dropout: float | None
    self_loops: float | None
    def __init__(
        self,
        preset: Literal["fast", "paper"] = "fast",
        *,
        epochs: int | None = None,
        lr: float | None = None,
        patience: int | None = None,
        feature_scaling: Literal["none", "row", "l2", "tfidf", "standard", "auto"] | None = None,
        weight_decay: float | None = None,
        hidden: int | None = None,
        dropout: float | None = None,
        self_loops: float | None = None,
        seed: int = 0,
        device: Literal["auto", "cpu", "cuda"] = "auto",
    ) -> None: ...

class GATClassifier(Classifier):
    """Node classes by the method `gat`: `GATClassifier().fit(graph).predict(graph)`.

    Source: Velickovic et al., Graph Attention Networks, ICLR 2018. Contextual scope: two layers
    of attention over neighbours. Fitted attributes are those of `Classifier`.

    Args:
        preset: values of the settings that are None. One of fast, paper.
        epochs: training steps. An integer of at least 0.
        lr: learning rate of the optimizer. A number above 0.
        patience: stop after this many epochs without a lower loss on validation nodes; 0:
            never. An integer of at least 0.
        feature_scaling: features as they are, rows of L1 norm 1, rows of L2 norm 1, TF-IDF,
            columns of mean 0 and standard deviation 1 (sparse ones: deviation 1 only); auto:
            L2, or TF-IDF for counts and standard for others, whichever is more reliable. One of
            none, row, l2, tfidf, standard, auto.
        weight_decay: weight decay (L2 penalty). A number of at least 0.
        hidden: width D' of the penultimate layer. An integer of at least 1.
        dropout: fraction of each layer's inputs that is dropped in training. A number of at
            least 0 and below 1.
        heads: heads of the first layer, which share its width. An integer of at least 1.
        out_heads: heads of the second layer, which are averaged. An integer of at least 1.
        seed: the training seed. An integer of at least 0.
        device: where to compute. One of auto, cpu, cuda.
    """

    epochs: int | None
    lr: float | None
    patience: int | None
    feature_scaling: Literal["none", "row", "l2", "tfidf", "standard", "auto"] | None
    weight_decay: float | None
    hidden: int | None
    dropout: float | None
    heads: int | None
    out_heads: int | None
    def __init__(
        self,
        preset: Literal["fast", "paper"] = "fast",
        *,
        epochs: int | None = None,
        lr: float | None = None,
        patience: int | None = None,
        feature_scaling: Literal["none", "row", "l2", "tfidf", "standard", "auto"] | None = None,
        weight_decay: float | None = None,
        hidden: int | None = None,
        dropout: float | None = None,
        heads: int | None = None,
        out_heads: int | None = None,
        seed: int = 0,
        device: Literal["auto", "cpu", "cuda"] = "auto",
    ) -> None: ...

class SGCClassifier(Classifier):
    """Node classes by the method `sgc`: `SGCClassifier().fit(graph).predict(graph)`.

    Source: Wu et al., Simplifying Graph Convolutional Networks, ICML 2019. Contextual scope:
    A^K X. Fitted attributes are those of `Classifier`.

    Args:
        preset: values of the settings that are None. One of fast, paper.
        epochs: training steps. An integer of at least 0.
        lr: learning rate of the optimizer. A number above 0.
        patience: stop after this many epochs without a lower loss on validation nodes; 0:
            never. An integer of at least 0.
        feature_scaling: features as they are, rows of L1 norm 1, rows of L2 norm 1, TF-IDF,
            columns of mean 0 and standard deviation 1 (sparse ones: deviation 1 only); auto:
            L2, or TF-IDF for counts and standard for others, whichever is more reliable. One of
            none, row, l2, tfidf, standard, auto.
        weight_decay: weight decay (L2 penalty). A number of at least 0.
        steps: K, the power of the adjacency. An integer of at least 0.
        self_loops: weight of the self-loops in the normalised adjacency. A number of at least
            0.
        seed: the training seed. An integer of at least 0.
        device: where to compute. One of auto, cpu, cuda.
    """

    epochs: int | None
    lr: float | None
    patience: int | None
    feature_scaling: Literal["none", "row", "l2", "tfidf", "standard", "auto"] | None
    weight_decay: float | None
    steps: int | None
    self_loops: float | None
    def __init__(
        self,
        preset: Literal["fast", "paper"] = "fast",
        *,
        epochs: int | None = None,
        lr: float | None = None,
        patience: int | None = None,
        feature_scaling: Literal["none", "row", "l2", "tfidf", "standard", "auto"] | None = None,
        weight_decay: float | None = None,
        steps: int | None = None,
        self_loops: float | None = None,
        seed: int = 0,
        device: Literal["auto", "cpu", "cuda"] = "auto",
    ) -> None: ...
