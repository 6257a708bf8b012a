"""Conformance: properties of every registered method; a new method is tested as it is."""

from __future__ import annotations

import json
import pickle
import re
import sys
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any, get_args

import numpy as np
import numpy.typing as npt
import pytest
import scipy.sparse as sp
import torch

from conftest import make_graph
from steps import StopAfter
from ugcl import Classifier, Embedder, Graph, UGCLError
from ugcl._utils.linalg import dense_rows
from ugcl.cli import main
from ugcl.data import DATASETS, hold_out_edges
from ugcl.engine import Trainer
from ugcl.evaluation import evaluate_clusters, evaluate_links, evaluate_run
from ugcl.methods import METHODS, Shape
from ugcl.methods.method import Kind
from ugcl.methods.models.model import Model
from ugcl.methods.multiscope import MultiScopeSettings
from ugcl.methods.pca import PCASettings
from ugcl.methods.sign import SIGNSettings
from ugcl.runs import Run, open_run, prepare, train_run
from ugcl.typing import FeatureScaling
from ugcl.views import auto_scaling

SMALL: dict[str, Any] = {
    "epochs": 3,
    "lr": 0.01,
    "hidden": 8,
    "projector": 8,
    "predictor": 8,
    "warmup": 1,
    "sample": 30,
    "negatives": 10,
    "inner": 8,
    "walk_length": 10,
    "window": 3,
    "dropout": 0.0,
    "heads": 2,
    "block_columns": 5,
    "raw_columns": 4,
    "structure_columns": 3,
    "columns": 8,
}
"""Values that keep training short; a method takes those that it has."""

SSL = [name for name, method in METHODS.items() if method.build is not None]
TRAINED = [name for name, method in METHODS.items() if method.trained]
BY_GRADIENTS = [name for name in TRAINED if METHODS[name].library != "gensim"]
BY_FEATURES = [name for name, method in METHODS.items() if "X" in method.needs]
SUPERVISED = [name for name, method in METHODS.items() if method.supervised]
CONTROLS = [name for name, method in METHODS.items() if method.kind == "control"]
TRANSDUCTIVE = [name for name, method in METHODS.items() if not method.inductive]
AS_WIDE_AS_FEATURES = ("sgc", "raw", "smooth")
WITHOUT_LABELS = [name for name, method in METHODS.items() if "Y" not in method.needs]
INDUCTIVE = [name for name, method in METHODS.items() if method.inductive]
PRESETS = [(name, preset) for name, method in METHODS.items() for preset in method.presets]
COUNTS = [
    (name, key)
    for name, method in METHODS.items()
    for key, param in method.params.items()
    if param.metavar == "N|all"
]

every_method = pytest.mark.parametrize("name", METHODS)
every_preset = pytest.mark.parametrize(("name", "preset"), PRESETS)


def flag(name: str) -> str:
    """The option of a setting on the command line."""
    return f"--{name.replace('_', '-')}"


def settings_of(name: str) -> set[str]:
    return set(METHODS[name].params)


def small(name: str, **params: Any) -> dict[str, Any]:
    return {key: value for key, value in (SMALL | params).items() if key in settings_of(name)}


def fitted(
    name: str,
    graph: Graph,
    preset: str = "fast",
    *,
    seed: int = 0,
    device: str = "cpu",
    **params: Any,
) -> Embedder:
    embedder = Embedder(name, preset, seed=seed, device=device, **small(name, **params))
    return embedder.fit(with_labels(name, graph))


def with_labels(name: str, graph: Graph) -> Graph:
    """The graph, with labels for a method that learns from them where it has none."""
    if name not in SUPERVISED or graph.splits:
        return graph
    nodes = np.arange(graph.num_nodes)
    return replace(graph, labels=nodes % 2, splits={"train": nodes[:-1], "val": nodes[-1:]})


def dense(name: str, graph: Graph, embedder: Embedder) -> npt.NDArray[np.float32]:
    """Embeddings as an array, also where they are sparse."""
    rows: npt.NDArray[np.float32] = dense_rows(embedder.embed(with_labels(name, graph)))
    return rows


def everything(name: str) -> dict[str, str]:
    """All nodes for every setting that is a number of nodes."""
    return {key: "all" for method, key in COUNTS if method == name}


