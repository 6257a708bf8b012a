"""The run folder, whose files are checked when they are read."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.sparse as sp
from safetensors import SafetensorError

from ugcl._utils.columns import from_column
from ugcl._utils.errors import UGCLError
from ugcl._utils.extras import required
from ugcl._utils.files import TEMPORARY, remove_temporaries, write_bytes, write_text
from ugcl._utils.formats import from_json
from ugcl._utils.locks import LOCK, locked
from ugcl.graph import Graph
from ugcl.methods import Shape, method_file
from ugcl.runs.config import RunConfig, changed_setting
from ugcl.runs.export import check_ending, write_embeddings
from ugcl.runs.log import LOG, read_log
from ugcl.runs.manifest import ALWAYS, MANIFEST, Manifest
from ugcl.runs.method import METHOD_COPY
from ugcl.runs.neighbors import Nearest, indexed_nearest, nearest, row_of
from ugcl.typing import Embeddings, ScopeName

if TYPE_CHECKING:
    from ugcl.methods.models.model import Model

CONFIG, MODEL, NODES, METRICS = "config.toml", "model.safetensors", "nodes.parquet", "metrics.json"

RESULTS = (MODEL, NODES, METRICS)
"""Files of a finished run besides its configuration, log and embeddings."""

PREDICTIONS, HELD_OUT = "predictions.npy", "held_out_edges.npy"

INDEX = "neighbors.usearch"

SAMPLE = 1000
"""Rows of large embeddings that are tested for finite numbers when they are opened."""

NAMES = "names.json"
"""Names of features and classes, where the graph has them."""

DENSE, SPARSE = "embeddings.npy", "embeddings.npz"
"""The embeddings: an array, or a SciPy CSR matrix."""

TRAINING = "another process trains into"
"""What a lock of a run folder says."""

Neighbor = tuple[int | str, float]
"""A node's id and its cosine similarity."""


