"""Kill commands at every file event and at random moments, fill the disk, run two at once.

    python tools/torture.py [--minutes 30] [--short] [--only train,study,...] [--seed 0]

After each disturbance the same command runs again (training with --resume), and the files must
have the same bits as those of an undisturbed run, with none left over; or it must say in one
sentence why it does not continue. First every command is killed before each of its file events,
then, until the time is over, at random moments. Disks are filled on a small tmpfs where this
process may mount one, else by a limit on the size of files. Prints the counts; the exit code is 1
if anything went wrong. Needs Linux.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import ugcl
from ugcl.cli import main as ugcl_main
from ugcl.cli import train as _train  # noqa: F401 (forked processes need not import it)
from ugcl.engine import Checkpoint
from ugcl.runs import run as _run  # noqa: F401
from ugcl.runs import save as _save  # noqa: F401

EVENTS = (
    "os.rename",
    "os.remove",
    "os.mkdir",
    "os.rmdir",
    "os.chmod",
    "shutil.rmtree",
    "fcntl.flock",
)
"""Audit events of files before which a process is killed, besides "open" for writing."""

TIMES = ("seconds", "time", "peak", "commit", "versions", "commands")
"""Words in the names of fields that differ between equal runs."""

LIMIT = 120.0
"""Seconds after which a process hangs."""


@dataclass(frozen=True)
class Command:
    """A command and the folder that it writes.

    Attributes:
        name: its name.
        arguments: its arguments; OUT stands for the folder.
        resume: further arguments for running it again; without them it may refuse to.
    """

    name: str
    arguments: tuple[str, ...]
    resume: tuple[str, ...] = ()

    def in_folder(self, out: Path, *, resume: bool = False) -> list[str]:
        """Return the arguments for a folder."""
        arguments = (*self.arguments, *(self.resume if resume else ()))
        return [each.replace("OUT", str(out)) for each in arguments]


@dataclass(frozen=True)
class Done:
    """How a process ended: its exit code (None: it was killed as it hung), and what it said."""

    code: int | None
    error: str

    @property
    def one_sentence(self) -> bool:
        """Whether it ended with an error of one sentence."""
        last = self.error.strip().splitlines()[-1:] or [""]
        return self.code == 2 and last[0].startswith("ugcl: ") and "Traceback" not in self.error


class Torture:
    """Disturbs commands and counts what comes of it.

    Args:
        work: a folder for all files.
        seed: of the random moments.
    """

    def __init__(self, work: Path, seed: int) -> None:
        self.work, self.random = work, random.Random(seed)
        self.counts: Counter[tuple[str, str, str]] = Counter()
        self.failures: list[str] = []
        self.number = 0
        os.environ["XDG_CACHE_HOME"] = str(work / "cache")

    def folder(self) -> Path:
        """Return a new folder."""
        self.number += 1
        folder = self.work / str(self.number)
        folder.mkdir()
        return folder

    def start(self, arguments: list[str], prepare: Callable[[], None] = lambda: None) -> int:
        """Run a command in a forked process, which calls `prepare` first; return its id."""
        error = self.work / "stderr"
        process = os.fork()
        if process:
            return process
        code = 70
        try:
            os.setsid()
            handle = os.open(f"{error}-{os.getpid()}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            null = os.open(os.devnull, os.O_RDWR)
            for number, of in ((0, null), (1, null), (2, handle)):
                os.dup2(of, number)
            prepare()
            code = ugcl_main(arguments)
        except BaseException:
            import traceback

            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(code)

    def wait(self, process: int, kill_after: float = LIMIT) -> Done:
        """Wait for a process; kill it with all its children after some seconds."""
        end = time.monotonic() + kill_after
        while True:
            found, status = os.waitpid(process, os.WNOHANG)
            if found:
                break
            if time.monotonic() >= end:
                kill_group(process)
                _, status = os.waitpid(process, 0)
                break
            time.sleep(0.002)
        path = Path(f"{self.work / 'stderr'}-{process}")
        text = path.read_text("utf-8", "replace") if path.is_file() else ""
        path.unlink(missing_ok=True)
        return Done(os.waitstatus_to_exitcode(status), text)

    def run(self, arguments: list[str], **named: Any) -> Done:
        """Run a command to its end."""
        return self.wait(self.start(arguments), **named)

    def reference(self, command: Command) -> dict[str, Any]:
        """Return the files of an undisturbed run; None for what differs between two of them."""
        found = []
        for _ in range(2):
            out = self.folder()
            done = self.run(command.in_folder(out))
            if done.code:
                raise SystemExit(f"{command.name} fails undisturbed: {done.error}")
            found.append(contents(out))
            shutil.rmtree(out)
        one, other = found
        if one.keys() != other.keys():
            raise SystemExit(f"{command.name} does not always write the same files")
        return {name: value if value == other[name] else None for name, value in one.items()}

    def check(self, kind: str, command: Command, out: Path, expected: dict[str, Any]) -> None:
        """Run a disturbed command again and compare its files."""
        if command.resume:
            copy = out.with_name("copy")
            shutil.copytree(out, copy)
            without = self.run(command.in_folder(copy))
            if without.code != 0 and not without.one_sentence:
                self.record(kind, command, "no sentence", without.error)
            shutil.rmtree(copy)
        done = self.run(command.in_folder(out, resume=True))
        if done.one_sentence:
            self.record(kind, command, "refused", done.error)
        elif done.code != 0:
            self.record(kind, command, f"exit code {done.code}", done.error)
        else:
            self.compare(kind, command, out, expected)
        shutil.rmtree(out, ignore_errors=True)  # it may be a disk

    def compare(self, kind: str, command: Command, out: Path, expected: dict[str, Any]) -> None:
        """Compare the files in a folder with those of an undisturbed run."""
        found = contents(out)
        differing = [
            name for name, value in found.items() if expected.get(name, value) not in (None, value)
        ]
        if found.keys() != expected.keys():
            names = sorted(found.keys() ^ expected.keys())
            self.record(kind, command, "other files", ", ".join(names))
        elif differing:
            self.record(kind, command, "other bits", ", ".join(differing))
        else:
            self.counts[kind, command.name, "same bits"] += 1

    def record(self, kind: str, command: Command, result: str, detail: str) -> None:
        """Count a result other than the same bits, and keep its details."""
        self.counts[kind, command.name, result] += 1
        last = (detail.strip().splitlines() or [""])[-1]
        self.failures.append(f"{kind}, {command.name}: {result}: {last}")

    def kill_at_events(
        self, command: Command, expected: dict[str, Any], step: int, end: float
    ) -> None:
        """Kill a command before each of its file events, or each `step`-th."""
        counter = self.work / "events"

        def kill_at(event: int) -> Path:
            out = self.folder()
            counter.write_bytes(b"")
            prepare = partial(count_events, out, counter, event)
            self.wait(self.start(command.in_folder(out), prepare))
            return out

        shutil.rmtree(kill_at(0))
        for event in range(1, counter.stat().st_size + 1, step):
            if time.monotonic() > end:
                return
            self.check("killed at a file event", command, kill_at(event), expected)

    def kill_at_random(self, command: Command, expected: dict[str, Any]) -> None:
        """Kill a command, and perhaps the one that resumes it, at a random moment."""
        out = self.folder()
        started = time.monotonic()
        self.run(command.in_folder(out))
        duration = time.monotonic() - started
        shutil.rmtree(out)
        out = self.folder()
        for resume in (False, True)[: self.random.randint(1, 2)]:
            moment = self.random.random() * duration
            self.run(command.in_folder(out, resume=resume), kill_after=moment)
        self.check("killed at random", command, out, expected)

    def fill_disk(self, command: Command, expected: dict[str, Any], size: int) -> None:
        """Run a command where only so many bytes can be written, then with room."""
        out = self.folder()
        with small_disk(out, size) as limit:
            done = self.wait(self.start(command.in_folder(out), limit.start))
            if done.code != 0 and not done.one_sentence:
                self.record("disk full", command, f"exit code {done.code}", done.error)
            limit.stop()
            self.check("disk full" if done.code else "disk not full", command, out, expected)

    def two_at_once(self, command: Command, expected: dict[str, Any]) -> None:
        """Run a command twice in one folder, with and without resuming, at nearly one time."""
        out = self.folder()
        processes = []
        for _ in range(2):
            resume = self.random.random() < 0.5
            processes.append(self.start(command.in_folder(out, resume=resume)))
            time.sleep(self.random.choice([0.0, 0.0, 0.02, 0.1, 0.3]))
        for done in [self.wait(process) for process in processes]:
            if done.code != 0 and not done.one_sentence:
                self.record("two at once", command, f"exit code {done.code}", done.error)
        self.check("two at once", command, out, expected)


def kill_group(process: int) -> None:
    """Kill a process and its children."""
    try:
        os.killpg(process, signal.SIGKILL)
    except ProcessLookupError:  # it has no group yet
        os.kill(process, signal.SIGKILL)


def count_events(folder: Path, counter: Path, kill_at: int = 0) -> None:
    """Count the file events of this process in a folder; kill it before one of them."""
    prefix = str(folder)
    log = os.open(counter, os.O_WRONLY | os.O_APPEND)
    writing = os.O_WRONLY | os.O_RDWR | os.O_CREAT
    count = 0

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal count
        if event == "open":
            path, _, flags = arguments
            if not (isinstance(flags, int) and flags & writing and prefix in str(path)):
                return
        elif event not in EVENTS or (event != "fcntl.flock" and prefix not in str(arguments[0])):
            return
        count += 1
        os.write(log, b".")
        if count == kill_at:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)


@dataclass
class Limit:
    """A limit on what can be written.

    Attributes:
        size: bytes of a file at most, where the disk has no limit; else 0.
        mount: the small disk; "" where there is none.
    """

    size: int
    mount: str = ""

    def start(self) -> None:
        """Limit the size of the files of this process."""
        if not self.mount:
            resource.setrlimit(resource.RLIMIT_FSIZE, (self.size, self.size))

    def stop(self) -> None:
        """Make room."""
        if self.mount:
            command = ["mount", "-o", "remount,size=64m", self.mount]
            subprocess.run(command, check=True)


@contextmanager
def small_disk(folder: Path, size: int) -> Iterator[Limit]:
    """Make a folder a disk of so many bytes, where this process may, and otherwise limit files."""
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    mounted = os.geteuid() == 0 and not subprocess.run(command, capture_output=True).returncode
    try:
        yield Limit(size, str(folder) if mounted else "")
    finally:
        if mounted:
            subprocess.run(["umount", "-l", str(folder)], check=True)


def contents(folder: Path) -> dict[str, Any]:
    """Return the files in a folder by name, without what differs between equal runs."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): _content(path) for path in files}


