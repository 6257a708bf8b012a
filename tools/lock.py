"""Write `requirements.txt`: the versions that the tests run with, and the hashes of their files.

    python tools/lock.py [--upgrade]

Versions stay as they are while pyproject.toml allows them; --upgrade takes the newest. Needs uv and
the network. PyTorch is left out, because its builds differ with the hardware and come from an index
of their own; so are the CUDA libraries that its Linux builds on PyPI require.
"""

from __future__ import annotations

import argparse
import re
import subprocess
from pathlib import Path

LOCK = Path(__file__).parents[1] / "requirements.txt"

COMMAND = (
    "uv pip compile pyproject.toml - --extra dev --python-version 3.11 --universal "
    "--generate-hashes --no-header --no-annotate --quiet --output-file requirements.txt"
)
"""What resolves the versions for all platforms; those in the file are preferred."""

WITH_TORCH = re.compile(r"cuda-|nvidia-|torch==|triton==")
"""PyTorch and what is installed with it only."""

HEADER = """\
# The versions that the tests run with, and the SHA-256 of PyPI's files for all platforms.
# Written by tools/lock.py (make lock). PyTorch comes second and is not hashed; see pytorch.org for
# the index of its builds for your hardware.
#   pip install --require-hashes -r requirements.txt
#   pip install {torch}
#   pip install --no-deps --no-build-isolation -e .
# {torch}
"""


def torch_requirement(lock: str) -> str:
    """Return the version of PyTorch, the last line of the header."""
    found = re.search(r"^# (torch==\S+)$", lock, re.M)
    if found is None:
        raise SystemExit(f"{LOCK.name} has no line like '# torch==2.13.0': add it")
    return found[1]


def without_torch(lock: str) -> str:
    """Return the packages without PyTorch and what is installed with it only."""
    packages = re.split(r"^(?=\w)", lock, flags=re.M)
    return "".join(each for each in packages[1:] if not WITH_TORCH.match(each))


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--upgrade", action="store_true", help="take the newest versions")
    command = COMMAND.split() + (["--upgrade"] if parser.parse_args().upgrade else [])
    before = LOCK.read_text("utf-8")
    torch = torch_requirement(before)
    try:
        subprocess.run(command, cwd=LOCK.parent, input=torch, text=True, check=True)
        packages = without_torch(LOCK.read_text("utf-8"))
    except BaseException:
        LOCK.write_text(before, "utf-8")
        raise
    LOCK.write_text(HEADER.format(torch=torch) + packages, "utf-8")


if __name__ == "__main__":
    main()
