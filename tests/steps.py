"""Training steps of the methods, taken apart, and the same steps in dense float64."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from scipy.sparse.csgraph import connected_components
from torch.nn import functional

import reference
from conftest import make_graph
from ugcl import Graph
from ugcl.engine import Callback, TrainingState
from ugcl.losses import Batch, Loss, Pair
from ugcl.methods import METHODS, Shape, SSLSettings
from ugcl.methods.models.ssl import SSLModel
from ugcl.methods.parts import Parts
from ugcl.sparse import SparseMatrix
from ugcl.views import Sample, View, ViewSampler, scale_features

Parameters = dict[str, torch.Tensor]
Build = Callable[[int, Any, torch.Generator], Parts]


class Recorder(Loss):
    """A loss that records its inputs."""

    def __init__(self) -> None:
        super().__init__()
        self.pairs: list[tuple[torch.Tensor, torch.Tensor]] = []
        self.negatives: list[torch.Tensor | None] = []
        self.batch: Batch | None = None

    def pair_loss(self, pair: Pair, batch: Batch) -> torch.Tensor:
        self.pairs.append((pair.patch.detach(), pair.context.detach()))
        self.negatives.append(pair.negative)
        self.batch = batch
        return pair.patch.sum()


def settings_of(name: str, graph: Graph, preset: str = "paper", **params: Any) -> SSLSettings:
    settings = METHODS[name].resolve(preset, graph, params)
    assert isinstance(settings, SSLSettings)
    return settings


def model_of(name: str, graph: Graph, **params: Any) -> SSLModel:
    model = METHODS[name].new_model(Shape.of(graph), settings_of(name, graph, **params), 3)
    assert isinstance(model, SSLModel)
    return model


def build_of(name: str) -> Build:
    """The function that returns the parts of a method."""
    build = METHODS[name].build
    assert build is not None
    return build


def recorded(
    method: str | Build, graph: Graph, settings: SSLSettings, epoch: int = 0
) -> tuple[SSLModel, Sample, Recorder]:
    """A step of a method whose loss is a recorder: the model, the sample, the recorder."""
    build = build_of(method) if isinstance(method, str) else method
    recorder = Recorder()
    model = SSLModel(
        lambda *arguments: replace(build(*arguments), loss=recorder),
        graph.num_features,
        settings,
        seed=3,
    )
    sample, rng = sample_of(model, graph, epoch)
    model.step_loss(sample, rng)
    return model, sample, recorder


def bound_views(model: SSLModel, graph: Graph) -> ViewSampler:
    return model.views.bind(graph.adjacency, model.scaled(graph), "cpu")


def sample_of(model: SSLModel, graph: Graph, epoch: int) -> tuple[Sample, np.random.Generator]:
    """The sample of an epoch, and the random generator for its loss."""
    rng = model.rng(epoch)
    return bound_views(model, graph).sample(rng), rng


def loss_of(model: SSLModel, graph: Graph, epoch: int = 0) -> float:
    return model.step_loss(*sample_of(model, graph, epoch)).item()


def keep_all_entries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let diffusions keep all of the largest entries, also negligible ones."""
    monkeypatch.setattr(import_module("ugcl.scope.diffusion"), "TOLERANCE", 0)


# Graphs.


def featured(sparse: bool, name: str = "small") -> Graph:
    """A graph of 40 nodes and 30 features, few of them not zero; X is sparse or dense."""
    features = sp.random_array((40, 30), density=0.1, rng=np.random.default_rng(0), format="csr")
    edges = np.argwhere(np.triu(make_graph().adjacency.toarray()))
    return Graph.from_edges(edges, features if sparse else features.toarray(), name=name)


def connected(regular: bool, sparse: bool = True) -> Graph:
    """A cycle with edges between second neighbours, or with chords from one node alone."""
    nodes = np.arange(24)
    edges = [np.stack([nodes, (nodes + by) % 24], axis=1) for by in (1, 2)]
    if not regular:
        edges[1] = np.stack([np.zeros(8, dtype=int), nodes[3:11]], axis=1)
    features = make_graph(24, sparse=sparse).features
    return Graph.from_edges(np.concatenate(edges), features)


# Dense float64 versions.


def edges_of(graph: Graph) -> np.ndarray:
    edges: np.ndarray = graph.adjacency.toarray().astype(float)
    return edges


def scaled_features(graph: Graph, settings: SSLSettings) -> np.ndarray:
    scaled = scale_features(graph.features, settings.feature_scaling)
    features: np.ndarray = (scaled.toarray() if sp.issparse(scaled) else scaled).astype(float)
    return features


def component_limit(edges: np.ndarray, hidden: np.ndarray) -> np.ndarray:
    """sqrt(d_i) sum_j sqrt(d_j) h_j / sum_j d_j over j in i's component, d counting self-loops."""
    degree = edges.sum(axis=1) + 1
    _, labels = connected_components(edges)
    rows = np.empty_like(hidden)
    for i in range(len(edges)):
        same = labels == labels[i]
        root = np.sqrt(degree[same])
        rows[i] = np.sqrt(degree[i]) * (root @ hidden[same]) / degree[same].sum()
    return rows


