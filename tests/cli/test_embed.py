from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from commands import fails, ugcl
from ugcl.evaluation import CONTROLS


def test_train_evaluate_and_embed(
    run: Path, graph_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ugcl("evaluate", run) == 0
    printed = capsys.readouterr().out
    for words in ("raw features", "smoothed features", "untrained encoder", "best control"):
        assert words in printed
    assert ugcl("evaluate", run, "--protocol", "paper", "--split-seed", "1", "--json") == 0
    result = json.loads(capsys.readouterr().out)
    assert {"accuracy", "validation", "controls"} <= set(result)
    assert set(result["controls"]) == set(CONTROLS)
    assert ugcl("embed", run, graph_file, "--out", tmp_path / "again.npy", "--json") == 0
    stored = np.load(run / "embeddings.npy")
    assert json.loads(capsys.readouterr().out)["shape"] == list(stored.shape)
    np.testing.assert_array_equal(np.load(tmp_path / "again.npy"), stored)


def test_embed_does_not_write_into_a_run_folder(
    run: Path, graph_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = (run / "embeddings.npy").read_bytes()
    assert "is a run folder" in fails(
        capsys, "embed", run, graph_file, "--out", run / "embeddings.npy"
    )
    assert (run / "embeddings.npy").read_bytes() == before
