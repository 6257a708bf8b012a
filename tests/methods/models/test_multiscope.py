"""The multi-scope model: its step, when it stops, and the blocks of its embeddings."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import torch

import reference
from conftest import make_graph
from steps import StopAfter, featured, shake
from ugcl import Embedder, Graph, MultiScope, UGCLError
from ugcl.data import synthetic_graph
from ugcl.engine import Callback, Checkpoint, Fitted, TrainingState, fit
from ugcl.losses import ContextNCE, NormJSD
from ugcl.methods import METHODS, Shape
from ugcl.methods.models.multiscope import INTERVAL, MIN_EPOCHS, MIN_NODES, MultiScopeModel
from ugcl.methods.multiscope import MultiScopeSettings
from ugcl.sparse import SparseMatrix
from ugcl.typing import Features
from ugcl.views import (
    WalkContexts,
    leading_directions,
    split_half_reliability,
    structural_embedding,
)

SMALL: dict[str, Any] = {
    **{"epochs": 3, "lr": 0.01, "hidden": 8, "sample": 30, "scope": 2, "readout_scope": 3},
    **{"block_columns": 5, "raw_columns": 4, "structure_columns": 3},
}
WIDTHS = {"z": 5, "A": 5, "A^2": 5, "A^3": 5, "raw": 4, "A^2 X": 4, "A^3 X": 4, "structure": 3}
"""Blocks with the settings of SMALL."""


def settings_of(graph: Graph, **params: Any) -> MultiScopeSettings:
    settings = METHODS["multiscope"].resolve("fast", graph, SMALL | params)
    assert isinstance(settings, MultiScopeSettings)
    return settings


def model_of(graph: Graph, seed: int = 3, **params: Any) -> MultiScopeModel:
    """A model before its first step, with all parameters random."""
    model = METHODS["multiscope"].new_model(Shape.of(graph), settings_of(graph, **params), seed)
    assert isinstance(model, MultiScopeModel)
    model.fit_buffers(graph)
    shake(model)
    return model


def ended_model(graph: Graph, **params: Any) -> MultiScopeModel:
    """A model with random parameters and the buffers of a trained one."""
    model = model_of(graph, **params)
    model.on_fit_end(graph, "cpu")
    return model


def train(graph: Graph, *callbacks: Callback, seed: int = 1, **params: Any) -> Fitted:
    return fit("multiscope", graph, seed=seed, device="cpu", callbacks=callbacks, **SMALL | params)


def trained_model(fitted: Fitted) -> MultiScopeModel:
    assert isinstance(fitted.model, MultiScopeModel)
    return fitted.model


def blocks_of(embeddings: np.ndarray, widths: dict[str, int] = WIDTHS) -> dict[str, np.ndarray]:
    assert embeddings.shape[1] == sum(widths.values())
    parts = np.split(embeddings, np.cumsum(list(widths.values()))[:-1], axis=1)
    return dict(zip(widths, parts, strict=True))


def unit(rows: np.ndarray) -> np.ndarray:
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    divided: np.ndarray = rows / np.where(norms > 0, norms, 1)
    return divided


def dense(x: Features) -> np.ndarray:
    array: np.ndarray = (x.toarray() if sp.issparse(x) else x).astype(float)
    return array


def encoded(model: MultiScopeModel, x: np.ndarray) -> np.ndarray:
    """PReLU(X W + b) in float64."""
    encoder = model.encoder
    weight, bias, slope = (
        part[0].detach().double().numpy()
        for part in (encoder.weights, encoder.biases, encoder.slopes)
    )
    return reference.gcn(np.eye(len(x)), x, weight, bias, float(slope[0]))


def expected_blocks(model: MultiScopeModel, graph: Graph) -> dict[str, np.ndarray]:
    """All blocks but the structural one, dense in float64."""
    own, around, _ = model.weights.tolist()
    hidden = encoded(model, dense(model.inputs(graph))) - model.centre.double().numpy()
    rows = hidden @ model.directions.double().numpy()
    a = reference.normalised_adjacency(
        graph.adjacency.toarray().astype(float), model.settings.self_loops
    )
    blocks = {"z": own * around * unit(rows)}
    for n, name in ((1, "A"), (2, "A^2"), (3, "A^3")):
        blocks[name] = around * unit(np.linalg.matrix_power(a, n) @ rows)
    raw = dense(model.scaled(graph)) @ model.raw_directions.double().numpy()
    blocks["raw"] = own * raw
    for n, name in ((2, "A^2 X"), (3, "A^3 X")):
        blocks[name] = around * unit(np.linalg.matrix_power(a, n) @ raw)
    return blocks


def with_nodes(graph: Graph, copies: list[int], edges: list[list[int]]) -> Graph:
    """The graph and new nodes with the features of some of its nodes, and edges."""
    new = graph.num_nodes + len(copies)
    adjacency = sp.lil_array((new, new))
    adjacency[: graph.num_nodes, : graph.num_nodes] = graph.adjacency
    for one, other in edges:
        adjacency[one, other] = adjacency[other, one] = 1
    features = graph.features[[*range(graph.num_nodes), *copies]]
    return Graph(sp.csr_array(adjacency), features)


class SaveAlways(Checkpoint):
    """Saves after every epoch, whatever it costs."""

    def on_epoch_end(self, state: TrainingState) -> None:
        self.save(state)


# The training step.


@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("scope", [0, 1, 5])
def test_the_step_equals_the_formula(
    scope: int, sparse: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = featured(sparse)
    model = model_of(graph, scope=scope, mask_features=0.5, temperature=0.7, sample=20)
    samples = []
    sample_of = WalkContexts.sample

    def record(self: WalkContexts, rng: np.random.Generator) -> Any:
        samples.append(sample_of(self, rng))
        return samples[-1]

    monkeypatch.setattr(WalkContexts, "sample", record)
    loss = model.loss_fn(graph, "cpu")(4).item()
    (sample,), x = samples, dense(model.inputs(graph))
    assert sample.nodes is not None
    rows = []
    for view, nodes in zip(sample.views, sample.nodes, strict=True):
        features = view.features
        assert features is not None
        full = features.matrix.to_dense() if isinstance(features, SparseMatrix) else features
        masked = full.double().numpy()
        kept = masked != 0
        np.testing.assert_allclose(masked[kept], 2 * x[nodes.numpy()][kept], rtol=1e-5)
        rows.append(encoded(model, masked))
    nodes = tuple(each.tolist() for each in sample.nodes)
    assert len(nodes[0]) == 20
    assert loss == pytest.approx(reference.context_nce(*rows, nodes, 0.7), rel=1e-5)


def test_losses_depend_on_seed_and_epoch_alone(graph: Graph) -> None:
    model, other = model_of(graph), model_of(graph, seed=4)
    other.load_state_dict(model.state_dict())
    loss_of, other_loss_of = (each.loss_fn(graph, "cpu") for each in (model, other))
    first = loss_of(0).item()
    assert first != loss_of(1).item()
    assert first == loss_of(0).item()
    assert first != other_loss_of(0).item()


@pytest.mark.parametrize(("size", "count"), [(2, 0), (MIN_NODES - 1, 0), (MIN_NODES, 2), (300, 30)])
def test_a_tenth_of_the_nodes_is_held_out_and_never_sampled(
    size: int, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    nodes = np.arange(size)
    ring = Graph.from_edges(
        np.stack([nodes, (nodes + 1) % size], axis=1)[: size if size > 2 else 1],
        make_graph(size).features,
    )
    pairs: list[tuple[np.ndarray, np.ndarray, bool]] = []
    original = WalkContexts.pairs

    def record(self: WalkContexts, anchors: Any, contexts: Any, rng: Any) -> Any:
        pairs.append((anchors, contexts, rng is None))
        return original(self, anchors, contexts, rng)

    monkeypatch.setattr(WalkContexts, "pairs", record)
    train(ring, sample="all", epochs=30)
    held_out = [anchors for anchors, _, fixed in pairs if fixed]
    assert [len(each) for each in held_out] == ([count] if count else [])
    sampled = [pair[:2] for pair in pairs if not pair[2]]
    assert len(sampled) == 30
    seen = set(np.concatenate(sampled, axis=None).tolist())
    assert seen == set(range(size)) - set(np.concatenate([*held_out, []]).astype(int).tolist())


@pytest.mark.parametrize("scope", [0, 1, 2, 5])
def test_held_out_pairs_are_of_two_nodes(scope: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A node agrees with itself, whatever the weights; with scope 0 there is nothing else.

    From a leaf of a star a walk of 2 steps may only return or reach another leaf; the two nodes of
    an isolated edge have no other node at 2 steps, and are not held out.
    """
    leaves, pairs = 60, 60
    star = [[0, 1 + i] for i in range(leaves)]
    edges = [[leaves + 1 + 2 * i, leaves + 2 + 2 * i] for i in range(pairs)]
    graph = Graph.from_edges(star + edges, make_graph(1 + leaves + 2 * pairs).features)
    seen: list[tuple[np.ndarray, np.ndarray]] = []
    original = WalkContexts.pairs

    def record(self: WalkContexts, anchors: Any, contexts: Any, rng: Any) -> Any:
        if rng is None:
            seen.append((anchors, contexts))
        return original(self, anchors, contexts, rng)

    monkeypatch.setattr(WalkContexts, "pairs", record)
    train(graph, scope=scope, epochs=1)
    ((anchors, contexts),) = seen
    assert len(anchors) > 1
    assert (anchors == contexts).all() if scope == 0 else (anchors != contexts).all()
    if scope == 2:
        assert (anchors <= leaves).all()
        assert len(anchors) > 2


