"""Reader of pickles that calls nothing: arrays, SciPy matrices, lists and dictionaries of them.

It interprets the instructions of a pickle itself. Classes are only names, and an object is the name
of its class with its state, so that no instruction can call code, change a class, or reserve memory
for more than the file holds.
"""

from __future__ import annotations

import pickletools
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ugcl.typing import CSRMatrix

ARRAY, DTYPE, MATRIX, DICT, LIST = "array", "dtype", "matrix", "dict", "list"

CLASSES = {
    "numpy dtype": DTYPE,
    "numpy ndarray": ARRAY,
    "numpy.core.multiarray _reconstruct": ARRAY,
    "numpy._core.multiarray _reconstruct": ARRAY,
    "scipy.sparse.csr csr_matrix": MATRIX,
    "scipy.sparse._csr csr_matrix": MATRIX,
    "collections defaultdict": DICT,
    "__builtin__ list": LIST,
    "builtins list": LIST,
}
"""What is read of the classes and functions that a pickle names; others are refused."""

DTYPE_CODE = re.compile("[biuf][1248]")


@dataclass(frozen=True)
class Class:
    """A class or function that a pickle names."""

    kind: str


@dataclass
class Object:
    """An object that a pickle builds: what kind, of which arguments, in which state."""

    kind: str
    args: Any
    state: Any = None


class _Mark:
    """Where the items of a list, tuple or dictionary begin on the stack."""


def load_inert(content: bytes) -> Any:
    """Return the value of a pickle: an array, a matrix, or a list or dictionary."""
    value = _Machine().run(content)
    return value_of(value) if isinstance(value, Object) else value


def value_of(item: Any) -> Any:
    """Return the array or matrix that an object describes."""
    if isinstance(item, Object) and item.kind == ARRAY:
        return _array(item)
    if isinstance(item, Object) and item.kind == MATRIX:
        return _matrix(item)
    raise ValueError("it holds no array where one is expected")


def _array(item: Object) -> npt.NDArray[Any]:
    _, shape, dtype, fortran, content = item.state
    (code, *_), (_, order, *_) = dtype.args, dtype.state
    if dtype.kind != DTYPE or not DTYPE_CODE.fullmatch(code):
        raise ValueError(f"it holds an array of '{code}', which is no number")
    if isinstance(content, str):  # pickled by Python 2
        content = content.encode("latin1")
    flat = np.frombuffer(content, dtype=np.dtype(order.replace("|", "") + code))
    return flat.reshape(shape, order="F" if fortran else "C")


def _matrix(item: Object) -> CSRMatrix:
    parts = tuple(value_of(item.state[part]) for part in ("data", "indices", "indptr"))
    matrix = sp.csr_array(parts, shape=item.state.get("_shape", item.state.get("shape")))
    matrix.check_format(full_check=True)
    return matrix


