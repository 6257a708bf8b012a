"""Change one operator, constant or comparison at a time and see whether a test fails.

    python tools/mutate.py [scope/power losses ...] [--every 1] [--list]

The tests that mirror a module are collected once. In a fork for each mutant they run against the
changed function, fast ones first, up to the first failure. Constants of modules are not changed:
they are chosen, and a test would repeat them. Results are kept in build/mutants.jsonl and hold as
long as module and tests are the same, so a run can be stopped and continued. `--every K` runs a
sample, one mutant in K. tests/mutants.toml lists survivors with the reason why no test fails, which
are not run; all others are printed, and the exit code is 1 if there are any. Needs fork.

(mutmut 3 leaves out functions with two decorators, such as `backward` of autograd functions;
cosmic-ray changes the files in place and starts a process for each mutant.)
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import importlib
import inspect
import itertools
import json
import os
import signal
import sys
import time
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import hypothesis

ROOT = Path(__file__).parents[1]
SOURCE, BUILD = ROOT / "src" / "ugcl", ROOT / "build"
ACCEPTED, RESULTS = ROOT / "tests" / "mutants.toml", BUILD / "mutants.jsonl"
SECONDS = BUILD / "mutants-seconds.json"
PACKAGES = ("scope", "losses", "evaluation")
LIBRARIES = (
    *("hypothesis.strategies", "pytest", "click", "pyarrow.parquet", "safetensors.torch"),
    *("scipy.sparse.csgraph", "scipy.sparse.linalg", "scipy.stats", "torch.autograd.gradcheck"),
    *("sklearn.cluster", "sklearn.linear_model", "sklearn.metrics", "sklearn.model_selection"),
)
"""What a mutant finds already imported."""

MIRRORS = {
    "scope/component": ("tests/scope/test_component.py", "tests/scope/test_scopes.py"),
    "evaluation/comparison": (
        "tests/evaluation/test_links.py",
        "tests/evaluation/test_classification.py",
    ),
    "evaluation/control_scores": ("tests/evaluation/test_classification.py",),
    "evaluation/harnesses": ("tests/evaluation/test_protocols.py",),
    "evaluation/similarity": ("tests/evaluation/test_links.py",),
}
"""Tests of modules that no file mirrors, or not alone."""

WIDTH = 72
"""Columns of the context that a change is shown in."""

SWAPS: dict[type[ast.AST], tuple[type[ast.AST], ...]] = {
    **{ast.Add: (ast.Sub,), ast.Sub: (ast.Add,), ast.Mult: (ast.Div,), ast.Div: (ast.Mult,)},
    **{ast.FloorDiv: (ast.Mult,), ast.Mod: (ast.Mult,), ast.Pow: (ast.Mult,)},
    **{ast.MatMult: (ast.Mult,), ast.BitAnd: (ast.BitOr,), ast.BitOr: (ast.BitAnd,)},
    **{ast.And: (ast.Or,), ast.Or: (ast.And,), ast.LShift: (ast.RShift,), ast.USub: (ast.UAdd,)},
    **{ast.Lt: (ast.LtE, ast.GtE), ast.LtE: (ast.Lt, ast.Gt), ast.Gt: (ast.GtE, ast.LtE)},
    **{ast.GtE: (ast.Gt, ast.Lt), ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,)},
    **{ast.Is: (ast.IsNot,), ast.IsNot: (ast.Is,), ast.In: (ast.NotIn,), ast.NotIn: (ast.In,)},
}
PAIRS = (("min", "max"), ("amin", "amax"), ("argmin", "argmax"), ("sum", "mean"), ("any", "all"))
NAMES = {name: other for pair in PAIRS for name, other in (pair, pair[::-1])}
WITHOUT = (ast.Raise, ast.Assert, ast.Import, ast.ImportFrom, ast.JoinedStr)
"""Nodes without mutants: the text of errors, what must hold, imports."""
TYPES = {"annotation", "returns", "decorator_list", "ctx"}


@dataclass(frozen=True)
class Mutant:
    """A change such as "lazy: (a + b) * 0.5 -> (a - b) * 0.5" of a module such as "scope/power".

    Attributes:
        owner: the changed function, with what is around it.
    """

    module: str
    owner: str
    change: str
    source: str

    def __str__(self) -> str:
        return f"{self.module} {self.owner}: {self.change}"

    @property
    def name(self) -> str:
        """Name of the module in Python."""
        return f"ugcl.{self.module.replace('/', '.')}"

    @property
    def key(self) -> str:
        """Hash of what is run."""
        return _hash(f"{self.module} {self.source}")

    @property
    def tests(self) -> str:
        """Hash of the tests."""
        return _hash("".join((ROOT / file).read_text("utf-8") for file in tests_of(self.module)))

    def in_sample(self, every: int) -> bool:
        """Return whether a sample of one in `every` has it, whatever else the module has."""
        return int(_hash(str(self)), 16) % every == 0

    def replace_function(self) -> None:
        """Give the changed function of the imported module the mutant's code."""
        imported = vars(importlib.import_module(self.name))
        changed = {**imported}
        exec(compile(self.source, self.name, "exec", dont_inherit=True), changed)
        old, new = _function(imported, self.owner), _function(changed, self.owner)
        old.__code__ = new.__code__
        for defaults in ("__defaults__", "__kwdefaults__"):
            if repr(getattr(old, defaults)) != repr(getattr(new, defaults)):
                setattr(old, defaults, getattr(new, defaults))


