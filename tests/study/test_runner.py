from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from ugcl import UGCLError
from ugcl.data import GraphFiles
from ugcl.methods import METHODS
from ugcl.study import Options, Results
from ugcl.study.catalogue import cells_of
from ugcl.study.cell import Cell
from ugcl.study.entries import entry, many_entry, one_split
from ugcl.study.names import Backend
from ugcl.study.runner import Progress, RunnerOptions, merge, run_cells

FAST = {"method": "dgi", "preset": "fast", "settings": {"hidden": 4, "epochs": 2}}


def cells(graph: Path, count: int = 3) -> list[Cell]:
    return [Cell("subsampling", str(graph), {"sizes": [10, 20]}, seed) for seed in range(count)]


def test_cells_are_stored_and_not_computed_again(large_file: Path, tmp_path: Path) -> None:
    results = Results.open(tmp_path / "cells.jsonl")
    seen: list[Progress] = []
    done = run_cells(cells(large_file), results, RunnerOptions(on_progress=seen.append))
    assert (done.done, done.failed, done.total) == (3, 0, 3)
    assert [progress.done for progress in seen] == [0, 1, 2, 3]
    lines = (tmp_path / "cells.jsonl").read_text("utf-8").splitlines()
    assert len(lines) == 3
    again = Results.open(tmp_path / "cells.jsonl")
    assert run_cells(cells(large_file, 4), again).total == 1
    assert again.result(cells(large_file)[1]) == json.loads(lines[1])["result"]


def test_what_a_kill_left_of_stored_cells_is_removed(large_file: Path, tmp_path: Path) -> None:
    results = Results.open(tmp_path / "cells.jsonl")
    stored, failed, *_ = cells(large_file)
    run_cells([stored], results)
    results.add(failed, {"error": "killed"})
    for cell in cells(large_file):
        folder = tmp_path / "runs" / results.key(cell)
        folder.mkdir(parents=True)
        (folder / "checkpoint").touch()
    run_cells(cells(large_file)[:2], Results.open(tmp_path / "cells.jsonl"))
    left = {path.name for path in (tmp_path / "runs").iterdir()}
    assert left == {results.key(cell) for cell in cells(large_file)[1:]}


def test_workers_give_the_same_results(large_file: Path, tmp_path: Path) -> None:
    cell = Cell("accuracy", str(large_file), FAST, scores={"honest": 2})
    one, other = (Results.open(tmp_path / name / "cells.jsonl") for name in "ab")
    run_cells([cell, *cells(large_file, 2)], one, RunnerOptions(jobs=1))
    run_cells([cell, *cells(large_file, 2)], other, RunnerOptions(jobs=2))
    first, second = one.result(cell), other.result(cell)
    assert first is not None
    assert second is not None
    for field in ("accuracy", "accuracy_by_split", "chosen"):
        assert first["scores"]["honest"][field] == second["scores"]["honest"][field]
    assert not (tmp_path / "a" / "runs" / one.key(cell)).exists()


def test_an_error_is_recorded_and_the_study_goes_on(large_file: Path, tmp_path: Path) -> None:
    bad = Cell("accuracy", str(large_file), FAST | {"settings": {"lr": 1e30, "epochs": 3}})
    results = Results.open(tmp_path / "cells.jsonl")
    done = run_cells([bad, *cells(large_file, 1)], results)
    assert (done.done, done.failed) == (2, 1)
    record = results.get(bad)
    assert record is not None
    assert record["error"].startswith("training has diverged in epoch 1")
    assert results.result(bad) is None
    assert run_cells([bad], Results.open(results.path)).total == 0
    assert run_cells([bad], Results.open(results.path), RunnerOptions(retry=True)).total == 1


def test_a_cut_last_line_is_computed_again(large_file: Path, tmp_path: Path) -> None:
    path = tmp_path / "cells.jsonl"
    run_cells(cells(large_file), Results.open(path))
    whole = path.read_bytes()
    path.write_bytes(whole[:-40])
    results = Results.open(path)
    assert len(results.records) == 2
    assert run_cells(cells(large_file), results).total == 1
    assert len(Results.open(path).records) == 3
    path.write_bytes(b"no JSON\n" + whole)
    with pytest.raises(UGCLError, match="line 1, is not a result of a study"):
        Results.open(path)


