"""A program goes on from its last epoch only if its state fits."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.common.errors import JobExecutionError
from penstock.control.job_record import check_same_job, describe_job
from penstock.runtime.blueprint import DiskStateSettings, JobBlueprint, JobSettings


def described(disk: DiskStateSettings | None = None, **settings: Any) -> dict[str, Any]:
    return describe_job(JobBlueprint(JobSettings("id", "name", disk_state=disk, **settings), (), (), 1, 1))


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
