"""A program goes on from its last epoch only if its state fits."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from tests.unit.runtime.blueprints import job, operator

from penstock.common.errors import JobExecutionError
from penstock.common.json_data import from_json, to_json
from penstock.control.job_record import JobRecord, check_same_job, record_of
from penstock.control.program_record import ProgramRecord
from penstock.runtime.blueprint import DiskStateSettings, JobBlueprint, JobSettings


def described(disk: DiskStateSettings | None = None, **settings: Any) -> JobRecord:
    return record_of(JobBlueprint(JobSettings("id", "name", disk_state=disk, **settings), (), (), 1, 1))


ON_DISK = DiskStateSettings((), 1 << 20)


def test_the_same_backend_may_have_other_settings() -> None:
    check_same_job(described(), described(max_state_size=10))
    check_same_job(described(ON_DISK), described(DiskStateSettings(("/data",), 2 << 20)))


@pytest.mark.parametrize(("before", "now"), [(None, ON_DISK), (ON_DISK, None)])
def test_another_backend_goes_through_a_savepoint(
    before: DiskStateSettings | None, now: DiskStateSettings | None
) -> None:
    names = {None: "hashmap", ON_DISK: "rocksdb"}
    with pytest.raises(JobExecutionError) as refused:
        check_same_job(described(before), described(now))
    text = str(refused.value)
    assert f"keeps its state as the backend {names[before]}" in text
    assert f"with the backend {names[now]}" in text
    assert "penstock stop" in text and "-s" in text


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"uid": "other"}, "the operator 'map 1' \\(uid uid-1\\) is gone"),
        ({"kind": "reduce"}, "has another kind: reduce instead of map"),
        ({"max_parallelism": 64}, "has another max parallelism: 64 instead of 128"),
    ],
)
def test_the_first_difference_is_named(change: dict[str, Any], says: str) -> None:
    before = record_of(job([operator(1, "map")], []))
    now = replace(before, operators=(replace(before.operators[0], **change),))
    with pytest.raises(JobExecutionError, match=says):
        check_same_job(before, now)


def test_a_record_comes_back_from_json() -> None:
    program = ProgramRecord("a" * 32, 1, "/p/job.py", ("-x", "1"), configuration={"a": "b"})
    record = record_of(job([operator(1, "map")], []), program)
    assert from_json(JobRecord, json.loads(json.dumps(to_json(record)))) == record


def test_records_of_older_versions_can_be_read() -> None:
    older = {
        "job_id": "a", "name": "n", "parallelism": 2, "levels": 1, "state backend": "rocksdb",
        "operators": [
            {"uid": "u", "name": "Map", "kind": "map", "parallelism": 2, "max parallelism": 64, "level": 0}
        ],
        "program": {"first_job": "a", "number": 0, "script": "/p/job.py", "arguments": ["x"]},
    }  # fmt: skip
    record = from_json(JobRecord, older)
    assert (record.state_backend, record.operators[0].max_parallelism) == ("rocksdb", 64)
    assert record.program is not None and record.program.arguments == ("x",)
