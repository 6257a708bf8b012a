"""A method: its parts, its settings, and what a user wants to know before choosing it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal

from ugcl._utils.errors import UGCLError
from ugcl._utils.extras import required
from ugcl._utils.suggest import unknown
from ugcl.methods.params import Param, param_of
from ugcl.methods.preset import Preset
from ugcl.methods.settings import Settings, SSLSettings, TrainingSettings

if TYPE_CHECKING:
    from ugcl.graph import Graph
    from ugcl.methods.models.model import Model
    from ugcl.methods.parts import Parts

RESERVED = frozenset(
    {
        *("method", "preset", "settings", "params", "graph", "seed", "device", "callbacks"),
        *("out", "resume", "config", "threads", "data_root", "hold_out_edges", "split_seed"),
        *("edges", "features", "labels", "ids", "source", "target", "weight", "id", "label"),
        *("split", "split_column", "ignore", "directed", "timeout", "json", "help", "help_all"),
    }
)
"""Names that no setting may have: arguments of `fit` and options of `ugcl train`."""

Kind = Literal["contrastive", "unsupervised", "supervised", "control"]


@dataclass(frozen=True)
class Shape:
    """Sizes that a model depends on.

    Attributes:
        nodes: N, the nodes of the training graph.
        features: D, the columns of X.
        classes: classes of the labels; 0 without labels.
    """

    nodes: int
    features: int
    classes: int

    @classmethod
    def of(cls, graph: Graph) -> Shape:
        """Return the shape of a graph."""
        return cls(graph.num_nodes, graph.num_features, graph.num_classes)


@dataclass(frozen=True)
class Method:
    """A method and its description.

    Attributes:
        name: its name in the registry and on the command line.
        scope: its contextual scope, in words.
        paper: where it was published.
        settings: the class of its settings.
        presets: named values of the settings.
        build: from (num_features, settings, generator) to the parts of the model.
        model: from (shape, settings, seed) to the model, for methods that are not made of parts.
        kind: contrastive, unsupervised, supervised or control.
        needs: the data it uses: X (features), A (adjacency), Y (labels).
        inductive: whether it can embed nodes that it was not trained on.
        uses_edge_weights: whether it uses edge weights.
        library: the optional dependency that it needs; "" for none.
        version: raised when its results change, so that studies compute them again.
    """

    name: str
    scope: str
    paper: str
    settings: type[Settings]
    presets: Mapping[str, Preset]
    build: Callable[[int, Any, Any], Parts] | None = None
    model: Callable[[Shape, Any, int], Model] | None = None
    kind: Kind = "contrastive"
    needs: tuple[str, ...] = ("X", "A")
    inductive: bool = True
    uses_edge_weights: bool = True
    library: str = ""
    version: int = 1

    def __post_init__(self) -> None:
        if (self.build is None) == (self.model is None):
            raise UGCLError(f"the method '{self.name}' needs one of `build` and `model`: pass it")
        if taken := sorted({field.name for field in fields(self.settings)} & RESERVED):
            raise UGCLError(
                f"the method '{self.name}' has a setting '{taken[0]}', which is an argument or "
                "option of every method: use another name"
            )

    def __deepcopy__(self, memo: dict[int, Any]) -> Method:
        return self  # it is immutable, and is recognised by identity

    @property
    def trained(self) -> bool:
        """Whether it takes training steps."""
        return self.kind != "control"

    @property
    def supervised(self) -> bool:
        """Whether it learns from labels."""
        return "Y" in self.needs

    @property
    def params(self) -> dict[str, Param]:
        """The settings that a user can set."""
        return {field.name: param_of(field) for field in fields(self.settings)}

    def readout_follows_scope(self, preset: str) -> bool:
        """Return whether the readout scope of a preset is the training scope by default."""
        return "readout_scope" not in self.preset(preset).base

    def preset(self, name: str) -> Preset:
        """Return the preset of that name, or raise an error that lists the presets."""
        if name in self.presets:
            return self.presets[name]
        from ugcl.methods.registry import METHODS

        other = next((method.name for method in METHODS.values() if name in method.presets), "")
        hint = f" ({other} has '{name}')" if other else ""
        raise UGCLError(unknown("preset", name, self.presets) + hint)

    def new_model(self, shape: Shape, settings: Settings, seed: int) -> Model:
        """Create the untrained model."""
        if self.library:
            required(self.library, self.name)
        if self.build is None:
            assert self.model is not None
            return self.model(shape, settings, seed)
        from ugcl.methods.models.ssl import SSLModel

        assert isinstance(settings, SSLSettings)
        return SSLModel(self.build, shape.features, settings, seed)

    def resolve(self, preset: str, graph: Graph, params: Mapping[str, Any]) -> Settings:
        """Return the settings of a preset for a graph, overridden by the user's own values.

        A scope may still be "auto" in them. A preset that asks for more nodes than the graph has is
        reduced; the user's own values are not.
        """
        self.check_training(params)
        values = self.preset(preset).values(graph.name) | dict(params)
        if "scope" in values and "readout_scope" in self.params:
            values.setdefault("readout_scope", values["scope"])
        if values.get("feature_scaling") == "auto":
            from ugcl.views import auto_scaling

            values["feature_scaling"] = auto_scaling(graph.adjacency, graph.features)
        return self.settings.from_values(values).adapted_to(graph, frozenset(params))

    def check_training(self, params: Collection[str]) -> None:
        """Refuse training settings of a control."""
        training = [field.name for field in fields(TrainingSettings) if field.name in params]
        if training and not self.trained:
            raise UGCLError(
                f"{self.name} is a control and takes no training steps: leave out `{training[0]}`"
            )

    def check(self, graph: Graph) -> None:
        """Refuse a graph that the method cannot learn from, and a missing library."""
        if self.library:
            required(self.library, self.name)
        if "A" in self.needs:
            _check_edges(graph)
        if self.supervised:
            self.check_labels(graph)
            _check_split(graph, self.name)

    def check_labels(self, graph: Graph) -> None:
        """Refuse a graph without labels of two classes."""
        if graph.num_classes < 2:
            state = "are all of one class" if graph.num_classes else "are missing"
            raise UGCLError(
                f"{self.name} learns from labels and those of this graph {state}: pass the same "
                "graph with labels, or use a method that needs none (ugcl methods)"
            )


def _check_edges(graph: Graph) -> None:
    if graph.num_nodes < 2:
        raise UGCLError("the graph has one node: pass a graph with at least 2 nodes")
    if graph.num_edges == 0:
        raise UGCLError(
            "the graph has no edges, so there are no contexts to learn from: check the edges, or "
            "use the features as they are (method 'raw')"
        )


def _check_split(graph: Graph, name: str) -> None:
    for part, use in (("train", "to learn from"), ("val", "for early stopping")):
        if part not in graph.splits or graph.splits[part].size == 0:
            raise UGCLError(
                f"{name} needs labelled nodes {use}, but the graph's split has no '{part}' nodes: "
                "add some, or use a random split (`split_seed`)"
            )
