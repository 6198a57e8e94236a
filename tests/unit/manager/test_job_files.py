"""What is shown of a job that nobody can be asked about."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from penstock.common.job_status import JobStatus
from penstock.control.job_home import JobHome
from penstock.control.job_record import InputDescription, JobRecord, OperatorRecord
from penstock.manager.job_entry import EntryState, JobEntry, LaunchPlan
from penstock.manager.job_files import describe_entry, describe_home, describe_record, has_ended
from penstock.rest.job_views import plan

EDGE = InputDescription("source", 0, "HASH", True)
OPERATORS = (
    OperatorRecord("source", "Source", "source", 1, 0, chain="first", origin="job.py:3"),
    OperatorRecord("count", "Count", "reduce", 2, 1, chain="second", inputs=(EDGE,)),
)
RECORD = JobRecord(job_id="a" * 32, name="job", parallelism=2, levels=2, operators=OPERATORS)


def test_a_job_without_a_driver_keeps_its_graph(tmp_path: Path) -> None:
    home = JobHome(tmp_path, "a" * 32)
    home.acquire()
    home.write_record(RECORD)
    home.release()
    found = describe_home(home)
    assert found is not None
    source, count = plan(found)["plan"]["nodes"]
    assert (source["penstock"]["chain"], source["penstock"]["origin"]) == ("first", "job.py:3")
    assert [(each["id"], each["ship_strategy"]) for each in count["inputs"]] == [("source", "HASH")]
    assert len(found.operators[1].subtasks) == 2


def test_a_program_that_failed_before_its_job_names_its_exception_and_is_in_the_history(tmp_path: Path) -> None:
    words = 'reading\nTraceback (most recent call last):\n  File "job.py", line 1\nModuleNotFoundError: No module x\n'
    failed = JobEntry("a" * 32, LaunchPlan("job.py", "/"), 0, EntryState.ENDED, outcome=JobStatus.FAILED, failure=words)
    failure = describe_entry(tmp_path, failed, None).failure
    assert failure is not None
    assert (failure.exception, failure.message) == ("ModuleNotFoundError", "No module x")
    assert words.strip() in str(failure)

    refused = describe_entry(tmp_path, replace(failed, failure="penstock: no such option"), None).failure
    assert refused is not None and refused.message == "penstock: no such option"


def test_a_job_between_two_drivers_keeps_the_graph_that_its_last_one_described(tmp_path: Path) -> None:
    last = describe_record(RECORD, (), JobStatus.RUNNING)
    entry = JobEntry("a" * 32, LaunchPlan("job.py", "/"), 1000, EntryState.RUNNING, starts=1, started_at=1000)
    shown = describe_entry(tmp_path, replace(entry, rescale_to=3), None, last)
    assert shown.state is JobStatus.RESTARTING
    assert [each["id"] for each in plan(shown)["plan"]["nodes"][1]["inputs"]] == ["source"]
    assert describe_entry(tmp_path, replace(entry, cancel=True), None, last).state is JobStatus.CANCELLING
    assert describe_entry(tmp_path, entry, None).state is JobStatus.CREATED, "its first driver has not spoken yet"


def test_the_end_of_an_earlier_run_is_not_the_end_of_this_one() -> None:
    ended = replace(describe_record(RECORD, (), JobStatus.CANCELED), started_at=1000, duration_ms=500)
    entry = JobEntry("a" * 32, LaunchPlan("job.py", "/"), 900, EntryState.RUNNING, starts=1, started_at=1000)
    assert has_ended(entry, ended)
    assert not has_ended(replace(entry, started_at=2000), ended)
    assert not has_ended(entry, replace(ended, progress=replace(ended.progress, state=JobStatus.RUNNING)))
