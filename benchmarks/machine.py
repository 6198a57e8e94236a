"""What a result was measured on, and with which versions."""

from __future__ import annotations

import functools
import os
import platform
import shutil
import subprocess
from importlib import metadata
from pathlib import Path
from typing import Any

from benchmarks import settings


def machine(scale: float, remark: str) -> dict[str, Any]:
    return {
        "cpu": _cpu_model(),
        "cores": os.cpu_count(),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30),
        "system": platform.platform(),
        "scale": scale,
        "load_at_start": round(os.getloadavg()[0], 2),
        "remark": remark,
    }


def _cpu_model() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


@functools.cache
def versions() -> dict[str, str]:
    java = subprocess.run(["java", "-version"], capture_output=True, text=True).stderr if shutil.which("java") else ""
    return {
        "penstock": metadata.version("penstock"),
        "commit": _commit(),
        "pyspark": metadata.version("pyspark"),
        "apache-flink": settings.FLINK_REQUIREMENT.partition("==")[2],
        "duckdb": settings.DUCKDB_REQUIREMENT.partition("==")[2],
        "python": platform.python_version(),
        "java": java.splitlines()[0] if java else "of the environment",
    }


def _commit() -> str:
    answer = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=settings.ROOT, capture_output=True, text=True)
    return answer.stdout.strip() or "unknown"
