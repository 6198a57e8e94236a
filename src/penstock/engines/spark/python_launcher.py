"""A Python for Spark's workers that starts quickly.

Spark puts its own `pyspark.zip` in front of the workers' path. Modules in an archive have no compiled form, so every
new process compiles all of PySpark again (measured: more than a second each, several in a row for every job). The
launcher takes the archive off the path, and the installed package is used instead.
"""

from __future__ import annotations

import os
import sys
import zlib
from pathlib import Path

_SCRIPT = """#!/bin/sh
# Written by Penstock: the workers use the installed pyspark (compiled) instead of Spark's pyspark.zip (not compiled).
PYTHONPATH=$(printf '%s' "$PYTHONPATH" | tr ':' '\\n' | grep -v '/python/lib/.*\\.zip$' | paste -s -d ':' -)
export PYTHONPATH
exec "{python}" "$@"
"""


def worker_python(directory: Path) -> str:
    """The executable to give to Spark. The directory lies in the home, which all machines of a cluster share: a busy

    driver gives a Python process ten seconds to start, and without the launcher that is not always enough.
    """
    if os.name != "posix":
        return sys.executable
    launcher = directory / f"python-{zlib.crc32(sys.executable.encode()):08x}"
    content = _SCRIPT.format(python=sys.executable)
    if not launcher.exists() or launcher.read_text() != content:
        directory.mkdir(parents=True, exist_ok=True)
        temporary = launcher.with_suffix(f".{os.getpid()}")
        temporary.write_text(content)
        temporary.chmod(0o755)
        temporary.replace(launcher)
    return str(launcher)
