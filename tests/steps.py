"""A method's step taken apart, and put beside one in dense float64 that shares nothing with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from torch.nn import functional

import reference
from conftest import make_graph
from ugcl import Graph
from ugcl.losses import Loss
from ugcl.methods import METHODS, Recipe, RecipeModel, RecipeSettings, Shape
from ugcl.sparse import SparseMatrix
from ugcl.views import Sample, View, scale_features

Parameters = dict[str, torch.Tensor]


class Recorder(Loss):
    """Keeps what it is given to compare."""

    def __init__(self) -> None:
        super().__init__()
        self.pairs: list[tuple[torch.Tensor, torch.Tensor]] = []
        self.corrupted: torch.Tensor | None = None

    def contrast(
        self,
        patch: torch.Tensor,
        context: torch.Tensor,
        corrupted: torch.Tensor | None,
        rng: np.random.Generator,
    ) -> torch.Tensor:
        self.pairs.append((patch.detach(), context.detach()))
        self.corrupted = corrupted
        return patch.sum()


def settings_of(name: str, graph: Graph, preset: str = "paper", **given: Any) -> RecipeSettings:
    settings = METHODS[name].resolve(preset, graph, given)
    assert isinstance(settings, RecipeSettings)
    return settings


def model_of(name: str, graph: Graph, **given: Any) -> RecipeModel[Any]:
    model = METHODS[name].build(Shape.of(graph), settings_of(name, graph, **given), 3)
    assert isinstance(model, RecipeModel)
    return model


def recorded(
    recipe: Recipe[Any], graph: Graph, settings: RecipeSettings, epoch: int = 0
) -> tuple[RecipeModel[Any], Sample, Recorder]:
    """A recipe's step, with an objective that records instead of comparing."""
    recipe = replace(recipe, objective=lambda settings, generator: Recorder())
    model = RecipeModel(recipe, graph.num_features, settings, seed=3)
    drawn = drawn_in(model, graph, epoch)
    model.loss(drawn)
    assert isinstance(model.objective, Recorder)
    return model, drawn, model.objective


def drawn_in(model: RecipeModel[Any], graph: Graph, epoch: int) -> Sample:
    views = model.views(graph, "cpu")
    return views.draw(views.rng(epoch))


def lose_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let diffusions keep all that is among the largest, however little it matters."""
    monkeypatch.setattr(import_module("ugcl.scope.diffusion"), "LOST", 0)


# Graphs.


def featured(sparse: bool, name: str = "small") -> Graph:
    """A graph of 40 nodes that have few of their 30 features; X stays sparse, or is dense."""
    features = sp.random_array((40, 30), density=0.1, rng=np.random.default_rng(0), format="csr")
    edges = np.argwhere(np.triu(make_graph().adjacency.toarray()))
    return Graph.from_edges(edges, features if sparse else features.toarray(), name=name)


def connected(regular: bool, sparse: bool = True) -> Graph:
    """A cycle with all nodes two apart joined too; or with chords at one end alone."""
    nodes = np.arange(24)
    edges = [np.stack([nodes, (nodes + by) % 24], axis=1) for by in (1, 2)]
    if not regular:
        edges[1] = np.stack([np.zeros(8, dtype=int), nodes[3:11]], axis=1)
    features = make_graph(24, sparse=sparse).features
    return Graph.from_edges(np.concatenate(edges), features)


# The same in dense float64.


def edges_of(graph: Graph) -> np.ndarray:
    edges: np.ndarray = graph.adjacency.toarray().astype(float)
    return edges


def scaled_features(graph: Graph, settings: RecipeSettings) -> np.ndarray:
    scaled = scale_features(graph.features, settings.feature_scaling)
    held: np.ndarray = (scaled.toarray() if sp.issparse(scaled) else scaled).astype(float)
    return held


def a_and_x(graph: Graph, model: RecipeModel[Any]) -> tuple[torch.Tensor, torch.Tensor]:
    """The normalised adjacency and the features that a model sees."""
    a = reference.normalised_adjacency(edges_of(graph), model.settings.self_loops)
    return torch.from_numpy(a), torch.from_numpy(scaled_features(graph, model.settings))


def dense(matrix: SparseMatrix) -> torch.Tensor:
    return matrix.matrix.to_dense().double()


def edges_left(view: View) -> np.ndarray:
    """The unweighted graph of a view."""
    joined = (dense(view.adjacency) != 0).numpy().astype(float)
    np.fill_diagonal(joined, 0)
    return joined


def augmented(drawn: Sample, x: torch.Tensor) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """A and X of each view: what is left of the edges normalised anew, columns masked."""
    return [
        (
            torch.from_numpy(reference.normalised_adjacency(edges_left(view))),
            x if view.mask is None else x * view.mask.double(),
        )
        for view in drawn.views
    ]


def doubled(model: torch.nn.Module) -> Parameters:
    """Copies of a model's parameters in float64, by name."""
    return {
        name: value.detach().double().requires_grad_() for name, value in model.named_parameters()
    }


