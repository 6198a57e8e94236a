"""`make demo-ui`: a manager with three jobs to look at, until Ctrl-C; leaves nothing behind."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

_JOBS = Path(__file__).parents[1] / "examples" / "manager_demo"
_PENSTOCK = [sys.executable, "-m", "penstock.cli.main"]


def main() -> int:
    home = tempfile.mkdtemp(prefix="penstock-demo-")
    environment = {**os.environ, "PENSTOCK_HOME": home}

    def penstock(*words: str) -> int:
        return subprocess.run([*_PENSTOCK, *words], env=environment, start_new_session=True).returncode

    try:
        if penstock("cluster", "start", "-D", "penstock.cluster.slots=8", *sys.argv[1:]) != 0:
            return 1
        for job in sorted(_JOBS.glob("*.py")):
            penstock("run", "-d", "--master", "local[2]", str(job))
        print("three jobs are starting: open the address above, Ctrl-C ends everything", flush=True)
        signal.pause()
    except KeyboardInterrupt:
        print()
    finally:
        print("ending the jobs ...")
        penstock("cluster", "stop", "--cancel-jobs")
        shutil.rmtree(home, ignore_errors=True)
    return 0


if __name__ == "__main__":
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    sys.exit(main())
