"""Ids of nodes, integers or text, and their positions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ugcl._utils.errors import UGCLError

INTEGER = "^(0|-?[1-9][0-9]{0,17})$"
"""Text that is read as an integer: 7, but not 007, which is a different id."""

INTEGER_AS_FLOAT = "^(0|-?[1-9][0-9]{0,14})\\.0$"
"""Integers of a pandas column with missing values, which are written as 7.0."""

MAX_SPREAD = 8
"""Integers whose range is at most this many times their number are looked up in a table."""


def to_arrow(values: npt.NDArray[Any]) -> pa.Array:
    """Convert a NumPy array to Arrow; a mix of integers and text becomes text."""
    if values.dtype.kind in "iufb":
        return pa.array(np.ascontiguousarray(values))
    if values.ndim != 1 or values.dtype.kind not in "OUS":
        raise UGCLError(f"ids and labels must be numbers or text in one column, not {values.dtype}")
    try:
        return pa.array(values.tolist())
    except (pa.ArrowException, TypeError):
        return pa.array([None if value is None else str(value) for value in values.tolist()])


def as_ids(column: Any, where: str) -> pa.ChunkedArray:
    """Convert a column of ids to int64 if all are integers, else to text.

    Text of a CSV file, which comes as a dictionary, becomes an integer only if that is written in
    the same way: `007` stays text.

    Args:
        column: an Arrow array without missing values.
        where: name of the column for error messages.
    """
    if isinstance(column, pa.Array):
        column = pa.chunked_array([column])
    kind = column.type
    if pa.types.is_floating(kind):
        column = column.cast(pa.float64())
        column = pc.if_else(pc.is_nan(column), pa.scalar(None, pa.float64()), column)
    if column.null_count:
        first = pc.index(pc.is_null(column), True).as_py()
        raise UGCLError(
            f"{column.null_count:,} row(s) of {where} have no id, the first being row {first + 1}: "
            "fill them in or remove them"
        )
    if pa.types.is_dictionary(kind):
        return _parse_text(column)
    if pa.types.is_floating(kind):
        if pc.all(pc.is_finite(column)).as_py() is False:
            raise UGCLError(f"{where} holds an infinite number, which cannot be an id")
        return column.cast(pa.int64()) if _all_integers(column) else _cast_to_text(column)
    if pa.types.is_integer(kind):
        small = not pa.types.is_uint64(kind) or (pc.max(column).as_py() or 0) < 2**63
        return column.cast(pa.int64()) if small else _cast_to_text(column)
    texts = (pa.types.is_string, pa.types.is_large_string, pa.types.is_boolean)
    others = (pa.types.is_temporal, pa.types.is_decimal, pa.types.is_null)
    if not any(check(kind) for check in (*texts, *others)):
        raise UGCLError(f"{where} holds {kind}, which cannot be ids: give integers or text")
    return _cast_to_text(column)


def _cast_to_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return _without_nul(column.cast(pa.string()).cast(pa.large_string()))


def _without_nul(texts: Any) -> Any:
    """Refuse ids with NUL characters, which NumPy drops at the end of text."""
    found = pc.match_substring(texts, "\0")
    if pc.any(found).as_py():
        shown = repr(texts.filter(found)[0].as_py())
        raise UGCLError(f"the id {shown:.60} contains a NUL character: remove it from the ids")
    return texts


def _all_integers(column: pa.ChunkedArray) -> bool:
    """Return whether all floating-point numbers are integers that float64 represents exactly."""
    integers = pc.and_(pc.equal(pc.floor(column), column), pc.less(pc.abs(column), 2.0**53))
    return pc.all(integers).as_py() is not False


def _parse_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Convert the dictionary of a column of text to integers if all of it is integers."""
    column = column.unify_dictionaries()
    if column.num_chunks == 0:
        return column.cast(pa.large_string())
    texts = column.chunk(0).dictionary
    if pc.all(pc.match_substring_regex(texts, INTEGER)).as_py():
        values = texts.cast(pa.int64())
    elif pc.all(pc.match_substring_regex(texts, INTEGER_AS_FLOAT)).as_py():
        values = texts.cast(pa.float64()).cast(pa.int64())
    else:
        values = _without_nul(texts.cast(pa.large_string()))
    return pa.chunked_array(
        [pa.DictionaryArray.from_arrays(chunk.indices, values) for chunk in column.chunks]
    )


