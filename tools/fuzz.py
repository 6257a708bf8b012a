"""Mutate files of every format that is read, and look at what the readers do.

    python tools/fuzz.py [--minutes 10] [--only edges.csv,...] [--seed 0] [--out build/fuzz]
    python tools/fuzz.py --replay TARGET FILE

Reading a mutated file must succeed or raise a `UGCLError` of one line, within 10 seconds and 2 GB.
Of a file with a checksum, such as those of run folders, it must raise one or give the same result.
Half of the time the mutations are guided by coverage, where atheris is installed
(pip install atheris), half of it random. Prints inputs, tracebacks (with crashes), hangs, inputs
that took over 2 GB, and silent changes for each target; keeps the inputs that found something in
`--out`; the exit code is 1 if there are any. Needs Linux.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import hashlib
import io
import mmap
import os
import random
import resource
import signal
import struct
import sys
import tempfile
import time
import traceback
import zipfile
from collections import Counter
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fuzz_targets import Target

SECONDS, MAX_KILOBYTES = 10, 2 * 2**20
"""Limits of time and memory for one input."""

MAX_SIZE = 2**16
"""Bytes of a mutated file."""

KINDS = ("traceback", "hang", "memory", "silent")

INTERESTING = (
    *(b"0", b"-1", b"1e400", b"nan", b"inf", b"007", b"2147483648", b"9223372036854775807"),
    *(b"18446744073709551616", b"1" * 400, b"true", b"null", b"\0", b"\xff\xfe", b"\xef\xbb\xbf"),
    *(b'"', b"'", b",", b";", b"\t", b"\r", b"\n", b"\r\n", b"\\", b"#", b"[", b"]", b"{", b"}"),
    *(b"<f8", b"|O", b"<U0", b">i8", b"|V8", b"?", b"id", b"label", b"source", b"weight", b"split"),
    *(struct.pack("<q", n) for n in (-1, 2**31, 2**62, 2**63 - 1)),
    *(struct.pack("<i", n) for n in (-1, 0, 2**16, 2**31 - 1)),
    *(bytes(8), b"\xff" * 8, "é\u2028".encode(), b"<!ENTITY a 'b'>", b"&a;"),
)


def mutated(data: bytes, rng: random.Random) -> bytes:
    """Return a file with some changes; those of archives are made in a member."""
    if rng.random() < 0.7:
        with contextlib.suppress(Exception):  # no archive any more
            if data[:2] == b"PK":
                return _mutated_archive(data, rng)
            if data[:2] == b"\x1f\x8b":
                return gzip.compress(_changed(gzip.decompress(data), rng), 1, mtime=0)
    return _changed(data, rng)


def _mutated_archive(data: bytes, rng: random.Random) -> bytes:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = rng.choice(sorted(members))
    how = rng.random()
    if how < 0.05:
        del members[name]
    elif how < 0.1:
        members[rng.choice(sorted(members))] = members[name]
    else:
        members[name] = _changed(members[name], rng)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", rng.choice((0, 8, 8, 8))) as archive:
        for each, content in members.items():
            archive.writestr(zipfile.ZipInfo(each), content)
    return stream.getvalue()


def _changed(data: bytes, rng: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 4, 16))):
        at = rng.randrange(len(changed) + 1)
        end = min(len(changed), at + rng.choice((1, 1, 2, 4, 8, 64)))
        how = rng.randrange(9)
        if how == 0 and at < len(changed):
            changed[at] ^= 1 << rng.randrange(8)
        elif how == 1:
            changed[at:end] = rng.randbytes(end - at)
        elif how == 2:
            del changed[at:end]
        elif how == 3:
            del changed[at:]
        elif how == 4:
            changed[at:at] = changed[at:end] * rng.choice((1, 2, 50))
        elif how == 5:
            changed[at:at] = rng.choice(INTERESTING)
        elif how == 6:
            word = rng.choice(INTERESTING)
            changed[at : at + len(word)] = word
        else:
            _change_word(changed, at, rng)
    return bytes(changed[:MAX_SIZE])


def _change_word(data: bytearray, at: int, rng: random.Random) -> None:
    """Replace the word at a position, a number perhaps, by another word of the file or of ours."""
    letters = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.+-_"
    start = end = min(at, len(data))
    while start > 0 and data[start - 1] in letters:
        start -= 1
    while end < len(data) and data[end] in letters:
        end += 1
    other = rng.randrange(len(data) + 1)
    data[start:end] = rng.choice(
        (rng.choice(INTERESTING), data[other : other + rng.randrange(1, 12)])
    )


class Judge:
    """Reads the files of a target and judges what happens.

    Args:
        target: the target.
    """

    def __init__(self, target: Target) -> None:
        self.target = target
        target.path.write_bytes(target.seed)
        self.expected = target.read()

    def verdict(self, data: bytes) -> tuple[str, str]:
        """Return one of `KINDS`, or "" if all is well; and what was said."""
        from ugcl import UGCLError

        target, kind, said = self.target, "", ""
        target.path.write_bytes(data)
        Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        signal.alarm(SECONDS)  # ends the process, whatever it does
        try:
            if target.read() != self.expected and target.checked:
                kind = "silent"
        except UGCLError as error:
            if "\n" in (said := str(error)):
                kind = "traceback"
        except Exception:
            kind, said = "traceback", traceback.format_exc()
        signal.alarm(0)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return ("memory", said) if peak - before > MAX_KILOBYTES else (kind, said)


class Fuzzer:
    """Runs targets in child processes, whose crashes it survives.

    Args:
        out: the folder of inputs that found something.
        seed: of the random mutations.
    """

    def __init__(self, out: Path, seed: int) -> None:
        self.out, self.seed = out, seed
        self.counts: Counter[tuple[str, str]] = Counter()
        self._inputs = mmap.mmap(-1, 8)  # shared with the child
        self._found = out / "found.txt"

    def run(self, target: Target, seconds: float, *, guided: bool) -> None:
        """Mutate a target for some seconds."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 1:
            self.seed += 1
            self._inputs[:] = bytes(8)
            self._found.write_bytes(b"")
            child = os.fork()
            if child == 0:
                self._child(target, left, guided=guided)
            _, status = os.waitpid(child, 0)
            self.counts[target.name, "inputs"] += struct.unpack("q", self._inputs[:])[0]
            for kind in self._found.read_text().split():
                self.counts[target.name, kind] += 1
            if status:
                code = os.waitstatus_to_exitcode(status)
                kind = "hang" if code == -signal.SIGALRM else "traceback"
                self.counts[target.name, kind] += 1
                self._keep(target, kind, target.path.read_bytes(), f"exit code {code}")
            target.path.write_bytes(target.seed)

    def _child(self, target: Target, seconds: float, *, guided: bool) -> None:
        try:
            null = os.open(os.devnull, os.O_RDWR)
            os.dup2(null, 1)
            os.dup2(os.open(self.out / "stderr", os.O_WRONLY | os.O_CREAT | os.O_APPEND), 2)
            print(target.name, file=sys.stderr)
            judge, rng = Judge(target), random.Random(self.seed)
            if guided:
                self._guided(judge, seconds)
            end = time.monotonic() + seconds
            pool = [target.seed]
            while time.monotonic() < end:
                data = mutated(rng.choice(pool), rng)
                if self._one(judge, data) and len(pool) < 200 and rng.random() < 0.05:
                    pool.append(data)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)

    def _guided(self, judge: Judge, seconds: float) -> None:
        import atheris

        def mutate(data: bytes, max_size: int, seed: int) -> bytes:
            if seed % 3 == 0:
                return bytes(atheris.Mutate(data, max_size))
            return mutated(data, random.Random(seed))[:max_size]

        def one(data: bytes) -> None:
            self._one(judge, data)

        corpus = Path(tempfile.mkdtemp(dir=judge.target.path.parent, prefix="corpus-"))
        (corpus / "seed").write_bytes(judge.target.seed)
        options = [f"-max_total_time={int(seconds)}", f"-max_len={MAX_SIZE}", f"-seed={self.seed}"]
        options += [
            "-timeout=0",
            *(f"-handle_{name}=0" for name in ("segv", "bus", "abrt", "ill", "fpe")),
            "-rss_limit_mb=0",
            "-detect_leaks=0",
            f"-artifact_prefix={self.out}/",
        ]
        atheris.Setup(["fuzz", *options, str(corpus)], one, custom_mutator=mutate)
        atheris.Fuzz()

    def _one(self, judge: Judge, data: bytes) -> bool:
        """Try one input and return whether it was read."""
        kind, said = judge.verdict(data)
        self._inputs[:] = struct.pack("q", struct.unpack("q", self._inputs[:])[0] + 1)
        if kind:
            with self._found.open("a") as stream:
                stream.write(f"{kind}\n")
            self._keep(judge.target, kind, data, said)
        return not said

    def _keep(self, target: Target, kind: str, data: bytes, said: str) -> None:
        """Keep an input; of those that end in the same line of code the smallest."""
        where = "\n".join(line for line in said.splitlines() if line.startswith("  File"))[-400:]
        code = hashlib.sha256((where or kind).encode()).hexdigest()[:8]
        name = f"{target.name.replace('/', '-')}.{kind}.{code}"
        path = self.out / name
        if not path.exists() or path.stat().st_size > len(data):
            path.write_bytes(data)
            path.with_name(f"{name}.txt").write_text(said)


