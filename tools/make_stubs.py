"""Write `src/ugcl/estimators.pyi`, the declarations of the generated estimators.

`python tools/make_stubs.py` writes the file, `--check` fails where it is not current.
"""

from __future__ import annotations

import argparse
import inspect
import json
import subprocess
import sys
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from ugcl import estimators

UNIONS = UnionType, Union
"""Origins of `int | None` and of unions with literals."""

STUB = Path(__file__).parents[1] / "src/ugcl/estimators.pyi"

HEADER = '''"""One estimator for each method. Written by tools/make_stubs.py: do not edit."""

from typing import Literal

from ugcl.embedder import Classifier as Classifier
from ugcl.embedder import Embedder as Embedder

ESTIMATORS: dict[str, str]
'''


def main() -> None:
    """Write the stub, or check it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="only compare the file")
    args = parser.parse_args()
    if not args.check:
        STUB.write_text(stub(), "utf-8")
    elif STUB.read_text("utf-8") != stub():
        sys.exit(f"{STUB.name} is not current: run python tools/make_stubs.py")


def stub() -> str:
    """Return the text of the stub, formatted by ruff."""
    text = "\n".join([HEADER, *map(declaration, estimators.ESTIMATORS)])
    command = [sys.executable, "-m", "ruff", "format", "--stdin-filename", str(STUB), "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


def declaration(name: str) -> str:
    """Return the declaration of an estimator: docstring, parameters as attributes, constructor."""
    kind = getattr(estimators, name)
    preset, *keywords = inspect.signature(kind).parameters.values()
    lines = [f'class {name}({kind.__base__.__name__}):\n    """{kind.__doc__}"""']
    lines += [f"    {each.name}: {type_of(each.annotation)}" for each in keywords[:-2]]
    arguments = ", ".join(["self", argument(preset), "*", *map(argument, keywords)])
    return "\n".join([*lines, f"    def __init__({arguments}) -> None: ...\n"])


def argument(parameter: inspect.Parameter) -> str:
    """Return a parameter with type and default."""
    default = "None" if parameter.default is None else json.dumps(parameter.default)
    return f"{parameter.name}: {type_of(parameter.annotation)} = {default}"


def type_of(annotation: Any) -> str:
    """Return the source of a type: a class, a tuple, a union of classes and literals."""
    members = get_args(annotation) if get_origin(annotation) in UNIONS else [annotation]
    words = [word for each in members if get_origin(each) is Literal for word in get_args(each)]
    names = [str(each) for each in members if get_origin(each) is tuple]
    names += [each.__name__ for each in members if isinstance(each, type) and each is not NoneType]
    literal = [f"Literal[{', '.join(map(json.dumps, words))}]"] if words else []
    return " | ".join(names + literal + ["None"] * (NoneType in members))


if __name__ == "__main__":
    main()
