"""Jobs on resident tasks (plain processes here) end as on any engine, whatever is killed, stopped or cut on the way."""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import struct
import sys
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.engine.notes import VISIBLE, Notes, visible
from tests.engine.shelves import Shelves, shelves, values_of
from tests.s3_server import BUCKET, reach

from penstock.common import Configuration, Types, WatermarkStrategy
from penstock.common.errors import JobExecutionError
from penstock.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from penstock.datastream.connectors.number_seq import NumberSequenceSource
from penstock.datastream.functions import MapFunction, SourceFunction
from penstock.datastream.state import ValueStateDescriptor
from penstock.engines.local.executor import LocalExecutor
from penstock.storage import storage_at
from penstock.testing.resident_processes import ProcessExecutor, ResidentExecutor

RECORDS, KEYS = 3000, 11
only_linux = pytest.mark.skipif(sys.platform != "linux", reason="the kernel's filters are Linux's")


class Count(KeyedProcessFunction):
    def open(self, runtime_context: Any) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value: Any, ctx: Any) -> Any:
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        yield value, count


def expected() -> Counter[tuple[int, int]]:
    keys = Counter(number * 7919 % KEYS for number in range(1, RECORDS + 1))
    return Counter((key, count) for key, times in keys.items() for count in range(1, times + 1))


def environment(executor: LocalExecutor, parallelism: int, **options: str) -> StreamExecutionEnvironment:
    settings = {key.replace("_", "."): value for key, value in options.items()}
    configuration = Configuration.from_dict(
        {"penstock.resident.epoch-interval": "1 ms", "penstock.engine": "resident", **settings}
    )
    env = StreamExecutionEnvironment(configuration, executor=executor)
    env.set_parallelism(parallelism)
    return env


def counted(env: StreamExecutionEnvironment, map_: Any = None) -> Counter[tuple[int, int]]:
    """Three levels: numbers, a rebalance, and the counts of keys."""
    numbers = env.from_source(NumberSequenceSource(1, RECORDS), WatermarkStrategy.no_watermarks(), "numbers")
    keys = numbers.rebalance().map(map_ or (lambda number: number * 7919 % KEYS))
    with keys.key_by(lambda key: key).process(Count()).execute_and_collect() as results:
        return Counter(results)


class Meddling(ResidentExecutor):
    """Does something to the job when it has completed so many epochs."""

    def __init__(self, meddle: dict[int, Callable[[Meddling], None]], epoch_records: int = 100, **named: Any) -> None:
        super().__init__(epoch_records=epoch_records, **named)
        self._meddle = dict(meddle)

    def meanwhile(self) -> None:
        epoch = self.engine._job.completion.store.latest.epoch
        for number in [number for number in self._meddle if number <= epoch]:
            self._meddle.pop(number)(self)

    def done(self) -> bool:
        return not self._meddle

    def member(self, slot: int) -> Any:
        supervisor = self.engine._supervisor
        assert supervisor is not None
        return supervisor.members.get(slot)

    def signal(self, slot: int, number: int) -> None:
        os.kill(self.member(slot).process, number)


def kill(slot: int) -> Callable[[Meddling], None]:
    return lambda executor: executor.signal(slot, signal.SIGKILL)


@pytest.mark.parametrize(("parallelism", "mode"), [(1, "EXACTLY_ONCE"), (2, "AT_LEAST_ONCE"), (3, "EXACTLY_ONCE")])
def test_results_are_those_of_any_engine(parallelism: int, mode: str) -> None:
    env = environment(ResidentExecutor(epoch_records=500), parallelism, **{"execution.checkpointing.mode": mode})
    assert counted(env) == expected()


def test_killed_tasks_come_back_and_nothing_is_lost_or_doubled() -> None:
    executor = Meddling({3: kill(0), 9: kill(1), 15: kill(0)})
    assert counted(environment(executor, 2)) == expected()
    assert executor.done()
    assert executor.engine._generation >= 4


def stop_many(job: Meddling) -> None:
    for slot in range(1, 8):
        job.signal(slot, signal.SIGSTOP)


@pytest.mark.parametrize("meddle", [kill(0), stop_many])
def test_what_many_tasks_notice_is_one_loss(meddle: Callable[[Meddling], None]) -> None:
    """All others see their connections to a dead one break, and tasks of one machine fall silent together."""
    executor = Meddling({3: meddle})
    assert counted(environment(executor, 8, **{"penstock.resident.heartbeat-timeout": "3 s"})) == expected()
    assert executor.done()


def test_a_stopped_task_is_replaced_after_a_while() -> None:
    executor = Meddling({4: lambda job: job.signal(1, signal.SIGSTOP)})
    env = environment(executor, 2, **{"penstock.resident.heartbeat-timeout": "2 s"})
    assert counted(env) == expected()
    assert executor.done()


def test_a_cut_control_connection_is_the_loss_of_its_task() -> None:
    executor = Meddling({4: lambda job: job.member(0).connection._socket.shutdown(2)})
    assert counted(environment(executor, 2)) == expected()
    assert executor.done()


