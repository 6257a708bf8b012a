"""Add outputs of `ugcl study`, `ugcl bench` and `ugcl scope` to a file of results.

    python tools/collect.py results/paired.jsonl build/paired/*.json

Each JSON file becomes one line, with the file's name without `.json` as its `name`. A line of that
name is replaced. Graphs that were given as files are named without their folder. results/README.md
says which outputs belong to which file.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from ugcl._utils.files import write_text

RESULTS = Path(__file__).parents[1] / "results"

Record = dict[str, Any]


def read_records(path: Path) -> list[Record]:
    """Return the records of a JSONL file, none if it does not exist."""
    lines = path.read_text("utf-8").splitlines() if path.is_file() else []
    return [json.loads(line) for line in lines]


def find_record(records: list[Record], **fields: Any) -> Record | None:
    """Return the first record with these values, or None."""
    return next((r for r in records if all(r.get(k) == v for k, v in fields.items())), None)


def put_record(path: Path, record: Record, *key: str) -> None:
    """Write `record` in place of the one with the same values of the `key` fields, or append it."""
    records = read_records(path)
    old = find_record(records, **{name: record[name] for name in key})
    if old is None:
        records.append(record)
    else:
        records[records.index(old)] = record
    write_text(path, "".join(json.dumps(r, ensure_ascii=False) + "\n" for r in records))


def main() -> None:
    """Collect the files named on the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("results", type=Path, help="the JSONL file to add to")
    parser.add_argument("outputs", type=Path, nargs="+", help="the JSON files to add")
    args = parser.parse_args()
    for path in args.outputs:
        output = json.loads(path.read_text("utf-8"))
        if Path(output.get("graph", "")).is_absolute():
            output["graph"] = Path(output["graph"]).stem
        put_record(args.results, {"name": path.stem} | output, "name")


if __name__ == "__main__":
    main()
