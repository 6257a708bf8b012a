from __future__ import annotations

import base64
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pages import HOSTILE, QUOTED, made_run

from ugcl.cli import main
from ugcl.evaluation import CONTROLS, Estimate
from ugcl.report import gather, verdict
from ugcl.report.contents import Column, ReportData
from ugcl.report.page import page


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> ReportData:
    folder = tmp_path_factory.mktemp("page")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ugcl.evaluation.control_scores.RESPLITS", 1)
        patch.setenv("XDG_CACHE_HOME", str(folder))
        return gather([made_run(folder)], splits=2)


def data_of(text: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)
    assert found is not None
    return json.loads(found[1])


def numbers(text: str, kind: str) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), kind)


def test_page_has_all_sections_and_data(report: ReportData) -> None:
    text = page(report)
    for words in ("Summary", "Map", "Scores", "Loss", "Contextual scope", "Has it collapsed?"):
        assert f">{words}</h2>" in text
    assert "90 nodes" in text
    assert "n = 2 in training, 2 at the readout, as set" in text
    assert "Lemma 1" in text
    assert "ugcl.load_run(" in text
    data = data_of(text)
    view = report.runs[0]
    assert data["nodes"]["ids"][:2] == [HOSTILE, QUOTED]
    assert data["nodes"]["classes"] == ["red", HOSTILE, "blue"]
    run = data["runs"][0]
    np.testing.assert_array_equal(
        numbers(run["neighbours"], "<i4").reshape(90, run["k"]), view.neighbours
    )
    np.testing.assert_allclose(numbers(run["x"], "<u2") / 65535, view.positions[:, 0], atol=1e-5)
    np.testing.assert_allclose(
        numbers(run["cosines"], "<i2").reshape(90, run["k"]) / 32767, view.cosines, atol=1e-4
    )
    assert report.graph is not None
    degrees = np.diff(report.graph.adjacency.indptr)
    np.testing.assert_array_equal(numbers(data["nodes"]["degree"], "<i4"), degrees)


def test_page_starts_with_the_verdict_and_explains_figures(report: ReportData) -> None:
    text = page(report)
    many = report.scores[0].many
    assert many is not None
    gain = many.gains[max(many.controls, key=lambda name: many.controls[name].mean)]
    shown = f"{gain.mean:+.1f}".replace("-", "\u2212")
    assert f">{shown}<span" in text
    assert text.index('class="headline"') < text.index(">Map</h2>")
    for name in many.controls:
        assert CONTROLS[name].replace("^k", "ᵏ") in text
    assert "is no mistake" in text
    assert re.search(r'"name":"split","groups":\["train","val","test"\]', text)


def test_display_names_are_shown(report: ReportData) -> None:
    names = [f"Name {i}" for i in range(90)]
    named = replace(report, nodes=replace(report.nodes, names=names))
    assert data_of(page(named))["nodes"]["names"] == names
    assert data_of(page(report))["nodes"]["names"] is None


def test_links_among_neighbours_are_those_of_the_graph(report: ReportData) -> None:
    run, graph = report.runs[0], report.graph
    assert graph is not None
    packed = numbers(data_of(page(report))["runs"][0]["linked"], "<u2")
    dense = graph.adjacency.toarray()
    for node, neighbours in enumerate(run.neighbours):
        bits = [bool(packed[node] >> j & 1) for j in range(len(neighbours))]
        assert bits == [dense[node, other] != 0 for other in neighbours]


def test_names_are_never_markup(report: ReportData) -> None:
    text = page(report)
    assert "<script>alert(1)" not in text
    assert "<img src=x" not in text
    assert text.count("<script") == 2
    assert "\u2028" not in text


def test_page_requests_nothing(report: ReportData) -> None:
    text = page(report)
    assert "default-src 'none'" in text
    markup = re.sub(r'(?s)(id="data">).*?</script>', "", text)
    assert not re.search(r"(src|href)\s*=|url\(|@import|https?://", markup)


def test_the_same_runs_give_the_same_page(report: ReportData) -> None:
    run = report.runs[0].run
    assert page(gather([run], splits=2)) == page(report)


