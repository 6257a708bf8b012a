from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ugcl import UGCLError
from ugcl._utils.sizes import parse_size, size
from ugcl.data.conversion.budget import estimated_rows
from ugcl.data.conversion.ids import as_integers
from ugcl.data.readers.ids import INTEGER

NUMBERS = st.integers(-(2**66), 2**66).map(str)
SPELLINGS = st.sampled_from(
    [
        "007",
        "-0",
        "0",
        "-1",
        "+1",
        "1.0",
        "1e3",
        "0x1F",
        "0xFFFFFFFF",
        " 1",
        "9" * 18,
        "9" * 19,
        "٣",
    ]
)


@given(st.lists(NUMBERS | SPELLINGS | st.text(max_size=3) | st.none(), max_size=5))
def test_integers_are_those_of_the_regular_expression(texts: list[str | None]) -> None:
    column = pa.array(texts, pa.string())
    found = as_integers(column)
    if pc.all(pc.match_substring_regex(column, INTEGER)).as_py() is False:
        assert found is None
    else:
        assert found is not None
        assert found.to_pylist() == [None if text is None else int(text) for text in texts]


@pytest.mark.parametrize(
    ("text", "count"), [("4GB", 4 * 10**9), ("512 mb", 512 * 10**6), ("1.5GiB", 3 * 2**29), (7, 7)]
)
def test_sizes_have_units(text: str | int, count: int) -> None:
    assert parse_size(text) == count


@pytest.mark.parametrize("text", ["", "4 XB", "-1", "GB", "0", "4 PB"])
def test_other_sizes_are_refused(text: str) -> None:
    with pytest.raises(UGCLError, match="`memory` must be a size such as 4GB"):
        parse_size(text)


def test_sizes_are_printed() -> None:
    assert (size(2.5e9), size(3e6)) == ("2.5 GB", "3.0 MB")


def test_rows_are_estimated(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("rows")
    (folder / "a.csv").write_text("1,2\n" * 1000)
    assert 900 < estimated_rows([folder / "a.csv"]) < 1100
