"""A real manager with real drivers: jobs are submitted, watched, killed and found again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.certificates import own_certificate
from tests.manager.processes import PROGRAMS, SMALL_EPOCHS, ManagerProcess, driver_of, expected, until, written

from penstock.client import PenstockClient, QueryableStateClient, RefusedError
from penstock.common.errors import JobExecutionError

JOB = PROGRAMS / "counting_job.py"
SMALL: dict[str, Any] = {"parallelism": 1, "configuration": SMALL_EPOCHS}


@pytest.fixture
def manager(tmp_path: Path) -> Iterator[ManagerProcess]:
    manager = ManagerProcess(tmp_path / "home")
    yield manager
    manager.stop()


def records(client: PenstockClient, job: str) -> int:
    return int(client.job(job).details()["penstock"]["records-in"])


def status(client: PenstockClient, job: str) -> str:
    return client.job(job).status()


def test_several_jobs_a_killed_driver_and_a_killed_manager(manager: ManagerProcess, tmp_path: Path) -> None:
    client = manager.start()
    outputs = [tmp_path / f"out-{number}" for number in range(3)]
    gate = tmp_path / "gate"
    jobs = [client.submit(JOB, [str(output), "2000", str(gate)], **SMALL) for output in outputs]
    until("running jobs", lambda: all(status(client, job) == "RUNNING" for job in jobs))
    until("an epoch of the first", lambda: records(client, jobs[0]) > 0)
    driver = driver_of(manager.home, jobs[0])
    assert driver is not None
    os.kill(driver, signal.SIGKILL)
    manager.kill()
    client = manager.start()
    gate.touch()
    until("the end of all", lambda: all(status(client, job) == "FINISHED" for job in jobs), 60)
    assert [written(output) for output in outputs] == [expected(2000)] * 3
    attempts = client.job(jobs[0]).details()["penstock"]["attempts"]
    assert [attempt["state"] for attempt in attempts] == ["LOST", "FINISHED"]
    assert len(client.job(jobs[1]).details()["penstock"]["attempts"]) == 1, "the manager's end is nothing to a job"
    with pytest.raises(RefusedError, match="does not run again"):
        client.submit(JOB, [str(outputs[1]), "2000", str(gate)], job_id=jobs[1])


def test_a_program_that_fails_says_why_and_waiting_jobs_are_seen(manager: ManagerProcess, tmp_path: Path) -> None:
    broken = tmp_path / "broken.py"
    broken.write_text("raise ValueError('no such table')\n")
    client = manager.start()
    failed = client.submit(broken)
    until("its failure", lambda: status(client, failed) == "FAILED")
    assert "no such table" in client.job(failed).details()["penstock"]["failure"]["message"]
    assert "no such table" in client.job(failed).ask_own("/log")["text"]
    waiting = client.submit(JOB, [str(tmp_path / "out"), "10", "-"], parallelism=99)
    assert status(client, waiting) == "CREATED"
    assert "it needs 99 slots" in client.job(waiting).details()["penstock"]["waiting"]
    client.job(waiting).cancel()
    until("its end", lambda: status(client, waiting) == "CANCELED")
    with pytest.raises(JobExecutionError, match="nothing to save"):
        client.job(waiting).savepoint("/tmp")


def test_savepoint_rescale_and_history(manager: ManagerProcess, tmp_path: Path) -> None:
    client = manager.start()
    output, gate = tmp_path / "out", tmp_path / "gate"
    job = client.submit(JOB.parent, [str(output), "2000", str(gate)], entry=JOB.name, **SMALL)
    until("an epoch", lambda: records(client, job) > 0)
    location = client.job(job).savepoint(str(tmp_path / "savepoints"))
    assert (Path(location) / "_metadata").is_file()
    client.job(job).rescale(2)
    until("two subtasks", lambda: client.job(job).details()["penstock"]["parallelism"] == 2)
    gate.touch()
    until("its end", lambda: status(client, job) == "FINISHED", 60)
    assert written(output) == expected(2000)
    details = client.job(job).details()
    assert {vertex["name"] for vertex in details["vertices"]} >= {"slowly", "sums"}
    restored = client.job(job).checkpoints()["latest"]["restored"]
    assert restored["is_savepoint"]


def penstock(home: Path, *words: str) -> str:
    environment = {**os.environ, "PENSTOCK_HOME": str(home)}
    done = subprocess.run(
        [sys.executable, "-m", "penstock.cli.main", *words], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_manager_that_speaks_tls_is_used_by_command_line_and_client(tmp_path: Path) -> None:
    tls = own_certificate(tmp_path)
    certificate = tls["penstock.rest.certificate"]
    manager = ManagerProcess(tmp_path / "home", **tls)
    client = manager.start()
    try:
        assert client.url.startswith("https://")
        assert "https://127.0.0.1" in penstock(manager.home, "cluster", "status")
        program = tmp_path / "nothing.py"
        program.write_text("print('no job at all')\n")
        job = penstock(manager.home, "run", "-d", str(program)).strip()
        token = client.connection._token
        other = PenstockClient(client.url, token, certificate=certificate)
        until("its end", lambda: other.job(job).status() == "FINISHED")
        with pytest.raises(JobExecutionError, match="a certificate that is not trusted here"):
            PenstockClient(client.url, token).overview()
        with pytest.raises(JobExecutionError, match="gave no usable answer|nobody listens"):
            PenstockClient(client.url.replace("https", "http"), token).overview()
    finally:
        manager.stop()


def test_the_plan_of_an_uploaded_program(manager: ManagerProcess, tmp_path: Path) -> None:
    client = manager.start()
    uploaded = client.connection.upload("/jars/upload", JOB, {})["filename"]
    asked = {"programArgsList": [str(tmp_path / "out"), "10", "-"], "parallelism": 2}
    plan = client.connection.ask("POST", f"/jars/{uploaded}/plan", asked)["plan"]
    by_name = {node["description"]: node for node in plan["nodes"]}
    assert plan["name"] == "counting" and by_name["sums"]["parallelism"] == 2
    assert [each["ship_strategy"] for each in by_name["sums"]["inputs"]] == ["HASH"]
    assert client.jobs() == []
    with pytest.raises(RefusedError, match="IndexError"):
        client.connection.ask("GET", f"/jars/{uploaded}/plan")


def test_a_program_that_was_uploaded_is_started_again_under_its_id(manager: ManagerProcess, tmp_path: Path) -> None:
    client, output = manager.start(), tmp_path / "out"
    uploaded = client.connection.upload("/jars/upload", JOB, {})["filename"]
    fields = {"program": uploaded, "args": json.dumps([str(output), "10", "-"]), "name": "again", "parallelism": "1"}
    job = client.connection.upload("/penstock/v1/jobs", None, fields)["jobid"]
    until("its end", lambda: status(client, job) == "FINISHED")
    assert (client.job(job).details()["name"], written(output)) == ("again", expected(10))
    with pytest.raises(RefusedError, match="no program was uploaded under the id"):
        client.connection.upload("/penstock/v1/jobs", None, {**fields, "program": "nothing"})


def test_state_of_a_running_job_by_command_line_and_client(manager: ManagerProcess, tmp_path: Path) -> None:
    client = manager.start()
    gate = tmp_path / "gate"
    job = client.submit(JOB, [str(tmp_path / "out"), "100000", str(gate)], **SMALL)
    until("an epoch", lambda: records(client, job) > 0)
    states = client.job(job).ask_own("/state")
    [[name]] = [[state["name"] for state in each["states"]] for each in states["operators"] if each["uid"] == "sums"]
    reader = QueryableStateClient(client.url, client.connection._token)
    first = reader.get_kv_state(job, "sums", name, 3)
    until("a later epoch", lambda: reader.get_kv_state(job, "sums", name, 3)[1] > first[1])
    assert json.loads(penstock(manager.home, "state", "get", job[:8], "sums", name, "3"))[1] > first[1]
    assert reader.get_kv_state(job, "sums", name, 7) is None
    with pytest.raises(RefusedError, match="has no state 'nothing'; its states are: _reduced"):
        reader.get_kv_state(job, "sums", "nothing", 3)
    with pytest.raises(RefusedError, match="set execution.checkpointing.interval"):
        reader.get_kv_state(job, "sums", name, 3, from_checkpoint=True)


def test_an_insert_of_the_sql_client_is_a_job_that_outlives_it(manager: ManagerProcess, tmp_path: Path) -> None:
    client = manager.start()
    script = tmp_path / "job.sql"
    script.write_text(
        f"""CREATE TABLE numbers (n INT) WITH ('connector' = 'datagen', 'fields.n.kind' = 'sequence',
                'fields.n.start' = '1', 'fields.n.end' = '50');
        CREATE TABLE written (n INT) WITH ('connector' = 'filesystem', 'path' = '{tmp_path}/out', 'format' = 'csv');
        CREATE VIEW even AS SELECT n FROM numbers WHERE MOD(n, 2) = 0;
        INSERT INTO written SELECT n FROM even;
        """
    )
    done = subprocess.run(
        [sys.executable, "-m", "penstock.cli.main", "sql", "-p", "1", "-f", str(script)],
        env={**os.environ, "PENSTOCK_HOME": str(manager.home)},
        capture_output=True,
        text=True,
        check=True,
    )
    job = next(line.split()[-1] for line in done.stdout.splitlines() if line.startswith("Job ID: "))
    until("its end", lambda: status(client, job) == "FINISHED", 60)
    lines = [line for file in (tmp_path / "out").glob("part-*") for line in file.read_text().split()]
    assert sorted(map(int, lines)) == list(range(2, 51, 2))
