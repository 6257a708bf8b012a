"""A graph as a folder of arrays that are mapped into memory instead of read.

    manifest.json                   format version, sizes, dtype, shape and SHA-256 of each file and
                                    of the manifest itself
    indptr.npy, indices.npy         A in CSR, without diagonal, columns ascending in each row
    weights.npy                     its values, where the edges have weights
    features.npy                    X, N x D; or features_indptr, features_indices, features_data
    labels.npy, split_train.npy, …  where there are any
    ids.parquet                     the column "id"

Indices are 32 bits wide where they fit. `FolderWriter` fills the arrays of a graph that is larger
than memory, `open_folder` maps them.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ugcl._utils.columns import from_column, to_column
from ugcl._utils.errors import UGCLError
from ugcl._utils.files import READ_ERRORS, atomic, sha256, write_json
from ugcl._utils.formats import check_format, from_json
from ugcl._utils.locks import LOCK
from ugcl.graph.validation import SPLIT_PARTS, checked_names, frozen_csr, num_classes

if TYPE_CHECKING:
    from ugcl.graph.graph import Graph

MANIFEST = "manifest.json"
IDS = "ids.parquet"

FORMAT, VERSION = "ugcl-graph-folder", 2
"""Manifests of version 1 have no checksum of their own."""

CHECKSUM = "sha256"
"""The entry of the manifest with the checksum of all others."""

CHECKED = 2**26
"""Files of up to so many bytes are compared with their checksum whenever they are opened."""

TEXTS = ("notes", "class_names", "feature_names")

WORK = "work"
"""Folder inside the unfinished one for what is removed in the end."""

Arrays = Mapping[str, npt.NDArray[Any]]


def is_graph_folder(path: Path) -> bool:
    """Return whether a path is the folder of a graph."""
    return (path / MANIFEST).is_file() and (path / "indptr.npy").is_file()


def index_dtype(num_nodes: int, num_entries: int) -> np.dtype[Any]:
    """Return the dtype of `indptr` and `indices`: SciPy wants the same for both."""
    return np.dtype(np.int32 if max(num_nodes, num_entries) < 2**31 else np.int64)


class FolderWriter:
    """Writes the folder of a graph; a context manager.

    The arrays are made in a folder beside it, whose name ends in `.partial`. `finish` writes the
    manifest and renames it, so that what looks finished is finished; after an error it is deleted.

    Args:
        path: the folder, which must not exist.
        resume: keep an unfinished folder of an earlier process, and after an error other than a
            `UGCLError`.
    """

    def __init__(self, path: str | Path, *, resume: bool = False) -> None:
        self.path, self.resume = Path(path), resume
        self.folder = self.path.with_name(f"{self.path.name}.partial")

    def __enter__(self) -> Self:
        check_new_folder(self.path)
        try:
            if self.folder.exists() and not self.resume:
                shutil.rmtree(self.folder)  # of a process that was killed
            self.folder.mkdir(parents=True, exist_ok=self.resume)
        except OSError as error:
            raise UGCLError(
                f"cannot write {self.path} ({error.strerror}): choose another folder"
            ) from error
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        if error is None or isinstance(error, UGCLError) or not self.resume:
            shutil.rmtree(self.folder, ignore_errors=True)
        if isinstance(error, OSError):
            raise UGCLError(
                f"cannot write {self.path} ({error.strerror or error}): make room, or choose "
                "another folder"
            ) from error

    def array(self, name: str, dtype: npt.DTypeLike, shape: tuple[int, ...]) -> np.memmap[Any, Any]:
        """Make an array of zeros, mapped for writing."""
        file = self.folder / f"{name}.npy"
        return np.lib.format.open_memmap(file, mode="w+", dtype=dtype, shape=shape)

    def stream(self, name: str, dtype: npt.DTypeLike, width: int | None = None) -> ArrayStream:
        """Return a context in which the rows of an array are written one after the other.

        Args:
            name: of the array.
            dtype: of its elements.
            width: number of columns; None for an array of one dimension.
        """
        return ArrayStream(self.folder / f"{name}.npy", dtype, width)

    def write(self, name: str, values: npt.NDArray[Any]) -> None:
        """Write a whole array."""
        if values.size == 0:  # cannot be mapped
            np.save(self.folder / f"{name}.npy", values, allow_pickle=False)
            return
        mapped = self.array(name, values.dtype, values.shape)
        mapped[...] = values
        mapped.flush()

    def finish(self, **about: Any) -> None:
        """Write the manifest and give the folder its name.

        Args:
            **about: `name`, `weighted` and `fingerprint` of the graph, and `notes`, `class_names`
                and `feature_names` where it has them.
        """
        files = {}
        shutil.rmtree(self.folder / WORK, ignore_errors=True)
        for file in sorted(set(self.folder.iterdir()) - {self.folder / LOCK}):
            files[file.name] = {"bytes": file.stat().st_size, "sha256": sha256(file)}
            if file.suffix == ".npy":
                array = mapped(file)
                files[file.name] |= {"dtype": array.dtype.str, "shape": list(array.shape)}
        manifest = {"format": FORMAT, "version": VERSION, **about, "files": files}
        manifest[CHECKSUM] = _checksum(manifest)
        write_json(self.folder / MANIFEST, manifest)
        (self.folder / LOCK).unlink(missing_ok=True)
        self.folder.rename(self.path)

    def finish_tables(self) -> None:
        """Give the folder its name without a manifest, where it holds tables instead of arrays."""
        shutil.rmtree(self.folder / WORK, ignore_errors=True)
        self.folder.rename(self.path)


class ArrayStream:
    """Writes an `.npy` file whose number of rows is known in the end only; a context manager."""

    def __init__(self, path: Path, dtype: npt.DTypeLike, width: int | None = None) -> None:
        self.path, self.dtype, self.width, self.rows = path, np.dtype(dtype), width, 0

    def __enter__(self) -> Self:
        self.file = self.path.open("wb")
        self._write_header()
        return self

    def append(self, values: npt.NDArray[Any]) -> None:
        """Write rows."""
        self.rows += len(values)
        self.file.write(np.ascontiguousarray(values, self.dtype).data)

    def __exit__(self, *error: object) -> None:
        try:
            self.file.seek(0)
            self._write_header()  # of the same length for any number of rows
        finally:
            self.file.close()

    def _write_header(self) -> None:
        shape = (self.rows,) if self.width is None else (self.rows, self.width)
        descr = np.lib.format.dtype_to_descr(self.dtype)
        header = {"descr": descr, "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(self.file, header)


def _checksum(manifest: Mapping[str, Any]) -> str:
    """Return the SHA-256 of all other entries of a manifest."""
    return hashlib.sha256(json.dumps(manifest, sort_keys=True).encode()).hexdigest()


def check_new_folder(path: Path) -> None:
    """Refuse a path that exists."""
    if path.exists():
        raise UGCLError(f"{path} exists already: choose another folder, or delete it")


def save_folder(graph: Graph, path: str | Path) -> None:
    """Write a graph as a folder."""
    adjacency, features = graph.adjacency, graph.features
    with FolderWriter(path) as writer:
        dtype = index_dtype(graph.num_nodes, adjacency.nnz)
        writer.write("indptr", adjacency.indptr.astype(dtype, copy=False))
        writer.write("indices", adjacency.indices.astype(dtype, copy=False))
        if graph.weighted:
            writer.write("weights", adjacency.data)
        if sp.issparse(features):
            for part in ("indptr", "indices", "data"):
                writer.write(f"features_{part}", getattr(features, part))
        else:
            writer.write("features", features)
        if graph.labels is not None:
            writer.write("labels", graph.labels)
        for part, nodes in graph.splits.items():
            writer.write(f"split_{part}", nodes)
        if graph.ids is not None:
            write_ids(writer.folder / IDS, graph.ids)
        writer.finish(
            name=graph.name,
            weighted=graph.weighted,
            num_features=graph.num_features,
            fingerprint=graph.fingerprint,
            **{name: list(texts) for name in TEXTS if (texts := getattr(graph, name))},
        )


def write_ids(path: Path, ids: npt.NDArray[Any]) -> None:
    """Write ids as Parquet."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with atomic(path) as temporary:
        pq.write_table(pa.table({"id": to_column(ids)}), temporary)


