from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ugcl._utils.columns import from_column, to_column

INTEGERS = ("int8", "uint16", "int32", "int64", "uint64")


@given(values=st.lists(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))))
def test_text_is_that_of_pyarrow(values: list[str]) -> None:
    column = to_column(np.array(values, dtype=np.str_))
    assert column.type == pa.string()
    assert column.to_pylist() == values
    assert from_column(pa.chunked_array([column])).tolist() == values


@pytest.mark.parametrize("kind", [*INTEGERS, "float32"])
def test_numbers_are_those_of_pyarrow(kind: str) -> None:
    values = np.arange(24).astype(kind).reshape(4, 6)
    for array in (values[1], values[:, 2], values[1][:0]):  # also with strides, and none
        assert to_column(array).equals(pa.array(array))
        swapped = array.astype(array.dtype.newbyteorder("S"))
        assert to_column(swapped).equals(pa.array(array))


def test_other_kinds_are_refused() -> None:
    with pytest.raises(TypeError, match="numbers or text, not bool"):
        to_column(np.array([True, False]))


@pytest.mark.parametrize("kind", INTEGERS)
def test_integers_return_from_slices_and_chunks(kind: str) -> None:
    column = pa.array(np.arange(20).astype(kind))
    chunks = pa.chunked_array([column[3:7], column[7:7], column[9:]])
    numbers: Any = from_column(chunks)
    assert numbers.dtype == kind
    assert numbers.tolist() == [*range(3, 7), *range(9, 20)]
    assert from_column(pa.chunked_array([], type=column.type)).dtype == kind


def test_pandas_is_not_imported() -> None:
    code = (
        "import sys, numpy as np, pyarrow as pa\n"
        "from ugcl._utils.columns import from_column, to_column\n"
        "for values in (np.arange(3), np.array(['a', 'bc'])):\n"
        "    from_column(pa.chunked_array([to_column(values)]))\n"
        "print('pandas' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