def _function(names: Mapping[str, Any], owner: str) -> Any:
    """Return the outermost function of the owner, without decorators."""
    for part in owner.split("."):
        value = names[part]
        if not isinstance(value, type):
            return inspect.unwrap(getattr(value, "fget", value))
        names = vars(value)
    raise TypeError(owner)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def mutants(module: str, source: str) -> Iterator[Mutant]:
    """Yield the mutants of a module; equal changes in a function are numbered."""
    tree, seen = ast.parse(source), Counter[str]()
    for path, context, holder, key, new in _edits(tree, []):
        if not any(isinstance(node, ast.FunctionDef) for node in path):
            continue
        before = ast.unparse(context)
        old = _put(holder, key, new)
        after = ast.unparse(new if old is context else context)
        text = ast.unparse(tree)
        _put(holder, key, old)
        owners = [node for node in path if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
        owner = ".".join(node.name for node in owners)
        change = f"{before} -> {after}"
        seen[owner + change] += 1
        if before != after:
            number = f" ({seen[owner + change]})" if seen[owner + change] > 1 else ""
            yield Mutant(module, owner, change + number, text)


def _put(holder: Any, key: Any, new: Any) -> Any:
    old = holder[key] if isinstance(holder, list) else getattr(holder, key)
    if isinstance(holder, list):
        holder[key] = new
    else:
        setattr(holder, key, new)
    return old


Edit = tuple[list[ast.AST], ast.AST, Any, Any, Any]


def _edits(node: ast.AST, above: list[ast.AST]) -> Iterator[Edit]:
    """Yield path, context, and the field or item that gets a new value."""
    path = [*above, node]
    for holder, key, new in _replacements(node):
        yield path, _context(path), holder, key, new
    for name, value in ast.iter_fields(node):
        for index, child in enumerate(value if isinstance(value, list) else [value]):
            if not isinstance(child, ast.AST) or name in TYPES or isinstance(child, WITHOUT):
                continue
            if isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant):
                continue  # a docstring
            if isinstance(child, ast.keyword) and child.arg == "strict":
                continue  # of zip, which says what must hold
            called = ast.unparse(child.value) if isinstance(child, ast.Expr) else ""
            if called.startswith(("logger.", "warnings.", "assert_never(")):
                continue
            if isinstance(value, list) and isinstance(child, (ast.Expr, ast.AugAssign)):
                yield path, child, value, index, ast.Pass()
            if name == "test" and not isinstance(child, (ast.Compare, ast.UnaryOp)):
                yield path, child, node, name, ast.UnaryOp(ast.Not(), child)
            yield from _edits(child, path)


