"""Ids of nodes: whole numbers or text, the same in all files, and the numbers they get."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ugcl._utils.errors import UGCLError

WHOLE = "^(0|-?[1-9][0-9]{0,17})$"
"""Text that is a whole number and nothing else: 7, but not 007, which is another id."""

FLOATED = "^(0|-?[1-9][0-9]{0,14})\\.0$"
"""How pandas writes whole numbers of a column that has had gaps: 7.0."""


SPREAD = 8
"""Whole numbers that leave at most so much room between them are looked up in a table."""


def array_of(values: npt.NDArray[Any]) -> pa.Array:
    """A NumPy array as Arrow has it; whole numbers and text mixed are all text."""
    if values.dtype.kind in "iufb":
        return pa.array(np.ascontiguousarray(values))
    if values.ndim != 1 or values.dtype.kind not in "OUS":
        raise UGCLError(f"ids and labels must be numbers or text in one column, not {values.dtype}")
    try:
        return pa.array(values.tolist())
    except (pa.ArrowException, TypeError):
        return pa.array([None if value is None else str(value) for value in values.tolist()])


def as_ids(column: Any, where: str) -> pa.ChunkedArray:
    """A column of ids as int64 if all are whole numbers, else as text; nothing may be missing.

    Text of a CSV, which comes as a dictionary, is a number only if the number is written like that:
    `007` stays text.

    Args:
        column: an Arrow array.
        where: what messages call the column.
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
        return _of_text(column)
    if pa.types.is_floating(kind):
        if pc.all(pc.is_finite(column)).as_py() is False:
            raise UGCLError(f"{where} holds an infinite number, which is no id")
        return column.cast(pa.int64()) if _all_whole(column) else _text_of(column)
    if pa.types.is_integer(kind):
        small = not pa.types.is_uint64(kind) or (pc.max(column).as_py() or 0) < 2**63
        return column.cast(pa.int64()) if small else _text_of(column)
    texts = (pa.types.is_string, pa.types.is_large_string, pa.types.is_boolean)
    others = (pa.types.is_temporal, pa.types.is_decimal, pa.types.is_null)
    if not any(check(kind) for check in (*texts, *others)):
        raise UGCLError(f"{where} holds {kind}, which is no id: give whole numbers or text")
    return _text_of(column)


def _text_of(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return column.cast(pa.string()).cast(pa.large_string())


def _all_whole(column: Any) -> bool:
    """Whether all floating-point numbers are whole numbers that int64 holds exactly."""
    whole = pc.and_(pc.equal(pc.floor(column), column), pc.less(pc.abs(column), 2.0**53))
    return pc.all(whole).as_py() is not False


def _of_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A dictionary of text, or of whole numbers if that is what the text is."""
    column = column.unify_dictionaries()
    if column.num_chunks == 0:
        return column.cast(pa.large_string())
    known = column.chunk(0).dictionary
    if pc.all(pc.match_substring_regex(known, WHOLE)).as_py():
        values = known.cast(pa.int64())
    elif pc.all(pc.match_substring_regex(known, FLOATED)).as_py():
        values = known.cast(pa.float64()).cast(pa.int64())
    else:
        values = known.cast(pa.large_string())
    return pa.chunked_array(
        [pa.DictionaryArray.from_arrays(chunk.indices, values) for chunk in column.chunks]
    )


def alike(columns: Sequence[pa.ChunkedArray]) -> list[pa.ChunkedArray]:
    """The columns, all as text if any is: ids of several files must be comparable."""
    kinds = {_value_type(column) for column in columns}
    return list(columns) if len(kinds) < 2 else [_as_text(column) for column in columns]


def plain(column: pa.ChunkedArray) -> pa.Array:
    """The ids one by one, as an array."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        column = column.cast(kind.value_type)
    return column.combine_chunks()


def distinct(columns: Sequence[pa.ChunkedArray]) -> pa.Array:
    """All ids of columns of one kind, sorted."""
    parts = [_values(column) for column in columns]
    found = pc.unique(pa.concat_arrays(parts))
    return found.take(pc.array_sort_indices(found))


def numbered(column: pa.ChunkedArray, nodes: pa.Array) -> npt.NDArray[np.int64]:
    """The position of each id among the nodes; -1 where it is none of them."""
    if not pa.types.is_dictionary(column.type):
        return _positions(column, nodes)
    column = column.unify_dictionaries().combine_chunks()
    known = _positions(pa.chunked_array([column.dictionary]), nodes)
    return np.asarray(known[column.indices.to_numpy(zero_copy_only=False)])


def _positions(values: pa.ChunkedArray, nodes: pa.Array) -> npt.NDArray[np.int64]:
    if pa.types.is_integer(nodes.type) and len(nodes):
        known, wanted = nodes.to_numpy(), values.to_numpy()
        low, high = int(known.min()), int(known.max())
        if high - low < SPREAD * len(known):
            table = np.full(high - low + 2, -1)  # the last entry is for what is outside
            table[known - low] = np.arange(len(known))
            inside = (wanted >= low) & (wanted <= high)
            return table[np.where(inside, wanted - low, high - low + 1)]
    found = pc.fill_null(pc.index_in(values, value_set=nodes), -1)
    return np.asarray(found.to_numpy(), dtype=np.int64)


def check_distinct(nodes: pa.Array, where: str) -> None:
    """Refuse ids that name two rows."""
    counts = pc.value_counts(nodes)
    repeated = counts.filter(pc.greater(counts.field("counts"), 1))
    if len(repeated):
        raise UGCLError(
            f"{len(repeated):,} id(s) have several rows in {where} "
            f"({shown(repeated.field('values'))}): keep one row for each node"
        )


def as_numpy(nodes: pa.Array) -> npt.NDArray[Any]:
    """Ids as NumPy has them: int64 or text."""
    values: npt.NDArray[Any] = nodes.to_numpy(zero_copy_only=False)
    return values if values.dtype.kind == "i" else values.astype(np.str_)


def shown(ids: pa.Array) -> str:
    """The first three ids, and dots if there are more."""
    first = ", ".join(str(name) for name in ids[:3].to_pylist())
    return f"{first}, ..." if len(ids) > 3 else first


def _value_type(column: pa.ChunkedArray) -> pa.DataType:
    kind = column.type
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _values(column: pa.ChunkedArray) -> pa.Array:
    """The distinct ids of a column."""
    if pa.types.is_dictionary(column.type):
        used = pc.unique(column)
        return used.dictionary.take(used.indices) if len(used) else used.dictionary[:0]
    return pc.unique(column)


def _as_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if not pa.types.is_dictionary(column.type):
        return column.cast(pa.large_string())
    return pa.chunked_array(
        [
            pa.DictionaryArray.from_arrays(chunk.indices, chunk.dictionary.cast(pa.large_string()))
            for chunk in column.chunks
        ],
        pa.dictionary(column.type.index_type, pa.large_string()),
    )
