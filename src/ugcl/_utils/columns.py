"""Columns of Arrow tables from and to NumPy, without pandas.

`pyarrow.array` and `to_numpy` import pandas where it is installed, which takes almost as long as
half of PyTorch.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa


def to_column(values: npt.NDArray[Any]) -> pa.Array:
    """Return numbers or text as a column; numbers in the machine's byte order are not copied."""
    if values.dtype.kind in "iuf":
        values = np.ascontiguousarray(values, values.dtype.newbyteorder("="))
        data = pa.py_buffer(values)
        return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), values.size, [None, data])
    if values.dtype.kind != "U":
        raise TypeError(f"a column has numbers or text, not {values.dtype}")
    encoded = [value.encode() for value in values.tolist()]
    ends = np.cumsum([0, *(len(value) for value in encoded)])
    large = ends[-1] >= 2**31
    offsets = pa.py_buffer(ends.astype(np.int64 if large else np.int32))
    buffers = [None, offsets, pa.py_buffer(b"".join(encoded))]
    return pa.Array.from_buffers(pa.large_string() if large else pa.string(), len(encoded), buffers)


def from_column(column: pa.ChunkedArray) -> npt.NDArray[Any]:
    """Return a column of numbers or text without missing values."""
    if pa.types.is_integer(column.type):
        parts = [
            np.frombuffer(chunk.buffers()[1], str(column.type))[chunk.offset :][: len(chunk)]
            for chunk in column.chunks
        ]
        return np.concatenate(parts) if parts else np.empty(0, str(column.type))
    return np.array(column.to_pylist(), dtype=np.str_)
