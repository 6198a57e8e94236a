"""State with time to live: what has expired never comes back, and what lives keeps the time that it has left."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import pytest

from penstock.common import Types
from penstock.common.job_status import JobStatus
from penstock.common.time import Time
from penstock.control.checkpoints import CheckpointSettings
from penstock.control.snapshot_machine import Pacing
from penstock.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from penstock.datastream.state import ListStateDescriptor, MapStateDescriptor, StateTtlConfig, ValueStateDescriptor
from penstock.engines.local.executor import LocalExecutor
from penstock.runtime import hosting
from penstock.runtime.container import Container

pytestmark = pytest.mark.in_this_process("time is this process's clock, which counts its epochs")

LIVES = 5000
EPOCH = 1000  # by the clock, and one record each
STOPPED_AFTER = 5
PROGRAM = (
    *(("write", "old"), ("read", "old"), ("read", "old"), ("write", "middle"), ("write", "young")),
    *(("read", "old"), ("read", "middle"), ("read", "young"), ("read", "old"), ("write", "new"), ("read", "middle")),
    *(("read", "young"), ("read", "young"), ("read", "new"), ("read", "old"), ("read", "new"), ("read", "new")),
)


class Forgetting(KeyedProcessFunction):
    def open(self, runtime_context: Any) -> None:
        ttl = StateTtlConfig.new_builder(Time.milliseconds(LIVES)).build()
        one = ValueStateDescriptor("one", Types.STRING())
        several = ListStateDescriptor("several", Types.STRING())
        named = MapStateDescriptor("named", Types.STRING(), Types.STRING())
        for descriptor in (one, several, named):
            descriptor.enable_time_to_live(ttl)
        self.one = runtime_context.get_state(one)
        self.several = runtime_context.get_list_state(several)
        self.named = runtime_context.get_map_state(named)

    def process_element(self, value: tuple[int, str, str], ctx: Any) -> Any:
        number, action, key = value
        if action == "write":
            self.one.update(key)
            self.several.add(key)
            self.named.put(key, key)
        else:
            found = self.one.value(), list(self.several.get() or ()), dict(self.named.items())
            yield number, found == (key, [key], {key: key}), found == (None, [], {})


def expected(times: dict[int, int]) -> list[tuple[int, bool, bool]]:
    """What each read has to find, by the time at which each record was processed: all of it, or nothing."""
    written: dict[str, int] = {}
    found = []
    for number, (action, key) in enumerate(PROGRAM):
        if action == "write":
            written[key] = times[number]
        else:
            lives = times[number] < written[key] + LIVES
            found.append((number, lives, not lives))
    return found


class Clocked:
    """Runs the program from a moment on; every epoch takes a second."""

    def __init__(self, patch: pytest.MonkeyPatch, begins_at: int, first_record: int, **options: Any) -> None:
        self.executor = LocalExecutor(1, **options)
        clock = functools.partial(self._now, begins_at)
        patch.setattr(hosting, "Container", functools.partial(Container, clock=clock))
        self.times = {
            number: begins_at + (number - first_record + 1) * EPOCH for number in range(first_record, len(PROGRAM))
        }

    def _now(self, begins_at: int) -> int:
        return begins_at + self.executor.epochs * EPOCH

    def run(self) -> list[Any]:
        env = StreamExecutionEnvironment(executor=self.executor)
        env.set_parallelism(1)
        records = [(number, action, key) for number, (action, key) in enumerate(PROGRAM)]
        stream = env.from_collection(records).uid("records").key_by(lambda r: r[2]).process(Forgetting()).uid("ttl")
        return list(stream.execute_and_collect())


def test_recovery_from_epochs(monkeypatch: pytest.MonkeyPatch) -> None:
    job = Clocked(monkeypatch, 0, 0, forget=True)
    assert job.run() == expected(job.times)


@pytest.mark.parametrize("stood_still", [0, 1500, 4000, 100_000])
@pytest.mark.parametrize("kind", ["savepoint", "checkpoint"])
def test_start_from_a_snapshot_after_a_while(
    kind: str, stood_still: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkpoints = CheckpointSettings(Pacing(interval_ms=0), tmp_path / "checkpoints", 10, frozenset(JobStatus))
    first = Clocked(
        monkeypatch, 0, 0, checkpoints=checkpoints, stop_after=STOPPED_AFTER, savepoint_directory=str(tmp_path)
    )
    before = first.run()
    if kind == "savepoint":
        path, done = first.executor.savepoint_path, STOPPED_AFTER + 1  # the epoch of the savepoint reads one too
    else:
        path, done = str(tmp_path / "checkpoints" / f"chk-{STOPPED_AFTER}"), STOPPED_AFTER
    hosting.forget_containers()
    second = Clocked(monkeypatch, first.times[done - 1] + stood_still, done, start_from=path)
    after = second.run()
    assert [result for result in before if result[0] < done] + after == expected(first.times | second.times)
    if stood_still == 100_000:
        assert not any(lives for number, lives, _ in after if PROGRAM[number][1] != "new")
