from .load import bench_load as bench_load
from .machine import describe_machine as describe_machine
from .memory import bench_memory as bench_memory
from .scaling import bench_embed as bench_embed
from .scaling import bench_scaling as bench_scaling
from .step import bench_step as bench_step
from .suite import bench_suite as bench_suite
from .walks import bench_walks as bench_walks
