"""Each protocol against a plain re-implementation of its rule; runs and controls under one rule."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, ShuffleSplit
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import normalize

from conftest import make_graph
from small_runs import small_run
from ugcl import UGCLError
from ugcl._utils.random import numpy_generator, seed_of, torch_generator
from ugcl.data import split_of
from ugcl.data.splits import selection_split
from ugcl.evaluation import CONTROLS, PROTOCOLS, FeatureControls, evaluate_run, linear_probe
from ugcl.evaluation.controls import FEATURE_CONTROLS, Candidate
from ugcl.typing import Protocol, Scoring

HARNESSES = ("bgrl", "pygcl", "gca")

Problem = tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]


def problem(
    fractions: tuple[float, float], size: int = 200, *, seed: int = 0, signal: float = 1.5
) -> Problem:
    """Embeddings of overlapping classes, one of them rare, and a split of a random permutation."""
    rng = np.random.default_rng(seed)
    labels = rng.choice(4, size=size, p=[0.4, 0.3, 0.27, 0.03])
    labels[:4] = np.arange(4)
    embeddings = rng.normal(size=(size, 7)).astype(np.float32)
    embeddings[np.arange(size), labels] += signal
    ends = [round(size * fractions[0]), round(size * sum(fractions))]
    parts = np.split(rng.permutation(size), ends)
    return embeddings, labels, dict(zip(("train", "val", "test"), parts, strict=True))


def test_every_protocol_has_a_rule() -> None:
    assert tuple(PROTOCOLS) == get_args(Protocol)
    assert (*PROTOCOLS, "predictions") == get_args(Scoring)


@pytest.mark.filterwarnings("ignore:Label not .* is present in all training examples")
@pytest.mark.parametrize("seed", range(4))
def test_bgrl_is_a_grid_search_over_random_halves_of_a_fifth_of_the_labels(seed: int) -> None:
    embeddings, labels, split = problem((0.2, 0.0), seed=seed)
    rows, targets = normalize(embeddings), np.eye(4, dtype=bool)[labels]
    search = GridSearchCV(
        OneVsRestClassifier(LogisticRegression(solver="liblinear", tol=1e-8, max_iter=1000)),
        {"estimator__C": 2.0 ** np.arange(-10, 11)},
        cv=ShuffleSplit(n_splits=5, test_size=0.5, random_state=seed_of("probe halves")),
    )
    search.fit(rows[split["train"]], targets[split["train"]])
    predicted = search.predict_proba(rows[split["test"]]).argmax(axis=1)
    score = linear_probe(embeddings, labels, split, "bgrl")
    assert score.chosen == {"C": search.best_params_["estimator__C"]}
    assert score.validation == pytest.approx(100 * search.best_score_)
    np.testing.assert_array_equal(score.correct, predicted == labels[split["test"]])
    assert score.accuracy == pytest.approx(100 * score.correct.mean())


def test_bgrl_has_the_same_halves_for_all_embeddings_and_seeds() -> None:
    embeddings, labels, split = problem((0.2, 0.0))
    scores = [linear_probe(embeddings, labels, split, "bgrl", seed=seed) for seed in (0, 1)]
    assert scores[0] == scores[1]
    assert linear_probe(5 * embeddings, labels, split, "bgrl").chosen == scores[0].chosen


def adam(problem: Problem, steps: int, check: bool, random_bias: bool, seed: int) -> dict[str, Any]:
    """The rule of GCA and of PyGCL, written with PyTorch's modules."""
    embeddings, labels, split = problem
    generator = torch_generator("probe", seed)
    layer = torch.nn.Linear(embeddings.shape[1], int(labels.max()) + 1)
    torch.nn.init.xavier_uniform_(layer.weight, generator=generator)
    torch.nn.init.zeros_(layer.bias)
    if random_bias:
        bound = 1 / np.sqrt(embeddings.shape[1])
        torch.nn.init.uniform_(layer.bias, -bound, bound, generator=generator)
    decay = 0.0 if check else 0.01
    optimizer = torch.optim.Adam(layer.parameters(), lr=0.01, weight_decay=decay)
    inputs, targets = torch.from_numpy(embeddings), torch.from_numpy(labels)
    best: dict[str, Any] = {"validation": 0.0}
    for step in range(1, steps + 1):
        optimizer.zero_grad()
        output = torch.nn.LogSoftmax(dim=-1)(layer(inputs[split["train"]]))
        torch.nn.NLLLoss()(output, targets[split["train"]]).backward()
        optimizer.step()
        if (step % 20 == 0) if check else (step == steps):
            right = (layer(inputs).argmax(dim=1) == targets).numpy()
            validation = 100 * right[split["val"]].mean()
            if validation > best["validation"]:
                best = {"validation": validation, "step": step, "correct": right[split["test"]]}
    return best