class _Machine:
    """Stack and memo of a pickle that is read."""

    def __init__(self) -> None:
        self.stack: list[Any] = []
        self.memo: dict[int, Any] = {}

    def run(self, content: bytes) -> Any:
        """Return the value of a pickle."""
        for code, argument, _ in pickletools.genops(content):
            if code.name == "STOP":
                break
            if code.name in _PUSHED:
                self.stack.append(argument)
            elif code.name in _CONSTANTS:
                self.stack.append(_CONSTANTS[code.name]())
            else:
                try:
                    act = _ACTIONS[code.name]
                except KeyError:
                    raise ValueError(f"it has the instruction {code.name}") from None
                act(self, argument)
        return self.stack[-1]

    def items(self) -> list[Any]:
        """Pop all items after the last mark."""
        start = len(self.stack) - 1
        while not isinstance(self.stack[start], _Mark):
            start -= 1
            if start < 0:
                raise ValueError("it has no mark where a list ends")
        items = self.stack[start + 1 :]
        del self.stack[start:]
        return items

    def name(self, name: Any) -> None:
        """Push a class by its name."""
        if name is None:
            last = self.stack.pop()
            name = f"{self.stack.pop()} {last}"
        if name not in CLASSES:
            raise ValueError(f"it contains {str(name).replace(' ', '.')}")
        self.stack.append(Class(CLASSES[name]))

    def call(self, _: Any) -> None:
        """Push an object for a call of a class."""
        args, called = self.stack.pop(), self.stack.pop()
        if not isinstance(called, Class) or not isinstance(args, tuple):
            raise TypeError("it calls what is no class")
        plain = {DICT: dict, LIST: list}.get(called.kind)
        self.stack.append(Object(called.kind, args) if plain is None else plain())

    def build(self, _: Any) -> None:
        """Give an object its state."""
        state = self.stack.pop()
        if not isinstance(self.stack[-1], Object):
            raise TypeError("it gives a state to what has none")
        self.stack[-1].state = state

    def append(self, items: list[Any]) -> None:
        """Append items to a list."""
        if not isinstance(self.stack[-1], list):
            raise TypeError("it appends to what is no list")
        self.stack[-1].extend(items)

    def set(self, items: list[Any]) -> None:
        """Set keys of a dictionary; keys are names or node numbers."""
        known = self.stack[-1]
        if not isinstance(known, dict):
            raise TypeError("it sets keys of what is no dictionary")
        for key, value in zip(items[::2], items[1::2], strict=True):
            if not isinstance(key, str) and not (isinstance(key, int) and 0 <= key < 2**31):
                raise TypeError(f"it has the key {key!r:.50}")
            known[key] = value

    def new_dict(self, items: list[Any]) -> None:
        """Push a dictionary."""
        self.stack.append({})
        self.set(items)

    def pop(self, count: int) -> list[Any]:
        """Pop items, the last one last."""
        if len(self.stack) < count:
            raise ValueError("it ends too early")
        items = self.stack[len(self.stack) - count :]
        del self.stack[len(self.stack) - count :]
        return items

    def put(self, number: int | None) -> None:
        """Remember the last item."""
        self.memo[len(self.memo) if number is None else number] = self.stack[-1]


_PUSHED = {
    *("INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "LONG4", "FLOAT", "BINFLOAT"),
    *("STRING", "BINSTRING", "SHORT_BINSTRING", "BINBYTES", "SHORT_BINBYTES", "BINBYTES8"),
    *("UNICODE", "BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8"),
}
"""Instructions that push their argument."""

_CONSTANTS: Mapping[str, Callable[[], Any]] = {
    "NONE": lambda: None,
    "NEWTRUE": lambda: True,
    "NEWFALSE": lambda: False,
    "EMPTY_LIST": list,
    "EMPTY_TUPLE": tuple,
    "EMPTY_DICT": dict,
    "MARK": _Mark,
}
"""Instructions that push a new value."""

_ACTIONS: Mapping[str, Callable[[_Machine, Any], None]] = {
    "PROTO": lambda machine, _: None,
    "FRAME": lambda machine, _: None,
    "GLOBAL": _Machine.name,
    "STACK_GLOBAL": _Machine.name,
    "REDUCE": _Machine.call,
    "NEWOBJ": _Machine.call,
    "BUILD": _Machine.build,
    "APPEND": lambda machine, _: machine.append(machine.pop(1)),
    "APPENDS": lambda machine, _: machine.append(machine.items()),
    "SETITEM": lambda machine, _: machine.set(machine.pop(2)),
    "SETITEMS": lambda machine, _: machine.set(machine.items()),
    "LIST": lambda machine, _: machine.stack.append(machine.items()),
    "TUPLE": lambda machine, _: machine.stack.append(tuple(machine.items())),
    "DICT": lambda machine, _: machine.new_dict(machine.items()),
    "TUPLE1": lambda machine, _: machine.stack.append(tuple(machine.pop(1))),
    "TUPLE2": lambda machine, _: machine.stack.append(tuple(machine.pop(2))),
    "TUPLE3": lambda machine, _: machine.stack.append(tuple(machine.pop(3))),
    "PUT": _Machine.put,
    "BINPUT": _Machine.put,
    "LONG_BINPUT": _Machine.put,
    "MEMOIZE": _Machine.put,
    **dict.fromkeys(
        ("GET", "BINGET", "LONG_BINGET"),
        lambda machine, number: machine.stack.append(machine.memo[number]),
    ),
}
"""All other instructions that are read."""
