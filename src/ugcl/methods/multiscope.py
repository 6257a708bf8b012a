"""Multi-scope contrast: an encoder of features, contexts in the loss, several scopes read out.

Our own method. A graph convolution in the encoder returns smoothed features, whatever the loss.
Here the encoder sees a node's own features only, `z = PReLU(X W + b)`, and the graph is in the
loss: z of a node agrees with z of the node at the end of a random walk of n steps, and not with
other nodes (InfoNCE). n is the contextual scope of UGCL: walks sample the rows of `A^n`. The
embedding has several scopes side by side, `[z | A z | A^2 z | A^n' z]`, with features and structure
beside them, each block weighted by its split-half reliability (`ugcl.views.reliability`).

What it takes from whom: the contextual scope from UGCL (Zheng et al., 2022), an encoder without
edges and neighbours as positives from SIGNA (2025) and Graph-MLP (Hu et al., 2021), masked features
from GRACE (Zhu et al., 2020), blocks of powers from SIGN (Frasca et al., 2020), the structural
block from NetMF (Qiu et al., 2018). One setting, chosen on the paper's data sets, is used for all
graphs; what depends on the graph is chosen without labels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, get_args

from ugcl import losses, nn, views
from ugcl._utils.errors import UGCLError
from ugcl.methods.method import Method, Shape
from ugcl.methods.params import (
    All,
    choice,
    fraction,
    integer,
    integer_or_all,
    number,
    temperature,
)
from ugcl.methods.parts import Parts
from ugcl.methods.preset import load_presets
from ugcl.methods.settings import SSLSettings, resolved
from ugcl.typing import BlockWeights, ContextLoss, FeatureEncoder

if TYPE_CHECKING:
    import torch

    from ugcl.graph import Graph
    from ugcl.methods.models.model import Model


@dataclass(frozen=True)
class MultiScopeSettings(SSLSettings):
    """Settings of the multi-scope method."""

    hidden: int = integer("width D' of the encoder", 1)
    encoder: FeatureEncoder = choice(
        "PReLU(X W) of a node's own features, two such layers, X W without activation, or smoothed "
        "features as in a GCN",
        get_args(FeatureEncoder),
    )
    loss: ContextLoss = choice("loss between nodes and their contexts", get_args(ContextLoss))
    sample: int | All = integer_or_all("nodes S that are sampled in every epoch", 2)
    mask_features: float = fraction("fraction of the entries of X that are masked")
    temperature: float = temperature()
    weight_decay: float = number("weight decay of the optimizer", minimum=0)
    tolerance: float = number(
        "stop when the loss of held-out nodes has fallen since half the epochs by less than this "
        "fraction of its whole fall; 0: never",
        minimum=0,
    )
    block_columns: int = integer("columns of each block of z and its powers", 1)
    raw_columns: int = integer(
        "columns of each block of features, X and its larger powers A^k X; 0: none", 0
    )
    structure_columns: int = integer("columns of the structural block; 0: none", 0)
    block_weights: BlockWeights = choice(
        "weigh blocks by their split-half reliability, or equally", get_args(BlockWeights)
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.scope in ("component", "graph"):
            raise UGCLError(
                f"multiscope finds contexts by walks of n steps, and has no scope '{self.scope}': "
                "set `scope` to an integer or 'auto'"
            )
        if self.readout_scope == "graph":
            raise UGCLError(
                "multiscope has no readout scope 'graph', whose block is the same row for all "
                "nodes: set `readout_scope` to an integer, 'component' or 'auto'"
            )
        if self.readout != "blocks":
            raise UGCLError(
                f"multiscope has no readout '{self.readout}': leave `readout` at 'blocks'"
            )

    @property
    def powers(self) -> tuple[int, ...]:
        """The powers of the adjacency in the embedding, apart from 0 and from limits."""
        largest = resolved(self.readout_scope)
        if not isinstance(largest, int):
            return (1, 2)
        return tuple(sorted({n for n in (1, 2, largest) if 0 < n <= largest}))

    @property
    def raw_powers(self) -> tuple[int, ...]:
        """The powers with which features are read out, apart from 0: all but the smallest."""
        return self.powers[1:]

    def adapted_to(self, graph: Graph, params: frozenset[str]) -> MultiScopeSettings:
        """Reduce the sample of a preset to what the graph has."""
        return self.replace(sample=self.cap("sample", graph.num_nodes, "nodes", params))


def build(num_features: int, settings: MultiScopeSettings, generator: torch.Generator) -> Parts:
    """Return the parts: walks for contexts, an encoder of features, InfoNCE."""
    layers = 2 if settings.encoder == "deep" else 1
    scope = resolved(settings.scope)
    assert isinstance(scope, int)
    return Parts(
        views=views.WalkContexts(
            size=settings.sample,
            scope=scope,
            mask_features=settings.mask_features,
            self_loops=settings.self_loops,
        ),
        encoder=nn.MLP(
            num_features,
            (settings.hidden,) * layers,
            generator,
            activation=settings.encoder != "linear",
        ),
        loss=losses.ContextNCE(settings.temperature)
        if settings.loss == "infonce"
        else losses.NormJSD(),
        optimizer="adamw",
    )


def _model(shape: Shape, settings: MultiScopeSettings, seed: int) -> Model:
    from ugcl.methods.models.multiscope import MultiScopeModel

    return MultiScopeModel(shape.features, settings, seed)


METHOD = Method(
    name="multiscope",
    scope="walks of n steps in the loss, several powers A^k read out",
    paper="ours",
    settings=MultiScopeSettings,
    presets=load_presets("multiscope"),
    model=_model,
    version=2,
)
