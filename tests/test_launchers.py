"""The files for Slurm, Kubernetes and Ray start commands that torchrun and ugcl understand."""

from __future__ import annotations

import json
import os
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ugcl.cli import app

FOLDER = Path(__file__).parents[1] / "examples/cluster"

ECHO = f"""#!{sys.executable}
import json, os, sys
print(json.dumps(sys.argv[1:] + [os.environ["OMP_NUM_THREADS"]]))
"""


def program(folder: Path, name: str, text: str) -> None:
    """Put a program into a folder."""
    (folder / name).write_text(text)
    (folder / name).chmod(0o755)


def started(arguments: list[str]) -> tuple[Any, dict[str, Any]]:
    """Parse the arguments of torchrun; return its options and those of `ugcl train`."""
    from torch.distributed.run import get_args_parser

    options = get_args_parser().parse_args(arguments)
    assert (options.module, options.training_script) == (True, "ugcl")
    assert options.training_script_args[0] == "train"
    return options, parsed(options.training_script_args[1:])


def parsed(arguments: list[str]) -> dict[str, Any]:
    """Return the options of `ugcl train`."""
    with app.make_context("ugcl", ["train", *arguments]) as context:
        command = app.get_command(context, "train")
        assert command is not None
        return command.make_context("train", list(arguments), parent=context).params


def test_slurm(tmp_path: Path) -> None:
    program(tmp_path, "scontrol", "#!/bin/sh\nprintf 'node7\\nnode8\\n'\n")
    program(tmp_path, "srun", ECHO)
    job = {"SLURM_JOB_NODELIST": "node[7-8]", "SLURM_NNODES": "2", "SLURM_JOB_ID": "12"}
    path = {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}", "SLURM_CPUS_PER_TASK": "8"}
    script = ["bash", str(FOLDER / "slurm.sh"), "my graph", "runs/a", "--seed", "3"]
    text = subprocess.run(script, env=os.environ | job | path, check=True, capture_output=True)
    launcher, *arguments, threads = json.loads(text.stdout)
    assert (launcher, threads) == ("torchrun", "8")
    options, train = started(arguments)
    assert (options.nnodes, options.rdzv_endpoint, options.rdzv_id) == ("2", "node7:29500", "12")
    assert (train["out"], train["seed"], train["resume"]) == ("runs/a", 3, True)


def test_kubernetes(tmp_path: Path) -> None:
    yaml = pytest.importorskip("yaml")
    service, job = yaml.safe_load_all((FOLDER / "kubernetes.yaml").read_text("utf-8"))
    assert (service["kind"], job["kind"]) == ("Service", "Job")
    assert service["spec"]["clusterIP"] == "None"
    assert service["spec"]["selector"] == {"job-name": job["metadata"]["name"]}
    spec, pod = job["spec"], job["spec"]["template"]["spec"]
    assert spec["completionMode"] == "Indexed"
    assert spec["completions"] == spec["parallelism"] == 2
    assert pod["subdomain"] == service["metadata"]["name"]
    (container,) = pod["containers"]
    mounted = {each["name"] for each in container["volumeMounts"]}
    assert mounted == {each["name"] for each in pod["volumes"]}
    program(tmp_path, "torchrun", ECHO)
    program(tmp_path, "hostname", "#!/bin/sh\necho 10.1.2.3\n")
    variables = {each["name"]: each["value"] for each in container["env"]}
    path = {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    for index in range(2):
        text = subprocess.run(
            [*container["command"], *container["args"]],
            env=os.environ | variables | path | {"JOB_COMPLETION_INDEX": str(index)},
            check=True,
            capture_output=True,
        )
        options, train = started(json.loads(text.stdout)[:-1])
        assert options.nnodes == str(spec["completions"])
        assert options.rdzv_endpoint == "ugcl-0.ugcl:29500"
        assert (options.rdzv_conf, options.local_addr) == (f"is_host={1 - index}", "10.1.2.3")
        assert train["out"].startswith("/data/")


def test_ray_calls_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    names = runpy.run_path(str(FOLDER / "ray_train.py"))
    calls: list[list[str]] = []
    codes = iter((0, 2))
    monkeypatch.setitem(
        names["train"].__globals__, "main", lambda a: calls.append(a) or next(codes)
    )
    names["train"]({"arguments": ["graph", "--out", "run"]})
    assert parsed(calls[0][1:])["out"] == "run"
    with pytest.raises(RuntimeError, match="exit code 2"):
        names["train"]({"arguments": ["graph", "--out", "run"]})


@pytest.mark.slow
def test_ray_trains(tmp_path: Path) -> None:
    ray = pytest.importorskip("ray")
    pytest.importorskip("ray.train.torch")
    names = runpy.run_path(str(FOLDER / "ray_train.py"))
    ray.init(num_cpus=3, include_dashboard=False)
    try:
        size = ["--method", "ugcl", "--sample", "500", "--hidden", "8", "--epochs", "3"]
        names["start"](["citeseer", "--out", str(tmp_path / "run"), *size])
    finally:
        ray.shutdown()
    assert "world_size = 2" in (tmp_path / "run/config.toml").read_text("utf-8")
