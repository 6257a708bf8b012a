"""The controls `pca`, `sign` and `structure` as methods."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reference
from conftest import make_graph
from ugcl import Embedder, Graph, PCAFeatures, SIGNFeatures, StructureFeatures, UGCLError
from ugcl._utils.linalg import dense_rows
from ugcl.cli import main
from ugcl.engine import fit
from ugcl.evaluation import Candidate, FeatureControls
from ugcl.methods import METHODS
from ugcl.runs import Run
from ugcl.views import structural_embedding

NAMES = ("pca", "sign", "structure")


def tfidf(graph: Graph) -> np.ndarray:
    """TF-IDF of the features, row by row."""
    counts = dense_rows(graph.features).astype(float)
    weights = 1 + np.log((1 + len(counts)) / (1 + (counts != 0).sum(axis=0)))
    return unit(counts * weights)


def unit(matrix: np.ndarray) -> np.ndarray:
    """Rows scaled to L2 norm 1, row by row; zeros stay."""
    return np.array([row / (np.linalg.norm(row) or 1.0) for row in matrix])


def projected(features: np.ndarray, columns: int) -> np.ndarray:
    """The leading principal components (uncentred), by a full SVD."""
    left, values, _ = np.linalg.svd(features, full_matrices=False)
    return (left * values)[:, :columns]


def smoothed(graph: Graph, rows: np.ndarray, k: int, self_loops: float) -> np.ndarray:
    adjacency = reference.normalised_adjacency(graph.adjacency.toarray(), self_loops)
    product: np.ndarray = np.linalg.matrix_power(adjacency, k) @ rows
    return product


def assert_equal_up_to_signs(found: np.ndarray, expected: np.ndarray) -> None:
    """Singular directions have no sign of their own."""
    signs = np.sign((found * expected).sum(axis=0))
    np.testing.assert_allclose(found * signs, expected, atol=1e-4)


@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize(("smoothing", "scope"), [(0, 0), (2, 0), (1, 3)])
def test_pca_is_its_formula(smoothing: int, scope: int, sparse: bool) -> None:
    graph = make_graph(60, 20, sparse=sparse)
    params = {"columns": 7, "smoothing": smoothing, "scope": scope, "self_loops": 1.0}
    found = PCAFeatures(feature_scaling="tfidf", **params).fit_embed(graph)
    rows = projected(tfidf(graph), 7)
    hidden, context = (smoothed(graph, rows, k, 1.0) for k in (smoothing, smoothing + scope))
    assert found.dtype == np.float32
    assert_equal_up_to_signs(found, (hidden + context) / 2)


@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("powers", [(0,), (1, 3), (0, 1, 2, 5)])
def test_sign_and_structure_are_their_formula(powers: tuple[int, ...], sparse: bool) -> None:
    graph = make_graph(60, 20, sparse=sparse)
    blocks = {"powers": powers, "block_columns": 7, "self_loops": 2.0, "feature_scaling": "tfidf"}
    rows = projected(tfidf(graph), 7)
    expected = np.hstack([unit(smoothed(graph, rows, k, 2.0)) for k in powers])
    found = SIGNFeatures(**blocks).fit_embed(graph)
    assert_equal_up_to_signs(found, expected)
    beside = StructureFeatures(**blocks, structure_columns=4, structure_weight=0.3).fit_embed(graph)
    np.testing.assert_array_equal(beside[:, : found.shape[1]], found)
    structure = 0.3 * unit(structural_embedding(graph.adjacency, 4))
    np.testing.assert_allclose(beside[:, found.shape[1] :], structure, atol=1e-6)


def test_the_methods_are_the_controls_of_an_evaluation() -> None:
    graph = make_graph(60, 20)
    scaled: dict[str, Any] = {"feature_scaling": "none", "self_loops": 2.0}
    methods = {
        Candidate("sign", "none", (0, 1, 2)): SIGNFeatures(
            powers=(0, 1, 2), block_columns=20, **scaled
        ),
        Candidate("structure", "none", (0, 2), 0.3): StructureFeatures(
            powers=(0, 2), block_columns=20, structure_columns=256, structure_weight=0.3, **scaled
        ),
        Candidate("pca", "none", 5): PCAFeatures(columns=20, smoothing=1, scope=5, **scaled),
    }
    for candidate, matrix in FeatureControls(graph).candidates(methods):
        rows, others = dense_rows(matrix), methods[candidate].fit_embed(graph)
        np.testing.assert_allclose(rows @ rows.T, others @ others.T, atol=1e-3)


@given(
    name=st.sampled_from(("pca", "sign")),
    scaling=st.sampled_from(("none", "l2", "tfidf", "standard")),
    seed=st.integers(0, 20),
)
@settings(max_examples=20)
def test_the_order_of_nodes_does_not_matter(name: str, scaling: str, seed: int) -> None:
    """In training; conformance tests permute the graph that is embedded."""
    graph = make_graph(30, seed=seed)
    order = np.random.default_rng(seed).permutation(30)
    permuted = Graph(graph.adjacency[order][:, order], graph.features[order])
    params = {"feature_scaling": scaling, "columns": 12, "block_columns": 12}
    params = {key: value for key, value in params.items() if key in METHODS[name].params}
    one, other = (Embedder(name, **params).fit_embed(each) for each in (graph, permuted))
    # columns may differ by a rotation, inner products may not
    np.testing.assert_allclose((one @ one.T)[order][:, order], other @ other.T, atol=1e-3)


@given(
    powers=st.sets(st.integers(0, 6), min_size=1, max_size=4),
    columns=st.integers(1, 20),
    seed=st.integers(0, 5),
)
@settings(max_examples=20)
def test_blocks_have_rows_of_norm_1(powers: set[int], columns: int, seed: int) -> None:
    graph = make_graph(25, seed=seed)
    found = fit("sign", graph, powers=list(powers), block_columns=columns).embed(graph)
    assert found.shape == (25, len(powers) * min(columns, 12))
    for block in np.split(found, len(powers), axis=1):
        norms = np.linalg.norm(block, axis=1)
        assert ((abs(norms - 1) < 1e-4) | (norms == 0)).all()


@pytest.mark.parametrize("name", NAMES)
def test_a_graph_that_arrives_later_has_the_directions_of_the_first(name: str) -> None:
    first, later = make_graph(60), make_graph(25, seed=9)
    params = {"feature_scaling": "tfidf", "columns": 5, "block_columns": 5}
    params = {key: value for key, value in params.items() if key in METHODS[name].params}
    fitted = fit(name, first, **params)
    found, other = fitted.embed(later), fit(name, later, **params).embed(later)
    assert found.shape == other.shape
    assert np.abs(found - other).max() > 0.01
    directions = fitted.model.directions.numpy()
    np.testing.assert_allclose(directions.T @ directions, np.eye(5), atol=1e-5)
    if name == "structure":
        assert not found[:, -128:].any()
        assert fitted.embed(first)[:, -128:].any()


@pytest.mark.parametrize("name", NAMES)
def test_presets_have_at_most_1024_columns(name: str) -> None:
    graph = make_graph(30, 1100)
    assert fit(name, graph, feature_scaling="l2").embed(graph).shape[1] <= 1024


@pytest.mark.parametrize("name", NAMES)
def test_there_is_nothing_to_train(name: str) -> None:
    graph = make_graph()
    with pytest.raises(UGCLError, match=r" is not trained: use its embeddings as they are$"):
        fit(name, graph).model.loss_fn(graph, "cpu")


def test_pca_can_choose_its_scope_without_labels() -> None:
    fitted = fit("pca", make_graph(90, classes=2), scope="auto")
    assert fitted.scope_choice is not None
    assert fitted.settings.values()["scope"] == fitted.scope_choice.n


@pytest.mark.parametrize("text", ["0,1,3", "3,0,1", " 0, 1, 3", "0+1+3", [0, 1, 3], (3, 1, 0)])
def test_powers_are_a_sequence_or_text(text: object) -> None:
    settings = METHODS["sign"].resolve("fast", make_graph(), {"powers": text})
    assert settings.values()["powers"] == [0, 1, 3]


@pytest.mark.parametrize("powers", ["", "0,x", "0,0", [], [-1], [0.5], 2, [True], ["1", "1"]])
def test_other_powers_are_an_error(powers: object) -> None:
    message = r"^`powers` must be different integers of at least 0, separated by commas, not "
    with pytest.raises(UGCLError, match=message):
        fit("sign", make_graph(), powers=powers)


@pytest.mark.parametrize(
    ("name", "params", "message"),
    [
        ("pca", {"columns": 0}, "`columns` must be an integer of at least 1, not 0"),
        ("pca", {"smoothing": -1}, "`smoothing` must be an integer of at least 0, not -1"),
        ("pca", {"scope": "graph"}, "`scope` must be an integer of at least 0 or 'auto', not "),
        ("sign", {"block_columns": 0}, "`block_columns` must be an integer of at least 1, not 0"),
        ("structure", {"structure_weight": -1}, "`structure_weight` must be a number of at least"),
    ],
)
def test_bad_settings_are_an_error(name: str, params: dict[str, Any], message: str) -> None:
    with pytest.raises(UGCLError, match=f"^{message}"):
        fit(name, make_graph(), **params)


def test_powers_on_the_command_line_and_in_a_run(
    graph_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"
    arguments = ["train", str(graph_file), "--method", "sign", "--out", str(out)]
    assert main([*arguments, "--powers", "0,1,3", "--block-columns", "4"]) == 0
    assert Run.open(out).config.settings.values()["powers"] == [0, 1, 3]
    assert Run.open(out).embeddings().shape == (40, 12)
    assert main([*arguments, "--resume"]) == 0
    assert main([*arguments, "--resume", "--powers", "0,1,3"]) == 0
    capsys.readouterr()
    assert main([*arguments, "--resume", "--powers", "0,1"]) == 2
    assert "--powers" in capsys.readouterr().err
    assert main(["train", "--method", "sign", "--help"]) == 0
    assert "(default: 0,1,2,10)" in " ".join(capsys.readouterr().out.replace("│", " ").split())
