"""The time of a partition, in the form that its values have."""

from __future__ import annotations

import pytest

from penstock.common.errors import JobExecutionError
from penstock.table.connectors.partition_commit import PartitionCommit

HOUR = 3_600_000


@pytest.mark.parametrize(
    ("pattern", "formatter", "partition", "hours"),
    [
        (None, None, "day=1970-01-02", 24),
        ("$day $hour:00:00", None, "day=1970-01-02/hour=05", 29),
        (None, "yyyyMMdd", "day=19700102", 24),
        ("$day-$hour", "yyyy/MM/dd-HH", "day=1970%2F01%2F02/hour=05", 29),
    ],
)
def test_a_partition_is_due_after_its_time(
    pattern: str | None, formatter: str | None, partition: str, hours: int
) -> None:
    commit = PartitionCommit(True, HOUR, pattern, "UTC", "_SUCCESS", formatter)
    assert commit.due_at(partition, 0) == (hours + 1) * HOUR


def test_values_of_another_form_say_what_to_set() -> None:
    with pytest.raises(JobExecutionError, match="timestamp-formatter"):
        PartitionCommit(True, 0, None, "UTC", "_SUCCESS", "yyyyMMdd").due_at("day=1970-01-02", 0)
