"""The run folder; each of its files is written atomically."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.sparse as sp
from safetensors import SafetensorError

from ugcl._utils.columns import from_column, to_column
from ugcl._utils.errors import UGCLError
from ugcl._utils.extras import required
from ugcl._utils.files import atomic, write_bytes, write_csr, write_json, write_npy, write_text
from ugcl.graph import Graph
from ugcl.methods import Shape, method_file
from ugcl.runs.config import RunConfig
from ugcl.runs.export import check_ending, write_embeddings
from ugcl.runs.method import METHOD_COPY
from ugcl.runs.neighbors import indexed_nearest, nearest, row_of
from ugcl.typing import Embeddings, ScopeName

if TYPE_CHECKING:
    from ugcl.methods.models.model import Model

RESULTS = ("model.safetensors", "nodes.parquet", "metrics.json")
"""Files of a finished run besides its configuration, log and embeddings."""

PREDICTIONS, HELD_OUT = "predictions.npy", "held_out_edges.npy"

NAMES = "names.json"
"""Names of features and classes, where the graph has them."""

DENSE, SPARSE = "embeddings.npy", "embeddings.npz"
"""The embeddings: an array, or a SciPy CSR matrix."""

Neighbor = tuple[int | str, float]
"""A node's id and its cosine similarity."""