def close(sock: Any) -> None:
    sock.shutdown(2)


def drop_all_packets(sock: Any) -> None:
    """A filter in the kernel that lets nothing pass: as a network that has fallen apart, nobody closes anything."""
    nothing = struct.pack("HBBI", 0x06, 0, 0, 0)  # BPF_RET 0
    program = ctypes.create_string_buffer(nothing)
    attach_filter = 26
    sock.setsockopt(socket.SOL_SOCKET, attach_filter, struct.pack("HP", 1, ctypes.addressof(program)))


class Cutting(MapFunction):
    """Does, once, something to the sockets between its task and others."""

    def __init__(self, mark: Path, what: Callable[[Any], None]) -> None:
        self.mark = mark
        self.what = what

    def map(self, value: Any) -> Any:
        if value == RECORDS // 4:  # in the middle of the first subtask's half: much is still to come
            try:
                self.mark.touch(exist_ok=False)
            except FileExistsError:
                return value * 7919 % KEYS
            import gc

            from penstock.engines.resident.traffic import Traffic

            for traffic in [each for each in gc.get_objects() if isinstance(each, Traffic)]:
                for connection in [*traffic._outgoing.values(), *sum(traffic._incoming.values(), [])]:
                    self.what(connection._socket)
        return value * 7919 % KEYS


@pytest.mark.parametrize("what", [close, pytest.param(drop_all_packets, marks=only_linux)])
def test_a_broken_connection_between_two_tasks_rolls_everybody_back(
    tmp_path: Path, what: Callable[[Any], None]
) -> None:
    executor = Meddling({})
    assert counted(environment(executor, 2), Cutting(tmp_path / "cut", what)) == expected()
    assert (tmp_path / "cut").exists()
    assert executor.engine._generation >= 2


class Failing(MapFunction):
    def __init__(self, mark: Path | None) -> None:
        self.mark = mark

    def map(self, value: Any) -> Any:
        if value == 1700 and (self.mark is None or not self.mark.exists()):
            if self.mark is not None:
                self.mark.touch()
            raise ValueError("this number is not wanted")
        return value * 7919 % KEYS


def test_a_failure_of_user_code_names_its_line() -> None:
    with pytest.raises(JobExecutionError, match=r"this number is not wanted") as failed:
        counted(environment(Meddling({}), 2), Failing(None))
    assert "test_resident.py" in str(failed.value)
    assert failed.value.failure.task is not None


def test_a_job_that_starts_again_after_a_failure_is_exact(tmp_path: Path) -> None:
    env = environment(
        Meddling({}), 2, **{"restart-strategy.type": "fixed-delay", "restart-strategy.fixed-delay.delay": "0 s"}
    )
    assert counted(env, Failing(tmp_path / "failed")) == expected()
    assert (tmp_path / "failed").exists()


class Broken(MapFunction):
    def open(self, runtime_context: Any) -> None:
        raise ValueError("cannot be opened")

    def map(self, value: Any) -> Any:
        return value


def test_a_function_that_cannot_be_opened_fails_the_job_at_once() -> None:
    with pytest.raises(JobExecutionError, match="cannot be opened"):
        counted(environment(Meddling({}), 2), Broken())


class Crashing(MapFunction):
    def map(self, value: Any) -> Any:
        os.kill(os.getpid(), signal.SIGKILL)


def test_tasks_that_die_again_and_again_fail_the_job() -> None:
    with pytest.raises(JobExecutionError, match="lost .* times without a single epoch"):
        counted(environment(Meddling({}), 1), Crashing())


class Alarm(KeyedProcessFunction):
    """Leaves a mark when its timer by the clock has fired. Another one never does."""

    def __init__(self, marks: Path) -> None:
        self.marks = marks

    def process_element(self, value: Any, ctx: Any) -> Any:
        ctx.timer_service().register_processing_time_timer(ctx.timer_service().current_processing_time() + 50)
        ctx.timer_service().register_processing_time_timer((1 << 63) - 1)
        yield "record", value

    def on_timer(self, timestamp: int, ctx: Any) -> Any:
        (self.marks / str(ctx.get_current_key())).touch()
        yield "timer", ctx.get_current_key()


class Waiting(SourceFunction):
    """Ends when the timers have fired."""

    def __init__(self, marks: Path) -> None:
        self.marks = marks

    def run(self, ctx: Any) -> None:
        ctx.collect(1)
        ctx.collect(2)
        for _ in range(3000):
            if len(list(self.marks.iterdir())) == 2:
                return
            threading.Event().wait(0.02)

    def cancel(self) -> None:
        pass


def test_timers_by_the_clock_fire_although_nothing_arrives(tmp_path: Path) -> None:
    env = environment(Meddling({}), 2)
    alarms = env.add_source(Waiting(tmp_path)).key_by(lambda number: number).process(Alarm(tmp_path))
    with alarms.execute_and_collect() as results:
        assert sorted(results) == [("record", 1), ("record", 2), ("timer", 1), ("timer", 2)]


