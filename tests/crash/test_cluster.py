"""A standalone Spark cluster of two workers: starts on a busy machine, disks that are not shared, lost executors."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.crash.killed_job import PENSTOCK, KilledJob, signal_session
from tests.patience import completed
from tests.s3_server import BUCKET, reach
from tests.services.processes import wait_until
from tests.services.spark_cluster import SparkCluster, descendants, send_signal, spark_cluster

from penstock.storage import storage_at

pytestmark = [pytest.mark.crash, pytest.mark.soak]

ENGINES = ("micro-batch", "resident")
STARTS = 10
KILLS = 2
HERE = Path(__file__).parent
EXAMPLES = HERE.parents[1] / "examples"
COUNT = """
from penstock.common import Types
from penstock.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(2)
pair = Types.TUPLE([Types.INT(), Types.LONG()])
numbers = env.from_collection(list(range(1000)), Types.INT()).map(lambda n: (n % 7, n), pair)
totals = {}
for key, total in numbers.key_by(lambda p: p[0], Types.INT()).sum(1).execute_and_collect():
    totals[key] = max(total, totals.get(key, 0))
print("sum", sum(totals.values()))
"""


def run(program: Path, master: str, home: Path, engine: str, *options: str) -> subprocess.CompletedProcess[str]:
    return completed(
        [str(PENSTOCK), "run", "--master", master, f"-Dpenstock.engine={engine}", *options, str(program)],
        300,
        env={**os.environ, "PENSTOCK_HOME": str(home)},
    )


@contextlib.contextmanager
def busy_machine() -> Iterator[None]:
    """Four processes for every core that want all of it, beside whatever else runs."""
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(4 * (os.cpu_count() or 1))]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


@pytest.mark.parametrize("engine", ENGINES)
def test_jobs_start_on_a_busy_machine(tmp_path: Path, engine: str) -> None:
    """Spark gives a Python process ten seconds to connect back, which some miss here."""
    program = tmp_path / "program" / "count.py"  # away from what the cluster keeps: modules beside a program travel
    program.parent.mkdir()
    program.write_text(COUNT)
    with spark_cluster(tmp_path / "cluster") as cluster, busy_machine():
        for number in range(STARTS):
            result = run(program, cluster.url, tmp_path / "home", engine)
            assert result.stdout == "sum 499500\n", f"start {number + 1}: {result.stdout}\n{result.stderr}"


@pytest.mark.parametrize("engine", ENGINES)
def test_a_home_that_executors_do_not_see_is_refused_in_the_first_epoch(tmp_path: Path, engine: str) -> None:
    driver = tmp_path / "driver"
    driver.mkdir()
    program = driver / "count.py"
    program.write_text(COUNT)
    with spark_cluster(tmp_path / "cluster", hidden=[driver]) as cluster:
        result = run(program, cluster.url, driver / "home", engine)
    assert result.returncode != 0
    assert str(driver / "home") in result.stderr and "share" in result.stderr, result.stderr
    assert "penstock.home" in result.stderr, result.stderr
    assert not list((driver / "home").rglob("*.epoch")), "an epoch was committed"


def test_too_few_slots_are_told_at_once(tmp_path: Path) -> None:
    """Long before penstock.resident.slot-timeout, for which no process would live long enough here."""
    program = tmp_path / "count.py"
    program.write_text(COUNT)
    with spark_cluster(tmp_path / "cluster", workers=1) as cluster:
        result = run(program, cluster.url, tmp_path / "home", "resident", "-Dpenstock.resident.slot-timeout=24 h")
        assert result.returncode != 0
        assert "needs 2 slots of Spark at the same time, and the cluster can give it 1" in result.stderr, result.stderr
        one = tmp_path / "one.py"
        one.write_text(COUNT.replace("set_parallelism(2)", "set_parallelism(1)"))
        assert run(one, cluster.url, tmp_path / "home", "resident").stdout == "sum 499500\n"


class ClusterJob(KilledJob):
    """The driver's directory is all that it has on disk; results, state and checkpoints are in the store."""

    sinks = ("reports", "running")

    def __init__(self, directory: Path, master: str, store: str, records: int, **options: str) -> None:
        super().__init__(
            directory,
            records,
            epoch_records=2_000,
            engine="resident",
            **{
                "penstock.resident.state-dir": f"{store}/state",
                "penstock.resident.epoch-interval": "300 ms",
                "execution.checkpointing.interval": "5s",
                "execution.checkpointing.dir": f"{store}/checkpoints",
                **options,
            },
        )
        self.master = master
        self.store = store
        program = directory / "program"
        program.mkdir()
        files = [HERE / f"{name}.py" for name in ("cluster_job", "page_view_job", "page_views")]
        for file in [*files, EXAMPLES / "transactional_files.py", EXAMPLES / "write_ahead_sqlite.py"]:
            shutil.copy(file, program)
        self.program = program / "cluster_job.py"

    def arguments(self) -> list[str]:
        return [f"{self.store}/results", str(self._records)]

    def visible(self, sink: str) -> Counter[str]:
        files = storage_at(f"{self.store}/results/{sink}")
        shown = [name for name in files.names() if not name.rpartition("/")[2].startswith(".")]
        return Counter(line for name in shown for line in files.read(name).decode().splitlines())