def with_common_type(columns: Sequence[pa.ChunkedArray]) -> list[pa.ChunkedArray]:
    """Convert columns of ids to text if any of them is text, so that ids are comparable."""
    kinds = {_value_type(column) for column in columns}
    return list(columns) if len(kinds) < 2 else [_dictionary_to_text(column) for column in columns]


def decoded(column: pa.ChunkedArray) -> pa.Array:
    """Return a column as one array without dictionary encoding."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        column = column.cast(kind.value_type)
    return column.combine_chunks()


def unique_ids(columns: Sequence[pa.ChunkedArray]) -> pa.Array:
    """Return the sorted distinct ids of columns of the same type."""
    parts = [_values(column) for column in columns]
    ids = pc.unique(pa.concat_arrays(parts))
    return ids.take(pc.array_sort_indices(ids))


def positions_of(column: pa.ChunkedArray, nodes: pa.Array) -> npt.NDArray[np.int64]:
    """Return the position of each id in `nodes`, -1 if it is not there."""
    if not pa.types.is_dictionary(column.type):
        return _positions(column, nodes)
    column = column.unify_dictionaries().combine_chunks()
    positions = _positions(pa.chunked_array([column.dictionary]), nodes)
    return np.asarray(positions[column.indices.to_numpy(zero_copy_only=False)])


def _positions(values: pa.ChunkedArray, nodes: pa.Array) -> npt.NDArray[np.int64]:
    if pa.types.is_integer(nodes.type) and len(nodes):
        ids, queries = nodes.to_numpy(), values.to_numpy()
        low, high = int(ids.min()), int(ids.max())
        if high - low < MAX_SPREAD * len(ids):
            table = np.full(high - low + 2, -1)  # the last entry is for ids out of range
            table[ids - low] = np.arange(len(ids))
            inside = (queries >= low) & (queries <= high)
            return table[np.where(inside, queries - low, high - low + 1)]
    positions = pc.fill_null(pc.index_in(values, value_set=nodes), -1)
    return np.asarray(positions.to_numpy(), dtype=np.int64)


ONE_ROW = "keep one row for each node"

FEATURE_ROWS = (
    f"{ONE_ROW}, or, if each row has a node and one of its features, name the column of features "
    "with `feature`"
)
"""What to do about repeated ids."""


def check_unique(nodes: pa.Array, where: str, advice: str = ONE_ROW) -> None:
    """Raise an error if an id occurs twice."""
    counts = pc.value_counts(nodes)
    repeated = counts.filter(pc.greater(counts.field("counts"), 1))
    if len(repeated):
        raise UGCLError(
            f"{len(repeated):,} id(s) have several rows in {where} "
            f"({preview(repeated.field('values'))}): {advice}"
        )


def as_numpy(nodes: pa.Array) -> npt.NDArray[Any]:
    """Convert ids to a NumPy array of int64 or text."""
    values: npt.NDArray[Any] = nodes.to_numpy(zero_copy_only=False)
    return values if values.dtype.kind == "i" else values.astype(np.str_)


def preview(ids: pa.Array) -> str:
    """Return the first three ids as text."""
    first = ", ".join(str(name) for name in ids[:3].to_pylist())
    return f"{first}, ..." if len(ids) > 3 else first


def _value_type(column: pa.ChunkedArray) -> pa.DataType:
    kind = column.type
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _values(column: pa.ChunkedArray) -> pa.Array:
    """Return the distinct ids of a column."""
    if pa.types.is_dictionary(column.type):
        used = pc.unique(column)
        return used.dictionary.take(used.indices) if len(used) else used.dictionary[:0]
    return pc.unique(column)


def _dictionary_to_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if not pa.types.is_dictionary(column.type):
        return column.cast(pa.large_string())
    return pa.chunked_array(
        [
            pa.DictionaryArray.from_arrays(chunk.indices, chunk.dictionary.cast(pa.large_string()))
            for chunk in column.chunks
        ],
        pa.dictionary(column.type.index_type, pa.large_string()),
    )
