"""Two hosts: network namespaces of one machine, connected by a cable that can be cut.

`make test-cluster` runs this file; it needs Linux, root and `ip` of iproute2. All addresses are
inside the namespaces.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import ugcl
from small_runs import assert_same_bits
from ugcl.runs import Run

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif("UGCL_CLUSTER" not in os.environ, reason="make test-cluster runs this"),
]

ADDRESSES = {"a": "10.231.47.1", "b": "10.231.47.2"}
TIMEOUT = 10
"""Seconds after which a rank that does not answer is an error, `--timeout`."""

SIZE = ["--method", "ugcl", "--sample", "500", "--hidden", "32", "--epochs", "500"]


def ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True)


class Cluster:
    """Two namespaces with a cable between them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.names = {host: f"ugcl-{host}-{os.getpid()}" for host in ADDRESSES}
        self.started: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Cluster:
        for name in self.names.values():
            ip("netns", "add", name)
        first, second = self.names.values()
        ip("-n", first, "link", "add", "cable", "type", "veth", "peer", "cable", "netns", second)
        for host, address in ADDRESSES.items():
            ip("-n", self.names[host], "addr", "add", f"{address}/24", "dev", "cable")
            for device in ("lo", "cable"):
                ip("-n", self.names[host], "link", "set", device, "up")
        return self

    def __exit__(self, *error: object) -> None:
        for process in self.started:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        for name in self.names.values():
            ip("netns", "del", name)

    def cut(self) -> None:
        """Cut the cable: nothing arrives any more, and nobody is told."""
        ip("-n", self.names["b"], "link", "set", "cable", "down")

    def start(self, host: str, *arguments: str) -> subprocess.Popen[bytes]:
        """Start a process on a host; what it says is in HOST.txt."""
        source, home = Path(ugcl.__file__).parents[1], self.folder / host
        home.mkdir(exist_ok=True)
        variables = {"PYTHONPATH": str(source), "OMP_NUM_THREADS": "1"}
        with (self.folder / f"{host}.txt").open("wb") as said:
            process = subprocess.Popen(
                ["ip", "netns", "exec", self.names[host], sys.executable, *arguments],
                cwd=home,
                env=os.environ | variables | {"GLOO_SOCKET_IFNAME": "cable"},
                stdout=subprocess.DEVNULL,
                stderr=said,
                start_new_session=True,
            )
        self.started.append(process)
        return process

    def train(self, out: Path, restarts: int = 0) -> list[subprocess.Popen[bytes]]:
        """Start a training on both hosts, each with a graph folder of its own."""
        processes = []
        for host, address in ADDRESSES.items():
            graph = self.folder / host / "graph"
            if not graph.exists():
                ugcl.load_graph("citeseer").save_folder(graph)
            place = [f"--rdzv-endpoint={ADDRESSES['a']}:29500", f"--local-addr={address}"]
            place.append(f"--rdzv-conf=is_host={int(host == 'a')}")
            torchrun = ["-m", "torch.distributed.run", "--nnodes=2", "--nproc-per-node=1"]
            torchrun += ["--rdzv-backend=c10d", f"--max-restarts={restarts}", *place]
            command = ["train", "graph", *SIZE, "--out", str(out), "--resume"]
            command += ["--timeout", str(TIMEOUT)]
            processes.append(self.start(host, *torchrun, "-m", "ugcl", *command))
        return processes

    def said(self, host: str) -> str:
        """Return what a host has said."""
        return (self.folder / f"{host}.txt").read_text("utf-8")

    def worker(self, host: str) -> int:
        """Return the process that trains on a host."""
        pids = subprocess.run(
            ["ip", "netns", "pids", self.names[host]], check=True, capture_output=True, text=True
        ).stdout.split()
        for pid in pids:
            command = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            if b"ugcl" in command and b"torch.distributed.run" not in command:
                return int(pid)
        raise AssertionError(f"nothing trains on {host}")


def wait_for(condition: Callable[[], bool], seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.05)


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    assert os.geteuid() == 0, "network namespaces need root"
    assert shutil.which("ip"), "there is no `ip`: apt-get install iproute2"
    with Cluster(tmp_path) as made:
        yield made


def test_two_hosts_have_the_bits_of_two_ranks_on_one_also_after_a_kill(cluster: Cluster) -> None:
    one, two, killed = (cluster.folder / name for name in ("one", "two", "killed"))
    first = cluster.train(two)
    assert [process.wait(300) for process in first] == [0, 0], cluster.said("a")
    assert Run.open(two).config.world_size == 2

    alone = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", "-m", "ugcl"]
    graph = str(cluster.folder / "a/graph")
    process = subprocess.run(
        [sys.executable, *alone, "train", graph, *SIZE, "--out", str(one)],
        env=os.environ
        | {"PYTHONPATH": str(Path(ugcl.__file__).parents[1]), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert process.returncode == 0, process.stderr
    for name in ("model.safetensors", "embeddings.npy"):
        assert weights_of(one / name) == weights_of(two / name)

    processes = cluster.train(killed, restarts=2)
    wait_for((killed / "checkpoint.safetensors").is_file)
    os.kill(cluster.worker("b"), signal.SIGKILL)
    assert [process.wait(300) for process in processes] == [0, 0], cluster.said("a")
    assert "resuming after epoch" in cluster.said("a") + cluster.said("b")
    assert "exitcode: -9" in cluster.said("b")
    assert_same_bits(two, killed)


def test_a_cut_cable_is_an_error_after_the_timeout(cluster: Cluster) -> None:
    out = cluster.folder / "run"
    processes = cluster.train(out)
    log = out / "log.jsonl"
    wait_for(lambda: log.is_file() and log.read_bytes().count(b"\n") > 20)
    cluster.cut()
    lost = "has lost the other ranks (Timed out waiting 10000ms"
    wait_for(lambda: all(lost in cluster.said(host) for host in ADDRESSES), TIMEOUT + 20)
    assert processes[0].wait(30)  # torchrun of the other host still waits for the rendezvous
    assert not Run.open(out).finished


def weights_of(path: Path) -> bytes:
    """Return the bytes of a file without the configuration, which has the path of the graph."""
    from safetensors.torch import load_file

    if path.suffix == ".npy":
        return path.read_bytes()
    return b"".join(value.numpy().tobytes() for _, value in sorted(load_file(path).items()))
