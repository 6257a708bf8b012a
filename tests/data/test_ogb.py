from __future__ import annotations

from pathlib import Path

import pytest

from raw_layouts import write_arxiv
from ugcl import UGCLError, load_graph


def test_ogb_files(tmp_path: Path) -> None:
    write_arxiv(tmp_path)
    graph = load_graph("ogbn-arxiv", tmp_path)
    assert graph.name == "ogbn-arxiv"
    assert graph.features.dtype == "float32"
    assert graph.features[:, 0].tolist() == [0, 1, 2, 3.25, 4]
    assert graph.features[:2, 1].tolist() == pytest.approx([-0.5, 1e-3])
    assert graph.labels is not None
    assert graph.labels.tolist() == [2, -1, -1, 0, 1]
    assert {part: nodes.tolist() for part, nodes in graph.splits.items()} == {
        "train": [4],
        "val": [3],
        "test": [0],
    }
    assert graph.num_edges == 3
    assert graph.notes == (
        "symmetrised 2 edges listed in one direction only",
        "merged 1 duplicate edge",
    )


def test_labels_may_be_written_as_fractions(tmp_path: Path) -> None:
    """As pandas writes a column that has a `nan` in it."""
    write_arxiv(tmp_path, {"raw/node-label": "2.0\nnan\nnan\n0.0\n1.0\n"})
    graph = load_graph("ogbn-arxiv", tmp_path)
    assert graph.labels is not None
    assert graph.labels.tolist() == [2, -1, -1, 0, 1]


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"raw/num-node-list": "6\n"}, "node-feat.csv.gz has 5 lines, but num-node-list.csv.gz"),
        ({"raw/num-edge-list": "4\n"}, "edge.csv.gz has 5 lines"),
        ({"raw/node-label": "2\n1\n"}, "node-label.csv.gz has 2 lines"),
        ({"raw/edge": "0,1\n1,0\n2,1\n4,3\n4,9\n"}, "the graph has 5 nodes"),
        ({"raw/node-feat": "0,1\n1\n2,3\n3,4\n4,5\n"}, "Expected 2 columns"),
        ({"raw/node-feat": "0\n1\n2\nnan\n4\n"}, "NaN"),
        ({"raw/node-feat": "a\nb\nc\nd\ne\n"}, "conversion error"),
        ({"split/time/test": "1\n"}, "without a label"),
        ({"split/time/test": ""}, "Empty CSV"),
    ],
)
def test_files_that_do_not_fit_are_told(
    tmp_path: Path, changed: dict[str, str], reason: str
) -> None:
    write_arxiv(tmp_path, changed)
    with pytest.raises(UGCLError, match=f"files of ogbn-arxiv in .* cannot be read .*{reason}"):
        load_graph("ogbn-arxiv", tmp_path)


@pytest.mark.parametrize("end", [0, 3, -8])
def test_a_file_that_was_cut_off_is_told(tmp_path: Path, end: int) -> None:
    file = write_arxiv(tmp_path) / "raw/node-feat.csv.gz"
    file.write_bytes(file.read_bytes()[:end])
    with pytest.raises(UGCLError, match=r"files of ogbn-arxiv in .* cannot be read"):
        load_graph("ogbn-arxiv", tmp_path)