@pytest.mark.parametrize(
    ("protocol", "fractions", "steps", "random_bias"),
    [("gca", (0.1, 0.1), 3000, False), ("pygcl", (0.1, 0.8), 5000, True)],
)
def test_gca_and_pygcl_keep_the_weights_that_are_best_on_validation_nodes(
    protocol: str, fractions: tuple[float, float], steps: int, random_bias: bool
) -> None:
    data = problem(fractions, signal=0.8)
    expected = adam(data, steps, check=True, random_bias=random_bias, seed=4)
    score = linear_probe(*data, protocol, dataset="citeseer", seed=4)
    assert score.chosen == {"steps": expected["step"]}
    assert 20 <= expected["step"] < steps
    assert score.validation == pytest.approx(expected["validation"])
    np.testing.assert_array_equal(score.correct, expected["correct"])


def test_the_papers_probe_is_300_steps_of_adam_on_one_linear_layer() -> None:
    data = problem((0.3, 0.2))
    expected = adam(data, 300, check=False, random_bias=False, seed=4)
    score = linear_probe(*data, "paper", dataset="citeseer", seed=4)
    assert score.chosen == {}
    assert score.validation == pytest.approx(expected["validation"])
    np.testing.assert_array_equal(score.correct, expected["correct"])


@pytest.mark.parametrize("protocol", HARNESSES)
def test_nothing_is_chosen_on_the_test_nodes(protocol: str) -> None:
    embeddings, labels, split = problem(PROTOCOLS[protocol].fractions)
    score = linear_probe(embeddings, labels, split, protocol)
    shuffled = labels.copy()
    shuffled[split["test"]] = 0
    other = linear_probe(embeddings, shuffled, split, protocol)
    assert (other.chosen, other.validation) == (score.chosen, score.validation)
    assert other.accuracy != score.accuracy


@pytest.mark.parametrize("protocol", HARNESSES)
def test_sparse_and_dense_embeddings_score_the_same(protocol: str) -> None:
    embeddings, labels, split = problem(PROTOCOLS[protocol].fractions)
    embeddings[embeddings < 0.5] = 0
    dense = linear_probe(embeddings, labels, split, protocol)
    assert dense == linear_probe(sp.csr_array(embeddings), labels, split, protocol)


