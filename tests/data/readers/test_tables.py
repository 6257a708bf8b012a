"""Tables in files and frames."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from friends import ABOUT, FRAME, TRIANGLE, entries, expected, names
from ugcl import UGCLError
from ugcl.data import read_graph


def test_the_index_that_pandas_wrote_is_no_feature(tmp_path: Path) -> None:
    ABOUT.to_csv(tmp_path / "f.csv")
    FRAME.to_csv(tmp_path / "e.csv")
    graph = read_graph(tmp_path / "e.csv", tmp_path / "f.csv")
    assert graph.feature_names == ("x", "y")
    assert entries(graph) == expected()
    assert any("without the index that pandas wrote" in note for note in graph.notes)


def test_frames_of_pandas_and_polars_are_the_same() -> None:
    one = read_graph(FRAME, ABOUT)
    other = read_graph(pl.from_pandas(FRAME), pl.from_pandas(ABOUT))
    indexed = read_graph(FRAME, ABOUT.set_index("id"))
    unnamed = read_graph(FRAME, ABOUT.set_index("id").rename_axis(None))
    assert {graph.fingerprint for graph in (one, other, indexed, unnamed)} == {one.fingerprint}
    for graph in (other, indexed, unnamed):
        np.testing.assert_array_equal(graph.labels, one.labels)
        np.testing.assert_array_equal(graph.ids, one.ids)


def test_missing_files_and_unknown_extensions_are_errors(tmp_path: Path) -> None:
    with pytest.raises(UGCLError, match=r"nowhere\.csv does not exist"):
        read_graph(tmp_path / "nowhere.csv")
    with pytest.raises(UGCLError, match="has no tables"):
        read_graph(tmp_path)
    (tmp_path / "e.dat").write_text("a b\n")
    with pytest.raises(UGCLError, match="has no known extension"):
        read_graph(tmp_path / "e.dat")
    for name in ("e.parquet", "e.csv.gz", "e.npz", "e.npy", "e.graphml", "e.gml", "e.jsonl"):
        begin = b"\x1f\x8b" if name.endswith(".gz") else b""
        (tmp_path / name).write_bytes(begin + b"neither this nor that")
        with pytest.raises(UGCLError, match=f"{name} cannot be read"):
            read_graph(tmp_path / name)
    with pytest.raises(UGCLError, match="there is no column in the edges called 'sorce'"):
        read_graph(FRAME, source="sorce")
    for named in ({"label": "lable"}, {"split": "splt"}, {"id": "di"}, {"ignore": ["z"]}):
        with pytest.raises(UGCLError, match="there is no column in the features called"):
            read_graph(FRAME, ABOUT, **named)


def test_the_index_of_a_frame_is_the_id_where_nothing_else_is() -> None:
    frame = pd.DataFrame({"f": [0.0, 0.1, 0.2]})
    wanted = frame["f"].to_numpy(dtype=np.float32)[:, None]
    for moved in (frame, frame[::-1], frame.sample(frac=1, random_state=1)):
        graph = read_graph(TRIANGLE, moved)
        order = np.argsort(names(graph))
        np.testing.assert_array_equal(graph.features[order], wanted)
    named = frame.rename_axis("paper")[::-1]
    graph = read_graph(TRIANGLE, named)
    assert names(graph) == [2, 1, 0]
    assert graph.feature_names == ("f",)
    leftover = pd.DataFrame({"paper": [2, 1, 0], "f": [0.2, 0.1, 0.0]}).sample(
        frac=1, random_state=1
    )
    graph = read_graph(TRIANGLE, leftover)
    assert names(graph) == leftover["paper"].tolist()
    assert graph.feature_names == ("f",)


def test_the_index_of_a_frame_in_parquet(tmp_path: Path) -> None:
    frame = pd.DataFrame({"f": [0.0, 0.1, 0.2]}, index=pd.Index([2, 0, 1], name="paper"))
    frame.to_parquet(tmp_path / "named.parquet")
    frame.rename_axis(None).to_parquet(tmp_path / "unnamed.parquet")
    for name in ("named", "unnamed"):
        graph = read_graph(TRIANGLE, tmp_path / f"{name}.parquet")
        assert names(graph) == [2, 0, 1]
        assert graph.num_features == 1


@pytest.mark.parametrize(
    "edges",
    [
        pd.DataFrame({"source": pd.Categorical([1, 2]), "target": pd.Categorical([2, 3])}),
        pl.DataFrame({"source": ["1", "2"], "target": ["2", "3"]}).cast(pl.Categorical),
        pl.DataFrame({"source": [1, 2], "target": [2, 3]}).lazy(),
        pa.table({"source": np.array([1, 2], np.float16), "target": np.array([2, 3], np.uint8)}),
    ],
)
def test_categories_and_lazy_frames(edges: Any) -> None:
    assert [str(name) for name in names(read_graph(edges))] == ["1", "2", "3"]
