"""Savepoints that an earlier version wrote still load, and the job ends as if it had never been stopped."""

from __future__ import annotations

from collections import Counter

import pytest
from tests.engine.saved_programs import EPOCH_RECORDS, PROGRAMS, SAVEPOINTS

from penstock.datastream import StreamExecutionEnvironment
from penstock.engines.local.executor import LocalExecutor


@pytest.mark.in_this_process("the results that were recorded depend on how the records of two senders meet")
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_job_goes_on_from_an_old_savepoint(name: str) -> None:
    before, everything = (_lines(name, file) for file in ("results-before", "results"))
    executor = LocalExecutor(EPOCH_RECORDS, start_from=str(SAVEPOINTS / name))
    env = StreamExecutionEnvironment(executor=executor)
    env.set_parallelism(2)
    after = Counter(repr(value) for value in PROGRAMS[name](env).execute_and_collect())
    assert before + after == everything


def _lines(name: str, file: str) -> Counter[str]:
    return Counter((SAVEPOINTS / name / file).read_text().splitlines())