@pytest.mark.usefixtures("short_probes")
@pytest.mark.parametrize("protocol", HARNESSES)
@pytest.mark.parametrize("own_split", [True, False])
def test_a_run_is_scored_on_the_splits_of_the_protocol(
    protocol: str, own_split: bool, tmp_path: Path
) -> None:
    graph = make_graph(120, **({} if own_split else {"splits": {}}))
    graph.save(tmp_path / "g.npz")
    run = small_run(tmp_path / "g.npz", tmp_path / "run", "raw")
    result = evaluate_run(run, protocol, splits=2).to_json()
    fractions = PROTOCOLS[protocol].fractions
    sizes = [round(120 * fraction) for fraction in fractions]
    selection = selection_split(graph)
    pool = np.concatenate([selection["train"], selection["val"]])
    for seed in range(2):
        shuffled = numpy_generator("split", seed).permutation(120)
        train, validation, test = np.split(shuffled, np.cumsum(sizes))
        split = {
            "train": np.sort(train),
            "val": np.sort(validation),
            "test": np.setdiff1d(test, pool),
        }
        score = linear_probe(run.embeddings(), graph.labels, split, protocol, dataset="small")
        assert result["accuracy_by_split"][seed] == pytest.approx(score.accuracy, abs=1e-3)
        if seed == 0:
            assert result["accuracy"] == pytest.approx(score.accuracy, abs=1e-3)
            assert result["split_sizes"] == {part: nodes.size for part, nodes in split.items()}
            assert result["chosen"] == score.chosen
    assert result["protocol"] == protocol
    assert result["split"] == f"{result['splits_kind']}, split seed 0"
    low, high = result["accuracy_ci95"]
    assert low <= result["accuracy_mean"] <= high
    assert set(result["differences"]) == set(result["controls"]) == set(CONTROLS) - {"untrained"}


@pytest.mark.usefixtures("short_probes")
@pytest.mark.parametrize("protocol", HARNESSES)
def test_controls_are_scored_by_the_same_rule_on_the_same_nodes(
    protocol: str, tmp_path: Path
) -> None:
    graph = make_graph(120, splits={})
    graph.save(tmp_path / "g.npz")
    run = small_run(tmp_path / "g.npz", tmp_path / "run", seed=2)
    result = evaluate_run(run, protocol)
    split, name = split_of(graph, PROTOCOLS[protocol].fractions)
    assert result.split == name
    wanted = []
    for control in FEATURE_CONTROLS:
        chosen = result.controls[control].chosen
        settings = {key: chosen[key] for key in ("scaling", "k", "weight") if key in chosen}
        wanted.append(Candidate.from_json(control, settings))
    for candidate, matrix in FeatureControls(graph).candidates(wanted):
        score = linear_probe(matrix, graph.labels, split, protocol, dataset="small")
        found = result.controls[candidate.control]
        assert (found.accuracy, found.validation) == (score.accuracy, score.validation)
        assert score.chosen.items() <= found.chosen.items()
    untrained = small_run(
        tmp_path / "g.npz", tmp_path / "untrained", seed=2, params={"epochs": 0, "hidden": 8}
    )
    assert evaluate_run(untrained, protocol).score == result.controls["untrained"]


def test_refuses(tmp_path: Path) -> None:
    embeddings, labels, split = problem((0.3, 0.2))
    without = {part: nodes for part, nodes in split.items() if part != "val"}
    for protocol in ("honest", "gca", "pygcl"):
        with pytest.raises(UGCLError, match=f"{protocol} probe needs 'val' nodes"):
            linear_probe(embeddings, labels, without, protocol)
    for protocol in ("paper", "bgrl"):
        linear_probe(embeddings, labels, without, protocol)
    assert linear_probe(embeddings, labels, without, "paper").validation is None
    with pytest.raises(UGCLError, match="no protocol called 'fair'"):
        linear_probe(embeddings, labels, split, "fair")
    with pytest.raises(UGCLError, match="all of one class"):
        linear_probe(embeddings, np.zeros_like(labels), split)


def test_a_protocol_with_splits_of_its_own_refuses_others(tmp_path: Path) -> None:
    make_graph(90).save(tmp_path / "g.npz")
    raw = small_run(tmp_path / "g.npz", tmp_path / "raw", "raw")
    supervised = small_run(tmp_path / "g.npz", tmp_path / "mlp", "mlp")
    with pytest.raises(UGCLError, match="'gca' has its own random splits: leave out `split`"):
        evaluate_run(raw, "gca", split="own")
    message = "mlp learns from labels of its own split, and the protocol 'bgrl' has other splits"
    with pytest.raises(UGCLError, match=message):
        evaluate_run(supervised, "bgrl")
    with pytest.raises(UGCLError, match=message):
        evaluate_run(raw, "bgrl", against=supervised)
