from __future__ import annotations

from pathlib import Path

import pytest

from small_runs import write_files
from ugcl import Graph
from ugcl.data import GraphFiles


@pytest.fixture
def files(tmp_path: Path, graph: Graph) -> GraphFiles:
    return write_files(tmp_path, graph)
