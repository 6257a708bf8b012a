"""GraphML and GML, and NetworkX graphs."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import ParseError

from ugcl._utils.extras import required
from ugcl.data.npz import UNREADABLE
from ugcl.data.readers.tables import check_file, ending, unreadable

NETWORKS = (".graphml", ".gml")


def is_network(source: Any) -> bool:
    """Whether this is a NetworkX graph; NetworkX itself is not needed to tell."""
    return all(hasattr(source, name) for name in ("is_directed", "nodes", "edges", "adj"))


def read_network(path: Path) -> Any:
    """Read a GraphML or GML file, gzipped or not, as a NetworkX graph."""
    check_file(path)
    nx = required("networkx", f"reading {path.name}", "interop")
    try:
        with gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb") as stream:
            if ending(path) == ".gml":
                return nx.read_gml(stream)
            return nx.read_graphml(stream)
    except (*UNREADABLE, ParseError, nx.NetworkXException) as error:
        raise unreadable(path.name, error) from error