def _content(path: Path) -> Any:
    if path.name == "manifest.json":
        return sorted(json.loads(path.read_text("utf-8"))["files"])
    if path.suffix == ".json":
        return _without_times(json.loads(path.read_text("utf-8")))
    if path.suffix == ".jsonl":
        lines = path.read_text("utf-8").splitlines()
        return [_without_times(json.loads(line)) for line in lines]
    return path.read_bytes()


def _without_times(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            name: _without_times(each)
            for name, each in value.items()
            if not any(word in name for word in TIMES)
        }
    return [_without_times(each) for each in value] if isinstance(value, list) else value


def write_graph(path: Path) -> None:
    """Write a small graph with labels and a split."""
    rng = np.random.default_rng(0)
    labels = np.arange(60) % 2
    upper = np.triu(rng.random((60, 60)) < np.where(labels[:, None] == labels, 0.2, 0.03), k=1)
    features = rng.random((60, 6)) + labels[:, None]
    parts = np.split(rng.permutation(60), [20, 30])
    splits = dict(zip(("train", "val", "test"), parts, strict=True))
    graph = ugcl.Graph.from_edges(np.argwhere(upper), features, labels=labels, splits=splits)
    graph.save(path)


def commands(work: Path) -> list[Command]:
    """Return the commands, whose input is written first."""
    write_graph(work / "graph.npz")
    graph = str(work / "graph.npz")
    small = ("--hidden", "4", "--epochs", "6", "--threads", "1")
    train = ("train", graph, *small, "--out", "OUT/run")
    run = str(work / "run")
    if ugcl_main(["train", graph, *small, "--out", run]):
        raise SystemExit("the command that all others need fails")
    study = ("study", "run", graph, "--method", "ugcl", "--preset", "fast:hidden=4,epochs=3")
    scoring = ("--seeds", "2", "--splits", "2", "--scopes", "1")
    return [
        Command("train", (*train, "--method", "ugcl", "--hold-out-edges", "0.1"), ("--resume",)),
        Command("train gcn", (*train, "--method", "gcn"), ("--resume",)),
        Command("embed", ("embed", run, "--out", "OUT/embeddings.csv")),
        Command("study run", (*study, *scoring, "--out", "OUT/study.json", "--runs", "OUT")),
        Command(
            "study",
            (
                "study",
                "subsampling",
                "--data",
                graph,
                "--seeds",
                "3",
                "--jobs",
                "1",
                "--out",
                "OUT",
            ),
        ),
        Command("report", ("report", run, "--splits", "2", "--out", "OUT/page.html")),
    ]


