"""`GraphFiles`: the files of a user's graph."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Self

from ugcl._utils.errors import UGCLError
from ugcl.data.catalogue import DATASETS
from ugcl.data.readers.columns import Columns
from ugcl.data.readers.paths import absolute


@dataclass(frozen=True)
class GraphFiles(Columns):
    """Files of a graph and names of their columns; `load_graph` accepts it instead of a path.

    Attributes:
        edges: file of edges; several, as a glob, a folder or a comma-separated list; or any other
            graph that `load_graph` accepts.
        features: file of features; "" for none.
        labels: file of labels; "" for none.
        ids: file of the ids of the rows of features; "" if the features contain ids.
    """

    edges: str = ""
    features: str = ""
    labels: str = ""
    ids: str = ""

    def __post_init__(self) -> None:
        if not self.edges:
            raise UGCLError("features and labels need edges: pass `edges`")

    @property
    def columns(self) -> Columns:
        """The names of columns."""
        return Columns(**{field.name: getattr(self, field.name) for field in fields(Columns)})

    def resolved(self) -> Self:
        """Return a copy with absolute paths; the name of a data set stays."""
        paths: dict[str, Any] = {
            name: absolute(path)
            for name in ("edges", "features", "labels", "ids")
            if (path := getattr(self, name))
        }
        if self.edges.lower() in DATASETS:
            paths["edges"] = self.edges.lower()
        return replace(self, **paths)

    def values(self) -> dict[str, Any]:
        """Return the fields that differ from their defaults, except `edges`, for a config file."""
        values = {name: value for name, value in asdict(self).items() if value and name != "edges"}
        values |= {} if self.header is None else {"header": self.header}
        return values | ({"ignore": list(self.ignore)} if self.ignore else {})

    @classmethod
    def from_values(cls, edges: str, values: Mapping[str, Any]) -> Self:
        """Create an instance from the values of a config file."""
        names = {field.name for field in fields(cls)}
        for name, value in values.items():
            expected_type: type = {"directed": bool, "header": bool, "ignore": list}.get(name, str)
            if name not in names or not isinstance(value, expected_type):
                raise UGCLError(f"files has {name} = {value!r}, which is not a valid setting")
        return cls(edges=edges, **{**values, "ignore": tuple(values.get("ignore", ()))})