def _context(path: list[ast.AST]) -> ast.AST:
    """Return the largest part of the statement that fits into a line."""
    context = path[-1]
    for node in reversed(path[:-1]):
        if isinstance(node, ast.mod) or (isinstance(node, ast.stmt) and hasattr(node, "body")):
            break
        if not isinstance(node, (ast.expr, ast.stmt)):
            continue
        if isinstance(context, (ast.expr, ast.stmt)) and len(ast.unparse(node)) > WIDTH:
            break
        context = node
    return context


def _replacements(node: ast.AST) -> Iterator[tuple[Any, Any, Any]]:
    if isinstance(node, (ast.BinOp, ast.AugAssign, ast.BoolOp, ast.UnaryOp)):
        for operator in SWAPS.get(type(node.op), ()):
            yield node, "op", operator()
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Not, ast.Invert)):
            yield node, "operand", ast.UnaryOp(node.op, node.operand)
    elif isinstance(node, ast.Compare):
        for index, old in enumerate(node.ops):
            for operator in SWAPS.get(type(old), ()):
                yield node.ops, index, operator()
    elif isinstance(node, ast.Constant) and isinstance(node.value, (bool, int, float)):
        for number in _other_numbers(node.value):
            yield node, "value", number
    elif isinstance(node, ast.Call):
        field = {ast.Name: "id", ast.Attribute: "attr"}.get(type(node.func))
        if field and (other := NAMES.get(getattr(node.func, field))):
            yield node.func, field, other


def _other_numbers(value: float) -> tuple[float, ...]:
    if isinstance(value, bool):
        return (not value,)
    if isinstance(value, int):
        return (0, 2) if value == 1 else (value + 1,)
    return (2 * value,) if value else (1.0,)


def mutants_of(module: str) -> list[Mutant]:
    """Return the mutants of a module of the package."""
    return list(mutants(module, (SOURCE / f"{module}.py").read_text("utf-8")))


def tests_of(module: str) -> list[str]:
    """Return the test files that a module's mutants run."""
    package, name = module.split("/")
    return list(MIRRORS.get(module, (f"tests/{package}/test_{name}.py",)))


def in_fork(function: Callable[[], int], limit: float) -> int | None:
    """Return what a function returns in a fork; None if it takes longer than the limit."""
    process = os.fork()
    if not process:
        os.setsid()
        code = 3
        try:
            code = function()
        finally:
            os._exit(code)
    end = time.monotonic() + limit
    while time.monotonic() < end:
        done, status = os.waitpid(process, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.02)
    os.killpg(process, signal.SIGKILL)
    os.waitpid(process, 0)
    return None


