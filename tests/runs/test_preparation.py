"""Graphs, splits and held-out edges of runs."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import make_graph
from small_runs import assert_same_bits, small_run, trained_run
from ugcl import UGCLError
from ugcl.data import hold_out_edges
from ugcl.runs import Prepared, RunConfig, open_run, prepare, prepare_again, train_run

SMALL: dict[str, Any] = {"hidden": 8, "sample": 30, "negatives": 10, "epochs": 30, "lr": 0.01}
WALKS: dict[str, Any] = {"epochs": 1, "hidden": 8}

trained = partial(trained_run, params=SMALL)


def prepared_run(file: Path, **params: Any) -> Prepared:
    return prepare(str(file), method="ugcl", params=SMALL | params)


def test_held_out_edges_are_not_seen_in_training(large_file: Path, tmp_path: Path) -> None:
    run = small_run(large_file, tmp_path / "run", hold_out_edges=0.3, split_seed=2)
    graph = run.config.load_graph()
    seen, held_out = hold_out_edges(graph, 0.3, 2)
    np.testing.assert_array_equal(np.load(run.path / "held_out_edges.npy"), held_out)
    seen_file = tmp_path / "seen.npz"
    seen.save(seen_file)
    expected = small_run(seen_file, tmp_path / "expected")
    np.testing.assert_array_equal(run.embeddings(), expected.embeddings())


def test_a_choice_of_n_does_not_see_held_out_edges(large_file: Path) -> None:
    params = {"scope": "auto"}
    prepared = prepare(str(large_file), params=params, hold_out_edges=0.5)
    seen_file = large_file.parent / "seen.npz"
    prepared.training_graph.save(seen_file)
    expected = prepare(str(seen_file), params=params).config
    assert prepared.config.scope_choice["why"] == expected.scope_choice["why"]


def test_a_row_for_each_node_is_embedded_whatever_edges_were_held_out(
    large_file: Path, tmp_path: Path
) -> None:
    run = small_run(large_file, tmp_path / "run", "deepwalk", params=WALKS, hold_out_edges=0.3)
    np.testing.assert_array_equal(run.embed(run.config.load_graph()), run.embeddings())


def test_a_repetition_keeps_the_kind_of_split(large_file: Path, tmp_path: Path) -> None:
    run = small_run(large_file, tmp_path / "run", "mlp", split="fraction", split_seed=1)
    config = prepare_again(run.config, {}, split_seed=2).config
    assert (config.split, config.split_seed) == ("fraction", 2)
    assert config.labels != run.config.labels
    own = small_run(large_file, tmp_path / "own", "mlp")
    config = prepare_again(own.config, {}, split_seed=2).config
    assert (config.split, config.split_seed) == ("per-class", 2)
    config = prepare_again(own.config, {}, seed=2).config
    assert (config.split, config.labels) == ("own", own.config.labels)


def test_the_graphs_own_split_goes_with_any_seed_of_held_out_edges(large_file: Path) -> None:
    prepared = prepare(str(large_file), method="gcn", split="own", split_seed=4, hold_out_edges=0.2)
    assert (prepared.config.split, prepared.config.split_seed) == ("own", 4)
    expected = hold_out_edges(prepared.graph, 0.2, 4)[1]
    np.testing.assert_array_equal(prepared.held_out, expected)


def test_a_configuration_repeats_its_run_bit_for_bit(graph_file: Path, tmp_path: Path) -> None:
    few = SMALL | {"epochs": 3}  # two threads wait for each other where other tests use the cores
    first = trained(graph_file, tmp_path / "first", params=few, seed=5, threads=2)
    prepared = prepare_again(RunConfig.read(first.path / "config.toml"), {})
    second = open_run(tmp_path / "second", prepared)
    train_run(second, prepared)
    assert_same_bits(first.path, second.path)


def test_config_that_does_not_fit_the_graph_is_an_error(graph_file: Path, tmp_path: Path) -> None:
    run = trained(graph_file, tmp_path / "run")
    make_graph(20).save(tmp_path / "smaller.npz")
    with pytest.raises(UGCLError, match="stored configuration does not fit this graph: `sample`"):
        prepare_again(run.config, {}, graph=str(tmp_path / "smaller.npz"))
    with pytest.raises(UGCLError, match="`sample` 50 is more than the 40 nodes"):
        prepare_again(run.config, {"sample": 50})


def test_a_changed_scope_takes_the_readout_along_if_they_were_equal(graph_file: Path) -> None:
    def changed(**params: int) -> dict[str, Any]:
        config = prepared_run(graph_file, **params).config
        return prepare_again(config, {"scope": 7}).config.settings.values()

    assert changed(scope=3)["readout_scope"] == 7
    assert changed(scope=3, readout_scope=9)["readout_scope"] == 9
