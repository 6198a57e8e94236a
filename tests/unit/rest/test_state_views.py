"""State of a job through its newest snapshot."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.rest.fake_job import FakeJob

from penstock.common import Types
from penstock.datastream import StreamExecutionEnvironment
from penstock.engines.local.executor import LocalExecutor
from penstock.rest import state_views
from penstock.rest.endpoint import RestError
from penstock.runtime.state_answers import is_key


@pytest.fixture
def savepoint(tmp_path: Path) -> str:
    executor = LocalExecutor(epoch_records=3, stop_after=2, savepoint_directory=str(tmp_path))
    env = StreamExecutionEnvironment(executor=executor)
    env.set_parallelism(1)
    pairs = env.from_collection(
        [("a", 1), ("b", 2), ("a", 3), ("a", 4)] * 3, Types.TUPLE([Types.STRING(), Types.INT()])
    )
    pairs.key_by(lambda pair: pair[0]).reduce(lambda x, y: (x[0], x[1] + y[1])).uid("sums").print()
    env.execute("job")
    assert executor.savepoint_path is not None
    return executor.savepoint_path


def job_with(path: str) -> FakeJob:
    job = FakeJob()
    job.add_savepoint(2, path, 10)
    return job


def test_states_and_the_value_of_a_key(savepoint: str) -> None:
    path, epoch = state_views.snapshot_to_read(job_with(savepoint).describe())
    [operator] = [each for each in state_views.states(path, epoch)["operators"] if each["uid"] == "sums"]
    [state] = operator["states"]
    answer = state_views.entries(path, epoch, "sums", state["name"], '"a"', None)
    assert (answer["epoch"], [entry["key"] for entry in answer["entries"]]) == (20, ["a"])
    everything = state_views.entries(path, epoch, "sums", state["name"], None, 1)
    assert everything["truncated"] and len(everything["entries"]) == 1


def test_a_job_without_any_snapshot_says_what_to_do() -> None:
    with pytest.raises(RestError, match="execution.checkpointing.interval"):
        state_views.snapshot_to_read(FakeJob().describe())


@pytest.mark.parametrize(
    ("key", "text", "meant"),
    [
        ("a", '"a"', True),
        ("a", "a", True),
        ("a", "'a'", True),
        (3, "3", True),
        ((1, "x"), '[1, "x"]', True),
        (3, "4", False),
    ],
)
def test_keys_as_people_write_them(key: object, text: str, meant: bool) -> None:
    assert is_key(key, text) is meant
