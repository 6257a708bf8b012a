"""Text files: Arrow's threads must hold no memory of Python when the process ends."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.csv
import pytest

from ugcl.data.readers import text

RUNS = 3


class Sample(bytes):
    """Bytes that report when they are released."""

    released: list[str]

    def __del__(self) -> None:
        self.released.append("released")


def test_sample_is_copied_into_memory_of_arrow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "edges.csv"
    path.write_text("source,target\n1,2\n2,3\n")
    Sample.released = []
    monkeypatch.setattr(text, "_beginning", lambda path: (Sample(path.read_bytes()), True))
    streams, read_csv = [], pyarrow.csv.read_csv

    def keep(stream: Any, *options: Any) -> Any:
        streams.append(stream)  # as a thread of Arrow that is not yet done does
        return read_csv(stream, *options)

    monkeypatch.setattr(pyarrow.csv, "read_csv", keep)
    table = text.open_text(path, ",", (), edges=True)
    assert table.schema.names == ["source", "target"]
    assert len(streams) == 1
    assert Sample.released == ["released"]


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="needs Linux")
def test_error_after_reading_text_ends_with_exit_code_2(tmp_path: Path) -> None:
    edges, labels = tmp_path / "edges.csv", tmp_path / "labels.csv"
    edges.write_text("source,target\n" + "1,2\n2,3\n" * 1000)
    header = ",".join(f"column_{i}" for i in range(40))
    labels.write_text("\n".join([header, *[",".join(map(str, range(40)))] * 5000]))
    # on one core, the thread of Arrow often releases the sample while Python shuts down
    code = (
        "import os, sys; os.sched_setaffinity(0, [min(os.sched_getaffinity(0))]); "
        "from ugcl.cli import main; sys.exit(main(sys.argv[1:]))"
    )
    words = ["check", "--edges", str(edges), "--labels", str(labels), "--label", "colour"]
    for _ in range(RUNS):
        result = subprocess.run(
            [sys.executable, "-c", code, *words], capture_output=True, text=True, timeout=120
        )
        assert (result.returncode, result.stdout) == (2, ""), result.stderr
        assert "called 'colour'" in result.stderr
