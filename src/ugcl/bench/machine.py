"""Description of the machine, recorded with the measurements."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import Any

import torch

import ugcl
from ugcl._utils.provenance import source_commit
from ugcl.nn.kernels import plain


def describe_machine() -> dict[str, Any]:
    """Return processor, cores, memory and versions."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "vectors": torch.backends.cpu.get_cpu_capability(),
        "memory_gib": _memory(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "torch": torch.__version__,
        "ugcl": ugcl.__version__,
        "commit": source_commit(),
        "plain_formulas": plain(),
    }


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text("utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _memory() -> int | None:
    try:
        return round(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30)
    except (AttributeError, OSError, ValueError):
        return None