class Session:
    """Pytest plugin: collect the tests of a module once, and run them in a fork for each mutant.

    Args:
        some: mutants of one module.
        seconds: the limit of each.
    """

    def __init__(self, some: list[Mutant], seconds: float) -> None:
        self.some, self.seconds = some, seconds

    def __call__(self) -> int:
        """Run the tests that mirror the module."""
        log = os.open(BUILD / "mutants.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(log, 1)
        os.dup2(log, 2)
        options = ["-W", "ignore::pytest.PytestAssertRewriteWarning", "-qs", "--tb=native"]
        options += [f"-pno:{name}" for name in ("cacheprovider", "xdist", "cov", "faulthandler")]
        files = tests_of(self.some[0].module)
        return int(importlib.import_module("pytest").main([*files, *options], plugins=[self]))

    def pytest_runtestloop(self, session: Any) -> bool:
        """Run the tests without a change, and then the mutants if they pass."""
        phases = (hypothesis.Phase.explicit, hypothesis.Phase.generate)  # examples stay large
        hypothesis.settings.register_profile("mutants", hypothesis.settings(), phases=phases)
        hypothesis.settings.load_profile("mutants")
        for name in ("ugcl.evaluation.control_scores", "ugcl.methods.from_file"):
            importlib.import_module(name)  # by fixtures
        if code := in_fork(partial(self._run, session, None), 3600):
            session.testsfailed = code
        else:
            seconds = json.loads(SECONDS.read_text("utf-8"))
            session.items.sort(key=lambda item: seconds[item.nodeid])
            for mutant in self.some:
                record(mutant, in_fork(partial(self._run, session, mutant), self.seconds))
        return True

    def _run(self, session: Any, mutant: Mutant | None) -> int:
        """Run the tests up to the first failure; without a mutant store how long they take."""
        if mutant is not None:
            mutant.replace_function()
        seconds = {}
        for item, following in itertools.zip_longest(session.items, session.items[1:]):
            start = time.process_time()
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            seconds[item.nodeid] = time.process_time() - start
            if session.testsfailed:
                return 1
        if mutant is None:
            SECONDS.write_text(json.dumps(seconds), "utf-8")
        return 0


def record(mutant: Mutant, code: int | None) -> None:
    """Append the result of a mutant to the file of results."""
    result = {0: "survived", None: "timed out"}.get(code, "killed")
    row = {"key": mutant.key, "result": result, "tests": mutant.tests, "change": mutant.change}
    with RESULTS.open("a") as file:
        print(json.dumps(row), file=file)


def results() -> dict[str, dict[str, str]]:
    """Return the last result of each mutant, by its key."""
    rows = map(json.loads, RESULTS.read_text("utf-8").splitlines())
    return {row["key"]: row for row in rows}


def modules(names: list[str]) -> list[str]:
    """Return the modules of packages, or those named."""
    every = [
        f"{package}/{path.stem}"
        for package in PACKAGES
        for path in sorted((SOURCE / package).glob("[!_]*.py"))
    ]
    return [each for each in every if not names or {each, each.split("/")[0]} & {*names}]


def accepted() -> set[str]:
    """Return "module change" of the survivors that are justified."""
    groups = tomllib.loads(ACCEPTED.read_text("utf-8"))["survivors"]
    return {f"{group['module']} {change}" for group in groups for change in group["changes"]}


def run_module(some: list[Mutant], seconds: float) -> Counter[str]:
    """Run those mutants of a module that have no result and are not justified; count results."""
    justified, known = accepted(), results()
    todo = [
        mutant
        for mutant in some
        if str(mutant) not in justified
        and known.get(mutant.key, {}).get("result") not in ("killed", "timed out")
        and known.get(mutant.key, {}).get("tests") != mutant.tests
    ]
    if todo and in_fork(Session(todo, seconds), float("inf")) != 0:
        sys.exit(f"the tests of {todo[0].module} fail: see {BUILD / 'mutants.log'}")
    known, counts = results(), Counter[str]()
    for mutant in some:
        result = "justified" if str(mutant) in justified else known[mutant.key]["result"]
        counts[result] += 1
        if result in ("survived", "timed out"):
            print(f"{result}: {mutant}", flush=True)
    return counts


def main() -> None:
    """Run the mutants and print the counts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("modules", nargs="*", help="modules or packages; by default all")
    parser.add_argument("--every", type=int, default=1, metavar="K", help="run one in K")
    parser.add_argument("--seconds", type=float, default=300, help="limit of a mutant")
    parser.add_argument("--list", action="store_true", help="print the mutants, run none")
    args = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.chdir(ROOT)
    chosen = {
        module: [mutant for mutant in mutants_of(module) if mutant.in_sample(args.every)]
        for module in modules(args.modules)
    }
    if args.list:
        print(*(mutant for some in chosen.values() for mutant in some), sep="\n")
        return
    BUILD.mkdir(exist_ok=True)
    RESULTS.touch()
    for name in LIBRARIES:
        importlib.import_module(name)
    totals: dict[str, Counter[str]] = {}
    for module, some in chosen.items():
        counts = run_module(some, args.seconds)
        totals.setdefault(module.split("/")[0], Counter()).update(counts)
        print(f"{module}: {len(some)} mutants, {dict(counts)}", flush=True)
    for package, counts in totals.items():
        print(f"{package}: {counts.total()} mutants, {dict(counts)}")
    sys.exit(any(counts["survived"] for counts in totals.values()))


if __name__ == "__main__":
    main()