def width_of(embedder: Embedder, graph: Graph) -> int:
    """The columns that embeddings with the settings of SMALL should have."""
    settings = embedder.settings_
    if embedder.method in AS_WIDE_AS_FEATURES:
        return graph.num_features
    if isinstance(settings, PCASettings):
        return min(settings.columns, graph.num_features)
    if isinstance(settings, SIGNSettings):
        structure = getattr(settings, "structure_columns", 0)
        return len(settings.powers) * min(settings.block_columns, graph.num_features) + structure
    if not isinstance(settings, MultiScopeSettings):
        return 8
    blocks = len({0, *settings.powers, settings.readout_scope})
    block = min(settings.block_columns, settings.hidden)
    raw = len({0, *settings.raw_powers}) * min(settings.raw_columns, graph.num_features)
    return blocks * block + raw + settings.structure_columns


def untrained(name: str, graph: Graph, seed: int = 0, **params: Any) -> tuple[Model, Any]:
    method, graph = METHODS[name], with_labels(name, graph)
    scopes = {"scope": 2, "readout_scope": 2}
    settings = method.resolve("fast", graph, small(name, **scopes | params))
    model = method.new_model(Shape.of(graph), settings, seed)
    model.fit_buffers(graph)
    return model, settings


def gradients(name: str, graph: Graph, seed: int = 0, **params: Any) -> dict[str, torch.Tensor]:
    model, _ = untrained(name, graph, seed, **params)
    model.loss_fn(with_labels(name, graph), "cpu")(0).backward()
    return {key: v.grad for key, v in model.named_parameters() if v.grad is not None}


def trained_run(name: str, file: Path, out: Path, **params: Any) -> Run:
    prepared = prepare(str(file), method=name, params=small(name, **params))
    run = open_run(out, prepared)
    train_run(run, prepared)
    return run


def assert_same_bits(one: Path, other: Path) -> None:
    times = {"log.jsonl", "metrics.json", "manifest.json"}  # times, or checksums of files of times
    files = {file.name for file in one.iterdir()} - times
    assert files >= {"config.toml", "model.safetensors", "nodes.parquet"}
    for file in files:
        assert (one / file).read_bytes() == (other / file).read_bytes(), file


def assert_usable(embedder: Embedder, graph: Graph, width: int | None = None) -> None:
    assert np.isfinite(embedder.loss_).all()
    name = embedder.method
    embeddings = dense(name, graph, embedder)
    assert embeddings.shape == (graph.num_nodes, width or width_of(embedder, graph))
    assert embeddings.dtype == np.float32
    assert np.isfinite(embeddings).all()


