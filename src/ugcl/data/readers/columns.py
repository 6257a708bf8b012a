"""Which column is what, as the user says; what is not said is guessed by common names."""

from __future__ import annotations

from dataclasses import dataclass

ENDS = (
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
"""What the columns of ends of edges, weights, ids, labels and splits are commonly called."""

NUMBERING = ("", "unnamed: 0", "__index_level_0__")
"""What the index of a pandas frame is called that has no name, in a CSV and by Arrow."""


def is_id_name(column: str) -> bool:
    """Whether a column is called like an id: `user_id`, `userId`, `User ID`."""
    return column.lower().endswith(("_id", " id", "-id")) or column.endswith(("Id", "ID"))


def looks_like_header(rows: list[list[str]], *, edges: bool) -> bool:
    """Whether the first of some rows names columns.

    It does if it has well-known names, or text above nothing but numbers. In a table of nodes that
    may also be 0, 1, 2, ..., as pandas numbers columns; in a list of edges it is an edge.
    """
    first, others = rows[0], rows[1:]
    names = {name.strip().lower() for name in first}
    if any(names >= {*ends} for ends in ENDS):
        return True
    if not edges and (names & {*IDS, *LABELS, *SPLITS} or _numbered(first, others)):
        return True
    if any(_is_number(cell) for cell in first):
        return False
    columns = ([row[i] for row in others if i < len(row) and row[i]] for i in range(len(first)))
    return any(column and all(_is_number(cell) for cell in column) for column in columns)


def _numbered(first: list[str], others: list[list[str]]) -> bool:
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
    """The user's own names of columns; "" for those that are to be guessed.

    Attributes:
        source: the first node of an edge.
        target: the second.
        weight: its weight.
        id: a node's id, in the features and in the labels.
        label: its class.
        split: whether it is for training, validation or test.
        ignore: columns that are no features.
        directed: whether two opposite edges are two: their weights are added.
    """

    source: str = ""
    target: str = ""
    weight: str = ""
    id: str = ""
    label: str = ""
    split: str = ""
    ignore: tuple[str, ...] = ()
    directed: bool = False

    @property
    def of_edges(self) -> tuple[str, ...]:
        """Those that the edges must have."""
        return tuple(name for name in (self.source, self.target, self.weight) if name)

    @property
    def of_nodes(self) -> tuple[str, ...]:
        """Those that tables of nodes may have."""
        return tuple(name for name in (self.id, self.label, self.split) if name)
