"""A run is a folder; each of its files is written whole or not at all."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from ugcl.errors import UGCLError
from ugcl.files import atomic, write_json, write_npy, write_text
from ugcl.graph import Graph
from ugcl.methods import Model
from ugcl.runs.config import RunConfig
from ugcl.scope import ScopeName

RESULTS = ("model.safetensors", "embeddings.npy", "nodes.parquet", "metrics.json")
"""What a finished run holds besides its configuration and its log."""


@dataclass(frozen=True)
class Run:
    """A run folder and what it was configured to do.

    Files: `config.toml`, `log.jsonl` (a line an epoch, as it goes), `checkpoint.safetensors` (while
    it trains), then `model.safetensors`, `embeddings.npy`, `nodes.parquet` and, last of all,
    `metrics.json`.
    """

    path: Path
    config: RunConfig

    @classmethod
    def create(cls, path: Path, config: RunConfig) -> Run:
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
    def open(cls, path: str | Path) -> Run:
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
        return all((self.path / name).is_file() for name in RESULTS)

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
            return dict(read | {"features": int(read["features"])})
        except (KeyError, OSError, TypeError, ValueError) as error:
            raise self._damaged("metrics.json", error) from error

    def embeddings(self) -> npt.NDArray[np.float32]:
        """The embeddings, rows in the graph's order, mapped from disk."""
        self.require_finished()
        try:
            mapped: npt.NDArray[np.float32] = np.load(
                self.path / "embeddings.npy", mmap_mode="r", allow_pickle=False
            )
            if mapped.ndim != 2 or not np.isfinite(mapped).all():
                raise ValueError("it is not a table of finite numbers")
        except (EOFError, OSError, ValueError) as error:
            raise self._damaged("embeddings.npy", error) from error
        return mapped

    def model(self, readout_scope: int | ScopeName | None = None) -> Model:
        """The trained model, on the CPU; it reads out at another scope if one is given."""
        changes = {} if readout_scope is None else {"readout_scope": readout_scope}
        config = replace(self.config, settings=self.config.settings.replace(**changes))
        model = config.untrained_model(self.metrics()["features"])
        try:
            model.load_state_dict(load_file(self.path / "model.safetensors"))
        except (OSError, RuntimeError, SafetensorError) as error:
            raise self._damaged("model.safetensors", error) from error
        return model

    def save_results(
        self,
        graph: Graph,
        model: Model,
        embeddings: npt.NDArray[np.float32],
        metrics: dict[str, Any],
    ) -> None:
        """Write the results; `metrics.json` comes last and says that all the rest is there."""
        with atomic(self.path / "model.safetensors") as temporary:
            weights = {name: value.cpu() for name, value in model.state_dict().items()}
            save_file(weights, temporary)
        write_npy(self.path / "embeddings.npy", embeddings)
        columns = {"node": np.arange(graph.num_nodes)}
        if graph.ids is not None:
            columns["id"] = graph.ids
        if graph.labels is not None:
            columns["label"] = graph.labels
        with atomic(self.path / "nodes.parquet") as temporary:
            pq.write_table(pa.table(columns), temporary)
        write_json(self.path / "metrics.json", metrics)

    def _damaged(self, name: str, error: Exception) -> UGCLError:
        return UGCLError(
            f"{self.path / name} cannot be read ({error}): train again with --config "
            f"{self.path / 'config.toml'} and another --out"
        )
