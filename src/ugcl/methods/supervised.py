"""MLP, GCN, GAT and SGC: supervised baselines.

- MLP: two linear layers, a baseline of Kipf and Welling.
- GCN: Kipf and Welling, "Semi-Supervised Classification with Graph Convolutional Networks", 2017.
- GAT: Velickovic et al., "Graph Attention Networks", 2018.
- SGC: Wu et al., "Simplifying Graph Convolutional Networks", 2019.

They learn from the training nodes, stop by the loss on the validation nodes, and keep the best
weights there. Differences: the public codes of GCN and SGC keep the last weights; GCN's stops when
the loss is above the mean of the last ten, GAT's continues as long as either loss or accuracy on
the validation nodes improves. SGC's weight decay is tuned for each graph, by a search whose results
its paper does not list.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ugcl._utils.errors import UGCLError
from ugcl.methods.method import Method, Shape
from ugcl.methods.params import Auto, feature_scaling, fraction, integer, number, self_loops
from ugcl.methods.preset import load_presets
from ugcl.methods.settings import TrainingSettings
from ugcl.typing import FeatureScaling

if TYPE_CHECKING:
    from ugcl.methods.models.networks import Network
    from ugcl.methods.models.supervised import SupervisedModel


@dataclass(frozen=True)
class SupervisedSettings(TrainingSettings):
    """Settings of all supervised baselines."""

    patience: int = integer(
        "stop after this many epochs without a lower loss on validation nodes; 0: never", 0
    )
    feature_scaling: FeatureScaling | Auto = feature_scaling()
    weight_decay: float = number("weight decay (L2 penalty)", minimum=0)


@dataclass(frozen=True)
class MLPSettings(SupervisedSettings):
    """Settings of the MLP."""

    hidden: int = integer("width D' of the penultimate layer", 1)
    dropout: float = fraction("fraction of each layer's inputs that is dropped in training")


@dataclass(frozen=True)
class GCNSettings(MLPSettings):
    """Settings of the GCN."""

    self_loops: float = self_loops()


@dataclass(frozen=True)
class GATSettings(MLPSettings):
    """Settings of the GAT."""

    heads: int = integer("heads of the first layer, which share its width", 1)
    out_heads: int = integer("heads of the second layer, which are averaged", 1)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.hidden % self.heads:
            raise UGCLError(
                f"`hidden` {self.hidden} is not a multiple of `heads` {self.heads}: use a multiple"
            )


@dataclass(frozen=True)
class SGCSettings(SupervisedSettings):
    """Settings of SGC."""

    steps: int = integer("K, the power of the adjacency", 0)
    self_loops: float = self_loops()


def mlp(shape: Shape, settings: MLPSettings) -> Network:
    """Return the MLP."""
    from ugcl.methods.models.networks import MLPNetwork

    return MLPNetwork(shape.features, settings.hidden, shape.classes, dropout=settings.dropout)


def gcn(shape: Shape, settings: GCNSettings) -> Network:
    """Return the GCN."""
    from ugcl.methods.models.networks import GCNNetwork

    sizes = shape.features, settings.hidden, shape.classes
    return GCNNetwork(*sizes, dropout=settings.dropout, self_loops=settings.self_loops)


def gat(shape: Shape, settings: GATSettings) -> Network:
    """Return the GAT."""
    from ugcl.methods.models.networks import GATNetwork

    sizes = shape.features, settings.hidden, shape.classes
    heads = {"heads": settings.heads, "out_heads": settings.out_heads}
    return GATNetwork(*sizes, dropout=settings.dropout, **heads)


def sgc(shape: Shape, settings: SGCSettings) -> Network:
    """Return SGC."""
    from ugcl.methods.models.networks import SGCNetwork

    sizes = shape.features, shape.classes
    return SGCNetwork(*sizes, steps=settings.steps, self_loops=settings.self_loops)


def _model(
    network: Callable[[Shape, Any], Network], shape: Shape, settings: SupervisedSettings, seed: int
) -> SupervisedModel:
    from ugcl.methods.models.supervised import SupervisedModel

    return SupervisedModel(lambda: network(shape, settings), shape, settings, seed)


MLP_METHOD = Method(
    name="mlp",
    kind="supervised",
    needs=("X", "Y"),
    scope="the node itself: it ignores the edges",
    paper="Kipf and Welling, Semi-Supervised Classification with GCN, ICLR 2017, as a baseline",
    settings=MLPSettings,
    presets=load_presets("mlp"),
    model=partial(_model, mlp),
    library="torch_geometric",
)

GCN_METHOD = replace(
    MLP_METHOD,
    name="gcn",
    needs=("X", "A", "Y"),
    scope="A^2, by two layers",
    paper=(
        "Kipf and Welling, Semi-Supervised Classification with Graph Convolutional Networks, "
        "ICLR 2017"
    ),
    settings=GCNSettings,
    presets=load_presets("gcn"),
    model=partial(_model, gcn),
)

GAT_METHOD = replace(
    GCN_METHOD,
    name="gat",
    scope="two layers of attention over neighbours",
    paper="Velickovic et al., Graph Attention Networks, ICLR 2018",
    settings=GATSettings,
    presets=load_presets("gat"),
    model=partial(_model, gat),
    uses_edge_weights=False,
)

SGC_METHOD = replace(
    GCN_METHOD,
    name="sgc",
    scope="A^K X",
    paper="Wu et al., Simplifying Graph Convolutional Networks, ICML 2019",
    settings=SGCSettings,
    presets=load_presets("sgc"),
    model=partial(_model, sgc),
)

METHODS = (MLP_METHOD, GCN_METHOD, GAT_METHOD, SGC_METHOD)