def test_a_cell_depends_on_settings_data_and_versions(
    large_file: Path, graph_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cell = Cell("accuracy", str(large_file), FAST, scores={"honest": 2})
    results = Results(Path("unused"))
    keys = {
        results.key(other)
        for other in (
            cell,
            replace(cell, seed=1),
            replace(cell, graph=str(graph_file)),
            replace(cell, params=FAST | {"settings": {"hidden": 5}}),
            replace(cell, params=FAST | {"preset": "paper"}),
            replace(cell, params=FAST | {"method": "grace"}),
        )
    }
    assert len(keys) == 6
    assert results.key(replace(cell, scores={}, readouts=(1,))) in keys
    monkeypatch.setitem(METHODS, "dgi", replace(METHODS["dgi"], version=2))
    assert results.key(replace(cell)) not in keys


def test_a_cell_follows_its_file(tmp_path: Path) -> None:
    edges, labels = tmp_path / "edges.csv", tmp_path / "labels.csv"
    edges.write_text("source,target\n0,1\n1,2\n2,3\n")
    labels.write_text("id,label\n0,0\n1,0\n2,1\n3,1\n")
    results = Results(Path("unused"))

    def key() -> str:
        return results.key(Cell("statistics", GraphFiles(edges=str(edges), labels=str(labels))))

    keys = [key(), key()]
    labels.write_text("id,label\n0,0\n1,1\n2,1\n3,1\n3,1\n".replace("\n3,1\n3,1", "\n3,1"))
    os.utime(labels, ns=(0, 0))
    keys.append(key())
    edges.write_text("source,target\n0,1\n1,2\n2,3\n0,3\n")
    keys.append(key())
    assert keys[0] == keys[1]
    assert len(set(keys)) == 3


def test_one_training_serves_all_scores(large_file: Path, tmp_path: Path) -> None:
    params = FAST | {"method": "ugcl", "settings": {"hidden": 4, "epochs": 2, "scope": 2}}
    honest = Cell("accuracy", str(large_file), params, scores={"honest": 2}, readouts=(1,))
    paper = Cell("accuracy", str(large_file), params, scores={"paper": 0}, readouts=(3,))
    results = Results.open(tmp_path / "cells.jsonl")
    (merged,) = merge([honest, paper], results)
    assert merged.scores == {"honest": 2, "paper": 0}
    assert merged.readouts == (1, 3)
    run_cells([honest], results)
    assert results.get(honest) is not None
    assert results.get(paper) is None
    assert run_cells([honest, paper], results).total == 1
    found = results.result(paper)
    assert found is not None
    assert set(found["scores"]) == {"honest", "paper"}
    assert set(found["readouts"]) == {"1", "3"}
    more = replace(honest, scores={"paper": 2}, readouts=())
    run_cells([more], results)
    for cell in (honest, paper, more):
        assert results.get(cell) is not None


def test_a_score_on_many_splits_has_that_on_one(large_file: Path) -> None:
    results = Results(Path("unused"))
    one = Cell("accuracy", str(large_file), FAST, scores={"paper": 0})
    many = replace(one, scores={"paper": 20})
    for order in ([one, many], [many, one]):
        (merged,) = merge(order, results)
        assert merged.scores == {"paper": 20}
    results.records[results.key(one)] = {"scores": {"paper": 20}, "result": {}}
    assert results.get(one) is not None
    assert results.get(many) is not None
    assert results.get(replace(one, scores={"paper": 10})) is None


def test_tables_show_scores_over_another_number_of_splits(large_file: Path) -> None:
    results = Results(Path("unused"))
    asked = Cell("accuracy", str(large_file), FAST, scores={"paper": 0, "honest": 20})
    scores = {"honest": {"accuracy_mean": 50.0}, "paper": {"accuracy": 60.0}}
    record = {"scores": {"paper": 0, "honest": 5}, "result": {"scores": scores}}
    results.records[results.key(asked)] = record
    assert results.get(asked) is None
    assert results.result(asked) == record["result"]
    assert many_entry(results, [asked]).text() == "50.0 (5 of 20 splits)"
    assert many_entry(results, [replace(asked, scores={"honest": 5})]).text() == "50.0"
    assert many_entry(results, [asked, replace(asked, seed=1)]).text() == (
        "50.0 (1 of 2 seeds, 5 of 20 splits)"
    )
    assert entry(results, [asked], one_split).text() == "60.0"
    assert results.result(replace(asked, scores={"paper": 2})) is None
    assert results.result(replace(asked, scores={"gca": 2})) is None
    assert results.result(replace(asked, readouts=(1,))) is None


def test_an_error_does_not_replace_a_result(large_file: Path, tmp_path: Path) -> None:
    results = Results.open(tmp_path / "cells.jsonl")
    (cell,) = cells(large_file, 1)
    run_cells([cell], results)
    results.add(cell, {"error": "no"})
    assert results.result(cell) is not None
    assert Results.open(results.path).result(cell) is not None


def test_a_killed_worker_is_a_failure(
    large_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = Results.open(tmp_path / "cells.jsonl")
    deadly = Cell("subsampling", str(large_file), {"sizes": KillsItsProcess()})
    done = run_cells([deadly, *cells(large_file, 3)], results, RunnerOptions(jobs=2))
    assert done.done == 4
    record = results.get(deadly)
    assert record is not None
    assert "a worker process was killed" in record["error"]
    assert any(results.result(cell) for cell in cells(large_file, 3))


class KillsItsProcess:
    """Kills the process that iterates over it."""

    def __iter__(self) -> object:
        os.kill(os.getpid(), signal.SIGKILL)

    def __repr__(self) -> str:
        return "sizes"


@pytest.mark.parametrize("backend", ["dask", "ray"])
def test_a_cluster_gives_the_same_results(
    backend: Backend, large_file: Path, tmp_path: Path
) -> None:
    pytest.importorskip("distributed" if backend == "dask" else "ray")
    one, other = (Results.open(tmp_path / name / "cells.jsonl") for name in "ab")
    run_cells(cells(large_file), one)
    run_cells(cells(large_file), other, RunnerOptions(jobs=2, backend=backend))
    for cell in cells(large_file):
        assert one.result(cell) == other.result(cell) is not None


def test_a_budget_and_a_stop_end_a_study(large_file: Path, tmp_path: Path) -> None:
    results = Results.open(tmp_path / "cells.jsonl")
    assert run_cells(cells(large_file), results, RunnerOptions(budget=0.0)).done == 0
    stopped = run_cells(
        cells(large_file), results, RunnerOptions(should_stop=lambda: len(results.records) == 1)
    )
    assert (stopped.done, stopped.total) == (1, 3)


def test_a_killed_study_continues(large_file: Path, tmp_path: Path) -> None:
    """Kill the whole process group while workers compute; the results are those of one run."""
    arguments = ["subsampling", "--data", str(large_file), "--seeds", "12", "--jobs", "2"]
    command = [sys.executable, "-m", "ugcl", "study", *arguments, "--out"]
    first = subprocess.Popen(
        [*command, str(tmp_path / "a")], start_new_session=True, stderr=subprocess.DEVNULL
    )
    path = tmp_path / "a" / "cells.jsonl"
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not (path.is_file() and path.stat().st_size):
        time.sleep(0.02)
    os.killpg(first.pid, signal.SIGKILL)
    first.wait()
    assert path.read_bytes().count(b"\n") > 0
    subprocess.run([*command, str(tmp_path / "a")], check=True, capture_output=True, timeout=120)
    killed = Results.open(path)
    assert len(killed.records) == 12
    options = Options(data=(str(large_file),), seeds=12)
    whole = Results.open(tmp_path / "b" / "cells.jsonl")
    run_cells(cells_of("subsampling", options), whole)
    assert {key: record["result"] for key, record in killed.records.items()} == {
        key: record["result"] for key, record in whole.records.items()
    }