def open_folder(path: Path, *, verify: bool = False) -> dict[str, Any]:
    """Map the arrays of a folder, and return the fields of its graph.

    Sizes, dtypes and row pointers are always checked, checksums of files of up to 64 MB, too.

    Args:
        path: the folder.
        verify: whether to compare larger files with their checksums, too, which reads them.
    """
    try:
        manifest = from_json((path / MANIFEST).read_text("utf-8"))
        files = dict(manifest["files"])
        if manifest["format"] != FORMAT:
            raise ValueError(f"its format is {manifest['format']!r}")
        version = manifest["version"]
        checksum = manifest.pop(CHECKSUM, None)
    except READ_ERRORS as error:
        raise UGCLError(
            f"{path} is not the folder of a graph: pass one that Graph.save_folder wrote"
        ) from error
    check_format(path / MANIFEST, version, VERSION)
    try:
        if version > 1 and checksum != _checksum(manifest):
            raise ValueError(f"{MANIFEST} has been altered")
        arrays = {}
        for name, entry in files.items():
            _check_file(path / name, entry, verify=verify)
            if name.endswith(".npy"):
                array = arrays[name.removesuffix(".npy")] = mapped(path / name)
                if (array.dtype.str, list(array.shape)) != (entry["dtype"], entry["shape"]):
                    raise ValueError(f"{name} is not of the dtype and shape in {MANIFEST}")
        return _fields(path, manifest, arrays)
    except READ_ERRORS as error:
        raise UGCLError(
            f"{path} is damaged ({error}): restore it, or convert the graph again"
        ) from error


