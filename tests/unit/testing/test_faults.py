"""Crash points: where they lie, and who counts the passes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.patience import patience

from penstock.testing.faults import POINTS, RESIDENT_POINTS, VARIABLE, CrashPlan, descendants_of, parent_of

# In a process of its own: points stay where they were placed.
PROGRAM = """
import os, sys
from pathlib import Path

from penstock.common import Encoder
from penstock.datastream import StreamExecutionEnvironment
from penstock.datastream.connectors.file_system import FileSink
from penstock.testing import faults
from penstock.engines.local.executor import LocalExecutor

directory = sys.argv[1]
passed = set()
if faults.VARIABLE in os.environ:
    faults.arm()
else:
    faults.place_points(passed.add)

for options in ({"stop_after": 1, "savepoint_directory": directory}, {}):
    env = StreamExecutionEnvironment(executor=LocalExecutor(epoch_records=2, **options))
    numbers = env.from_collection([1, 2, 3, 4, 5]).key_by(lambda n: n % 2).reduce(lambda a, b: a + b)
    numbers.sink_to(FileSink.for_row_format(directory + "/out", Encoder.simple_string_encoder()).build())
    env.execute()
print(*sorted(passed))
"""


def run(directory: Path, crash: str | None = None) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **({} if crash is None else {VARIABLE: crash})}
    command = [sys.executable, "-c", PROGRAM, str(directory)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=patience(120))


def test_a_job_with_savepoint_and_sink_passes_all_points(tmp_path: Path) -> None:
    result = run(tmp_path)
    assert result.returncode == 0, result.stderr
    # Nothing is recovered here, for that a job has to die first; and resident tasks are processes of their own.
    assert set(result.stdout.split()) == {*POINTS} - {*RESIDENT_POINTS, "during-recovery"}


@pytest.mark.parametrize("point", ["after-plan:2", "during-level:3:self"])
def test_the_process_dies_at_the_point(tmp_path: Path, point: str) -> None:
    result = run(tmp_path, point)
    assert (result.returncode, result.stdout) == (-signal.SIGKILL, "")


def test_one_of_all_processes_dies(tmp_path: Path) -> None:
    crash = f"before-commit:1@{tmp_path}/passes"
    assert run(tmp_path, crash).returncode == -signal.SIGKILL
    assert run(tmp_path, crash).returncode == 0


@pytest.mark.parametrize("text", ["nowhere", "after-plan:x", "after-plan:1:nobody", "after-plan:1:jvm:2", ""])
def test_a_wrong_plan_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="points are after-plan"):
        CrashPlan.parse(text)


def test_processes_are_found() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        assert child.pid in descendants_of(os.getpid())
        assert parent_of(child.pid) == os.getpid()
        child.kill()