def unit(rows: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    scaled: npt.NDArray[np.float32] = rows / np.maximum(
        np.linalg.norm(rows, axis=1, keepdims=True), 1e-12
    )
    return scaled


def side_by_side(*graphs: Graph) -> Graph:
    return Graph(
        sp.block_diag([graph.adjacency for graph in graphs], format="csr"),
        sp.vstack([graph.features for graph in graphs], format="csr"),
    )


def reweighted(graph: Graph) -> Graph:
    scale = sp.diags_array(np.linspace(0.2, 3, graph.num_nodes))
    return replace(graph, adjacency=scale @ graph.adjacency @ scale, weighted=True)


@every_method
def test_the_registry_describes_the_method(name: str) -> None:
    method = METHODS[name]
    assert method.name == name
    assert method.kind in get_args(Kind)
    assert method.needs
    assert set(method.needs) <= {"X", "A", "Y"}
    assert ("Y" in method.needs) == (method.kind == "supervised")
    assert method.scope.strip()
    assert method.paper.strip()
    assert all(preset.about.strip() for preset in method.presets.values())


@pytest.mark.parametrize("name", TRAINED)
def test_one_seed_gives_one_result_and_two_seeds_two(name: str, graph: Graph) -> None:
    one, again, other = (fitted(name, graph, seed=seed) for seed in (1, 1, 2))
    assert one.loss_ == again.loss_
    np.testing.assert_array_equal(*(dense(name, graph, each) for each in (one, again)))
    if name == "sgc":  # its penultimate layer has no parameters
        assert one.loss_ != other.loss_
    else:
        assert not np.array_equal(one.embed(graph), other.embed(graph))


@every_method
def test_global_random_states_do_not_matter(name: str, graph: Graph) -> None:
    embeddings = []
    for state in (0, 1):
        torch.manual_seed(state)
        np.random.seed(state)  # noqa: NPY002 (this is what must not be used)
        embeddings.append(dense(name, graph, fitted(name, graph)))
    np.testing.assert_array_equal(*embeddings)


@every_method
def test_a_trained_estimator_is_pickled(name: str, graph: Graph) -> None:
    estimator = fitted(name, graph)
    again = pickle.loads(pickle.dumps(estimator))
    np.testing.assert_array_equal(dense(name, graph, again), dense(name, graph, estimator))


@pytest.mark.parametrize("name", SSL)
def test_the_loss_depends_on_seed_and_epoch(name: str, graph: Graph) -> None:
    model, settings = untrained(name, graph)
    other = METHODS[name].new_model(Shape.of(graph), settings, 1)
    other.load_state_dict(model.state_dict())
    loss_of, other_loss_of = (each.loss_fn(graph, "cpu") for each in (model, other))
    first = loss_of(0).item()
    assert first == loss_of(0).item()
    assert first != loss_of(1).item()
    assert first != other_loss_of(0).item()


@pytest.mark.parametrize("name", TRAINED)
def test_training_changes_every_parameter_and_the_embeddings(name: str, graph: Graph) -> None:
    before, after = (fitted(name, graph, epochs=epochs) for epochs in (0, 3))
    assert before.loss_ == []
    assert len(after.loss_) == 3
    assert_usable(after, graph)
    others = dict(after.model_.named_parameters())
    for key, value in before.model_.named_parameters():
        assert not torch.equal(value, others[key]), key
    if name != "sgc":  # its penultimate layer has no parameters
        assert not np.array_equal(before.embed(graph), after.embed(graph))


@pytest.mark.parametrize("name", TRAINED)
def test_the_loss_falls(name: str, graph: Graph) -> None:
    losses = np.array([fitted(name, graph, epochs=40, seed=seed).loss_ for seed in range(3)])
    assert losses[:, -5:].mean() < losses[:, :5].mean()


@pytest.mark.parametrize("name", BY_GRADIENTS)
def test_no_parameter_is_trained_on_rounding_errors_alone(name: str, graph: Graph) -> None:
    """For one seed at least: GAT's softmax cancels `att_dst` where all signs are equal."""
    slopes: dict[str, float] = {}
    for seed in range(3):
        for key, slope in gradients(name, graph, seed).items():
            slopes[key] = max(slopes.get(key, 0.0), float(slope.abs().max()))
    assert slopes
    assert min(slopes.values()) > 1e-5 * max(slopes.values()), min(slopes, key=slopes.__getitem__)


@pytest.mark.parametrize("name", BY_GRADIENTS)
def test_a_loss_that_is_not_finite_is_an_error_that_names_settings_of_the_method(
    name: str, graph: Graph
) -> None:
    trainer = Trainer(name, graph, device="cpu", **small(name))
    with torch.no_grad():
        next(trainer.model.parameters()).fill_(float("nan"))
    expected = r"^the loss is nan in epoch 1: use a smaller `lr`"
    with pytest.raises(UGCLError, match=expected) as error:
        trainer.run()
    assert set(re.findall(r"`(\w+)`", str(error.value))) <= settings_of(name)


@pytest.mark.parametrize("name", TRAINED)
def test_a_stopped_and_resumed_run_equals_one_that_was_not(
    name: str, graph_file: Path, tmp_path: Path
) -> None:
    whole = trained_run(name, graph_file, tmp_path / "whole", epochs=5)
    prepared = prepare(str(graph_file), method=name, params=small(name, epochs=5))
    run = open_run(tmp_path / "resumed", prepared, resume=True)
    stopped = train_run(run, prepared, [StopAfter(2)])
    assert stopped is not None
    assert (stopped.ended, stopped.epochs) == ("stopped", 2)
    train_run(open_run(run.path, prepared, resume=True), prepared)
    assert_same_bits(whole.path, run.path)


@pytest.mark.parametrize("scaling", ["row", "tfidf", "standard"])
@every_method
def test_a_run_folder_gives_the_same_embeddings_and_repeats_its_bits(
    name: str, scaling: str, graph: Graph, graph_file: Path, tmp_path: Path
) -> None:
    run = trained_run(name, graph_file, tmp_path / "run", feature_scaling=scaling)
    embedder = fitted(name, graph, feature_scaling=scaling)
    opened = Run.open(run.path)
    stored = dense_rows(opened.embeddings())
    np.testing.assert_array_equal(dense(name, graph, embedder), stored)
    np.testing.assert_array_equal(dense_rows(opened.embed(graph)), stored)
    if METHODS[name].inductive:
        other = make_graph(25, seed=9)
        embeddings = dense_rows(opened.embed(other))
        np.testing.assert_array_equal(embeddings, dense(name, other, embedder))
    config, out = run.path / "config.toml", tmp_path / "again"
    assert main(["train", "--config", str(config), "--out", str(out)]) == 0
    assert_same_bits(run.path, out)


@every_preset
def test_isolated_nodes_and_nodes_without_features_are_taken(name: str, preset: str) -> None:
    graph = Graph.from_edges([[0, 1], [1, 2], [3, 4]], np.eye(9)[:, [0, 3, 5, 6]])
    assert_usable(fitted(name, graph, preset, **everything(name)), graph)


@every_preset
def test_one_feature_is_enough(name: str, preset: str) -> None:
    graph = make_graph(40, 1)
    assert_usable(fitted(name, graph, preset), graph)


@every_preset
def test_two_nodes_are_enough(name: str, preset: str) -> None:
    graph = Graph.from_edges([[0, 1]], np.eye(2))
    assert_usable(fitted(name, graph, preset, **everything(name)), graph)


@every_method
def test_a_graph_in_pieces_is_trained_on(name: str) -> None:
    graph = side_by_side(make_graph(20), make_graph(20, seed=1), make_graph(20, seed=2))
    assert_usable(fitted(name, graph), graph)


@pytest.mark.parametrize("scaling", ["none", "tfidf"])
@pytest.mark.parametrize("readout_scope", [0, 2, "component"])
@pytest.mark.parametrize("name", INDUCTIVE)
def test_graphs_side_by_side_are_embedded_as_each_alone(
    name: str, readout_scope: int | str, scaling: str
) -> None:
    seen, unseen = make_graph(40), make_graph(25, seed=9)
    params = {"readout_scope": readout_scope, "feature_scaling": scaling}
    embedder = fitted(name, seen, **params, structure_columns=0)  # zero for any other graph
    alone = [dense(name, graph, embedder) for graph in (seen, unseen)]
    assert alone[1].shape == (25, width_of(embedder, unseen))
    together = dense(name, side_by_side(seen, unseen), embedder)
    np.testing.assert_allclose(together, np.vstack(alone), atol=1e-5)


@every_method
def test_edge_weights_count_in_training_and_in_embedding(name: str, graph: Graph) -> None:
    other, method = reweighted(graph), METHODS[name]
    plain, weighted = fitted(name, graph), fitted(name, other)
    assert_usable(weighted, other)
    count = method.uses_edge_weights and "A" in method.needs
    if method.trained:
        assert (plain.loss_ != weighted.loss_) == count
    if method.inductive:
        moved = np.abs(dense(name, graph, plain) - dense(name, other, plain)).max()
        assert (moved > 1e-3) == count


@pytest.mark.parametrize("scaling", get_args(FeatureScaling))
@pytest.mark.parametrize("name", BY_FEATURES)
def test_sparse_and_dense_features_are_the_same(name: str, scaling: str) -> None:
    rng = np.random.default_rng(0)
    features = (rng.random((40, 60)) < 0.08) * rng.random((40, 60))
    edges = np.argwhere(sp.triu(make_graph(40).adjacency).toarray())
    sparse, full = (Graph.from_edges(edges, kind(features)) for kind in (sp.csr_array, np.array))
    assert sp.issparse(sparse.features)
    assert not sp.issparse(full.features)
    embedder = fitted(name, sparse, feature_scaling=scaling)
    embeddings = [dense(name, graph, embedder) for graph in (sparse, full)]
    np.testing.assert_allclose(*embeddings, atol=1e-6)
    if name not in TRAINED or scaling == "standard":  # dense features are also centred
        return
    params = {"feature_scaling": scaling}
    if name == "multiscope":  # which masks entries, and of sparse features only stored ones
        params["mask_features"] = 0.0
    one, other = (gradients(name, graph, **params) for graph in (sparse, full))
    assert one.keys() == other.keys()
    for key, slope in one.items():
        torch.testing.assert_close(slope, other[key], atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize(
    ("name", "readout_scope"),
    [
        (name, scope)
        for name in INDUCTIVE
        for scope in (0, 2, "component", "graph")
        if (name, scope) != ("multiscope", "graph")  # which is an error
    ],
)
def test_permuted_nodes_have_permuted_embeddings(name: str, readout_scope: int | str) -> None:
    graph = make_graph(40)
    order = np.random.default_rng(3).permutation(40)
    permuted = Graph(graph.adjacency[order][:, order], graph.features[order])
    embedder = fitted(name, graph, readout_scope=readout_scope, structure_columns=0)
    embeddings = dense(name, graph, embedder)
    np.testing.assert_allclose(dense(name, permuted, embedder), embeddings[order], atol=1e-5)
    assert not np.allclose(embeddings, embeddings[order], atol=1e-3)


@pytest.mark.parametrize(
    ("readout", "width"),
    [
        *(("sum", 8), ("mean", 8), ("concat", 16), ("hidden", 8)),
        *(("context", 8), ("context-l2", 8), ("blocks", 24)),
    ],
)
@pytest.mark.parametrize("name", SSL)
def test_embeddings_are_as_wide_as_promised(
    name: str, readout: str, width: int, graph: Graph
) -> None:
    embedder = fitted(name, graph, readout=readout, scope=1, readout_scope=2)
    assert_usable(embedder, graph, width)
    hidden, neighbours, context = (
        fitted(name, graph, readout="context", scope=1, readout_scope=n).embed(graph)
        for n in (0, 1, 2)
    )
    expected = {
        "sum": hidden + context,
        "mean": (hidden + context) / 2,
        "concat": np.hstack([hidden, context]),
        "hidden": hidden,
        "context": context,
        "context-l2": unit(context),
        "blocks": np.hstack([unit(part) for part in (hidden, neighbours, context)]),
    }[readout]
    np.testing.assert_allclose(embedder.embed(graph), expected, atol=1e-6)


@pytest.mark.parametrize("scope", [0, 3, "component", "graph", "auto"])
@pytest.mark.parametrize(
    ("name", "preset"), [(name, preset) for name, preset in PRESETS if name in SSL]
)
def test_every_training_scope_goes_with_every_readout_scope(
    name: str, preset: str, scope: int | str
) -> None:
    graph = make_graph(60)
    embedders = [
        fitted(name, graph, preset, scope=scope, readout_scope=readout_scope)
        for readout_scope in (0, 2, "component", "graph")
    ]
    for embedder in embedders:
        assert_usable(embedder, graph)
        assert embedder.loss_ == embedders[0].loss_
        assert (embedder.scope_choice_ is not None) == (scope == "auto")
        chosen = embedder.settings_.values()["scope"]
        assert isinstance(chosen, int) if scope == "auto" else chosen == scope
    for one, other in combinations([embedder.embed(graph) for embedder in embedders], 2):
        assert np.abs(one - other).max() > 1e-3


@pytest.mark.parametrize("name", SSL)
def test_every_training_scope_has_its_own_gradient(name: str) -> None:
    graph = side_by_side(make_graph(40), make_graph(20, seed=1))
    directions = [
        torch.cat([slope.flatten() for slope in gradients(name, graph, scope=scope).values()])
        for scope in (0, 3, "component", "graph")
    ]
    for one, other in combinations(directions, 2):
        assert (one - other).norm() > 1e-3 * one.norm()


@pytest.mark.parametrize(
    ("name", "preset"), [(name, preset) for name, preset in PRESETS if name in SSL]
)
def test_the_component_is_a_scope_without_subsampling_too(name: str, preset: str) -> None:
    graph = make_graph(60)
    assert_usable(fitted(name, graph, preset, scope="component", sample="all"), graph)


@pytest.mark.parametrize("name", WITHOUT_LABELS)
def test_labels_splits_and_ids_are_not_used(name: str) -> None:
    plain = make_graph(labels=None, splits={})
    labelled = make_graph(labels=np.arange(40) % 5, ids=[f"n{i}" for i in range(40)])
    first, second = (fitted(name, graph) for graph in (plain, labelled))
    assert first.loss_ == second.loss_
    np.testing.assert_array_equal(dense(name, plain, first), dense(name, labelled, second))


@pytest.mark.parametrize("name", BY_FEATURES)
def test_auto_scaling_is_the_scaling_that_it_chooses(name: str, graph: Graph) -> None:
    """For the training graph; other graphs are scaled in the same way."""
    embedder = fitted(name, graph, feature_scaling="auto")
    scaling = auto_scaling(graph.adjacency, graph.features)
    chosen = fitted(name, graph, feature_scaling=scaling)
    assert embedder.settings_ == chosen.settings_
    assert embedder.settings_.values()["feature_scaling"] == scaling
    for each in (graph, make_graph(25, seed=9)) if METHODS[name].inductive else (graph,):
        np.testing.assert_array_equal(dense(name, each, embedder), dense(name, each, chosen))


@pytest.mark.parametrize("name", BY_FEATURES)
def test_every_feature_scaling_is_one_of_its_own(name: str, graph: Graph) -> None:
    embedders = [fitted(name, graph, feature_scaling=each) for each in get_args(FeatureScaling)]
    for embedder in embedders:
        assert_usable(embedder, graph)
    for one, other in combinations([dense(name, graph, each) for each in embedders], 2):
        assert not np.array_equal(one, other)


@every_preset
def test_a_preset_has_every_setting_and_no_other(name: str, preset: str) -> None:
    values, names = METHODS[name].presets[preset], settings_of(name)
    assert names - {"readout_scope"} <= set(values.base) <= names
    assert set(values.graphs) <= set(DATASETS)
    assert set(values.ours) <= {"default", *DATASETS}
    for changes in values.graphs.values():
        assert set(changes) <= names
    for ours in values.ours.values():
        assert ours <= names


@every_preset
def test_a_preset_is_valid_for_every_data_set(name: str, preset: str) -> None:
    method, graph = METHODS[name], make_graph(12)
    for dataset in DATASETS:
        settings = method.resolve(preset, replace(graph, name=dataset), {})
        assert isinstance(settings, method.settings)
        for key, value in method.presets[preset].values(dataset).items():
            if value == "auto" and key == "feature_scaling":
                value = auto_scaling(graph.adjacency, graph.features)
            reduced = (name, key) in COUNTS and value != "all" and value >= 12
            assert settings.values()[key] == ("all" if reduced else value), (dataset, key)


@every_preset
def test_a_preset_with_more_nodes_than_the_graph_is_reduced(name: str, preset: str) -> None:
    graph = make_graph(12)
    params = {key: value for key, value in small(name).items() if (name, key) not in COUNTS}
    assert_usable(Embedder(name, preset, **params).fit(graph), graph)


@pytest.mark.parametrize(("name", "key"), COUNTS)
def test_asking_for_more_nodes_than_the_graph_has_is_an_error(name: str, key: str) -> None:
    with pytest.raises(UGCLError, match=rf"^`{key}` 41 is more than the .* or 'all'$"):
        METHODS[name].resolve("fast", make_graph(40), {key: 41})


@every_method
def test_an_unknown_setting_is_an_error(name: str) -> None:
    with pytest.raises(UGCLError, match=r"^there is no setting 'width': the settings are "):
        METHODS[name].resolve("fast", make_graph(12), {"width": 3})


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device here")
@every_method
def test_cuda_trains_and_embeds_as_the_cpu_does(name: str, graph: Graph) -> None:
    embedder = fitted(name, graph, device="cuda")
    assert_usable(embedder, graph)
    assert all(value.is_cuda for value in embedder.model_.parameters())
    on_cuda = dense(name, graph, embedder)
    on_cpu = dense_rows(embedder.model_.cpu().embed(graph, "cpu"))
    np.testing.assert_allclose(on_cpu, on_cuda, atol=1e-4)
    if name in TRAINED:
        first = fitted(name, graph, device="cpu").loss_[0]
        assert embedder.loss_[0] == pytest.approx(first, abs=1e-4)


@pytest.mark.parametrize("name", [name for name, method in METHODS.items() if method.library])
def test_a_missing_library_is_an_error_before_anything_is_written(
    name: str, graph_file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    library = METHODS[name].library
    monkeypatch.setitem(sys.modules, library, None)
    out = graph_file.parent / "run"
    assert main(["train", str(graph_file), "--method", name, "--out", str(out)]) == 2
    message = f"{name} needs {library}, which is not installed: pip install 'ugcl[baselines]'"
    assert capsys.readouterr().err == f"ugcl: {message}\n"
    assert not out.exists()


@pytest.mark.parametrize("name", TRANSDUCTIVE)
def test_a_transductive_method_refuses_other_graphs(name: str, graph: Graph) -> None:
    embedder = fitted(name, graph)
    for other in (make_graph(seed=1), make_graph(25), reweighted(graph)):
        with pytest.raises(UGCLError, match=f"^{name} is transductive and was trained on another"):
            embedder.embed(other)


@pytest.mark.parametrize("name", SUPERVISED)
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"labels": None, "splits": {}}, "learns from labels and those of this graph are missing"),
        (
            {"labels": np.zeros(40, int)},
            "learns from labels and those of this graph are all of one class",
        ),
        ({"splits": {}}, "needs labelled nodes to learn from, .* no 'train' nodes: add some"),
        (
            {"splits": {"train": [0, 1]}},
            "needs labelled nodes for early stopping, .* no 'val' nodes: ",
        ),
    ],
)
def test_missing_labels_are_an_error(
    name: str, changes: dict[str, Any], message: str, graph: Graph
) -> None:
    with pytest.raises(UGCLError, match=f"^{name} {message}"):
        Classifier(name).fit(replace(graph, **changes))