@dataclass(frozen=True)
class Run:
    """A run folder, new or finished.

    Files: `config.toml`, `method.py` (a copy of a method of the user's own), `log.jsonl` (one line
    for each epoch), `checkpoint.safetensors` (during training), `held_out_edges.npy` (where edges
    were held out), then `model.safetensors`, `embeddings.npy` (`embeddings.npz` for sparse ones),
    `predictions.npy` (supervised methods), `nodes.parquet`, `names.json` (names of features and
    classes), `metrics.json` and, last, `manifest.json`, with the checksum of each of them. A file
    is compared with it when it is read: a file of more than 64 MB by its size, unless `verify` is
    called.

    Attributes:
        path: the folder.
        config: the configuration.
    """

    path: Path
    config: RunConfig
    _verified: set[tuple[Any, ...]] = field(default_factory=set, repr=False, compare=False)

    @classmethod
    def create(cls, path: Path, config: RunConfig, *, wait: bool = False) -> Self:
        """Create a run folder; refuses one that exists and is not empty.

        Args:
            path: the folder.
            config: the configuration.
            wait: wait for a process that has locked the folder, instead of raising an error.
        """
        check_new(path)
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise _unusable(path, error) from error
        with locked(path, TRAINING, wait=wait):
            check_new(path)
            remove_temporaries(path)
            write_text(path / CONFIG, config.to_toml())
            run = cls(path, config)
            run.copy_method()
        return run

    @classmethod
    def open(cls, path: str | Path) -> Self:
        """Open an existing run folder, finished or not."""
        folder = Path(path)
        if not (folder / CONFIG).is_file():
            raise UGCLError(f"{folder} is not a run folder: pass the folder that ugcl train wrote")
        run = cls(folder, RunConfig.read(folder / CONFIG))
        if run.finished:
            run._check_config()
        return run

    def copy_method(self) -> None:
        """Copy the file of a method of the user's own, unless there is a copy."""
        file = method_file(self.config.load_method())
        if file and not (self.path / METHOD_COPY).is_file():
            write_bytes(self.path / METHOD_COPY, file.source)

    @property
    def finished(self) -> bool:
        """Whether training is complete and all results are written."""
        last = () if self.config.format == 1 else (MANIFEST,)
        return self.embeddings_file.is_file() and all(
            (self.path / name).is_file() for name in (*RESULTS, *last)
        )

    def verify(self) -> None:
        """Compare all files of the run, of any size, with the checksums in `manifest.json`."""
        self.require_finished()
        manifest = self._manifest()
        if manifest is None:
            raise UGCLError(
                f"{self.path} was written by an earlier version of ugcl, without checksums: leave "
                "out `verify`"
            )
        self.check_files(manifest, whole=True)

    @property
    def model_checksum(self) -> str:
        """The checksum of the model's file; "" for a run of an earlier version, without any."""
        manifest = self._manifest()
        return "" if manifest is None else str(manifest.files.get(MODEL, {}).get("sha256", ""))

    def check_files(self, manifest: Manifest | None = None, *, whole: bool = False) -> None:
        """Compare all files of the run with its manifest, where it has one: large ones by size.

        Args:
            manifest: the manifest, if it was read before.
            whole: compare the checksums of large files, too.
        """
        manifest = manifest or self._manifest()
        if manifest is None:
            return
        self._check_config()
        for name in sorted(manifest.files.keys() - {CONFIG, INDEX}):
            try:
                manifest.check(name, whole=whole)
            except (OSError, ValueError) as error:
                raise self._damaged(name, error) from error

    def _manifest(self) -> Manifest | None:
        return Manifest.read(self.path, self._verified)

    def _file(self, name: str) -> Path:
        """Return the path of a file that is to be read; a `ValueError` says how it is damaged."""
        if manifest := self._manifest():
            manifest.check(name)
        return self.path / name

    def _check_config(self) -> None:
        """Refuse a `config.toml` that was changed by hand, apart from where things are."""
        if manifest := self._manifest():
            try:
                return manifest.check(CONFIG)
            except ValueError:
                pass  # it may have been changed where that does no harm
        self._check_model_config()

    def _check_model_config(self) -> None:
        """Refuse a `config.toml` whose settings are not those that the model was trained with."""
        try:
            with self._file(MODEL).open("rb") as stream:
                header = stream.read(int.from_bytes(stream.read(8), "little"))
            trained = from_json(header)["__metadata__"][CONFIG]
            difference = changed_setting(self.path / CONFIG, trained)
        except (KeyError, MemoryError, OSError, OverflowError, TypeError, ValueError) as error:
            raise self._damaged(MODEL, error) from error
        if difference:
            file = self.path / CONFIG
            raise UGCLError(
                f"{difference} in {file}, which is not what its model was trained with: restore "
                f"the file, or train with `config` {file} and another `out`"
            )

    @property
    def embeddings_file(self) -> Path:
        """The file of the embeddings."""
        sparse = self.path / SPARSE
        return sparse if sparse.is_file() else self.path / DENSE

    def require_finished(self) -> None:
        """Refuse a run that is not finished."""
        if not self.finished:
            raise UGCLError(
                f"{self.path} is not finished: resume it (ugcl train --out {self.path} --resume)"
            )

    def metrics(self) -> dict[str, Any]:
        """Return the contents of `metrics.json`."""
        self.require_finished()
        try:
            metrics = dict(from_json(self._file(METRICS).read_text("utf-8")))
            for name in ("nodes", "features", "classes", "epochs"):
                value = metrics.get(name, 0 if name == "classes" else None)
                if type(value) is not int or value < 0:
                    raise ValueError(f"{name} must be an integer, not {value!r}")
            return metrics
        except (KeyError, OSError, TypeError, ValueError) as error:
            raise self._damaged(METRICS, error) from error

    def losses(self) -> list[float]:
        """Return the loss of each epoch, from `log.jsonl`."""
        epochs = self.metrics()["epochs"]
        try:
            return [line["loss"] for line in read_log(self._file(LOG), epochs)]
        except (OSError, ValueError) as error:
            raise self._damaged(LOG, error) from error

    def embeddings(self) -> Embeddings:
        """Return the embeddings, rows in node order: a mapped array, or a SciPy CSR."""
        nodes = self.metrics()["nodes"]
        file = self.embeddings_file
        try:
            self._file(file.name)
            if file.name == SPARSE:
                with file.open("rb") as stream:
                    values = sp.csr_array(sp.load_npz(stream))
                values.check_format(full_check=True)
            else:
                values = _load(file, "r")
                size = file.stat().st_size
                expected = getattr(values, "offset", 0) + values.nbytes
                if size != expected:
                    raise ValueError(f"it has {size:,} bytes, not {expected:,}")
            if values.ndim != 2 or values.shape[0] != nodes or values.dtype != np.float32:
                raise ValueError(
                    f"it is of shape {values.shape} and {values.dtype}, not of {nodes:,} rows of "
                    "float32"
                )
            if not all_finite(values):
                raise ValueError("it is not a table of finite numbers")
        except (EOFError, KeyError, OSError, TypeError, ValueError, BadZipFile) as error:
            raise self._damaged(file.name, error) from error
        return values

    def nodes(self) -> pa.Table:
        """Return the table of nodes in row order: `node`, and `id`, `label`, `class` if known."""
        count = self.metrics()["nodes"]
        try:
            values = pq.ParquetFile(self._file(NODES)).read()  # not `read_table`: slow start
            numbers = np.asarray(from_column(values["node"]))
            if not np.array_equal(numbers, np.arange(count)):
                raise ValueError("it is not a table of the nodes")
            if any(column.null_count for column in values.columns):
                raise ValueError("it has empty fields")
        except (KeyError, OSError, TypeError, ValueError) as error:
            raise self._damaged(NODES, error) from error
        return values

    def ids(self) -> npt.NDArray[Any]:
        """Return the ids of the nodes in row order; their numbers where they have none."""
        nodes = self.nodes()
        return from_column(nodes["id" if "id" in nodes.column_names else "node"])

    def labels(self) -> npt.NDArray[np.str_] | None:
        """Return the name of each node's class, "" where it is unknown; None without labels."""
        nodes = self.nodes()
        if "class" in nodes.column_names:
            return from_column(nodes["class"])
        if "label" not in nodes.column_names:
            return None
        numbers = from_column(nodes["label"])
        return np.where(numbers < 0, "", numbers.astype(np.str_))

    def frame(self) -> Any:
        """Return the embeddings as a pandas frame indexed by the ids."""
        pandas = required("pandas", "a frame", "interop")
        embeddings = self.embeddings()
        columns = [f"e{i}" for i in range(embeddings.shape[1])]
        index = pandas.Index(self.ids(), name="id")
        if isinstance(embeddings, np.ndarray):
            return pandas.DataFrame(np.array(embeddings), index=index, columns=columns)
        return pandas.DataFrame.sparse.from_spmatrix(embeddings, index=index, columns=columns)

    def neighbors(self, node: Any, k: int = 10, *, approximate: bool = False) -> list[Neighbor]:
        """Return the k nodes with the highest cosine similarity to a node.

        Args:
            node: the node's id.
            k: how many.
            approximate: use an index, which is built once and stored in the folder: faster for
                millions of nodes, and may miss a neighbour.
        """
        if k < 1:
            raise UGCLError(f"`k` must be at least 1, not {k}")
        ids = self.ids()
        row = row_of(ids, node)
        if approximate:
            nodes, cosines = self._indexed_nearest(row, k)
        else:
            nodes, cosines = nearest(self.embeddings(), row, k)
        pairs = zip(ids[nodes].tolist(), cosines.tolist(), strict=True)
        return [(name, round(cosine, 6)) for name, cosine in pairs]

    def _indexed_nearest(self, row: int, k: int) -> Nearest:
        """Search with the stored index; one of other embeddings is built again."""
        manifest, path = self._manifest(), self.path / INDEX
        if manifest and path.is_file():
            try:
                manifest.check(INDEX)
            except ValueError:
                path.unlink()
        stored = path.is_file() and (manifest is None or manifest.made_from(INDEX, DENSE))
        if not stored:
            path.unlink(missing_ok=True)
        found = indexed_nearest(self.embeddings(), row, k, path)
        if manifest and not stored:
            manifest.add(INDEX, DENSE)
        return found

    def save(self, path: str | Path) -> None:
        """Export the embeddings with their ids, in the format of the file's extension."""
        check_ending(Path(path))
        write_embeddings(Path(path), self.embeddings(), self.ids(), self.labels())

    def names(self, kind: Literal["features", "classes"]) -> tuple[str, ...] | None:
        """Return the names of the features or classes; None where they have none."""
        manifest = self._manifest()
        if not (self.path / NAMES).is_file() and (manifest is None or NAMES not in manifest.files):
            return None
        metrics = self.metrics()
        try:
            values = from_json(self._file(NAMES).read_text("utf-8")).get(kind)
            count = metrics.get(kind, None if values is None else len(values))
            if values is not None and (len(values), {type(name) for name in values}) != (
                count,
                {str},
            ):
                raise ValueError(f"it has no {count} names of {kind}")
            return None if values is None else tuple(values)
        except (AttributeError, OSError, TypeError, ValueError) as error:
            raise self._damaged(NAMES, error) from error

    def predictions(self) -> npt.NDArray[np.int64]:
        """Return the class that a supervised method predicts for each node."""
        metrics = self.metrics()
        try:
            values = _load(self._file(PREDICTIONS))
            if values.shape != (metrics["nodes"],) or values.dtype.kind != "i":
                raise ValueError("it is not a class for each node")
            _check_range(values, metrics["classes"])
            return np.asarray(values)
        except (EOFError, KeyError, OSError, TypeError, ValueError) as error:
            raise self._damaged(PREDICTIONS, error) from error

    def require_held_out(self) -> None:
        """Refuse a run that was trained on all edges."""
        if not self.config.hold_out_edges:
            raise UGCLError(
                f"{self.path} was trained on all edges, so links cannot be scored: train it again "
                "with `hold_out_edges` 0.1"
            )

    def held_out(self) -> npt.NDArray[np.int64]:
        """Return the held-out edges, E x 2 node numbers."""
        self.require_held_out()
        nodes = self.metrics()["nodes"]
        try:
            values = _load(self._file(HELD_OUT))
            if values.ndim != 2 or values.shape[1] != 2 or values.dtype.kind != "i":
                raise ValueError("it is not a table of edges")
            _check_range(values, nodes)
            return np.asarray(values)
        except (EOFError, OSError, TypeError, ValueError) as error:
            raise self._damaged(HELD_OUT, error) from error

    def check_held_out(self, expected: npt.NDArray[np.int64]) -> None:
        """Check that the recorded held-out edges are those of the configuration."""
        if not np.array_equal(self.held_out(), expected):
            raise self._damaged(HELD_OUT, ValueError("it holds other edges than config.toml says"))

    def model(self, readout_scope: int | ScopeName | None = None) -> Model:
        """Load the trained model on the CPU, with another readout scope where one is given."""
        from safetensors.torch import load_file

        from ugcl.engine.weights import load_weights

        self.require_finished()
        self._check_model_config()
        params = {} if readout_scope is None else {"readout_scope": readout_scope}
        method = self.config.load_method()
        settings = self.config.settings.replace(**params)
        metrics = self.metrics()
        shape = Shape(metrics["nodes"], metrics["features"], metrics.get("classes", 0))
        model = method.new_model(shape, settings, self.config.seed)
        try:
            load_weights(model, load_file(self._file(MODEL)))
        except (OSError, RuntimeError, SafetensorError, ValueError) as error:
            raise self._damaged(MODEL, error) from error
        return model

    def embed(
        self,
        graph: Graph,
        *,
        device: str | None = None,
        readout_scope: int | ScopeName | None = None,
    ) -> Embeddings:
        """Embed a graph, the run's own or another one with the same features.

        Args:
            graph: the graph.
            device: where to compute; by default where the run was trained.
            readout_scope: another readout scope than the run's own; one training serves all.
        """
        from ugcl.engine import resolve_device

        device = resolve_device(device or self.config.device)
        return self.model(readout_scope).to(device).embed(self.checked(graph), device)

    def checked(self, graph: Graph) -> Graph:
        """Return a graph to embed, or refuse it; the run's own without held-out edges."""
        num_features = self.metrics()["features"]
        inductive = self.config.load_method().inductive
        if graph.num_features != num_features and inductive:
            raise UGCLError(
                f"the graph has {graph.num_features:,} features but {self.path} was trained on "
                f"{num_features:,}: pass a graph with the same features"
            )
        if graph.fingerprint == self.config.fingerprint and not inductive:
            graph, _ = self.config.training_graph(graph)
        return graph

    def _damaged(self, name: str, error: Exception) -> UGCLError:
        if isinstance(error, UGCLError):
            return error
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        return UGCLError(
            f"{self.path / name} cannot be read ({reason}): train again with `config` "
            f"{self.path / CONFIG} and another `out`"
        )