def kill_executors(cluster: SparkCluster, job: ClusterJob, process: subprocess.Popen[str]) -> None:
    for number in range(KILLS):
        job.wait_for_epoch(process)
        cluster.kill_executor(number)
        job.history.append(f"executor killed after {job.newest_epoch()}")


def test_resident_tasks_share_no_disk_but_a_store(
    tmp_path: Path, s3_address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    reach(s3_address, monkeypatch)
    driver = tmp_path / "driver"
    driver.mkdir()
    with spark_cluster(tmp_path / "cluster", hidden=[driver]) as cluster:
        job = ClusterJob(driver, cluster.url, f"s3://{BUCKET}/{tmp_path.name}", records=40_000)
        process = job.start()
        kill_executors(cluster, job, process)
        job.wait_for_epoch(process)
        signal_session(process.pid, signal.SIGKILL)
        job.wait(process, "executors and the driver killed")
        assert not job.finished, f"the input is too short for so many kills\n{job.story()}"
        process = job.start()
        kill_executors(cluster, job, process)
        assert job.wait(process, "executors killed") == 0, job.story()
    job.assert_complete()
    assert storage_at(f"{job.store}/state").names() == [], "the state of a finished job stays in the store"


# Spark gives an executor up after two minutes by default.
SOON = {
    "spark.executor.heartbeatInterval": "2s",
    "spark.network.timeout": "10s",
    "spark.network.timeoutInterval": "2s",
}


@pytest.mark.parametrize(
    ("who", "spark"), [("all of it", "waits for it"), ("all of it", "replaces it"), ("its JVM", "replaces it")]
)
def test_an_executor_that_stops_and_wakes_up_changes_nothing(
    tmp_path: Path, s3_address: str, monkeypatch: pytest.MonkeyPatch, who: str, spark: str
) -> None:
    """As a machine that hangs: nobody closes a connection. A task without its JVM goes on until Spark runs another."""
    reach(s3_address, monkeypatch)
    # An epoch in a second at most: there is to be input left when it wakes up.
    options = {"penstock.resident.heartbeat-timeout": "4 s", "penstock.resident.epoch-interval": "1 s"}
    driver = tmp_path / "driver"
    driver.mkdir()
    with spark_cluster(tmp_path / "cluster", hidden=[driver]) as cluster:
        soon = SOON if spark == "replaces it" else {}
        job = ClusterJob(driver, cluster.url, f"s3://{BUCKET}/{tmp_path.name}", records=80_000, **options, **soon)
        process = job.start()
        try:
            job.wait_for_epoch(process)
            stopped = sorted(cluster.executors())[0]
            victims = [stopped, *(descendants(stopped) if who == "all of it" else [])]
            send_signal(signal.SIGSTOP, victims)
            if soon:
                wait_until(lambda: len(set(cluster.executors()) - {stopped}) == 2, "another executor", 120)
                job.wait_for_epoch(process)
            else:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(10)  # longer than the engine waits for a beat
            assert process.poll() is None, f"the input is too short\n{job.story()}"
            send_signal(signal.SIGCONT, victims)
            job.history.append(f"woke up after {job.newest_epoch()}")
            assert job.wait(process, "an executor stopped for a while") == 0, job.story()
        finally:
            signal_session(process.pid, signal.SIGKILL)
    job.assert_complete()
