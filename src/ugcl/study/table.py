"""Tables of a study, and their files: CSV, JSON, Markdown and LaTeX."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import Any

from ugcl._utils.files import write_json, write_text

NOT_RUN = "not run"

DIFFERS = "†"
"""The mark of a figure that differs from the published one by more than two deviations."""

FOOTNOTES = "ᵃᵇᶜᵈᵉᶠᵍʰʲᵏ"
"""The marks of footnotes, in order; the notes of a table with more stay beside the figures."""


@dataclass(frozen=True)
class Entry:
    """A figure of a table.

    Attributes:
        mean: the figure; None where there is none.
        deviation: its standard deviation over seeds.
        published: the published mean and deviation.
        low: the lower end of its 95 % interval, where it has one.
        high: the upper end.
        note: what is particular about it, such as fewer seeds or the reason of a failure.
        digits: decimals.
        unit: what follows the figure, such as "%".
    """

    mean: float | None
    deviation: float | None = None
    published: tuple[float, float | None] | None = None
    low: float | None = None
    high: float | None = None
    note: str = ""
    digits: int = 1
    unit: str = ""

    @property
    def differs(self) -> bool:
        """Whether it is more than two deviations, the larger of both, from the published mean."""
        if self.mean is None or self.published is None:
            return False
        deviations = [value for value in (self.deviation, self.published[1]) if value]
        gap = abs(self.mean - self.published[0]) - 1e-9
        return bool(deviations) and gap > 2 * max(deviations)

    def text(self, mark: str = "") -> str:
        """Return the figure with its deviation or interval, its note, and the published one.

        Args:
            mark: the mark of a footnote that stands for the note.
        """
        if self.mean is None:
            parts = [self.note or NOT_RUN]
        else:
            sign = "+" if self.low is not None else ""
            text = f"{self.mean:{sign},.{self.digits}f}{self.unit}"
            if self.deviation is not None:
                text += f" ± {self.deviation:.{self.digits}f}"
            if self.low is not None and self.high is not None:
                text += f" [{self.low:+.{self.digits}f}, {self.high:+.{self.digits}f}]"
            parts = [text + mark, f"({self.note})" if self.note and not mark else ""]
        if self.published is not None:
            differs = DIFFERS if self.differs else ""
            parts.append(f"({self.published[0]:,.{self.digits}f}{differs})")
        return " ".join(filter(None, parts))


Row = tuple[str, Sequence[Entry | str]]
"""The name of a row and its entries, figures or text."""


@dataclass(frozen=True)
class Table:
    """A table of figures.

    Attributes:
        name: the name of its files.
        title: what it shows.
        corner: the head of the column of row names.
        columns: the heads of the columns.
        rows: the name of each row and its entries, figures or text.
        ranked: names of the rows whose best figure in each column is bold and the second
            underlined.
        notes: sentences below the table.
        unit: the unit of figures that have none of their own, for CSV and JSON; gains, the figures
            with an interval, are in points.
    """

    name: str
    title: str
    corner: str
    columns: Sequence[str]
    rows: Sequence[Row]
    ranked: frozenset[str] = frozenset()
    notes: Sequence[str] = field(default_factory=tuple)
    unit: str = ""

    @property
    def has_figures(self) -> bool:
        """Whether any figure has been computed."""
        entries = [entry for _, row in self.rows for entry in row]
        return any(isinstance(entry, Entry) and entry.mean is not None for entry in entries)

    def ranks(self) -> dict[tuple[int, int], int]:
        """Return, by row and column, 1 for the best figures of the ranked rows, 2 for second."""
        ranks: dict[tuple[int, int], int] = {}
        for column in range(len(self.columns)):
            figures = {
                row: round(entry.mean, entry.digits)
                for row, (name, entries) in enumerate(self.rows)
                if name in self.ranked
                and isinstance(entry := entries[column], Entry)
                and entry.mean is not None
                and entry.low is None  # a gain is not ranked: its interval says what it is worth
                and isfinite(entry.mean)
            }
            for rank, value in enumerate(sorted(set(figures.values()), reverse=True)[:2], 1):
                ranks |= {(row, column): rank for row, mean in figures.items() if mean == value}
        return ranks

    def marks(self) -> dict[str, str]:
        """Return the mark of each note of a figure, in the order of the rows."""
        entries = [entry for _, row in self.rows for entry in row if isinstance(entry, Entry)]
        notes = dict.fromkeys(e.note for e in entries if e.mean is not None and e.note)
        return {} if len(notes) > len(FOOTNOTES) else dict(zip(notes, FOOTNOTES, strict=False))

    def sentences(self) -> list[str]:
        """Return the notes below the table, the footnotes last."""
        footnotes = "; ".join(f"{mark} {note}" for note, mark in self.marks().items())
        return [*self.notes, *([f"{footnotes}."] if footnotes else [])]

    def texts(self, best: str = "{}", second: str = "{}") -> Iterator[tuple[str, ...]]:
        """Yield the heads and the rows as text; `best` and `second` format ranked entries."""
        yield (self.corner, *self.columns)
        ranks, marks = self.ranks(), self.marks()
        for number, (name, entries) in enumerate(self.rows):
            cells = []
            for column, entry in enumerate(entries):
                text = entry if isinstance(entry, str) else entry.text(marks.get(entry.note, ""))
                style = {1: best, 2: second}.get(ranks.get((number, column), 0), "{}")
                cells.append(style.format(text))
            yield (name, *cells)

    def markdown(self) -> str:
        """Return the table as Markdown."""
        heads, *rows = self.texts("**{}**", "<u>{}</u>")
        lines = [heads, ("---",) * len(heads), *rows]
        table = "\n".join("| " + " | ".join(line) + " |" for line in lines)
        notes = "".join(f"\n{note}\n" for note in self.sentences())
        return f"**{self.title}**\n\n{table}\n{notes}"

    def latex(self) -> str:
        """Return the table as LaTeX, for the package booktabs."""
        ranks, marks = self.ranks(), self.marks()
        lines = [
            "% needs \\usepackage{booktabs}",
            "\\begin{tabular}{l" + "r" * len(self.columns) + "}",
            "\\toprule",
            " & ".join(map(escape, (self.corner, *self.columns))) + " \\\\",
            "\\midrule",
        ]
        for number, (name, entries) in enumerate(self.rows):
            cells = [escape(name)]
            for column, entry in enumerate(entries):
                rank = ranks.get((number, column), 0)
                if not isinstance(entry, str):
                    entry = entry.text(marks.get(entry.note, ""))
                text = escape(entry)
                cells.append({1: "\\textbf{%s}", 2: "\\underline{%s}"}.get(rank, "%s") % text)
            lines.append(" & ".join(cells) + " \\\\")
        lines += ["\\bottomrule", "\\end{tabular}"]
        lines += [f"% {escape(note)}" for note in (self.title, *self.sentences())]
        return "\n".join(lines) + "\n"

    def csv(self) -> str:
        """Return one line for each figure."""
        out = io.StringIO()
        writer = csv.DictWriter(out, list(_RECORD), lineterminator="\n")
        writer.writeheader()
        writer.writerows(self._records())
        return out.getvalue()

    def to_json(self) -> dict[str, Any]:
        """Return the table as plain data."""
        return {
            "name": self.name,
            "title": self.title,
            "notes": self.sentences(),
            "entries": list(self._records()),
        }

    def _records(self) -> Iterator[dict[str, Any]]:
        for name, entries in self.rows:
            for column, entry in zip(self.columns, entries, strict=True):
                record = dict.fromkeys(_RECORD) | {"row": name, "column": column}
                if isinstance(entry, str):
                    yield record | {"text": entry}
                    continue
                mean, deviation = entry.published or (None, None)
                yield record | {
                    "mean": entry.mean,
                    "deviation": entry.deviation,
                    "low": entry.low,
                    "high": entry.high,
                    "published": mean,
                    "published_deviation": deviation,
                    "differs": entry.differs,
                    "unit": "points" if entry.low is not None else entry.unit.strip() or self.unit,
                    "text": entry.note if entry.mean is not None else entry.note or NOT_RUN,
                }

    def write(self, folder: Path) -> list[Path]:
        """Write the table in all formats."""
        paths = [folder / f"{self.name}.{end}" for end in ("csv", "json", "md", "tex")]
        write_text(paths[0], self.csv())
        write_json(paths[1], self.to_json())
        write_text(paths[2], self.markdown())
        write_text(paths[3], self.latex())
        return paths


_RECORD = (
    *("row", "column", "mean", "deviation", "low", "high"),
    *("published", "published_deviation", "differs", "unit", "text"),
)

_LATEX = {
    "\\": "\\textbackslash{}",
    **{char: f"\\{char}" for char in "&%$#_{}"},
    "~": "\\textasciitilde{}",
    "^": "\\textasciicircum{}",
    "±": "$\\pm$",
    "λ": "$\\lambda$",
    "²": "$^2$",
    "ⁿ": "$^n$",
    "₁": "$_1$",
    DIFFERS: "$^\\dagger$",
    **{mark: f"$^{letter}$" for mark, letter in zip(FOOTNOTES, "abcdefghjk", strict=True)},
}


def escape(text: str) -> str:
    """Return text for LaTeX."""
    return "".join(_LATEX.get(char, char) for char in text)
