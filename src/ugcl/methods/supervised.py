"""MLP, GCN, GAT and SGC: what labels alone can teach, for comparison.

- MLP: two linear layers, as Kipf and Welling compare with.
- GCN: Kipf and Welling, "Semi-Supervised Classification with Graph Convolutional Networks", 2017.
- GAT: Velickovic et al., "Graph Attention Networks", 2018.
- SGC: Wu et al., "Simplifying Graph Convolutional Networks", 2019.

They learn from the training nodes, stop by the loss on the validation nodes, and keep the weights
that were best there. Where that differs: GCN's and SGC's public codes keep the last weights; GCN's
stops when the loss is above the mean of the last ten, GAT's goes on as long as either loss or
accuracy on the validation nodes is the best so far. SGC's weight decay is tuned for each graph, by
a search that its publication does not list the results of.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ugcl._utils.errors import UGCLError
from ugcl.methods import networks
from ugcl.methods.classifier import Classifier
from ugcl.methods.method import Method
from ugcl.methods.model import Shape
from ugcl.methods.options import fraction, integer, number
from ugcl.methods.presets import Preset
from ugcl.methods.scaled import feature_scaling
from ugcl.methods.settings import TrainedSettings
from ugcl.views import FeatureScaling


@dataclass(frozen=True)
class SupervisedSettings(TrainedSettings):
    """What all of them have."""

    patience: int = integer(
        "stop after this many epochs without a lower loss on validation nodes; 0: never", 0
    )
    feature_scaling: FeatureScaling = feature_scaling()
    weight_decay: float = number("weight of the squared weights in the loss", minimum=0)


@dataclass(frozen=True)
class MLPSettings(SupervisedSettings):
    """Those of two layers."""

    hidden: int = integer("width D' of the penultimate layer", 1)
    dropout: float = fraction("share of each layer's inputs that is dropped in training")


@dataclass(frozen=True)
class GCNSettings(MLPSettings):
    """Those of two convolutions."""

    self_loops: float = number("weight of each node's edge to itself", minimum=0)


@dataclass(frozen=True)
class GATSettings(MLPSettings):
    """Those of two layers of attention."""

    heads: int = integer("heads of the first layer, which share its width", 1)
    out_heads: int = integer("heads of the second layer, of which the mean is taken", 1)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.hidden % self.heads:
            raise UGCLError(
                f"--hidden {self.hidden} cannot be shared out to --heads {self.heads}: use a "
                "multiple of the heads"
            )


@dataclass(frozen=True)
class SGCSettings(SupervisedSettings):
    """Those of a linear layer on `A^K X`."""

    steps: int = integer("K, the power of the adjacency", 0)
    self_loops: float = number("weight of each node's edge to itself", minimum=0)


def _learner(
    network: Callable[[Shape, Any], networks.Network],
) -> Callable[[Shape, Any, int], Classifier]:
    """From the graph's shape, the settings and the seed to a model that learns by a network."""

    def build(shape: Shape, settings: SupervisedSettings, seed: int) -> Classifier:
        return Classifier(
            lambda: network(shape, settings),
            shape,
            scaling=settings.feature_scaling,
            weight_decay=settings.weight_decay,
            seed=seed,
        )

    return build


def _mlp(shape: Shape, settings: MLPSettings) -> networks.MLP:
    sizes = shape.features, settings.hidden, shape.classes
    return networks.MLP(*sizes, dropout=settings.dropout)


def _gcn(shape: Shape, settings: GCNSettings) -> networks.GCN:
    sizes = shape.features, settings.hidden, shape.classes
    return networks.GCN(*sizes, dropout=settings.dropout, self_loops=settings.self_loops)


def _gat(shape: Shape, settings: GATSettings) -> networks.GAT:
    sizes, heads = (shape.features, settings.hidden, shape.classes), settings.heads
    out_heads = settings.out_heads
    return networks.GAT(*sizes, dropout=settings.dropout, heads=heads, out_heads=out_heads)


def _sgc(shape: Shape, settings: SGCSettings) -> networks.SGC:
    sizes, loops = (shape.features, shape.classes), settings.self_loops
    return networks.SGC(*sizes, steps=settings.steps, self_loops=loops)


