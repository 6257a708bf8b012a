from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from ugcl import UGCLError
from ugcl._utils.files import (
    TEMPORARY,
    atomic,
    remove_temporaries,
    write_npy,
    write_safetensors,
    write_text,
)

LIMITED = """
import resource, sys
from pathlib import Path
import numpy as np, torch
from ugcl import UGCLError
from ugcl._utils.files import write_json, write_npy, write_npz, write_safetensors
resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
for write, value in (
    (write_npy, np.zeros(100_000)),
    (write_npz, {"a": np.random.rand(100_000)}),
    (write_json, ["text"] * 100_000),
    (lambda path, value: write_safetensors(path, value, {}), {"a": torch.zeros(100_000)}),
):
    try:
        write(Path("file"), value)
    except UGCLError as error:
        print(error)
"""


def temporaries(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if path.name.startswith(TEMPORARY)]


def test_a_file_that_cannot_grow_is_one_sentence_and_leaves_nothing(tmp_path: Path) -> None:
    command = [sys.executable, "-c", LIMITED]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert len(lines) == 4
    for line in lines:
        assert line.startswith("cannot write file (")
        assert line.endswith("): make room, then run the command again, a training with `resume`")
    assert list(tmp_path.iterdir()) == []


def test_temporary_files_of_killed_processes_are_removed_and_others_stay(tmp_path: Path) -> None:
    code = (
        "import os, sys; from pathlib import Path; from ugcl._utils.files import atomic\n"
        "with atomic(Path(sys.argv[1])): os.kill(os.getpid(), 9)"
    )
    names = ("one.npy", "two.npy", "x" * 240)
    for name in names:
        subprocess.run([sys.executable, "-c", code, str(tmp_path / name)], check=False)
    assert len(temporaries(tmp_path)) == 3
    (tmp_path / ".other.one.npy").touch()
    write_text(tmp_path / "one.npy", "1")
    assert not [name for name in temporaries(tmp_path) if name.endswith("one.npy")]
    assert len(temporaries(tmp_path)) == 2
    with atomic(tmp_path / "three.npy") as living:
        remove_temporaries(tmp_path)
        assert temporaries(tmp_path) == [living.name]
    assert {path.name for path in tmp_path.iterdir()} == {"one.npy", "three.npy", ".other.one.npy"}


@pytest.mark.parametrize("durable", [True, False])
def test_a_file_is_on_the_disk_before_it_has_its_name(
    durable: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []

    def recording(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            calls.append(name)
            return function(*arguments, **named)

        return call

    monkeypatch.setattr(os, "fsync", recording("fsync", os.fsync))
    monkeypatch.setattr(Path, "replace", recording("replace", Path.replace))
    with atomic(tmp_path / "file", durable=durable) as temporary:
        temporary.write_text("1")
    assert calls == (["fsync", "replace", "fsync"] if durable else ["replace"])


@pytest.mark.parametrize(
    "dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16, torch.int64, torch.bool]
)
def test_safetensors_are_those_of_the_library(dtype: torch.dtype, tmp_path: Path) -> None:
    tensors = {
        "b": torch.arange(6).reshape(2, 3).to(dtype),
        "a": torch.tensor(1).to(dtype),
        "empty": torch.zeros(0, 3, dtype=dtype),
        "step": torch.tensor(3.0),
        "\u00fc": torch.arange(5, dtype=torch.uint8),
        "transposed": torch.arange(6).reshape(2, 3).to(dtype).T,
    }
    metadata = {"config": 'a = "\u00fc"\n'}
    write_safetensors(tmp_path / "ours", tensors, metadata)
    loaded = load_file(tmp_path / "ours")
    assert loaded.keys() == tensors.keys()
    for name, value in tensors.items():
        assert loaded[name].dtype == value.dtype
        assert torch.equal(loaded[name], value)
    with safe_open(tmp_path / "ours", "pt") as file:
        assert file.metadata() == metadata
    whole = {name: value.contiguous() for name, value in tensors.items()}
    save_file(whole, tmp_path / "theirs", metadata=metadata)
    assert (tmp_path / "ours").stat().st_size == (tmp_path / "theirs").stat().st_size


def test_no_tensors_are_a_file_too(tmp_path: Path) -> None:
    write_safetensors(tmp_path / "none", {}, {"a": "1"})
    assert load_file(tmp_path / "none") == {}


def test_a_folder_that_does_not_exist_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UGCLError, match=r"cannot write .* \(No such file or directory\): choose"):
        write_npy(tmp_path / "none" / "x.npy", np.zeros(3))
