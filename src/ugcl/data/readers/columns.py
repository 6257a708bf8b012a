"""Names of columns: those that the user gives, and common names to guess the others."""

from __future__ import annotations

from dataclasses import dataclass

ENDPOINTS = (
    ("source", "target"),
    ("src", "dst"),
    ("from", "to"),
    ("u", "v"),
    ("head", "tail"),
    ("id_1", "id_2"),
    ("id1", "id2"),
    ("node1", "node2"),
    ("node_1", "node_2"),
    ("source_id", "target_id"),
    ("from_id", "to_id"),
    ("fromnodeid", "tonodeid"),
    ("sender", "receiver"),
    ("follower", "followee"),
)
WEIGHTS = ("weight", "weights")
IDS = ("id", "node", "node_id", "nodeid")
LABELS = ("label", "labels", "class")
SPLITS = ("split",)
"""Common names of the columns of edge endpoints, weights, ids, labels and splits."""

INDEX_NAMES = ("", "unnamed: 0", "__index_level_0__")
"""Names of the unnamed index of a pandas frame, in CSV files and in Arrow tables."""


def is_id_name(column: str) -> bool:
    """Return whether a name looks like that of an id: `user_id`, `userId`, `User ID`."""
    return column.lower().endswith(("_id", " id", "-id")) or column.endswith(("Id", "ID"))


def looks_like_header(rows: list[list[str]], *, edges: bool) -> bool:
    """Return whether the first row is a header.

    It is one if it contains common names, or text above a column of numbers. In a table of nodes it
    may also be 0, 1, 2, ..., as pandas numbers columns; in a list of edges that is an edge.
    """
    first, others = rows[0], rows[1:]
    names = {name.strip().lower() for name in first}
    if any(names >= {*ends} for ends in ENDPOINTS):
        return True
    named = names & {*IDS, *LABELS, *SPLITS} or any(is_id_name(name.strip()) for name in first)
    if not edges and (named or _is_range(first, others)):
        return True
    if any(_is_number(cell) for cell in first):
        return False
    columns = ([row[i] for row in others if i < len(row) and row[i]] for i in range(len(first)))
    return any(column and all(_is_number(cell) for cell in column) for column in columns)


def _is_range(first: list[str], others: list[list[str]]) -> bool:
    cells = first if first[0] else first[1:]
    if cells != [str(i) for i in range(len(cells))]:
        return False
    return not first[0] or len(cells) > 2 or any("." in cell for row in others for cell in row)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


@dataclass(frozen=True)
class Columns:
    """Names of columns that the user gives; "" for those to guess.

    Attributes:
        source: first node of an edge.
        target: second node of an edge.
        weight: weight of an edge.
        id: id of a node, in features and labels.
        label: class of a node.
        split: part of the split: train, val or test.
        ignore: columns that are not features.
        directed: whether (u, v) and (v, u) are distinct edges, whose weights are summed.
        header: whether the first line of the edges is a header; None to guess.
        feature: feature of a row, in a table with a row for each node and feature.
    """

    source: str = ""
    target: str = ""
    weight: str = ""
    id: str = ""
    label: str = ""
    split: str = ""
    ignore: tuple[str, ...] = ()
    directed: bool = False
    header: bool | None = None
    feature: str = ""

    @property
    def edge_columns(self) -> tuple[str, ...]:
        """Given names of columns of the edges."""
        return tuple(name for name in (self.source, self.target, self.weight) if name)

    @property
    def node_columns(self) -> tuple[str, ...]:
        """Given names of columns of features or labels."""
        return tuple(name for name in (self.id, self.label, self.split, self.feature) if name)
