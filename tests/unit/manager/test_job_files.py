"""What is shown of a job that nobody can be asked about."""

from __future__ import annotations

from pathlib import Path

from penstock.control.job_home import JobHome
from penstock.control.job_record import InputDescription, JobRecord, OperatorRecord
from penstock.manager.job_files import describe_home
from penstock.rest.job_views import plan


def test_a_job_without_a_driver_keeps_its_graph(tmp_path: Path) -> None:
    home = JobHome(tmp_path, "a" * 32)
    home.acquire()
    edge = InputDescription("source", 0, "HASH", True)
    operators = (
        OperatorRecord("source", "Source", "source", 1, 0, chain="first", origin="job.py:3"),
        OperatorRecord("count", "Count", "reduce", 2, 1, chain="second", inputs=(edge,)),
    )
    home.write_record(JobRecord(job_id="a" * 32, name="job", parallelism=2, levels=2, operators=operators))
    home.release()
    found = describe_home(home)
    assert found is not None
    source, count = plan(found)["plan"]["nodes"]
    assert (source["penstock"]["chain"], source["penstock"]["origin"]) == ("first", "job.py:3")
    assert [(each["id"], each["ship_strategy"]) for each in count["inputs"]] == [("source", "HASH")]
    assert len(found.operators[1].subtasks) == 2
