from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from small_runs import trained_run
from ugcl import UGCLError
from ugcl.runs import RunConfig, prepare_again

SMALL: dict[str, Any] = {"hidden": 8, "sample": 30, "negatives": 10, "epochs": 30, "lr": 0.01}

trained = partial(trained_run, params=SMALL)


@pytest.mark.parametrize(
    "change",
    ["threads = 0", 'threads = "two"', "seed = -4", 'seed = "x"', "graph = 7", 'device = "tpu"'],
)
def test_invalid_config_is_an_error(graph_file: Path, tmp_path: Path, change: str) -> None:
    run = trained(graph_file, tmp_path / "run")
    name = change.split(" ")[0]
    lines = (run.path / "config.toml").read_text().splitlines()
    changed = [change if line.startswith(f"{name} =") else line for line in lines]
    (run.path / "config.toml").write_text("\n".join(changed))
    with pytest.raises(UGCLError, match=r"is not the config\.toml of a run|no device 'tpu'"):
        prepare_again(RunConfig.read(run.path / "config.toml"), {})
