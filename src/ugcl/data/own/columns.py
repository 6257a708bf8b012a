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
    ("fromnodeid", "tonodeid"),
)
WEIGHTS = ("weight", "weights")
IDS = ("id", "node", "node_id", "nodeid", "__index_level_0__")
LABELS = ("label", "labels", "class")
SPLITS = ("split",)
INDEX = ("", "unnamed: 0")
"""What the columns of ends of edges, weights, ids, labels and splits are commonly called, and that
of a numbering that pandas wrote; the last of the ids is how Arrow calls the index of a frame."""


def looks_like_header(first: list[str], second: list[str] | None) -> bool:
    """Whether a first line names columns: by well-known names, or as text above numbers."""
    names = {name.strip().lower() for name in first}
    if any(names >= {*ends} for ends in ENDS) or names & {*WEIGHTS, *IDS, *LABELS, *SPLITS}:
        return True
    if any(_is_number(cell) for cell in first) or second is None:
        return False
    return any(_is_number(cell) for cell in second)


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
