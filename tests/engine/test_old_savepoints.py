"""Savepoints that an earlier version wrote still load, and the job ends as if it had never been stopped."""

from __future__ import annotations

from collections import Counter

import pytest
from tests.engine.saved_programs import EPOCH_RECORDS, PROGRAMS, SAVEPOINTS

from penstock.datastream import StreamExecutionEnvironment
from penstock.engines.local.executor import LocalExecutor

# Two senders meet before these; what is late, first in a window or counted last depends on how.
IN_ORDER = frozenset(
    {"states", "rolling", "operator_state", "count_window", "count_slide", "session_reduce", "slide_sum"}
    | {f"tumble_{name}" for name in ("sum", "reduce", "late", "trigger")}
)
RECORDED_HERE = pytest.mark.in_this_process("the results that were recorded depend on the order of the records")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=RECORDED_HERE if name in IN_ORDER else ()) for name in PROGRAMS]
)
def test_a_job_goes_on_from_an_old_savepoint(name: str) -> None:
    before, everything = (_lines(name, file) for file in ("results-before", "results"))
    executor = LocalExecutor(EPOCH_RECORDS, start_from=str(SAVEPOINTS / name))
    env = StreamExecutionEnvironment(executor=executor)
    env.set_parallelism(2)
    after = Counter(repr(value) for value in PROGRAMS[name](env).execute_and_collect())
    assert before + after == everything


def _lines(name: str, file: str) -> Counter[str]:
    return Counter((SAVEPOINTS / name / file).read_text().splitlines())