def main() -> None:
    """Torture the commands, print the counts."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--short", action="store_true", help="a few of each, of train only")
    parser.add_argument("--only", default="", help="names of commands, comma-separated")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    end = time.monotonic() + 60 * args.minutes
    Checkpoint.on_epoch_end = Checkpoint.save  # type: ignore[method-assign]  # after each epoch
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        torture = Torture(work, args.seed)
        chosen = commands(work)
        if args.only:
            chosen = [command for command in chosen if command.name in args.only.split(",")]
        if args.short:
            chosen = chosen[:1]
        torment(torture, chosen, end, short=args.short)
    for (kind, name, result), count in sorted(torture.counts.items()):
        print(f"{kind:24} {name:10} {result:14} {count:5}")
    for failure in torture.failures:
        print(failure)
    wrong = {key for key in torture.counts if key[2] not in ("same bits", "refused")}
    sys.exit(1 if wrong else 0)


def torment(torture: Torture, chosen: list[Command], end: float, *, short: bool) -> None:
    """Disturb the commands in every way until the time is over."""
    expected = {command.name: torture.reference(command) for command in chosen}
    step, pairs, sizes = (9, 2, (8, 40)) if short else (1, 15, range(4, 100, 4))
    for command in chosen:
        for size in sizes:
            torture.fill_disk(command, expected[command.name], 1024 * size)
        for _ in range(pairs):
            torture.two_at_once(command, expected[command.name])
        torture.kill_at_events(command, expected[command.name], step, end)
        if not short:
            print(f"{command.name}: {sum(torture.counts.values())} disturbances", flush=True)
    for _ in range(3 if short else 10**6):
        for command in chosen:
            if time.monotonic() > end:
                return
            torture.kill_at_random(command, expected[command.name])


if __name__ == "__main__":
    main()
