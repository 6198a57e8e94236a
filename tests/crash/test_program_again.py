"""Programs that go on after a death: with several jobs, and with a Spark whose JVM has died."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest
from tests.crash.killed_job import PENSTOCK
from tests.patience import patience

from penstock.control.finished_jobs import FinishedJobs
from penstock.control.program_record import job_id_of
from penstock.testing.faults import VARIABLE

pytestmark = pytest.mark.crash

ID = "ab" * 16

TWO_JOBS = """
import sys

from penstock.common import Encoder, Types
from penstock.datastream import MapFunction, StreamExecutionEnvironment
from penstock.datastream.connectors.file_system import FileSink


class Attempt(MapFunction):
    def open(self, runtime_context):
        self.number = runtime_context.get_attempt_number()

    def map(self, value):
        return f"{value} in attempt {self.number}"


env = StreamExecutionEnvironment.get_execution_environment()
for name in ("first", "second"):
    lines = env.from_collection([f"{name} {n}" for n in range(6)], Types.STRING()).map(Attempt(), Types.STRING())
    lines.sink_to(FileSink.for_row_format(f"{sys.argv[1]}/{name}", Encoder.simple_string_encoder()).build())
    env.execute(name)
    print("executed", name, flush=True)
"""


def penstock(home: Path, *arguments: str, crash: str | None = None) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PENSTOCK_HOME": str(home), **({} if crash is None else {VARIABLE: crash})}
    return subprocess.run(
        [str(PENSTOCK), *arguments], env=environment, capture_output=True, text=True, timeout=patience(240), check=False
    )


def lines_of(directory: Path) -> list[str]:
    files = [path for path in directory.rglob("*") if path.is_file() and path.name[0] != "."]
    return sorted(line for path in files for line in path.read_text().splitlines())


def test_the_second_job_of_a_program_goes_on(tmp_path: Path) -> None:
    home, results, script = tmp_path / "home", tmp_path / "results", tmp_path / "two.py"
    script.write_text(TWO_JOBS)
    small = ["-Dpenstock.epoch.initial-records=2", "-Dpenstock.epoch.max-records=2"]
    # Each job has three epochs with records: this is the second one of the second job.
    killed = penstock(
        home, "run", "--master", "local[2]", "-p", "1", "--job-id", ID, *small, str(script), str(results),
        crash="after-commit:5",
    )  # fmt: skip
    assert (killed.returncode, killed.stdout) == (-signal.SIGKILL, "executed first\n"), killed.stderr
    second = job_id_of(ID, 1)
    assert [job["id"] for job in json.loads(penstock(home, "list", "--json").stdout)["jobs"]] == [second]
    resumed = penstock(home, "resume", second)
    assert resumed.stdout == "executed first\nexecuted second\n", resumed.stderr
    assert f"the job {ID} finished" in resumed.stderr and "does not run again" in resumed.stderr
    assert lines_of(results / "first") == [f"first {n} in attempt 0" for n in range(6)]
    assert lines_of(results / "second") == [f"second {n} in attempt {n // 4}" for n in range(6)]
    record = FinishedJobs(home).get(second)
    assert record is not None
    assert [(attempt.number, attempt.state.name) for attempt in record.attempts] == [(0, "LOST"), (1, "FINISHED")]
    assert record.attempts[1].from_epoch == 2


ANOTHER_JVM = """
from pyspark import SparkContext

from penstock.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
print(list(env.from_collection([1, 2]).execute_and_collect()), flush=True)
SparkContext._gateway.proc.kill()
SparkContext._gateway.proc.wait()
print(list(env.from_collection([3, 4]).execute_and_collect()))
"""


def test_a_job_behind_the_death_of_the_jvm_gets_another_one(tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(ANOTHER_JVM)
    result = penstock(tmp_path / "home", "run", "--master", "local[2]", "-p", "1", str(script))
    # PySpark's own threads tell of the death on stderr.
    assert (result.stdout, result.returncode) == ("[1, 2]\n[3, 4]\n", 0), result.stderr