def check_new(path: Path) -> None:
    """Refuse the path of a new run folder if it exists and is not empty."""
    try:
        if path.exists() and (not path.is_dir() or any(map(_is_kept, path.iterdir()))):
            how = ", delete it, or continue with `resume`" * (path / "config.toml").is_file()
            raise UGCLError(f"{path} exists already: choose another `out`{how}")
    except OSError as error:
        raise _unusable(path, error) from error


def _is_kept(path: Path) -> bool:
    """Return whether a file is more than what a killed process left of a folder's first moments."""
    return path.name != LOCK and not path.name.startswith(TEMPORARY)


def _unusable(path: Path, error: OSError) -> UGCLError:
    return UGCLError(f"cannot make the run folder {path}: {error.strerror}; choose another `out`")


def load_run(path: str | Path, *, verify: bool = False) -> Run:
    """Open the folder of a finished run.

    Args:
        path: the folder.
        verify: compare all files with their checksums, also those of more than 64 MB.
    """
    run = Run.open(path)
    run.require_finished()
    if verify:
        run.verify()
    return run


def _load(path: Path, mmap_mode: Literal["r"] | None = None) -> npt.NDArray[Any]:
    """Load an array; a `ValueError` for the files that NumPy does not load as one."""
    values = np.load(path, mmap_mode=mmap_mode, allow_pickle=False)
    if not isinstance(values, np.ndarray):
        raise ValueError("it is an archive")
    return values


def _check_range(values: npt.NDArray[Any], count: int) -> None:
    """Raise a `ValueError` unless all integers are from 0 to count - 1."""
    if values.size and not 0 <= values.min() <= values.max() < count:
        raise ValueError(f"its numbers are not all from 0 to {count - 1}")


def all_finite(embeddings: Embeddings) -> bool:
    """Return whether all entries of an array or a SciPy matrix are finite.

    Of an array of more than `ALWAYS` bytes `SAMPLE` rows are read.
    """
    if sp.issparse(embeddings):
        return bool(np.isfinite(embeddings.data).all())
    if embeddings.nbytes > ALWAYS:
        embeddings = embeddings[np.linspace(0, len(embeddings) - 1, SAMPLE, dtype=np.int64)]
    return bool(np.isfinite(embeddings).all())
