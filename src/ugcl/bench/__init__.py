"""The measurements of `ugcl bench`: time and memory of training, embedding and loading."""

from ugcl.bench.load import bench_load
from ugcl.bench.machine import machine
from ugcl.bench.memory import bench_memory
from ugcl.bench.scaling import bench_embed, bench_scaling
from ugcl.bench.step import bench_step
from ugcl.bench.suite import bench_suite
from ugcl.bench.walks import bench_walks

__all__ = [
    "bench_embed",
    "bench_load",
    "bench_memory",
    "bench_scaling",
    "bench_step",
    "bench_suite",
    "bench_walks",
    "machine",
]