def test_runs_are_compared(tmp_path: Path) -> None:
    runs = [made_run(tmp_path, "one"), made_run(tmp_path, "two", epochs=3, hidden=4)]
    both = gather(runs, splits=2)
    text = page(both)
    assert "Settings that differ" in text
    assert '<td>hidden</td><td class="number">8</td><td class="number">4</td>' in text
    assert re.search(r"two: gain of .* points over one, (not )?significant", text)
    assert 'id="map-1"' in text
    assert verdict(both).startswith("one: ")
    assert len(data_of(text)["runs"]) == 2


def test_page_without_labels_graph_or_training(tmp_path: Path) -> None:
    run = made_run(tmp_path, labels=False)
    text = page(gather([run]))
    assert "Whether training helped is unknown: The graph has no labels to score by." in text
    assert "Without labels, homophily is unknown." in text
    (tmp_path / "graph.npz").unlink()
    text = page(gather([run]))
    assert "graph is no longer at" in text
    assert data_of(text)["nodes"]["degree"] is None
    raw_folder = tmp_path / "raw"
    raw_folder.mkdir()
    text = page(gather([made_run(raw_folder, method="raw")], splits=2))
    assert "Nothing was trained, so there is no loss." in text
    assert "This method has no scope".lower() in text.lower()


def test_controls_get_a_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ugcl.evaluation.control_scores.RESPLITS", 1)
    runs = [made_run(tmp_path, name, method=name) for name in ("smooth", "raw")]
    text = page(gather(runs, splits=2))
    assert f"n = {runs[0].config.settings.values()['scope']}, " in text
    assert "Nothing was trained" in text


def test_parameters_in_messages_have_no_backticks(report: ReportData) -> None:
    unscored = replace(report, scores=(), unscored="there are no labels: pass `labels`")
    assert verdict(unscored).endswith("there are no labels: pass labels.")
    assert "`labels`" not in page(unscored)


def estimate(low: float, high: float) -> Estimate:
    return Estimate((low + high) / 2, low, high, 0.1, 0.1, ())


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (0.5, 1.5, "Training helped: 1.0 points above"),
        (-1.5, -0.5, "Training did not help: 1.0 points below"),
        (-0.5, 1.5, "Training made no significant difference: +0.5 points"),
    ],
)
def test_the_verdict_goes_by_the_interval(
    report: ReportData, low: float, high: float, words: str
) -> None:
    score = report.scores[0]
    assert score.many is not None
    gains = dict.fromkeys(score.many.gains, estimate(low, high))
    changed = replace(score, many=replace(score.many, gains=gains))
    assert verdict(replace(report, scores=(changed,))).startswith(words)


def test_a_hundred_thousand_points_stay_below_fifteen_megabytes(report: ReportData) -> None:
    count, k = 100_000, 5
    rng = np.random.default_rng(0)
    nodes = replace(
        report.nodes,
        shown=np.arange(count),
        total=3 * count,
        ids=[f"user-{i:010d}" for i in range(count)],
        degree=rng.integers(0, 99, count),
        component=np.zeros(count, dtype=np.int64),
        label=rng.integers(0, 3, count),
        columns=(Column("split", rng.integers(0, 3, count), ("train", "val", "test")),),
    )
    view = replace(
        report.runs[0],
        positions=rng.random((count, 2), dtype=np.float32),
        neighbours=rng.integers(0, count, (count, k), dtype=np.int32),
        cosines=rng.random((count, k), dtype=np.float32),
        clusters=rng.integers(0, 8, count),
        linked=rng.random((count, k)) < 0.5,
    )
    text = page(replace(report, nodes=nodes, runs=(view,)))
    assert len(text.encode()) < 15e6
    assert "100,000 of 300,000 nodes, sampled at random" in text


def test_command_writes_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = made_run(tmp_path)
    out = tmp_path / "page.html"
    assert main(["report", str(run.path), "--out", str(out), "--splits", "2"]) == 0
    assert f"{out}: " in capsys.readouterr().out
    assert out.read_text("utf-8").startswith("<!doctype html>")
    assert main(["report", str(run.path), "--out", str(out), "--splits", "2", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["bytes"] == out.stat().st_size
    assert main(["report", str(run.path), "--out", "page.txt"]) == 2
    assert "must end in .html" in capsys.readouterr().err