def shake(model: torch.nn.Module, by: float = 0.2) -> None:
    """Give biases that start at zero, and slopes, values of their own."""
    generator = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for value in model.parameters():
            value.add_(by * torch.randn(value.shape, generator=generator))


def gcn(encoder: torch.nn.Module, adjacency: np.ndarray, x: np.ndarray) -> np.ndarray:
    held = {name: value.detach().double().numpy() for name, value in encoder.named_parameters()}
    return reference.gcn(adjacency, x, held["weight"], held["bias"], float(held["slope"][0]))


def convolution(
    parameters: Parameters, a: torch.Tensor, x: torch.Tensor, encoder: str = "primary"
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
    """Several of them, with an activation of each: relu, prelu or none."""
    for layer, activation in enumerate(activations):
        x = a @ x @ parameters[f"primary.weights.{layer}"] + parameters[f"primary.biases.{layer}"]
        if activation == "relu":
            x = x.clamp(min=0)
        if activation == "prelu":
            x = torch.where(x > 0, x, parameters[f"primary.activations.{layer}.weight"] * x)
    return x


def grace_loss(
    parameters: Parameters,
    views: list[tuple[torch.Tensor, torch.Tensor]],
    activation: str,
    temperature: float,
) -> torch.Tensor:
    """GRACE as its authors have it: two convolutions, a projector, both directions."""

    def project(h: torch.Tensor) -> torch.Tensor:
        first, second = (parameters[f"objective.projector.weights.{layer}"] for layer in (0, 1))
        b, c = (parameters[f"objective.projector.biases.{layer}"] for layer in (0, 1))
        return functional.normalize(functional.elu(h @ first.T + b) @ second.T + c)

    def semi_loss(z1: torch.Tensor, z2: torch.Tensor) -> torch.Tensor:
        within, between = ((z1 @ z.T / temperature).exp() for z in (z1, z2))
        others = within.sum(dim=1) + between.sum(dim=1) - within.diag()
        return -(between.diag() / others).log()

    z1, z2 = (project(convolutions(parameters, *view, (activation,) * 2)) for view in views)
    return ((semi_loss(z1, z2) + semi_loss(z2, z1)) / 2).mean()


# Comparing.


def assert_equals_an_independent_step(
    model: RecipeModel[Any],
    loss: torch.Tensor,
    of: Callable[[Parameters], torch.Tensor],
    without_effect: Sequence[str] = (),
) -> None:
    """Loss and the gradients of all parameters."""
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
        assert (value.grad.double() - gradient).abs().max() / size < 1e-4, name


def assert_embeds(model: RecipeModel[Any], graph: Graph, expected: torch.Tensor) -> None:
    found = model.embed(graph, "cpu")
    assert np.abs(found).max() > 0.1
    np.testing.assert_allclose(found, expected.detach(), atol=1e-5)