@pytest.mark.parametrize("name", SUPERVISED)
def test_a_supervised_run_stores_its_predictions(
    name: str, graph: Graph, graph_file: Path, tmp_path: Path
) -> None:
    run = trained_run(name, graph_file, tmp_path / "run", epochs=30)
    classifier = Classifier(name, device="cpu", **small(name, epochs=30)).fit(graph)
    predicted = classifier.predict(graph)
    np.testing.assert_array_equal(run.predictions(), predicted)
    assert run.predictions().dtype == np.int64
    np.testing.assert_allclose(classifier.predict_proba(graph).sum(axis=1), 1, atol=1e-5)
    score = evaluate_run(run)
    test = graph.splits["test"]
    assert score.protocol == "predictions"
    assert score.score.accuracy == pytest.approx(100 * (predicted == graph.labels)[test].mean())
    log = [json.loads(line) for line in (run.path / "log.jsonl").read_text().splitlines()]
    assert all(line["validation"] > 0 for line in log)


@pytest.mark.parametrize("name", SUPERVISED)
def test_labels_of_test_nodes_are_not_used(name: str, graph: Graph) -> None:
    assert graph.labels is not None
    labels = graph.labels.copy()
    labels[graph.splits["test"]] = (labels[graph.splits["test"]] + 1) % 3
    first, second = (fitted(name, each) for each in (graph, replace(graph, labels=labels)))
    assert first.loss_ == second.loss_
    np.testing.assert_array_equal(*[dense(name, graph, each) for each in (first, second)])