def test_nodes_without_edges_are_not_held_out() -> None:
    graph = Graph.from_edges([[0, 1], [1, 2]], make_graph(60).features)
    fitted = train(graph)
    assert fitted.history.validation_losses == []
    assert np.isfinite(fitted.embed(graph)).all()


# When training stops.


def converged_at(losses: list[float], tolerance: float, epoch: int | None = None) -> bool:
    """Ask a model whose held-out nodes had these losses after 0, 10, 20, ... epochs."""
    model = model_of(make_graph(40), epochs=1000, tolerance=tolerance)
    model.held_out_losses[: len(losses)] = torch.tensor(losses)
    return model.converged((len(losses) - 1) * INTERVAL if epoch is None else epoch)


def falling(count: int, late: float) -> list[float]:
    """Losses that fall by 1 in the first half, and then by `late`."""
    half = count // 2
    first = np.linspace(5, 4, half + 1)
    return [*first, *np.linspace(4, 4 - late, count - half + 1)[1:]]


def test_training_ends_where_the_second_half_did_little() -> None:
    """By less than a tenth of the whole fall: 1/9 of the fall of the first half."""
    assert MIN_EPOCHS % (2 * INTERVAL) == 0
    for count in (MIN_EPOCHS // INTERVAL, 20):
        assert converged_at(falling(count, 0.0), 0.1)
        assert converged_at(falling(count, 0.10), 0.1)
        assert not converged_at(falling(count, 0.12), 0.1)
        assert not converged_at(falling(count, 1.0), 0.1)


def test_the_middle_of_an_odd_number_of_looks_is_between_two() -> None:
    losses = [5.0] * 10
    losses[4:6] = 4.2, 4.0  # the middle of 9 looks: 4.1
    for last, expected in ((4.0, False), (4.05, True)):
        losses[9] = last
        assert converged_at(losses, 0.09) == expected


def test_training_does_not_end_early_nor_between_two_looks() -> None:
    done = falling(MIN_EPOCHS // INTERVAL, 0.0)
    assert converged_at(done, 0.1)
    assert not any(converged_at(done, 0.1, epoch) for epoch in range(MIN_EPOCHS))
    assert not any(converged_at([*done, 4.0], 0.1, MIN_EPOCHS + i) for i in range(1, INTERVAL))


def test_a_loss_that_rises_ends_training_and_tolerance_0_never_does() -> None:
    rising = [5.0, 4.8, 4.6, 4.4, 4.2, 4.4, 4.6, 4.8, 5.0]
    for losses in (rising, falling(8, 0.0), [5.0] * 9, [5.0 + i for i in range(9)]):
        assert not converged_at(losses, 0.0)
    assert converged_at(rising, 0.1)


def test_without_held_out_nodes_training_does_not_end_early() -> None:
    losses = [float("inf")] + [float("nan")] * 8
    assert not converged_at(losses, 0.5)
    tiny = make_graph(MIN_NODES - 1)
    fitted = train(tiny, epochs=MIN_EPOCHS + 20, sample="all", tolerance=0.99)
    assert (fitted.ended, fitted.epochs) == ("epochs", MIN_EPOCHS + 20)


CONVERGING: dict[str, Any] = {"epochs": 400, "lr": 0.005, "tolerance": 0.2, "sample": 50}


@pytest.fixture(scope="module")
def converging() -> Graph:
    return make_graph(150)


def test_training_stops_before_all_epochs_and_lowers_the_loss_of_held_out_nodes(
    converging: Graph,
) -> None:
    fitted = train(converging, **CONVERGING)
    assert fitted.ended == "converged"
    assert MIN_EPOCHS <= fitted.epochs < 400
    assert fitted.epochs % INTERVAL == 0
    losses = trained_model(fitted).held_out_losses.numpy()
    looks = fitted.epochs // INTERVAL
    assert np.isfinite(losses[: looks + 1]).all()
    assert np.isnan(losses[looks + 1 :]).all()
    assert losses[looks] < losses[0] - 0.05
    assert fitted.history.validation_losses[-1] == pytest.approx(losses[looks])
    longer = train(converging, **CONVERGING | {"tolerance": 0})
    assert (longer.ended, longer.epochs) == ("epochs", 400)
    np.testing.assert_array_equal(
        trained_model(longer).held_out_losses.numpy()[: looks + 1], losses[: looks + 1]
    )


def assert_same(one: Fitted, other: Fitted, graph: Graph) -> None:
    assert (one.epochs, one.loss, one.ended) == (other.epochs, other.loss, other.ended)
    state, other_state = one.model.state_dict(), other.model.state_dict()
    assert state.keys() == other_state.keys()
    for name, value in state.items():
        assert torch.equal(value.nan_to_num(-1), other_state[name].nan_to_num(-1)), name
    np.testing.assert_array_equal(one.embed(graph), other.embed(graph))


@pytest.mark.parametrize("stops", [(3,), (10,), (45, 79), (80,), (85,)])
def test_a_resumed_training_converges_as_an_uninterrupted_one(
    stops: tuple[int, ...], converging: Graph, tmp_path: Path
) -> None:
    whole = train(converging, **CONVERGING)
    assert whole.ended == "converged"
    assert whole.epochs > max(stops)
    file = tmp_path / "checkpoint.safetensors"
    for stop in stops:
        stopped = train(converging, Checkpoint(file), StopAfter(stop), **CONVERGING)
        assert (stopped.ended, stopped.epochs) == ("stopped", stop)
    assert_same(train(converging, Checkpoint(file), **CONVERGING), whole, converging)


def test_a_training_that_had_converged_takes_no_more_steps(
    converging: Graph, tmp_path: Path
) -> None:
    file = tmp_path / "checkpoint.safetensors"
    whole = train(converging, SaveAlways(file, every=0), **CONVERGING)
    resumed = train(converging, Checkpoint(file), **CONVERGING)
    assert resumed.history.losses == []
    assert_same(resumed, whole, converging)


def test_training_on_a_homophilous_graph_lowers_the_loss_of_held_out_nodes() -> None:
    graph = synthetic_graph("homophilous", nodes=600, seed=0, homophily=0.9, signal=3)
    params = {"hidden": 64, "sample": 300, "epochs": 60, "mask_features": 0.0, "scope": 1}
    losses = trained_model(train(graph, **params)).held_out_losses.numpy()
    assert losses[-1] < losses[0] - 0.1


def test_patience_looks_at_held_out_nodes_in_every_epoch() -> None:
    """Not at a loss that is the same for ten epochs, which would end training at once."""
    graph = make_graph(150)
    fitted = train(graph, epochs=20, patience=4, sample="all", mask_features=0.0)
    assert len(set(fitted.history.validation_losses)) == fitted.epochs
    assert fitted.epochs > 6
    without = train(graph, epochs=20, sample="all", mask_features=0.0)
    assert len(set(without.history.validation_losses)) == 3


# The embedding.


@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("scaling", ["l2", "tfidf", "standard"])
def test_blocks_equal_a_dense_version(sparse: bool, scaling: str) -> None:
    graph = featured(sparse)
    model = ended_model(graph, feature_scaling=scaling, self_loops=2.0)
    blocks = blocks_of(model.embed(graph, "cpu"))
    for name, expected in expected_blocks(model, graph).items():
        np.testing.assert_allclose(blocks[name], expected, atol=2e-5, err_msg=name)


@pytest.mark.parametrize("weights", ["reliability", "equal"])
def test_rows_of_blocks_are_as_long_as_their_weights(graph: Graph, weights: str) -> None:
    model = ended_model(graph, block_weights=weights)
    expected = (1.0, 1.0, 1.0)
    if weights == "reliability":
        x = model.scaled(graph)
        values = split_half_reliability(graph.adjacency, x, model.seed)
        expected = tuple(values.weights(graph.num_nodes))
        assert len(set(expected)) > 1
    assert model.weights.tolist() == pytest.approx(expected)
    lengths = {
        name: np.linalg.norm(block, axis=1)
        for name, block in blocks_of(model.embed(graph, "cpu")).items()
    }
    own, around, structural = expected
    np.testing.assert_allclose(lengths["z"], own * around, atol=1e-5)
    for name in ("A", "A^2", "A^3", "A^2 X", "A^3 X"):
        np.testing.assert_allclose(lengths[name], around, atol=1e-5)
    assert np.sqrt((lengths["raw"] ** 2).mean()) == pytest.approx(own, abs=1e-5)
    connected = np.diff(graph.adjacency.indptr) > 0
    np.testing.assert_allclose(lengths["structure"], structural * connected, atol=1e-5)


def test_directions_are_those_of_the_centred_hidden_representations(graph: Graph) -> None:
    model = ended_model(graph)
    hidden = encoded(model, dense(model.inputs(graph)))
    np.testing.assert_allclose(model.centre, hidden.mean(axis=0), atol=1e-5)
    _, values, right = np.linalg.svd(hidden - hidden.mean(axis=0), full_matrices=False)
    assert (values[:5] - values[1:6]).min() > 1e-2
    cosines = (right[:5] * model.directions.double().numpy().T).sum(axis=1)
    np.testing.assert_allclose(np.abs(cosines), 1, atol=1e-3)
    x = dense(model.scaled(graph))
    raw = leading_directions(x.astype(np.float32), 4)
    length = np.sqrt(((x @ raw) ** 2).sum(axis=1).mean())
    np.testing.assert_allclose(model.raw_directions, raw / length, atol=1e-3)


def test_the_structural_block_is_that_of_the_training_graph(graph: Graph) -> None:
    model = ended_model(graph)
    block = blocks_of(model.embed(graph, "cpu"))["structure"]
    weight = model.weights[2].item()
    assert weight > 0
    expected = weight * unit(structural_embedding(graph.adjacency, 3).astype(float))
    np.testing.assert_allclose(block, expected, atol=1e-5)
    copied = replace(graph, adjacency=graph.adjacency.copy(), labels=None, splits={})
    np.testing.assert_array_equal(model.embed(copied, "cpu"), model.embed(graph, "cpu"))
    heavier = replace(graph, adjacency=2 * graph.adjacency, weighted=True)
    for other in (make_graph(40, seed=1), make_graph(25), heavier):
        assert np.abs(blocks_of(model.embed(other, "cpu"))["structure"]).max() == 0


@pytest.mark.parametrize("encoder", ["mlp", "deep", "linear", "gcn"])
@pytest.mark.parametrize("scaling", ["tfidf", "standard"])
def test_nodes_that_arrive_without_edges_have_the_blocks_of_equal_nodes(
    encoder: str, scaling: str, graph: Graph
) -> None:
    model = ended_model(graph, encoder=encoder, feature_scaling=scaling)
    before = blocks_of(model.embed(graph, "cpu"))
    copies = [7, 0, 7, 31]
    after = blocks_of(model.embed(with_nodes(graph, copies, []), "cpu"))
    everyone = [*range(40), *copies]
    np.testing.assert_allclose(after["raw"], before["raw"][everyone], atol=1e-6)
    assert np.abs(after["structure"]).max() == 0
    for name in ("z", "A", "A^2", "A^3"):
        np.testing.assert_allclose(after[name][:40], before[name], atol=1e-5)
    if encoder != "gcn":
        np.testing.assert_allclose(after["z"], before["z"][everyone], atol=1e-5)
    own = model.weights[0].item()
    for name in ("A", "A^2", "A^3"):  # of a node without edges, itself
        np.testing.assert_allclose(own * after[name][40:], after["z"][40:], atol=1e-5)


def test_edges_of_nodes_that_arrive_later_are_used(graph: Graph) -> None:
    model = ended_model(graph)
    lonely = with_nodes(graph, [7, 0], [])
    linked = with_nodes(graph, [7, 0], [[40, 3], [40, 12], [41, 40]])
    before, after = (blocks_of(model.embed(each, "cpu")) for each in (lonely, linked))
    for name in ("z", "raw", "structure"):
        np.testing.assert_allclose(after[name], before[name], atol=1e-6)
    expected = expected_blocks(model, linked)
    for name in ("A", "A^2", "A^3", "A^2 X", "A^3 X"):
        assert np.abs(after[name][40] - before[name][40]).max() > 1e-2
        np.testing.assert_allclose(after[name], expected[name], atol=2e-5)


def test_later_graphs_of_any_size_have_the_same_rows(graph: Graph) -> None:
    """Nothing is normalised by the graph that is embedded."""
    model = ended_model(graph)
    whole = blocks_of(model.embed(graph, "cpu"))
    for nodes in ([5], [3, 8, 9], [*range(20, 40)]):
        part = Graph(graph.adjacency[nodes][:, nodes], graph.features[nodes])
        blocks = blocks_of(model.embed(part, "cpu"))
        for name in ("z", "raw"):
            np.testing.assert_allclose(blocks[name], whole[name][nodes], atol=1e-5)


def test_blocks_of_rows_are_encoded_alike(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    model = ended_model(graph)
    expected = model.embed(graph, "cpu")
    monkeypatch.setattr("ugcl.methods.models.multiscope.ROWS", 7)
    np.testing.assert_allclose(model.embed(graph, "cpu"), expected, atol=1e-6)


@pytest.mark.parametrize("features", [1, 12, 700])
def test_the_preset_has_at_most_1024_columns(features: int) -> None:
    graph = make_graph(60, features)
    fitted = fit("multiscope", graph, device="cpu", epochs=0)
    settings = fitted.settings
    assert isinstance(settings, MultiScopeSettings)
    blocks = (1 + len(settings.powers)) * min(settings.block_columns, settings.hidden)
    raw = (1 + len(settings.raw_powers)) * min(settings.raw_columns, features)
    width = blocks + raw + settings.structure_columns
    embeddings = fitted.embed(graph)
    assert embeddings.shape == (60, width)
    assert width <= 1024
    assert np.isfinite(embeddings).all()


@pytest.mark.parametrize(
    ("params", "width"),
    [
        ({"readout_scope": 0}, 5 + 4 + 3),
        ({"readout_scope": 1}, 2 * 5 + 4 + 3),
        ({"readout_scope": 2}, 3 * 5 + 2 * 4 + 3),
        ({"readout_scope": 5}, 4 * 5 + 3 * 4 + 3),
        ({"readout_scope": "component"}, 4 * 5 + 2 * 4 + 3),
        ({"block_columns": 100}, 4 * 8 + 3 * 4 + 3),
        ({"raw_columns": 0}, 4 * 5 + 3),
        ({"raw_columns": 100}, 4 * 5 + 3 * 12 + 3),
        ({"structure_columns": 0}, 4 * 5 + 3 * 4),
        ({"structure_columns": 100}, 4 * 5 + 3 * 4 + 100),
        ({"raw_columns": 0, "structure_columns": 0, "readout_scope": 0}, 5),
    ],
)
def test_the_width_is_the_sum_of_the_blocks(
    params: dict[str, Any], width: int, graph: Graph
) -> None:
    fitted = train(graph, **params)
    embeddings = fitted.embed(graph)
    assert embeddings.shape == (40, width)
    assert embeddings.dtype == np.float32
    assert np.isfinite(embeddings).all()


def test_the_component_is_the_limit_of_powers(graph: Graph) -> None:
    model = ended_model(graph, readout_scope="component", raw_columns=0, structure_columns=0)
    far = ended_model(graph, readout_scope=400, raw_columns=0, structure_columns=0)
    np.testing.assert_allclose(model.embed(graph, "cpu"), far.embed(graph, "cpu"), atol=1e-3)


@pytest.mark.parametrize("scope", [0, 1, 5])
def test_scopes_of_training_are_steps_of_the_walks(scope: int, graph: Graph) -> None:
    model = model_of(graph, scope=scope)
    assert model.views.scope == scope
    assert np.isfinite(train(graph, scope=scope).history.losses).all()


def test_an_automatic_scope_is_a_number_of_steps() -> None:
    fitted = train(make_graph(60), scope="auto", readout_scope="auto")
    assert isinstance(fitted.settings, MultiScopeSettings)
    assert isinstance(fitted.settings.scope, int)
    assert fitted.settings.readout_scope == fitted.settings.scope
    assert fitted.scope_choice is not None


@pytest.mark.parametrize(
    ("params", "message"),
    [
        *(
            (
                {"scope": scope},
                f"^multiscope finds contexts by walks of n steps, and has no scope '{scope}': "
                "set `scope` to an integer or 'auto'$",
            )
            for scope in ("component", "graph")
        ),
        ({"readout_scope": "graph"}, "^multiscope has no readout scope 'graph', .*: set `readout_"),
        ({"readout": "sum"}, "^multiscope has no readout 'sum': leave `readout` at 'blocks'$"),
    ],
)
def test_settings_without_a_meaning_are_errors(
    params: dict[str, Any], message: str, graph: Graph
) -> None:
    with pytest.raises(UGCLError, match=message):
        train(graph, **params)


# Settings.


@pytest.mark.parametrize("encoder", ["mlp", "deep", "linear", "gcn"])
def test_encoders(encoder: str, graph: Graph) -> None:
    model = model_of(graph, encoder=encoder)
    assert len(model.encoder.weights) == (2 if encoder == "deep" else 1)
    assert len(model.encoder.slopes) == {"deep": 2, "linear": 0}.get(encoder, 1)
    fitted = train(graph, encoder=encoder)
    rewired = replace(graph, adjacency=make_graph(40, seed=5).adjacency)
    z, other = (blocks_of(fitted.embed(each))["z"] for each in (graph, rewired))
    assert np.array_equal(z, other) == (encoder != "gcn")  # others use no edges


def test_the_gcn_encodes_smoothed_features(graph: Graph) -> None:
    model = model_of(graph, encoder="gcn", feature_scaling="standard", self_loops=2.0)
    plain = model_of(graph, feature_scaling="standard", self_loops=2.0)
    a = reference.normalised_adjacency(graph.adjacency.toarray().astype(float), 2.0)
    np.testing.assert_allclose(
        dense(model.inputs(graph)), a @ dense(plain.inputs(graph)), atol=1e-6
    )


def test_the_encoder_sees_counts_without_idf_weights() -> None:
    graph = featured(True)
    model = model_of(graph, feature_scaling="tfidf")
    x = unit(graph.features.toarray().astype(float))
    np.testing.assert_allclose(dense(model.inputs(graph)), x, atol=1e-6)
    assert np.abs(dense(model.scaled(graph)) - x).max() > 0.01
    for scaling in ("none", "row", "l2", "standard"):
        model = model_of(graph, feature_scaling=scaling)
        np.testing.assert_array_equal(dense(model.inputs(graph)), dense(model.scaled(graph)))


@pytest.mark.parametrize("sparse", [True, False])
def test_standardised_rows_have_a_mean_square_of_1(sparse: bool) -> None:
    graph = make_graph(60, 20, sparse=sparse)
    model = model_of(graph, feature_scaling="standard")
    x = model.scaled(graph)
    assert x.dtype == np.float32
    assert sp.issparse(x) == sparse
    variance = dense(x).var(axis=0).sum()
    assert variance == pytest.approx(1, abs=1e-5)


def test_losses(graph: Graph) -> None:
    assert type(model_of(graph, loss="infonce", temperature=0.3).loss) is ContextNCE
    assert model_of(graph, loss="infonce", temperature=0.3).loss.temperature == 0.3
    assert type(model_of(graph, loss="jsd").loss) is NormJSD
    for loss in ("infonce", "jsd"):
        losses = np.array(train(graph, loss=loss, epochs=60).history.losses)
        assert losses[-10:].mean() < losses[:10].mean()


def test_equal_weights_do_not_measure_reliability(
    graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ugcl.methods.models.multiscope.split_half_reliability", None)
    assert trained_model(train(graph, block_weights="equal")).weights.tolist() == [1, 1, 1]


# Small graphs, files and seeds.


@pytest.mark.parametrize("size", [2, 3, 4, 5, 9, 10, 11, 19, 20, 21, 25])
@pytest.mark.parametrize("loss", ["infonce", "jsd"])
def test_graphs_of_few_nodes_are_trained_on(size: int, loss: str) -> None:
    graph = make_graph(size)
    fitted = train(graph, sample="all", loss=loss)
    assert np.isfinite(fitted.history.losses).all()
    assert np.isfinite(fitted.embed(graph)).all()
    if size < MIN_NODES:
        assert fitted.history.validation_losses == []


def test_features_of_zeros_are_trained_on() -> None:
    graph = replace(make_graph(40), features=np.zeros((40, 3), dtype=np.float32))
    for scaling in ("none", "tfidf", "standard"):
        fitted = train(graph, feature_scaling=scaling)
        assert np.isfinite(fitted.embed(graph)).all()


def test_an_untrained_model_has_blocks(graph: Graph) -> None:
    fitted = train(graph, epochs=0)
    blocks = blocks_of(fitted.embed(graph))
    assert all(np.abs(block).max() > 0 for block in blocks.values())


def test_a_saved_estimator_has_the_same_bits(graph: Graph, tmp_path: Path) -> None:
    estimator = MultiScope(**SMALL, device="cpu").fit(graph)
    file = tmp_path / "model.safetensors"
    estimator.save(file)
    loaded = Embedder.load(file)
    for each in (graph, make_graph(25, seed=9), with_nodes(graph, [3], [[40, 1]])):
        np.testing.assert_array_equal(loaded.embed(each), estimator.embed(each))
    assert np.abs(blocks_of(loaded.embed(graph))["structure"]).max() > 0
    state, other = estimator.model_.state_dict(), loaded.model_.state_dict()
    assert state.keys() == other.keys()
    for name, value in state.items():
        assert torch.equal(value.nan_to_num(-1), other[name].nan_to_num(-1)), name


def test_one_seed_gives_the_same_bits_and_two_seeds_differ(graph: Graph) -> None:
    one, again, other = (train(graph, seed=seed) for seed in (1, 1, 2))
    assert one.history.losses == again.history.losses != other.history.losses
    np.testing.assert_array_equal(one.embed(graph), again.embed(graph))
    assert not np.array_equal(one.embed(graph), other.embed(graph))
    held_out = [trained_model(each).held_out_losses[0].item() for each in (one, other)]
    assert held_out[0] != held_out[1]


@pytest.mark.parametrize("encoder", ["mlp", "gcn"])
def test_permuted_nodes_have_permuted_rows(encoder: str, graph: Graph) -> None:
    """Of all blocks but the structural one, which is that of the training graph alone."""
    fitted = train(graph, encoder=encoder)
    order = np.random.default_rng(3).permutation(40)
    permuted = Graph(graph.adjacency[order][:, order], graph.features[order])
    blocks, others = (blocks_of(fitted.embed(each)) for each in (graph, permuted))
    for name in ("z", "A", "A^2", "A^3", "raw"):
        np.testing.assert_allclose(others[name], blocks[name][order], atol=1e-5)
