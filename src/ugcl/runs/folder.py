"""A run is a folder; each of its files is written whole or not at all."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, Self
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.sparse as sp
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from ugcl._utils.errors import UGCLError
from ugcl._utils.files import atomic, write_csr, write_json, write_npy, write_text
from ugcl.graph import Graph
from ugcl.methods import Model, Shape
from ugcl.runs.config import RunConfig
from ugcl.scope import ScopeName

RESULTS = ("model.safetensors", "nodes.parquet", "metrics.json")
"""What a finished run holds besides its configuration, its log and its embeddings."""

PREDICTIONS, HELD_OUT = "predictions.npy", "held_out_edges.npy"

NAMES = "names.json"
"""What the user calls features and classes, where the graph says so."""

DENSE, SPARSE = "embeddings.npy", "embeddings.npz"
"""Where the embeddings are: an array, or a SciPy CSR matrix."""


@dataclass(frozen=True)
class Run:
    """A run folder and what it was configured to do.

    Files: `config.toml`, `log.jsonl` (a line an epoch, as it goes), `checkpoint.safetensors` (while
    it trains), `held_out_edges.npy` (where edges were held out), then `model.safetensors`,
    `embeddings.npy` (`embeddings.npz` where they are sparse), `predictions.npy` (of a method that
    learns from labels), `nodes.parquet`, `names.json` (of features and classes, where they have
    any) and, last of all, `metrics.json`.
    """

    path: Path
    config: RunConfig

    @classmethod
    def create(cls, path: Path, config: RunConfig) -> Self:
        """A new run folder; refuses one that exists and is not empty."""
        try:
            taken = path.exists() and (not path.is_dir() or any(path.iterdir()))
            if taken:
                how = ", or go on with that run by --resume" * (path / "config.toml").is_file()
                raise UGCLError(f"{path} exists already: choose another --out{how}")
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UGCLError(
                f"cannot make the run folder {path}: {error.strerror}; choose another --out"
            ) from error
        write_text(path / "config.toml", config.to_toml())
        return cls(path, config)

    @classmethod
    def open(cls, path: str | Path) -> Self:
        """An existing run folder, finished or not."""
        folder = Path(path)
        if not (folder / "config.toml").is_file():
            raise UGCLError(
                f"{folder} is not a run folder: give the folder that ugcl train --out named"
            )
        return cls(folder, RunConfig.read(folder / "config.toml"))

    @property
    def finished(self) -> bool:
        """Whether training came to its end and everything is written."""
        return self.embeddings_file.is_file() and all(
            (self.path / name).is_file() for name in RESULTS
        )

    @property
    def embeddings_file(self) -> Path:
        """Where the embeddings are."""
        sparse = self.path / SPARSE
        return sparse if sparse.is_file() else self.path / DENSE

    def require_finished(self) -> None:
        """Refuse a run that has no embeddings yet."""
        if not self.finished:
            raise UGCLError(
                f"{self.path} is not finished: go on with ugcl train --out {self.path} --resume"
            )

    def metrics(self) -> dict[str, Any]:
        """The contents of `metrics.json`."""
        self.require_finished()
        try:
            read = json.loads((self.path / "metrics.json").read_text("utf-8"))
            return dict(read | {name: int(read[name]) for name in ("nodes", "features")})
        except (KeyError, OSError, TypeError, ValueError) as error:
            raise self._damaged("metrics.json", error) from error

    def embeddings(self) -> Any:
        """The embeddings, rows in the graph's order: an array mapped from disk, or a SciPy CSR."""
        self.require_finished()
        file = self.embeddings_file
        try:
            if file.name == SPARSE:
                with file.open("rb") as stream:
                    found = sp.csr_array(sp.load_npz(stream))
            else:
                found = np.load(file, mmap_mode="r", allow_pickle=False)
            if found.ndim != 2 or not all_finite(found):
                raise ValueError("it is not a table of finite numbers")
        except (EOFError, KeyError, OSError, ValueError, BadZipFile) as error:
            raise self._damaged(file.name, error) from error
        return found

    def nodes(self) -> pa.Table:
        """The nodes in the order of the embeddings: `node`, and `id`, `label`, `class` if known."""
        count = self.metrics()["nodes"]
        try:
            found = pq.read_table(self.path / "nodes.parquet")
            if found.num_rows != count or "node" not in found.column_names:
                raise ValueError("it is not a table of the nodes")
        except (KeyError, OSError, ValueError) as error:
            raise self._damaged("nodes.parquet", error) from error
        return found

    def ids(self) -> npt.NDArray[Any]:
        """The ids of the nodes in the order of the embeddings; their numbers if they have none."""
        nodes = self.nodes()
        values = nodes["id" if "id" in nodes.column_names else "node"].to_numpy()
        return np.asarray(values if values.dtype.kind in "iu" else values.astype(np.str_))

    def names(self, what: Literal["features", "classes"]) -> tuple[str, ...] | None:
        """The user's names of the features or the classes; None where they have none."""
        path = self.path / NAMES
        if not path.is_file():
            return None
        try:
            found = json.loads(path.read_text("utf-8")).get(what)
            return None if found is None else tuple(str(name) for name in found)
        except (AttributeError, OSError, TypeError, ValueError) as error:
            raise self._damaged(NAMES, error) from error

    def predictions(self) -> npt.NDArray[np.int64]:
        """The class of each node as a method that learns from labels sees it."""
        nodes = self.metrics()["nodes"]
        try:
            found = np.load(self.path / PREDICTIONS, allow_pickle=False)
            if found.shape != (nodes,) or found.dtype.kind != "i":
                raise ValueError("it is not a class for each node")
            return np.asarray(found)
        except (EOFError, OSError, ValueError) as error:
            raise self._damaged(PREDICTIONS, error) from error

    def require_held_out(self) -> None:
        """Refuse a run that has seen all edges."""
        if not self.config.hold_out_edges:
            raise UGCLError(
                f"{self.path} held out no edges, so it has seen all of them and links cannot be "
                "scored: train it again with --hold-out-edges 0.1"
            )

    def held_out(self) -> npt.NDArray[np.int64]:
        """The edges that training did not see, E x 2 node numbers."""
        self.require_held_out()
        try:
            return np.asarray(np.load(self.path / HELD_OUT, allow_pickle=False))
        except (EOFError, OSError, ValueError) as error:
            raise self._damaged(HELD_OUT, error) from error

    def check_held_out(self, expected: npt.NDArray[np.int64]) -> None:
        """Refuse a record of other edges than the configuration holds out."""
        if not np.array_equal(self.held_out(), expected):
            raise self._damaged(HELD_OUT, ValueError("it holds other edges than config.toml says"))

    def model(self, readout_scope: int | ScopeName | None = None) -> Model:
        """The trained model, on the CPU; it reads out at another scope if one is given."""
        changes = {} if readout_scope is None else {"readout_scope": readout_scope}
        config = replace(self.config, settings=self.config.settings.replace(**changes))
        metrics = self.metrics()
        shape = Shape(metrics["nodes"], metrics["features"], metrics.get("classes", 0))
        model = config.untrained_model(shape)
        try:
            model.load_state_dict(load_file(self.path / "model.safetensors"))
        except (OSError, RuntimeError, SafetensorError) as error:
            raise self._damaged("model.safetensors", error) from error
        return model

    def save_results(
        self,
        graph: Graph,
        model: Model,
        embeddings: Any,
        metrics: dict[str, Any],
        predictions: npt.NDArray[np.int64] | None = None,
    ) -> None:
        """Write the results; `metrics.json` comes last and says that all the rest is there."""
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
            pq.write_table(pa.table(columns), temporary)
        write_json(self.path / "metrics.json", metrics)

    def _damaged(self, name: str, error: Exception) -> UGCLError:
        return UGCLError(
            f"{self.path / name} cannot be read ({error}): train again with --config "
            f"{self.path / 'config.toml'} and another --out"
        )


def all_finite(embeddings: Any) -> bool:
    """Whether all entries of an array or a SciPy matrix are finite."""
    return bool(np.isfinite(embeddings.data if sp.issparse(embeddings) else embeddings).all())