def a_and_x(graph: Graph, model: SSLModel) -> tuple[torch.Tensor, torch.Tensor]:
    """The normalised adjacency and the features that a model sees."""
    a = reference.normalised_adjacency(edges_of(graph), model.settings.self_loops)
    return torch.from_numpy(a), torch.from_numpy(scaled_features(graph, model.settings))


def dense(matrix: SparseMatrix) -> torch.Tensor:
    return matrix.matrix.to_dense().double()


def edges_left(view: View) -> np.ndarray:
    """The unweighted graph of a view."""
    edges = (dense(view.adjacency) != 0).numpy().astype(float)
    np.fill_diagonal(edges, 0)
    return edges


def augmented(sample: Sample, x: torch.Tensor) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """A and X of each view: the remaining edges, normalised, and the masked columns."""
    return [
        (
            torch.from_numpy(reference.normalised_adjacency(edges_left(view))),
            x if view.feature_mask is None else x * view.feature_mask.double(),
        )
        for view in sample.views
    ]


def doubled(model: torch.nn.Module) -> Parameters:
    """Copies of a model's parameters in float64, by name."""
    return {
        name: value.detach().double().requires_grad_() for name, value in model.named_parameters()
    }


def shake(model: torch.nn.Module, by: float = 0.2) -> None:
    """Move all parameters, also biases that start at zero, to random values."""
    generator = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for value in model.parameters():
            value.add_(by * torch.randn(value.shape, generator=generator))


def gcn(encoder: torch.nn.Module, adjacency: np.ndarray, x: np.ndarray) -> np.ndarray:
    values = {name: value.detach().double().numpy() for name, value in encoder.named_parameters()}
    return reference.gcn(adjacency, x, values["weight"], values["bias"], float(values["slope"][0]))


def convolution(
    parameters: Parameters, a: torch.Tensor, x: torch.Tensor, encoder: str = "encoder"
) -> torch.Tensor:
    """PReLU(A X W + b)."""
    linear = a @ x @ parameters[f"{encoder}.weight"] + parameters[f"{encoder}.bias"]
    return torch.where(linear > 0, linear, parameters[f"{encoder}.slope"] * linear)


def convolutions(
    parameters: Parameters,
    a: torch.Tensor,
    x: torch.Tensor,
    activations: Sequence[str],
) -> torch.Tensor:
    """Several layers, each with its activation: relu, prelu or none."""
    for layer, activation in enumerate(activations):
        x = a @ x @ parameters[f"encoder.weights.{layer}"] + parameters[f"encoder.biases.{layer}"]
        if activation == "relu":
            x = x.clamp(min=0)
        if activation == "prelu":
            x = torch.where(x > 0, x, parameters[f"encoder.activations.{layer}.weight"] * x)
    return x


def grace_loss(
    parameters: Parameters,
    views: list[tuple[torch.Tensor, torch.Tensor]],
    activation: str,
    temperature: float,
) -> torch.Tensor:
    """GRACE as in the authors' code: two convolutions, a projector, both directions."""

    def project(h: torch.Tensor) -> torch.Tensor:
        first, second = (parameters[f"loss.projector.weights.{layer}"] for layer in (0, 1))
        b, c = (parameters[f"loss.projector.biases.{layer}"] for layer in (0, 1))
        return functional.normalize(functional.elu(h @ first.T + b) @ second.T + c)

    def semi_loss(z1: torch.Tensor, z2: torch.Tensor) -> torch.Tensor:
        within, between = ((z1 @ z.T / temperature).exp() for z in (z1, z2))
        others = within.sum(dim=1) + between.sum(dim=1) - within.diag()
        return -(between.diag() / others).log()

    z1, z2 = (project(convolutions(parameters, *view, (activation,) * 2)) for view in views)
    return ((semi_loss(z1, z2) + semi_loss(z2, z1)) / 2).mean()


# Comparisons.


def assert_equals_an_independent_step(
    model: SSLModel,
    loss: torch.Tensor,
    of: Callable[[Parameters], torch.Tensor],
    without_effect: Sequence[str] = (),
) -> None:
    """Compare the loss and the gradients of all parameters."""
    rounding = torch.finfo(torch.float32).eps  # of terms of order 1, which may cancel
    parameters = doubled(model)
    expected = of(parameters)
    gradients = torch.autograd.grad(expected, list(parameters.values()))
    torch.autograd.backward(loss)
    assert loss.item() == pytest.approx(expected.item(), rel=1e-6)
    for (name, value), gradient in zip(model.named_parameters(), gradients, strict=True):
        assert value.grad is not None, name
        size = gradient.abs().max()
        if name in without_effect:
            assert max(size, value.grad.abs().max()) < 1e-6, name
            continue
        assert size > 1e-6, name
        assert (value.grad.double() - gradient).abs().max() < 1e-4 * size + rounding, name


def assert_embeds(model: SSLModel, graph: Graph, expected: torch.Tensor) -> None:
    embeddings = model.embed(graph, "cpu")
    assert np.abs(embeddings).max() > 0.1
    np.testing.assert_allclose(embeddings, expected.detach(), atol=1e-5)


class StopAfter(Callback):
    """Requests a stop after an epoch."""

    def __init__(self, epoch: int) -> None:
        self.epoch = epoch

    def on_epoch_end(self, state: TrainingState) -> None:
        if state.epoch == self.epoch:
            state.stop("stopped")
