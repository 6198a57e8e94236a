"""A Python for Spark's workers that starts quickly.

Spark puts its own `pyspark.zip` in front of the workers' path. Modules in an archive have no compiled form, so every
new process compiles all of PySpark again (measured: more than a second each, several in a row for every job). The
launcher takes the archive off the path, and the installed package is used instead.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

LAUNCHER = "penstock-python"


def worker_python(executable: str = sys.executable) -> str:
    """What to give to Spark: the launcher, which pip puts beside the interpreter on every machine of a cluster.

    Not in the home: executors need not see that. A busy driver gives a process ten seconds to start, and with the
    interpreter itself, which takes the launcher's place where there is none, that is not always enough.
    """
    launcher = Path(executable).with_name(LAUNCHER)
    # It runs the python3 beside it, which may be another one than this where several share a directory.
    same = os.path.realpath(launcher.with_name("python3")) == os.path.realpath(executable)
    return str(launcher) if same and os.access(launcher, os.X_OK) else executable