@pytest.mark.parametrize("first", ["resident", "local"])
@pytest.mark.parametrize("backend", ["hashmap", "rocksdb"])
def test_a_savepoint_of_one_engine_is_one_for_the_other(first: str, backend: str, tmp_path: Path) -> None:
    kinds: dict[str, Any] = {"resident": Stopping, "local": LocalExecutor}
    executor = kinds[first](epoch_records=300, stop_after=4, savepoint_directory=str(tmp_path))
    before = counted(environment(executor, 2, **{"state.backend.type": backend}))
    assert executor.savepoint_path is not None
    assert before < expected()
    other = kinds["local" if first == "resident" else "resident"](epoch_records=300, start_from=executor.savepoint_path)
    after = counted(environment(other, 3, **{"state.backend.type": backend}))
    assert before + after == expected()


@pytest.mark.parametrize("key", ["execution.state-recovery.path", "execution.savepoint.path"])
@pytest.mark.parametrize("kind", [LocalExecutor, ProcessExecutor])
def test_a_program_may_name_its_savepoint_itself(key: str, kind: Any, tmp_path: Path) -> None:
    executor = LocalExecutor(epoch_records=300, stop_after=4, savepoint_directory=str(tmp_path / "savepoints"))
    before = counted(environment(executor, 2))
    home = {"penstock.home": str(tmp_path / "home")}
    after = counted(environment(kind(), 2, **home, **{key: f"file://{executor.savepoint_path}/_metadata"}))
    assert before + after == expected()


class Stopping(Meddling):
    """As the local executor does: stops the job with a savepoint after some epochs."""

    def __init__(self, stop_after: int | None = None, **named: Any) -> None:
        meddle = {} if stop_after is None else {stop_after: Stopping._save}
        super().__init__(meddle, **named)

    @staticmethod
    def _save(job: Meddling) -> None:
        job._job.stop(job._savepoint_directory, drain=False).add_done_callback(job._take_path)


def test_state_on_disk_survives_the_loss_of_its_task() -> None:
    executor = Meddling({3: kill(0), 9: kill(1)})
    assert counted(environment(executor, 2, **{"state.backend.type": "rocksdb"})) == expected()
    assert executor.done()


class Encrypting(Meddling):
    encrypts = True


def test_encrypted_connections_are_exact_too_when_a_task_is_lost() -> None:
    executor = Encrypting({5: kill(1)})
    assert counted(environment(executor, 3)) == expected()
    assert executor.done()


@pytest.mark.parametrize("backend", ["hashmap", "rocksdb"])
def test_state_in_an_object_store_survives_lost_tasks_and_goes_with_the_job(
    backend: str, s3_address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One object for each epoch and task: such a store cannot append."""
    reach(s3_address, monkeypatch)
    place = f"s3://{BUCKET}/resident-{backend}"
    names: list[str] = []

    def look(job: Meddling) -> None:
        names.extend(storage_at(place).names())
        kill(0)(job)

    executor = Meddling({3: look, 9: kill(1)}, epoch_records=200)
    options = {"penstock.resident.state-dir": place, "state.backend.type": backend}
    assert counted(environment(executor, 2, **options)) == expected()
    assert executor.done()
    assert any(name.endswith(".state") for name in names)
    assert storage_at(place).names() == []


@pytest.mark.parametrize("kills", [{}, {3: kill(0), 7: kill(1)}])
def test_sources_of_splits_and_sinks_of_users_are_exact(kills: dict[int, Callable[[Meddling], None]]) -> None:
    content, name = shelves(5, 40), f"resident-{len(kills)}"
    VISIBLE.pop(name, None)
    executor = Meddling(kills, epoch_records=10)
    env = environment(executor, 2)
    stream = env.from_source(Shelves(name, content), WatermarkStrategy.no_watermarks(), "shelves", Types.STRING())
    keyed = stream.key_by(lambda value: value[0]).map(lambda value: value, Types.STRING())
    keyed.sink_to(Notes(name))
    env.execute()
    assert executor.done()
    assert Counter(visible(name)) == Counter(values_of(content))


class Stuck(MapFunction):
    """Does not return, once."""

    def __init__(self, mark: Path, where: str) -> None:
        self.mark = mark
        self.where = where

    def map(self, value: Any) -> Any:
        if value == RECORDS // 4:
            self._wait_in("map")
        return value * 7919 % KEYS

    def close(self) -> None:
        self._wait_in("close")

    def _wait_in(self, where: str) -> None:
        if where != self.where:
            return
        try:
            self.mark.touch(exist_ok=False)
        except FileExistsError:
            return
        threading.Event().wait()


@pytest.mark.parametrize(("where", "meddle"), [("map", {}), ("close", {4: kill(0)})])
def test_a_task_in_which_user_code_does_not_return_is_replaced(
    tmp_path: Path, where: str, meddle: dict[int, Callable[[Meddling], None]]
) -> None:
    """Functions are closed when another task is lost."""
    executor = Meddling(meddle)
    env = environment(executor, 2, **{"execution.checkpointing.timeout": "2 s"})
    assert counted(env, Stuck(tmp_path / "stuck", where)) == expected()
    assert (tmp_path / "stuck").exists()
    assert executor.done()