_TRAINING: dict[str, Any] = {
    "epochs": 200,
    "lr": 0.01,
    "patience": 10,
    "weight_decay": 5e-4,
    "feature_scaling": "row",
}
_MLP: dict[str, Any] = {**_TRAINING, "hidden": 16, "dropout": 0.5}
_GCN: dict[str, Any] = {**_MLP, "self_loops": 1.0}
_GAT: dict[str, Any] = {
    **_MLP,
    "epochs": 100_000,
    "lr": 0.005,
    "patience": 100,
    "hidden": 64,
    "dropout": 0.6,
    "heads": 8,
    "out_heads": 1,
}
_SGC: dict[str, Any] = {
    **_TRAINING,
    "epochs": 100,
    "lr": 0.2,
    "patience": 0,
    "weight_decay": 5e-6,
    "steps": 2,
    "self_loops": 1.0,
}

_CITATION_NETWORKS = ("cora", "citeseer", "pubmed")
_CO_PURCHASES = ("amazon-computers", "amazon-photo")


def _presets(
    base: dict[str, Any],
    fast: dict[str, Any],
    about: str,
    *,
    unstated: frozenset[str] = frozenset(),
    purchases: dict[str, Any] | None = None,
    **graphs: Any,
) -> dict[str, Preset]:
    """The published values for citation networks, which we take for other graphs; and ours.

    Args:
        base: the published values.
        fast: what we change, the scaling of features for all but citation networks among it.
        about: where the values come from.
        unstated: what the publication does not state for any graph.
        purchases: what we change for the co-purchase graphs.
        graphs: the published values that differ for a citation network.
    """
    own = {graph: {"feature_scaling": "row"} for graph in _CITATION_NETWORKS}
    own |= {graph: {"feature_scaling": "none", **(purchases or {})} for graph in _CO_PURCHASES}
    return {
        "fast": Preset(
            about="ours: chosen on training and validation nodes",
            base={**base, "feature_scaling": "l2", **fast},
            graphs=own,
            ours=frozenset(base),
        ),
        "paper": Preset(
            about=about,
            base=base,
            graphs=graphs,
            ours=frozenset(base),
            stated=dict.fromkeys(_CITATION_NETWORKS, frozenset(base) - unstated),
        ),
    }


MLP = Method(
    name="mlp",
    kind="supervised",
    needs=("X", "Y"),
    scope="the node itself: it sees no edges",
    inductive=True,
    paper="Kipf and Welling, Semi-Supervised Classification with GCN, ICLR 2017, as a baseline",
    settings=MLPSettings,
    presets=_presets(
        _MLP,
        {"hidden": 64, "patience": 50},
        "the publication of GCN, whose values for citation networks it has",
        purchases={"feature_scaling": "l2"},
    ),
    build=_learner(_mlp),
    library="torch_geometric",
)

GCN = Method(
    name="gcn",
    kind="supervised",
    needs=("X", "A", "Y"),
    scope="A^2, by two convolutions",
    inductive=True,
    paper=(
        "Kipf and Welling, Semi-Supervised Classification with Graph Convolutional Networks, "
        "ICLR 2017"
    ),
    settings=GCNSettings,
    presets=_presets(
        _GCN,
        {"hidden": 64, "patience": 50},
        "the publication of GCN, and its values for citation networks for other graphs",
    ),
    build=_learner(_gcn),
    library="torch_geometric",
)

GAT = Method(
    name="gat",
    kind="supervised",
    needs=("X", "A", "Y"),
    scope="two steps of attention over neighbours",
    inductive=True,
    paper="Velickovic et al., Graph Attention Networks, ICLR 2018",
    settings=GATSettings,
    presets=_presets(
        _GAT,
        {"epochs": 300, "patience": 50},
        "the publication of GAT, and its values for Cora for other graphs",
        purchases={"epochs": 100},
        pubmed={"out_heads": 8, "weight_decay": 1e-3, "lr": 0.01},
    ),
    build=_learner(_gat),
    weighs_edges=False,
    library="torch_geometric",
)

SGC = Method(
    name="sgc",
    kind="supervised",
    needs=("X", "A", "Y"),
    scope="A^K X, its own features",
    inductive=True,
    paper="Wu et al., Simplifying Graph Convolutional Networks, ICML 2019",
    settings=SGCSettings,
    presets=_presets(
        _SGC,
        {"weight_decay": 5e-5},
        "the publication of SGC and its public code; the weight decay is the code's default",
        unstated=frozenset({"weight_decay"}),
    ),
    build=_learner(_sgc),
    library="torch_geometric",
)