def _fields(path: Path, manifest: Mapping[str, Any], arrays: Arrays) -> dict[str, Any]:
    """Return the fields of a `Graph`, of mapped arrays."""
    num_nodes, nnz = arrays["indptr"].size - 1, arrays["indices"].size
    _check_rows("indptr", arrays["indptr"], nnz)
    weights = arrays["weights"] if manifest["weighted"] else np.broadcast_to(np.float32(1), nnz)
    adjacency = mapped_csr((weights, arrays["indices"], arrays["indptr"]), (num_nodes, num_nodes))
    if "features" in arrays:
        features: Any = arrays["features"]
    else:
        _check_rows("features_indptr", arrays["features_indptr"], arrays["features_data"].size)
        parts = (arrays[f"features_{part}"] for part in ("data", "indices", "indptr"))
        features = mapped_csr(tuple(parts), (num_nodes, int(manifest["num_features"])))
    labels = arrays.get("labels")
    if features.shape[0] != num_nodes or (labels is not None and labels.size != num_nodes):
        raise ValueError("its arrays have different numbers of nodes")
    texts = {name: manifest.get(name) for name in TEXTS}
    return {
        "adjacency": adjacency,
        "features": features,
        "labels": labels,
        "splits": {p: arrays[f"split_{p}"] for p in SPLIT_PARTS if f"split_{p}" in arrays},
        "ids": _ids(path / IDS, num_nodes) if IDS in manifest["files"] else None,
        "name": str(manifest["name"]),
        "weighted": bool(manifest["weighted"]),
        "notes": tuple(texts["notes"] or ()),
        "class_names": checked_names("class", texts["class_names"], num_classes(labels)),
        "feature_names": checked_names("feature", texts["feature_names"], features.shape[1]),
        "fingerprint": str(manifest["fingerprint"]),
    }


def _ids(path: Path, num_nodes: int) -> npt.NDArray[Any]:
    import pyarrow.parquet as pq

    ids = from_column(pq.ParquetFile(path).read()["id"])
    if ids.size != num_nodes:
        raise ValueError(f"there are {ids.size:,} ids for {num_nodes:,} nodes")
    ids.flags.writeable = False
    return ids


def mapped_csr(parts: Sequence[npt.NDArray[Any]], shape: tuple[int, int]) -> Any:
    """Return the CSR matrix of mapped values, column indices and row pointers."""
    return frozen_csr(sp.csr_array(tuple(parts), shape=shape, copy=False))


def _check_rows(name: str, indptr: npt.NDArray[Any], entries: int) -> None:
    """Refuse row pointers that do not ascend from 0 to the number of entries."""
    if indptr[0] != 0 or indptr[-1] != entries or (np.diff(indptr) < 0).any():
        raise ValueError(f"the row pointers in {name}.npy do not fit its entries")


def _check_file(file: Path, entry: Mapping[str, Any], *, verify: bool) -> None:
    size = file.stat().st_size
    if size != entry["bytes"]:
        raise ValueError(f"{file.name} has {size:,} bytes instead of {entry['bytes']:,}")
    if (verify or size <= CHECKED) and sha256(file) != entry["sha256"]:
        raise ValueError(f"{file.name} has been altered")


def mapped(file: Path) -> npt.NDArray[Any]:
    """Return the array of a file, mapped where it is not empty."""
    with suppress(ValueError):  # an empty array cannot be mapped
        return np.asarray(np.load(file, mmap_mode="r", allow_pickle=False))
    return np.asarray(np.load(file, allow_pickle=False))