@contextlib.contextmanager
def working_folder() -> Iterator[Path]:
    """Yield a folder for the files, in memory where there is such a place."""
    memory = Path("/dev/shm")
    parent = memory if os.access(memory, os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=parent, prefix="ugcl-fuzz-") as name:
        os.environ["XDG_CACHE_HOME"] = f"{name}/cache"
        yield Path(name)


def replay(name: str, file: Path) -> tuple[str, str]:
    """Return the verdict on one input."""
    with working_folder() as work:
        from fuzz_targets import targets

        target = next(each for each in targets(work) if each.name == name)
        return Judge(target).verdict(file.read_bytes())


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--only", default="", help="names of targets, separated by commas")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("build/fuzz"))
    parser.add_argument("--replay", nargs=2, metavar=("TARGET", "FILE"))
    arguments = parser.parse_args()
    if arguments.replay:
        name, file = arguments.replay
        print(*replay(name, Path(file)), sep="\n")
        return 0
    arguments.out.mkdir(parents=True, exist_ok=True)
    with working_folder() as work:
        guided = find_spec("atheris") is not None
        if guided:
            import atheris

            with atheris.instrument_imports(include=["ugcl.data", "ugcl.graph", "ugcl.runs"]):
                from fuzz_targets import targets
        else:
            print("atheris is not installed (pip install atheris): all mutations are random")
            from fuzz_targets import targets
        import torch

        torch.set_num_threads(1)
        wanted = [name for name in arguments.only.split(",") if name]
        chosen = [each for each in targets(work) if not wanted or each.name in wanted]
        fuzzer = Fuzzer(arguments.out.absolute(), arguments.seed)
        share = arguments.minutes * 60 / len(chosen)
        for target in chosen:
            for mode in (True, False) if guided else (False,):
                fuzzer.run(target, share / (1 + guided), guided=mode)
            print(_row(fuzzer.counts, target.name), flush=True)
    totals = {kind: sum(n for (_, k), n in fuzzer.counts.items() if k == kind) for kind in KINDS}
    inputs = sum(n for (_, k), n in fuzzer.counts.items() if k == "inputs")
    print(
        f"{inputs:,} inputs: {totals['traceback']} tracebacks, {totals['hang']} hangs, "
        f"{totals['memory']} over 2 GB, {totals['silent']} silent changes"
    )
    return 1 if any(totals.values()) else 0


def _row(counts: Counter[tuple[str, str]], name: str) -> str:
    found = ", ".join(f"{counts[name, kind]} {kind}" for kind in KINDS if counts[name, kind])
    return f"{name:40} {counts[name, 'inputs']:>9,} inputs  {found}"


if __name__ == "__main__":
    sys.exit(main())