@pytest.mark.parametrize("key", ["epochs", "lr", "patience"])
@pytest.mark.parametrize("name", CONTROLS)
def test_a_control_refuses_to_be_trained(
    name: str, key: str, graph: Graph, graph_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    message = f"{name} is a control and takes no training steps: leave out "
    with pytest.raises(UGCLError, match=f"^{message}`{key}`$"):
        Embedder(name, **{key: 3})
    out = str(graph_file.parent / "run")
    assert main(["train", str(graph_file), "--method", name, flag(key), "3", "--out", out]) == 2
    assert capsys.readouterr().err == f"ugcl: {message}{flag(key)}\n"
    assert not Path(out).exists()


@pytest.mark.parametrize("name", SSL)
def test_no_epochs_give_the_model_before_its_first_step(name: str, graph: Graph) -> None:
    embedder = fitted(name, graph, epochs=0)
    assert embedder.loss_ == []
    model = METHODS[name].new_model(Shape.of(graph), embedder.settings_, 0)
    model.fit_buffers(graph)
    np.testing.assert_array_equal(dense(name, graph, embedder), model.embed(graph, "cpu"))


@every_method
def test_links_and_clusters_are_scored_with_the_controls(
    name: str, graph_file: Path, tmp_path: Path
) -> None:
    prepared = prepare(
        str(graph_file), method=name, params=small(name), hold_out_edges=0.2, split_seed=3
    )
    graph, run = prepared.graph, open_run(tmp_path / "run", prepared)
    train_run(run, prepared)
    seen, held_out = hold_out_edges(graph, 0.2, 3)
    np.testing.assert_array_equal(run.held_out(), held_out)
    assert run.metrics()["edges"] == seen.num_edges == graph.num_edges - len(held_out)
    links, clusters = evaluate_links(run), evaluate_clusters(run, starts=2)
    controls = {"raw", "smooth", "sign", "structure"} | (
        {"untrained"} if METHODS[name].trained else set()
    )
    assert links.controls.keys() == controls | {"pca"}
    assert clusters.controls.keys() == controls
    assert 0 <= links.score.auc <= 100
    assert all(-50 < value <= 100 for value in clusters.score.values.values())
