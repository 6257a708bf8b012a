"""Reader of Pajek's `.net` files: vertices, arcs and edges."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ugcl.data.readers.limits import pieces
from ugcl.data.readers.streams import open_utf8

LISTS = {"*arcs": (True, False), "*edges": (False, False)}
LISTS |= {"*arcslist": (True, True), "*edgeslist": (False, True)}
"""Sections of lines, whether they are directed, and whether a line has several targets."""


@dataclass
class PajekGraph:
    """Contents of a `.net` file.

    Attributes:
        ids: label of each vertex where all have distinct ones, else its number from 1.
        ends: E x 2 positions of vertices.
        weights: weight of each line; None if all are 1.
        directed: whether there are arcs.
    """

    ids: npt.NDArray[np.str_] | npt.NDArray[np.int64]
    ends: npt.NDArray[np.int64]
    weights: npt.NDArray[np.float64] | None
    directed: bool


@dataclass
class _Lines:
    count: int = -1
    labels: dict[int, str] = field(default_factory=dict)
    ends: list[tuple[int, int]] = field(default_factory=list)
    weights: list[float] = field(default_factory=list)
    directed: bool = False


def read_pajek(path: Path) -> PajekGraph:
    """Read a `.net` file; coordinates and shapes are ignored."""
    for _ in pieces(path):  # refuses one that expands too much
        pass
    with open_utf8(path) as stream:
        text = stream.read().decode("utf-8-sig")
    found, section = _Lines(), ""
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if not words or words[0].startswith("%"):
            continue
        if words[0].startswith("*"):
            section = words[0].lower().rstrip(":")
            if section == "*vertices":
                found.count = int(words[1])
            elif section == "*matrix":
                raise ValueError("it holds a *Matrix: save the lines as *Arcs or *Edges")
            continue
        try:
            _read_line(found, section, line, words)
        except ValueError as error:
            raise ValueError(f"line {number} of {section or 'no section'}: {error}") from error
    if found.count < 0:
        raise ValueError("it has no *Vertices")
    ends = np.array(found.ends, dtype=np.int64).reshape(-1, 2) - 1
    if ends.size and not 0 <= ends.min() <= ends.max() < found.count:
        raise ValueError(f"vertices must be from 1 to {found.count:,}, but one is not")
    weights = np.array(found.weights)
    return PajekGraph(_ids(found), ends, None if (weights == 1).all() else weights, found.directed)


def _read_line(found: _Lines, section: str, line: str, words: list[str]) -> None:
    if section == "*vertices":
        cells = shlex.split(line) if '"' in line else words
        if len(cells) > 1:
            found.labels[int(cells[0])] = cells[1]
    elif section in LISTS:
        directed, several = LISTS[section]
        found.directed |= directed
        targets = words[1:] if several else words[1:2]
        if not targets:
            raise ValueError("it has one vertex only")
        found.ends += [(int(words[0]), int(target)) for target in targets]
        weight = float(words[2]) if len(words) > 2 and not several else 1.0
        found.weights += [weight] * len(targets)


def _ids(found: _Lines) -> npt.NDArray[np.str_] | npt.NDArray[np.int64]:
    labels = [found.labels.get(i) for i in range(1, min(found.count, len(found.labels)) + 1)]
    if len(labels) == found.count and None not in labels and len({*labels}) == found.count:
        return np.array(labels, dtype=np.str_)
    return np.arange(1, found.count + 1)