@dataclass(frozen=True)
class Run:
    """A run folder, new or finished.

    Files: `config.toml`, `method.py` (a copy of a method of the user's own), `log.jsonl` (one line
    for each epoch), `checkpoint.safetensors` (during training), `held_out_edges.npy` (where edges
    were held out), then `model.safetensors`, `embeddings.npy` (`embeddings.npz` for sparse ones),
    `predictions.npy` (supervised methods), `nodes.parquet`, `names.json` (names of features and
    classes) and, last, `metrics.json`.

    Attributes:
        path: the folder.
        config: the configuration.
    """

    path: Path
    config: RunConfig

    @classmethod
    def create(cls, path: Path, config: RunConfig) -> Self:
        """Create a run folder; refuses one that exists and is not empty."""
        check_new(path)
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise _unusable(path, error) from error
        write_text(path / "config.toml", config.to_toml())
        if file := method_file(config.load_method()):
            write_bytes(path / METHOD_COPY, file.source)
        return cls(path, config)

    @classmethod
    def open(cls, path: str | Path) -> Self:
        """Open an existing run folder, finished or not."""
        folder = Path(path)
        if not (folder / "config.toml").is_file():
            raise UGCLError(f"{folder} is not a run folder: pass the folder that ugcl train wrote")
        return cls(folder, RunConfig.read(folder / "config.toml"))

    @property
    def finished(self) -> bool:
        """Whether training is complete and all results are written."""
        return self.embeddings_file.is_file() and all(
            (self.path / name).is_file() for name in RESULTS
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
            read = json.loads((self.path / "metrics.json").read_text("utf-8"))
            return dict(read | {name: int(read[name]) for name in ("nodes", "features")})
        except (KeyError, OSError, TypeError, ValueError) as error:
            raise self._damaged("metrics.json", error) from error

    def embeddings(self) -> Embeddings:
        """Return the embeddings, rows in node order: a mapped array, or a SciPy CSR."""
        self.require_finished()
        file = self.embeddings_file
        try:
            if file.name == SPARSE:
                with file.open("rb") as stream:
                    values = sp.csr_array(sp.load_npz(stream))
            else:
                values = np.load(file, mmap_mode="r", allow_pickle=False)
            if values.ndim != 2 or not all_finite(values):
                raise ValueError("it is not a table of finite numbers")
        except (EOFError, KeyError, OSError, ValueError, BadZipFile) as error:
            raise self._damaged(file.name, error) from error
        return values

    def nodes(self) -> pa.Table:
        """Return the table of nodes in row order: `node`, and `id`, `label`, `class` if known."""
        count = self.metrics()["nodes"]
        try:
            values = pq.ParquetFile(
                self.path / "nodes.parquet"
            ).read()  # not `read_table`: slow start
            if values.num_rows != count or "node" not in values.column_names:
                raise ValueError("it is not a table of the nodes")
        except (KeyError, OSError, ValueError) as error:
            raise self._damaged("nodes.parquet", error) from error
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
            index_file = self.path / "neighbors.usearch"
            nodes, cosines = indexed_nearest(self.embeddings(), row, k, index_file)
        else:
            nodes, cosines = nearest(self.embeddings(), row, k)
        pairs = zip(ids[nodes].tolist(), cosines.tolist(), strict=True)
        return [(name, round(cosine, 6)) for name, cosine in pairs]

    def save(self, path: str | Path) -> None:
        """Export the embeddings with their ids, in the format of the file's extension."""
        check_ending(Path(path))
        write_embeddings(Path(path), self.embeddings(), self.ids(), self.labels())

    def names(self, kind: Literal["features", "classes"]) -> tuple[str, ...] | None:
        """Return the names of the features or classes; None where they have none."""
        path = self.path / NAMES
        if not path.is_file():
            return None
        try:
            values = json.loads(path.read_text("utf-8")).get(kind)
            return None if values is None else tuple(str(name) for name in values)
        except (AttributeError, OSError, TypeError, ValueError) as error:
            raise self._damaged(NAMES, error) from error

    def predictions(self) -> npt.NDArray[np.int64]:
        """Return the class that a supervised method predicts for each node."""
        nodes = self.metrics()["nodes"]
        try:
            values = np.load(self.path / PREDICTIONS, allow_pickle=False)
            if values.shape != (nodes,) or values.dtype.kind != "i":
                raise ValueError("it is not a class for each node")
            return np.asarray(values)
        except (EOFError, OSError, ValueError) as error:
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
        try:
            return np.asarray(np.load(self.path / HELD_OUT, allow_pickle=False))
        except (EOFError, OSError, ValueError) as error:
            raise self._damaged(HELD_OUT, error) from error

    def check_held_out(self, expected: npt.NDArray[np.int64]) -> None:
        """Check that the recorded held-out edges are those of the configuration."""
        if not np.array_equal(self.held_out(), expected):
            raise self._damaged(HELD_OUT, ValueError("it holds other edges than config.toml says"))

    def model(self, readout_scope: int | ScopeName | None = None) -> Model:
        """Load the trained model on the CPU, with another readout scope where one is given."""
        from safetensors.torch import load_file

        params = {} if readout_scope is None else {"readout_scope": readout_scope}
        method = self.config.load_method()
        settings = self.config.settings.replace(**params)
        metrics = self.metrics()
        shape = Shape(metrics["nodes"], metrics["features"], metrics.get("classes", 0))
        model = method.new_model(shape, settings, self.config.seed)
        try:
            model.load_state_dict(load_file(self.path / "model.safetensors"))
        except (OSError, RuntimeError, SafetensorError) as error:
            raise self._damaged("model.safetensors", error) from error
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

        num_features = self.metrics()["features"]
        inductive = self.config.load_method().inductive
        if graph.num_features != num_features and inductive:
            raise UGCLError(
                f"the graph has {graph.num_features:,} features but {self.path} was trained on "
                f"{num_features:,}: pass a graph with the same features"
            )
        if graph.fingerprint == self.config.fingerprint and not inductive:
            graph, _ = self.config.training_graph(graph)
        device = resolve_device(device or self.config.device)
        return self.model(readout_scope).to(device).embed(graph, device)

    def save_results(
        self,
        graph: Graph,
        model: Model,
        embeddings: Embeddings,
        metrics: dict[str, Any],
        predictions: npt.NDArray[np.int64] | None = None,
    ) -> None:
        """Write the results; `metrics.json` comes last and marks the run as finished."""
        from safetensors.torch import save_file

        with atomic(self.path / "model.safetensors") as temporary:
            weights = {name: value.cpu() for name, value in model.state_dict().items()}
            save_file(weights, temporary, metadata={"config.toml": self.config.to_toml()})
        if sp.issparse(embeddings):
            write_csr(self.path / SPARSE, embeddings)
        else:
            write_npy(self.path / DENSE, embeddings)
        if predictions is not None:
            write_npy(self.path / PREDICTIONS, predictions)
        columns: dict[str, Any] = {"node": np.arange(graph.num_nodes)}
        if graph.ids is not None:
            columns["id"] = graph.ids
        if graph.labels is not None:
            columns["label"] = graph.labels
        if graph.labels is not None and graph.class_names is not None:
            columns["class"] = np.array([*graph.class_names, ""])[graph.labels]
        names = {"features": graph.feature_names, "classes": graph.class_names}
        if known := {name: list(value) for name, value in names.items() if value is not None}:
            write_json(self.path / NAMES, known)
        with atomic(self.path / "nodes.parquet") as temporary:
            table = pa.table({name: to_column(values) for name, values in columns.items()})
            pq.write_table(table, temporary)
        write_json(self.path / "metrics.json", metrics)

    def _damaged(self, name: str, error: Exception) -> UGCLError:
        return UGCLError(
            f"{self.path / name} cannot be read ({error}): train again with `config` "
            f"{self.path / 'config.toml'} and another `out`"
        )


def check_new(path: Path) -> None:
    """Refuse the path of a new run folder if it exists and is not empty."""
    try:
        if path.exists() and (not path.is_dir() or any(path.iterdir())):
            how = ", delete it, or continue with `resume`" * (path / "config.toml").is_file()
            raise UGCLError(f"{path} exists already: choose another `out`{how}")
    except OSError as error:
        raise _unusable(path, error) from error


def _unusable(path: Path, error: OSError) -> UGCLError:
    return UGCLError(f"cannot make the run folder {path}: {error.strerror}; choose another `out`")


def load_run(path: str | Path) -> Run:
    """Open the folder of a finished run."""
    run = Run.open(path)
    run.require_finished()
    return run


def all_finite(embeddings: Embeddings) -> bool:
    """Return whether all entries of an array or a SciPy matrix are finite."""
    return bool(np.isfinite(embeddings.data if sp.issparse(embeddings) else embeddings).all())
