"""`GraphFiles`: where the parts of a graph are, as a run remembers it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, Self

from ugcl._utils.errors import UGCLError
from ugcl.data.catalogue import DATASETS
from ugcl.data.readers.columns import Columns


@dataclass(frozen=True)
class GraphFiles(Columns):
    """The files of a graph, and which column is what; `load_graph` takes it in place of a path.

    Attributes:
        edges: the file of edges.
        features: that of features; "" for none.
        labels: that of labels; "" for none.
        ids: that of the ids of the features' rows, where the features have none.
    """

    edges: str = ""
    features: str = ""
    labels: str = ""
    ids: str = ""

    def __post_init__(self) -> None:
        if not self.edges:
            raise UGCLError("features and labels need edges to go with: give --edges FILE")

    @property
    def columns(self) -> Columns:
        """Which column is what."""
        return Columns(**{field.name: getattr(self, field.name) for field in fields(Columns)})

    def resolved(self) -> Self:
        """The same with absolute paths, but for a data set's name."""
        paths: dict[str, Any] = {
            name: str(Path(path).resolve())
            for name in ("edges", "features", "labels", "ids")
            if (path := getattr(self, name))
        }
        if self.edges.lower() in DATASETS:
            paths["edges"] = self.edges.lower()
        return replace(self, **paths)

    def values(self) -> dict[str, Any]:
        """What differs from the defaults, but for the edges, as plain data."""
        given = {name: value for name, value in asdict(self).items() if value and name != "edges"}
        return given | ({"ignore": list(self.ignore)} if self.ignore else {})

    @classmethod
    def from_values(cls, edges: str, values: Mapping[str, Any]) -> Self:
        """From plain data, as a configuration holds it."""
        known = {field.name: field for field in fields(cls)}
        for name, value in values.items():
            wanted: type = {"directed": bool, "ignore": list}.get(name, str)
            if name not in known or not isinstance(value, wanted):
                raise UGCLError(f"files has {name} = {value!r}, which is nothing that it may have")
        return cls(edges=edges, **{**values, "ignore": tuple(values.get("ignore", ()))})
