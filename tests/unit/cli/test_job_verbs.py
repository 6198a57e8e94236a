"""The verbs for jobs, on a home of the test's own and with jobs that have a REST interface but no engine."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.unit.rest.fake_job import FakeJob

from penstock.cli.job_client import START_SECONDS, JobClient
from penstock.cli.main import main
from penstock.client.access import RestAccess, write_access
from penstock.common.errors import JobExecutionError
from penstock.common.job_status import JobStatus
from penstock.common.json_data import from_json, to_json
from penstock.common.run_options import RunOptions
from penstock.control.attempts import Attempt, AttemptState
from penstock.control.checkpoints import history_file_of
from penstock.control.finished_jobs import FinishedJobs, FinishedRecord
from penstock.control.job_home import JobHome
from penstock.control.job_record import JobRecord, OperatorRecord
from penstock.control.known_jobs import find_job
from penstock.control.program_record import ProgramRecord, program_record, recorded_options
from penstock.control.snapshot_history import HistoryEntry, SnapshotHistory
from penstock.rest.job_server import JobServer as Server
from penstock.rest.job_server import serve_job
from penstock.runtime.snapshot_target import SnapshotKind

RUNNING_ID = "aa0" + "1" * 29
OTHER_ID = "aa1" + "2" * 29
DEAD_ID = "bb0" + "3" * 29

Printed = Callable[..., tuple[int, str, str]]


class LiveJob(FakeJob):
    """Ends as a driver does: outcome, server, directory."""

    def __init__(self, home: JobHome) -> None:
        super().__init__(home.job_id)
        self.home = home
        home.acquire()
        home.write_record(record_of(home.job_id))
        self.server: Server = serve_job(self, home)

    def cancel(self) -> None:
        super().cancel()
        self.end()

    def end(self) -> None:
        self.server.close(grace_seconds=0)
        self.home.remove()


def record_of(job_id: str, program: ProgramRecord | None = None, state: JobStatus | None = None) -> JobRecord:
    return JobRecord(**_shape(job_id), program=program, state=state)


def _shape(job_id: str) -> dict[str, Any]:
    operators = (OperatorRecord("u1", "Count", "reduce", 2, 1),)
    return {"job_id": job_id, "name": "page views", "parallelism": 2, "levels": 2, "operators": operators}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PENSTOCK_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def live(home: Path) -> Iterator[LiveJob]:
    job = LiveJob(JobHome(home, RUNNING_ID))
    yield job
    job.end()


@pytest.fixture
def dead(home: Path) -> JobHome:
    """As `kill -9` leaves it: files of a process that is not there any more."""
    job = JobHome(home, DEAD_ID)
    job.path.mkdir(parents=True)
    job.write_record(record_of(DEAD_ID))
    (job.path / "owner").write_text(f"process {pid_of_the_past()} on {socket.gethostname()}")
    write_access(job.path, RestAccess("http://127.0.0.1:1", "token", 1))
    return job


def pid_of_the_past() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


@pytest.fixture
def penstock(capsys: pytest.CaptureFixture[str]) -> Printed:
    def penstock(*arguments: str) -> tuple[int, str, str]:
        code = main(arguments)
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return penstock


# -- state -----------------------------------------------------------------------------------------------------------


def test_the_states_of_a_running_job_are_listed_by_the_beginning_of_its_id(penstock: Printed, live: LiveJob) -> None:
    code, out, _ = penstock("state", "list", RUNNING_ID[:5])
    assert code == 0 and "Count" in out and "count" in out and "LONG" in out
    [operator] = json.loads(penstock("state", "list", "--json", RUNNING_ID)[1])
    assert operator["uid"] == "u1"


def test_what_is_no_savepoint_is_said_to_be_none(penstock: Printed, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    code, _, error = penstock("state", "list", str(tmp_path / "file"))
    assert code == 1 and "is no savepoint" in error


# -- list and info ---------------------------------------------------------------------------------------------------


def test_list_without_jobs(penstock: Printed, home: Path) -> None:
    shows = "`penstock list --all` shows those that have ended"
    assert penstock("list") == (0, f"no jobs run in {home}; {shows}\n", "")
    assert json.loads(penstock("list", "--json")[1]) == {"jobs": []}


def test_list_shows_running_and_dead_jobs(penstock: Printed, live: LiveJob, dead: JobHome) -> None:
    code, out, _ = penstock("list")
    lines = {line.split()[0]: line for line in out.splitlines() if line.strip()}
    assert code == 0
    assert "RUNNING" in lines[RUNNING_ID] and "page views" in lines[RUNNING_ID] and "1 min 5 s" in lines[RUNNING_ID]
    assert "DEAD" in lines[DEAD_ID]
    assert "penstock resume" in lines["DEAD:"]


def test_list_for_scripts(penstock: Printed, live: LiveJob, dead: JobHome) -> None:
    jobs = json.loads(penstock("list", "--json")[1])["jobs"]
    assert [(job["id"], job["status"], job["epoch"]) for job in jobs] == [
        (RUNNING_ID, "RUNNING", 12),
        (DEAD_ID, "DEAD", None),
    ]


def test_a_process_that_was_killed_is_recognised(home: Path, penstock: Printed) -> None:
    program = (
        "import sys, pathlib\n"
        "from penstock.control.job_home import JobHome\n"
        f"home = JobHome(pathlib.Path({str(home)!r}), {DEAD_ID!r})\n"
        "home.acquire()\n"
        "print('acquired', flush=True)\n"
        "sys.stdin.read()\n"
    )
    command, pipe = [sys.executable, "-c", program], subprocess.PIPE
    with subprocess.Popen(command, text=True, stdin=pipe, stdout=pipe) as driver:
        assert driver.stdout is not None and driver.stdout.readline() == "acquired\n"
        while_alive = json.loads(penstock("list", "--json")[1])["jobs"][0]["status"]
        driver.send_signal(signal.SIGKILL)
        driver.wait()
    after = json.loads(penstock("list", "--json")[1])["jobs"][0]["status"]
    assert (while_alive, after) == ("CREATED", "DEAD")


def test_a_lock_that_was_given_back_by_a_living_process_is_no_running_job(home: Path, penstock: Printed) -> None:
    job = JobHome(home, DEAD_ID)
    job.acquire()
    job.write_record(record_of(DEAD_ID, state=JobStatus.FAILED))
    job.release()
    assert json.loads(penstock("list", "--json")[1])["jobs"][0]["status"] == "FAILED"


def test_looking_at_a_dead_job_leaves_its_lock_alone(dead: JobHome, monkeypatch: pytest.MonkeyPatch) -> None:
    job = find_job(DEAD_ID)
    monkeypatch.setattr("fcntl.flock", lambda *_: pytest.fail("a driver that starts just now would be refused"))
    assert not job.is_running()


def test_damaged_record_hides_no_other_job(penstock: Printed, live: LiveJob, dead: JobHome) -> None:
    (dead.path / "job.json").write_text("{")
    jobs = json.loads(penstock("list", "--json")[1])["jobs"]
    assert [(job["id"], job["name"]) for job in jobs] == [(RUNNING_ID, "page views"), (DEAD_ID, None)]


def test_info_of_a_running_job(penstock: Printed, live: LiveJob) -> None:
    live.add_savepoint(3, "/s/savepoint-1", 1234)
    code, out, _ = penstock("info", RUNNING_ID)
    assert code == 0
    for expected in (RUNNING_ID, "page views", "RUNNING", "Count", "u1", "/s/savepoint-1", "1,234"):
        assert expected in out


def test_checkpoint_history(penstock: Printed, live: LiveJob) -> None:
    live.add_savepoint(3, "/s/savepoint-1", 1234)
    code, out, _ = penstock("checkpoint", RUNNING_ID, "--history")
    assert code == 0 and live.asked == []
    for expected in ("1 completed, 0 failed", "savepoint", "COMPLETED", "1,234", "3,000", "/s/savepoint-1"):
        assert expected in out
    assert json.loads(penstock("checkpoint", RUNNING_ID, "--history", "--json")[1])["counts"]["completed"] == 1


def test_checkpoint_history_of_a_dead_job_comes_from_its_files(penstock: Printed, dead: JobHome) -> None:
    dead.run.mkdir(exist_ok=True)
    history = SnapshotHistory(history_file_of(dead))
    history.began(HistoryEntry(8, SnapshotKind.CHECKPOINT, 1000, path="/c/chk-8"))
    history.failed(8, 2000, "disk full")
    code, out, _ = penstock("checkpoint", DEAD_ID, "--history")
    assert code == 0 and "0 completed, 1 failed" in out and "disk full" in out


def test_info_of_a_dead_job_comes_from_its_record(penstock: Printed, dead: JobHome) -> None:
    job = json.loads(penstock("info", DEAD_ID, "--json")[1])
    assert (job["status"], job["name"], job["parallelism"]) == ("DEAD", "page views", 2)
    assert [operator["name"] for operator in job["operators"]] == ["Count"]
    assert "DEAD" in penstock("info", DEAD_ID)[1]


# -- which job -------------------------------------------------------------------------------------------------------


def test_the_beginning_of_an_id_is_enough(penstock: Printed, live: LiveJob, dead: JobHome) -> None:
    assert json.loads(penstock("info", "AA", "--json")[1])["id"] == RUNNING_ID


def test_ambiguous_beginning_names_the_candidates(penstock: Printed, live: LiveJob, home: Path) -> None:
    JobHome(home, OTHER_ID).acquire()
    code, _, err = penstock("cancel", "aa")
    assert code == 1
    assert RUNNING_ID in err and OTHER_ID in err
    assert live.asked == []


def test_unknown_job_lists_the_known_ones(penstock: Printed, live: LiveJob, home: Path) -> None:
    code, _, err = penstock("info", "cc")
    assert code == 1
    assert f"no job 'cc' in {home}" in err
    assert f"  {RUNNING_ID}  page views" in err


def test_empty_id_is_not_the_only_job(penstock: Printed, live: LiveJob) -> None:
    assert penstock("cancel", "") == (1, "", "penstock cancel: the id of the job is empty\n")
    assert live.asked == []


# -- cancel, stop, savepoint -----------------------------------------------------------------------------------------


def test_cancel_returns_when_the_job_has_ended(penstock: Printed, live: LiveJob) -> None:
    assert penstock("cancel", "aa0") == (0, f"cancelled {RUNNING_ID}\n", "")
    assert not live.home.path.exists()


def test_cancel_with_savepoint_prints_where_it_is(penstock: Printed, home: Path) -> None:
    job = EndsByItself(JobHome(home, RUNNING_ID), "/s/savepoint-1")
    assert penstock("cancel", "aa", "--with-savepoint", "/s") == (0, "/s/savepoint-1\n", "")
    assert job.asked == [("stop", "/s", False)]


def test_stop_prints_where_the_savepoint_is(penstock: Printed, home: Path) -> None:
    job = EndsByItself(JobHome(home, RUNNING_ID), "/s/savepoint-1")
    assert penstock("stop", "aa", "--drain") == (0, "/s/savepoint-1\n", "")
    assert job.asked == [("stop", None, True)]
    assert not job.home.path.exists()


class EndsByItself(LiveJob):
    """Stops when asked, from a thread of its own, and closes its server without knowing who still listens."""

    def __init__(self, home: JobHome, location: str) -> None:
        super().__init__(home)
        self._location = location

    def stop(self, directory: str | None, drain: bool) -> Any:
        future = super().stop(directory, drain)
        future.add_done_callback(lambda _: threading.Thread(target=self.end).start())
        future.set_result(self._location)
        return future

    def end(self) -> None:
        self.server.close(grace_seconds=60)
        self.home.remove()


def test_savepoint_into_a_relative_directory(
    penstock: Printed, live: LiveJob, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    live.future.set_result("/s/savepoint-1")
    assert json.loads(penstock("savepoint", "aa", "backups", "--json")[1]) == {
        "id": RUNNING_ID,
        "location": "/s/savepoint-1",
    }
    assert live.asked == [("savepoint", str(tmp_path / "backups"))]


def test_waits_for_a_savepoint_that_takes_its_time(live: LiveJob) -> None:
    pauses: list[float] = []

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 3:
            live.future.set_result("/s/savepoint-1")

    assert JobClient(find_job("aa"), sleep=pause).savepoint("/s") == "/s/savepoint-1"
    assert len(pauses) == 3


def test_job_that_dies_during_a_savepoint(live: LiveJob) -> None:
    client = JobClient(find_job("aa"), sleep=lambda _: live.end())
    with pytest.raises(JobExecutionError, match="ended before it said what became of the savepoint"):
        client.savepoint("/s")


def test_interrupted_waiting_says_that_the_job_goes_on(live: LiveJob) -> None:
    def interrupt(_: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(JobExecutionError, match="the job goes on"):
        JobClient(find_job("aa"), sleep=interrupt).savepoint("/s")


def test_failed_savepoint_fails_the_command(penstock: Printed, live: LiveJob) -> None:
    live.future.set_exception(JobExecutionError("the disk is full"))
    assert penstock("savepoint", "aa") == (1, "", "penstock savepoint: the disk is full\n")


@pytest.mark.parametrize("verb", ["cancel", "stop", "savepoint"])
def test_dead_job_is_not_asked(penstock: Printed, dead: JobHome, verb: str) -> None:
    code, out, err = penstock(verb, DEAD_ID)
    assert (code, out) == (1, "")
    assert "does not run" in err and f"penstock resume {DEAD_ID}" in err


def test_driver_that_is_still_starting(penstock: Printed, home: Path) -> None:
    job = JobHome(home, RUNNING_ID)
    job.acquire()
    code, _, err = penstock("state", "list", RUNNING_ID)
    assert code == 1
    assert f"process {os.getpid()}" in err and "is starting or ending" in err and "try again" in err


def test_what_is_asked_of_a_starting_job_waits_until_it_listens(home: Path) -> None:
    job = FakeJob(RUNNING_ID)
    directory = JobHome(home, RUNNING_ID)
    directory.acquire()
    directory.write_record(record_of(RUNNING_ID))
    servers: list[Server] = []

    def start(_: float) -> None:
        servers.append(serve_job(job, directory))

    job.future.set_result("/s/savepoint-1")
    assert JobClient(find_job("aa"), START_SECONDS, start).savepoint("/s") == "/s/savepoint-1"
    servers[0].close(grace_seconds=0)


def test_a_job_that_ends_while_somebody_waits_for_its_start(home: Path) -> None:
    directory = JobHome(home, RUNNING_ID)
    directory.acquire()
    directory.write_record(record_of(RUNNING_ID))
    with pytest.raises(JobExecutionError, match="has ended"):
        JobClient(find_job("aa"), START_SECONDS, lambda _: directory.remove())


def test_a_job_of_another_user(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    directory = JobHome(home, RUNNING_ID)
    directory.acquire()
    directory.write_record(record_of(RUNNING_ID))
    monkeypatch.setattr(os, "getuid", lambda: 12345)
    with pytest.raises(JobExecutionError, match="belongs to another user"):
        JobClient(find_job("aa"))


def test_token_does_not_travel_to_a_proxy(penstock: Printed, live: LiveJob, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    assert penstock("info", "aa")[0] == 0


# -- dispose ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def savepoint(tmp_path: Path) -> Path:
    path = tmp_path / "savepoint-aa0111-x"
    path.mkdir()
    parts = [{"name": "level-0-subtask-0"}, {"name": "level-1-subtask-0"}]
    for part in parts:
        (path / part["name"]).write_bytes(b"state")
    (path / ".level-1-subtask-0.0f3a").write_bytes(b"of an attempt that was given up")
    (path / "_metadata").write_text(json.dumps({"sha256": "", "savepoint": {"job_id": RUNNING_ID, "parts": parts}}))
    return path


@pytest.mark.parametrize("form", ["{}", "file://{}", "{}/_metadata", "{}/"])
def test_dispose_removes_a_savepoint(penstock: Printed, savepoint: Path, form: str) -> None:
    assert penstock("savepoint", "--dispose", form.format(savepoint)) == (0, f"disposed {savepoint}\n", "")
    assert not savepoint.exists()


def test_dispose_leaves_foreign_files(penstock: Printed, savepoint: Path) -> None:
    (savepoint / "notes.txt").write_text("mine")
    code, out, _ = penstock("savepoint", "--dispose", str(savepoint))
    assert code == 0
    assert "notes.txt" in out
    assert os.listdir(savepoint) == ["notes.txt"]


@pytest.mark.parametrize("metadata", [None, "", "{}", '{"savepoint": {}}', "[]", "not json", b"\xff\xfe"])
def test_dispose_refuses_what_is_no_savepoint(penstock: Printed, tmp_path: Path, metadata: str | bytes | None) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "level-0-subtask-0").write_text("precious")
    if metadata is not None:
        (tmp_path / "data" / "_metadata").write_bytes(metadata if isinstance(metadata, bytes) else metadata.encode())
    before = sorted(os.listdir(tmp_path / "data"))
    code, out, err = penstock("savepoint", "--dispose", str(tmp_path / "data"))
    assert (code, out) == (1, "")
    assert "is no savepoint" in err
    assert sorted(os.listdir(tmp_path / "data")) == before


@pytest.mark.parametrize("arguments", [[], ["aa", "--dispose", "x"]])
def test_savepoint_wants_a_job_or_a_path(penstock: Printed, arguments: list[str]) -> None:
    code, _, err = penstock("savepoint", *arguments)
    assert code == 1
    assert "either a job" in err


# -- resume ----------------------------------------------------------------------------------------------------------


def test_a_recorded_program_comes_back_as_it_was() -> None:
    options = RunOptions(
        parallelism=3, configuration={"pipeline.name": "x"}, master="local[3]", job_name="n", pyflink_imports=True,
        script_path="/p/job.py", arguments=("--input", "a b"), working_directory="/p",
        savepoint_path="/s/1", allow_non_restored_state=True,
    )  # fmt: skip
    written = json.loads(json.dumps(to_json(program_record(options))))
    options.job_id = DEAD_ID
    assert recorded_options(DEAD_ID, from_json(ProgramRecord, written)) == options


def test_resume_runs_the_program_again(dead: JobHome, tmp_path: Path) -> None:
    script = tmp_path / "job.py"
    script.write_text(
        "import os, sys\n"
        "from penstock.common.run_options import current_run_options as options\n"
        "import pyflink.common\n"
        "print(sys.argv[1:], os.getcwd(), options().job_id, options().parallelism, options().configuration)\n"
        "from penstock.control.job_home import penstock_home; print(penstock_home())\n"
    )
    started = RunOptions(
        parallelism=3, configuration={"pipeline.name": "x"}, pyflink_imports=True,
        script_path=str(script), arguments=("in.csv", "-p"), working_directory=str(tmp_path),
    )  # fmt: skip
    dead.write_record(record_of(DEAD_ID, program_record(started)))
    home = dead.path.parent.parent
    result = subprocess.run(
        [sys.executable, "-m", "penstock.cli.main", "resume", "bb"],
        cwd=home, env={**os.environ, "PENSTOCK_HOME": "."}, capture_output=True, text=True,
    )  # fmt: skip
    expected = f"['in.csv', '-p'] {tmp_path} {DEAD_ID} 3 {{'pipeline.name': 'x'}}\n{home}\n"
    assert (result.stdout, result.stderr, result.returncode) == (expected, "", 0)


def test_resume_refuses_a_running_job(penstock: Printed, live: LiveJob) -> None:
    code, _, err = penstock("resume", RUNNING_ID)
    assert code == 1
    assert "is running" in err


def test_resume_may_take_over(live: LiveJob, tmp_path: Path) -> None:
    script = tmp_path / "job.py"
    script.write_text(
        "from penstock.common.run_options import current_run_options as options\n"
        "print(options().job_id, options().take_over)\n"
    )
    options = RunOptions(script_path=str(script), working_directory=str(tmp_path))
    live.home.write_record(record_of(RUNNING_ID, program_record(options)))
    command = [sys.executable, "-m", "penstock.cli.main", "resume", "--take-over", RUNNING_ID]
    result = subprocess.run(command, env={**os.environ}, capture_output=True, text=True)
    assert result.stdout == f"{RUNNING_ID} True\n", result.stderr


@pytest.mark.parametrize("program", [None, ProgramRecord()])
def test_resume_of_a_job_that_was_not_started_by_penstock_run(
    penstock: Printed, dead: JobHome, program: ProgramRecord | None
) -> None:
    dead.write_record(record_of(DEAD_ID, program))
    code, _, err = penstock("resume", DEAD_ID)
    assert code == 1
    assert f"penstock run --job-id {DEAD_ID}" in err


def test_resume_when_the_script_is_gone(penstock: Printed, dead: JobHome, tmp_path: Path) -> None:
    options = RunOptions(script_path=str(tmp_path / "gone.py"), working_directory=str(tmp_path))
    dead.write_record(record_of(DEAD_ID, program_record(options)))
    code, _, err = penstock("resume", DEAD_ID)
    assert code == 1
    assert "gone.py" in err and "--job-id" in err


def test_resume_when_the_directory_is_gone(penstock: Printed, dead: JobHome, tmp_path: Path) -> None:
    (tmp_path / "job.py").write_text("raise AssertionError('ran')")
    options = RunOptions(script_path=str(tmp_path / "job.py"), working_directory=str(tmp_path / "gone"))
    dead.write_record(record_of(DEAD_ID, program_record(options)))
    code, _, err = penstock("resume", DEAD_ID)
    assert code == 1
    assert str(tmp_path / "gone") in err


def test_resume_of_a_second_job_starts_the_program_under_the_id_of_the_first(dead: JobHome, tmp_path: Path) -> None:
    started = RunOptions(script_path="/p/job.py", working_directory="/p", job_id=RUNNING_ID)
    assert recorded_options(DEAD_ID, program_record(started, number=1)).job_id == RUNNING_ID


def test_resume_refuses_a_job_before_which_another_one_would_run_again(
    penstock: Printed, dead: JobHome, home: Path
) -> None:
    options = RunOptions(script_path="/p/job.py", working_directory="/p", job_id=OTHER_ID)
    dead.write_record(record_of(DEAD_ID, program_record(options, number=1)))
    code, _, err = penstock("resume", DEAD_ID)
    assert code == 1 and f"number 1 ({OTHER_ID}) failed, or is not known any more" in err
    FinishedJobs(home).put(ended_record(OTHER_ID))
    assert "is not there any more" in penstock("resume", DEAD_ID)[2], "only the script is missing now"


def test_taking_over_needs_a_job(penstock: Printed, tmp_path: Path) -> None:
    (tmp_path / "job.py").write_text("raise AssertionError('ran')")
    code, _, err = penstock("run", "--take-over", str(tmp_path / "job.py"))
    assert code == 1 and "--job-id" in err


# -- jobs that have ended --------------------------------------------------------------------------------------------


def ended_record(job_id: str) -> FinishedRecord:
    attempt = Attempt(3, AttemptState.FINISHED, 1_000, 6_000, "process 7 on there", 12)
    return FinishedRecord(
        **_shape(job_id),
        program=ProgramRecord(script="/p/job.py"),
        state=JobStatus.FINISHED,
        started_at=1_000,
        ended_at=6_000,
        duration_ms=5_000,
        attempts=(attempt,),
        savepoint="/s/savepoint-1",
    )


def test_ended_jobs_are_listed_on_demand(penstock: Printed, live: LiveJob, home: Path) -> None:
    FinishedJobs(home).put(ended_record(OTHER_ID))
    assert OTHER_ID not in penstock("list")[1]
    jobs = json.loads(penstock("list", "--all", "--json")[1])["jobs"]
    assert [(job["id"], job["status"], job["duration"]) for job in jobs] == [
        (RUNNING_ID, "RUNNING", 65_000),
        (OTHER_ID, "FINISHED", 5_000),
    ]


def test_info_of_an_ended_job(penstock: Printed, home: Path) -> None:
    FinishedJobs(home).put(ended_record(OTHER_ID))
    code, out, _ = penstock("info", OTHER_ID[:5])
    assert code == 0
    for expected in ("FINISHED", "page views", "5.0 s", "/s/savepoint-1", "epoch 12", "process 7 on there"):
        assert expected in out
    assert "has ended (FINISHED)" in penstock("cancel", OTHER_ID)[2]


def test_what_a_process_left_that_was_killed_at_the_end_of_its_job(
    penstock: Printed, dead: JobHome, home: Path
) -> None:
    FinishedJobs(home).put(ended_record(DEAD_ID))
    assert penstock("list")[1].startswith("no jobs run")
    assert json.loads(penstock("list", "-a", "--json")[1])["jobs"][0]["status"] == "FINISHED"


# -- run -s ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("flag", ["-s", "--from-savepoint"])
def test_run_from_a_savepoint(tmp_path: Path, flag: str) -> None:
    script = tmp_path / "job.py"
    script.write_text(
        "from penstock.common.run_options import current_run_options\n"
        "o = current_run_options()\n"
        "print(o.savepoint_path, o.allow_non_restored_state, o.arguments, o.working_directory)\n"
    )
    command = [sys.executable, "-m", "penstock.cli.main", "run", flag, "s/1/_metadata", "--allow-non-restored-state"]
    result = subprocess.run([*command, str(script), "x", "-s"], cwd=tmp_path, capture_output=True, text=True)
    assert result.stdout == f"{tmp_path}/s/1 True ('x', '-s') {tmp_path}\n", result.stderr


def test_allowing_non_restored_state_without_a_savepoint_is_a_mistake(penstock: Printed, tmp_path: Path) -> None:
    (tmp_path / "job.py").write_text("raise AssertionError('ran')")
    code, _, err = penstock("run", "--allow-non-restored-state", str(tmp_path / "job.py"))
    assert code == 1
    assert "--from-savepoint" in err
