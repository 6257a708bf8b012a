"""Export of embeddings in the format that a file's extension names."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import scipy.sparse as sp

from ugcl._utils.columns import to_column
from ugcl._utils.errors import UGCLError
from ugcl._utils.files import atomic, check_writable, write_csr, write_json, write_text
from ugcl._utils.workspace import Progress
from ugcl.typing import Embeddings, FloatName

if TYPE_CHECKING:
    from ugcl.engine.streaming import StoredEmbeddings

ROWS = 2**14
"""Rows that are written at a time."""

SHARD = 2**32
"""Maximum bytes of a file of safetensors."""

BINARY = (".npy", ".parquet", ".safetensors")
"""Formats that have float16."""

Names = npt.NDArray[Any]

PROJECTOR = "projector_config.pbtxt"
"""The file that TensorBoard looks for."""


def write_embeddings(
    path: Path,
    embeddings: Embeddings | StoredEmbeddings,
    ids: Names,
    labels: npt.NDArray[np.str_] | None = None,
    *,
    dtype: FloatName = "float32",
    progress: Progress | None = None,
) -> list[Path]:
    """Write embeddings in the format that the file's extension names.

    Args:
        path: the file.
        embeddings: N x D', an array, a SciPy CSR matrix, or what `engine.streamed` yields.
        ids: the ids of the rows.
        labels: the labels of the rows, which TensorBoard shows.
        dtype: of the numbers.
        progress: called after each block of rows.

    Returns:
        The files that were written.
    """
    sparse = sp.issparse(embeddings)
    if sparse != (path.suffix == ".npz"):
        advice = (
            "sparse: use the extension .npz for `out`"
            if sparse
            else "dense, and .npz is for sparse ones: use another extension for `out`"
        )
        raise UGCLError(f"these embeddings are {advice}")
    rows: Any = embeddings if sparse else _Rows(embeddings, dtype, progress)
    return WRITERS[path.suffix][1](path, rows, ids, labels)


def check_ending(path: Path, dtype: FloatName = "float32") -> None:
    """Refuse a file whose extension names no format of the dtype, or that cannot be written."""
    if dtype != "float32" and path.suffix not in BINARY:
        raise UGCLError(f"`dtype` {dtype} needs an `out` of {', '.join(BINARY)}, not {path}")
    if path.suffix not in WRITERS:
        formats = ", ".join(f"{ending} ({about})" for ending, (about, _) in WRITERS.items())
        raise UGCLError(f"the extension of `out` {path} names no format: use {formats}")
    check_writable(path)


@dataclass(frozen=True)
class _Rows:
    """Rows that are read a block at a time."""

    embeddings: Any
    dtype: FloatName
    progress: Progress | None = None

    @property
    def shape(self) -> tuple[int, int]:
        return int(self.embeddings.shape[0]), int(self.embeddings.shape[1])

    def blocks(self, first: int = 0, last: int | None = None) -> Iterator[tuple[slice, Any]]:
        count = self.shape[0]
        last = count if last is None else last
        for start in range(first, last, ROWS):
            rows = slice(start, min(start + ROWS, last))
            with np.errstate(over="ignore"):
                values = np.ascontiguousarray(self.embeddings[rows], dtype=self.dtype)
            if self.dtype == "float16" and np.isinf(values).any():
                raise UGCLError("the embeddings do not fit into float16: use `dtype` float32")
            yield rows, values
            if self.progress is not None:
                self.progress(rows.stop / count, "writing")


def _blocks(embeddings: _Rows) -> Iterator[tuple[slice, Any]]:
    return embeddings.blocks()


def _npy(path: Path, embeddings: _Rows, ids: Names, labels: Names | None) -> list[Path]:
    header = {
        "descr": np.lib.format.dtype_to_descr(np.dtype(embeddings.dtype)),
        "fortran_order": False,
        "shape": embeddings.shape,
    }
    with atomic(path) as temporary, temporary.open("wb") as stream:
        np.lib.format.write_array_header_1_0(stream, header)
        for _, block in _blocks(embeddings):
            stream.write(block.data)
    return [path]


def _safetensors(path: Path, embeddings: _Rows, ids: Names, labels: Names | None) -> list[Path]:
    """Write the tensor `embeddings`: one file, or shards of rows and an index of them."""
    rows, columns = embeddings.shape
    width = columns * np.dtype(embeddings.dtype).itemsize
    step = max(1, SHARD // max(1, width))
    starts = range(0, max(rows, 1), step)
    dtype = {"float32": "F32", "float16": "F16"}[embeddings.dtype]
    written, index = [], []
    for number, first in enumerate(starts, start=1):
        last = min(first + step, rows)
        shard = path
        if len(starts) > 1:
            shard = path.with_name(f"{path.stem}-{number:05}-of-{len(starts):05}.safetensors")
        entry = {
            "dtype": dtype,
            "shape": [last - first, columns],
            "data_offsets": [0, (last - first) * width],
        }
        about = {"first_row": str(first), "rows": str(rows)}
        header = json.dumps({"__metadata__": about, "embeddings": entry}).encode()
        header += b" " * (-len(header) % 8)
        with atomic(shard) as temporary, temporary.open("wb") as stream:
            stream.write(len(header).to_bytes(8, "little") + header)
            for _, block in embeddings.blocks(first, last):
                stream.write(block.data)
        written.append(shard)
        index.append({"file": shard.name, "first_row": first, "rows": last - first})
    if len(written) > 1:  # comes last: without it the shards are not complete
        written.append(path.with_name(f"{path.name}.index.json"))
        write_json(written[-1], {"rows": rows, "columns": columns, "dtype": dtype, "shards": index})
    return written


def _npz(path: Path, embeddings: Embeddings, ids: Names, labels: Names | None) -> list[Path]:
    write_csr(path, embeddings)
    return [path]


def _parquet(path: Path, embeddings: _Rows, ids: Names, labels: Names | None) -> list[Path]:
    width = embeddings.shape[1]
    kind = pa.list_(pa.from_numpy_dtype(np.dtype(embeddings.dtype)), width)
    schema = pa.schema([("id", to_column(ids[:0]).type), ("embedding", kind)])
    with atomic(path) as temporary, pq.ParquetWriter(temporary, schema) as writer:
        for rows, block in _blocks(embeddings):
            values = pa.FixedSizeListArray.from_arrays(to_column(block.reshape(-1)), width)
            writer.write_table(pa.table([to_column(ids[rows]), values], schema=schema))
    return [path]


def _numbers(block: npt.NDArray[np.float32], ids: Names | None = None) -> pa.Table:
    """Return rows as a table, with the ids as the first column where they are given."""
    first = {} if ids is None else {"id": to_column(ids)}
    return pa.table({**first, **{f"e{i}": to_column(column) for i, column in enumerate(block.T)}})


def _text(
    path: Path, embeddings: _Rows, ids: Names | None, options: pyarrow.csv.WriteOptions
) -> None:
    first = np.zeros((0, embeddings.shape[1]), dtype=np.float32)
    schema = _numbers(first, None if ids is None else ids[:0]).schema
    with (
        atomic(path) as temporary,
        pyarrow.csv.CSVWriter(temporary, schema, write_options=options) as writer,
    ):
        for rows, block in _blocks(embeddings):
            writer.write_table(_numbers(block, None if ids is None else ids[rows]))


def _csv(path: Path, embeddings: _Rows, ids: Names, labels: Names | None) -> list[Path]:
    _text(path, embeddings, ids, pyarrow.csv.WriteOptions())
    return [path]


def _word2vec(path: Path, embeddings: _Rows, ids: Names, labels: Names | None) -> list[Path]:
    """Write `N D`, then one line for each node: its id and its numbers, separated by spaces."""
    if ids.dtype.kind == "U":
        spaced = [name for name in ids.tolist() if not name or any(c.isspace() for c in name)]
        if spaced:
            shown = ", ".join(repr(name) for name in spaced[:3])
            raise UGCLError(
                f"{len(spaced):,} id(s) contain spaces ({shown}), which the word2vec format "
                "cannot hold: write .csv or .parquet"
            )
    rows, columns = embeddings.shape
    options = pyarrow.csv.WriteOptions(include_header=False, delimiter=" ")
    with atomic(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as stream:
        stream.write(f"{rows} {columns}\n")
        for part, block in _blocks(embeddings):
            numbers = pa.BufferOutputStream()
            pyarrow.csv.write_csv(_numbers(block), numbers, options)
            lines = numbers.getvalue().to_pybytes().decode().splitlines()
            pairs = zip(ids[part].tolist(), lines, strict=True)
            stream.writelines(f"{name} {line}\n" for name, line in pairs)
    return [path]


def _projector(path: Path, embeddings: _Rows, ids: Names, labels: Names | None) -> list[Path]:
    """Write vectors, metadata and configuration for TensorBoard's projector."""
    metadata, config = path.with_suffix(".metadata.tsv"), path.with_name(PROJECTOR)
    text = (
        f'embeddings {{\n  tensor_name: "{path.stem}"\n  tensor_path: "{path.name}"\n'
        f'  metadata_path: "{metadata.name}"\n}}\n'
    )
    if config.is_file() and config.read_text("utf-8") != text:
        raise UGCLError(f"{config} exists and names other files: choose another folder for `out`")
    options = pyarrow.csv.WriteOptions(include_header=False, delimiter="\t")
    _text(path, embeddings, None, options)
    names = [" ".join(str(name).split()) for name in ids.tolist()]
    if labels is not None:
        shown = [" ".join(str(label).split()) for label in labels.tolist()]
        names = ["id\tlabel", *(f"{a}\t{b}" for a, b in zip(names, shown, strict=True))]
    write_text(metadata, "".join(f"{line}\n" for line in names))
    write_text(config, text)
    return [path, metadata, config]


Writer = Callable[[Path, Any, Names, Any], list[Path]]

WRITERS: Mapping[str, tuple[str, Writer]] = {
    ".npy": ("NumPy", _npy),
    ".npz": ("SciPy, for sparse embeddings", _npz),
    ".parquet": ("ids and vectors", _parquet),
    ".safetensors": ("safetensors, in shards where it is large", _safetensors),
    ".csv": ("ids and numbers", _csv),
    ".txt": ("word2vec", _word2vec),
    ".vec": ("word2vec", _word2vec),
    ".tsv": ("TensorBoard's projector", _projector),
}
"""Extensions, their formats and their writers."""
