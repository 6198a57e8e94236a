"""Checkpoints, savepoints and the job's own files on real Spark: full disks, damage, and other parallelisms."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.patience import patience

from penstock.common import Configuration, Types
from penstock.common.errors import JobExecutionError
from penstock.common.run_options import RunOptions, current_run_options, set_run_options
from penstock.common.watermark_strategy import TimestampAssigner, WatermarkStrategy
from penstock.datastream import KeyedProcessFunction, MapFunction, StreamExecutionEnvironment
from penstock.datastream.functions import KeyedBroadcastProcessFunction
from penstock.datastream.state import ListStateDescriptor, MapStateDescriptor, ValueStateDescriptor
from penstock.engines.local.executor import LocalExecutor
from penstock.functions.checkpointed import CheckpointedFunction
from penstock.state_processor import SavepointReader

pytestmark = pytest.mark.spark

OFTEN = {"execution.checkpointing.interval": "10 ms", "restart-strategy.type": "none"}
Environments = Callable[..., StreamExecutionEnvironment]


def epochs_of(records: int) -> dict[str, str]:
    return {"penstock.epoch.initial-records": str(records), "penstock.epoch.max-records": str(records)}


@pytest.fixture
def start(spark_options: RunOptions, engine: str) -> Iterator[Environments]:
    """Environments like those of `penstock run` with a home, a job id and a savepoint of their own."""
    before = current_run_options()

    def make(home: Path, parallelism: int, options: dict[str, str], **run: Any) -> StreamExecutionEnvironment:
        set_run_options(RunOptions(master="local[2]", configuration={"penstock.home": str(home)}, **run))
        configuration = Configuration.from_dict({"penstock.engine": engine, **options})
        env = StreamExecutionEnvironment.get_execution_environment(configuration)
        env.set_parallelism(parallelism)
        return env

    yield make
    set_run_options(before)


def collected(stream: Any, into: list[Any]) -> None:
    with stream.execute_and_collect() as results:
        for result in results:
            into.append(result)


class CountAndStop(KeyedProcessFunction):
    """Counts, carries a ballast, and fails at one record as long as a file is missing."""

    def __init__(self, fails_at: int, unless: Path, ballast: int) -> None:
        self._fails_at = fails_at
        self._unless = str(unless)
        self._ballast = ballast

    def open(self, runtime_context: Any) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))
        self.ballast = runtime_context.get_list_state(ListStateDescriptor("ballast", Types.PICKLED_BYTE_ARRAY()))

    def process_element(self, value: int, ctx: Any) -> Any:
        if value == self._fails_at and not os.path.exists(self._unless):
            raise ValueError("stopped")
        self.count.update((self.count.value() or 0) + 1)
        self.ballast.add(os.urandom(self._ballast))
        yield value, self.count.value()


def counting(env: StreamExecutionEnvironment, function: CountAndStop) -> Any:
    numbers = env.from_collection(list(range(240)), Types.LONG()).uid("numbers")
    return numbers.key_by(lambda n: n % 7).process(function).uid("count")


def counted(first: int, last: int) -> list[tuple[int, int]]:
    return [(n, n // 7 + 1) for n in range(first, last)]


# -- a full disk ---------------------------------------------------------------------------------------------------


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    directory = tmp_path / "small"
    directory.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(directory)], capture_output=True, text=True
    )
    if mounted.returncode != 0:
        pytest.skip(f"no file system can be mounted here: {mounted.stderr.strip()}")
    try:
        yield directory
    finally:
        subprocess.run(["umount", "-l", str(directory)], check=True)


def test_a_full_disk_costs_checkpoints_but_neither_results_nor_the_last_good_one(
    tmp_path: Path, small_disk: Path, start: Environments
) -> None:
    options = {
        **OFTEN,
        **epochs_of(40),
        "execution.checkpointing.dir": str(small_disk),
        "execution.checkpointing.tolerable-failed-checkpoints": "1000",
    }
    job_id, goes_on, home = uuid.uuid4().hex, tmp_path / "goes-on", tmp_path / "home"
    results: list[Any] = []
    with pytest.raises(JobExecutionError, match="stopped"):
        env = start(home, 2, options, job_id=job_id)
        collected(counting(env, CountAndStop(230, goes_on, ballast=20_000)), results)
    assert sorted(results) == counted(0, 200), "epochs go on while their checkpoints fail"
    [history] = (home / "jobs" / job_id).glob("run-*/checkpoints.json")
    entries = json.loads(history.read_text())["entries"]
    failed = [entry for entry in entries if entry["status"] == "FAILED"]
    done = [entry for entry in entries if entry["status"] == "COMPLETED"]
    assert done and any("No space left" in entry["failure"] for entry in failed)
    [kept] = (small_disk / job_id).iterdir()
    assert kept.name == f"chk-{done[-1]['id']}"

    goes_on.touch()
    again: list[Any] = []
    env = start(home, 2, epochs_of(240), savepoint_path=str(small_disk / job_id))
    collected(counting(env, CountAndStop(230, goes_on, ballast=0)), again)
    assert sorted(again) == counted(done[-1]["epoch"] * 40, 240)


# -- damage in the job's own files ---------------------------------------------------------------------------------


def flip(file: Path, place: float = 0.6) -> None:
    content = bytearray(file.read_bytes())
    content[int(len(content) * place)] ^= 1
    file.write_bytes(content)


def other_position(file: Path) -> None:
    """A digit of where the sources are, as Spark's log has it."""
    text = file.read_text()
    assert "[120" in text
    file.write_text(text.replace("[120", "[121"))
    file.with_name(f".{file.name}.crc").unlink(missing_ok=True)


DAMAGES: dict[str, Callable[[Path], Any]] = {
    "newest epoch record flipped": lambda run: flip(run / "epochs" / "000000000003.epoch"),
    "newest epoch record removed": lambda run: (run / "epochs" / "000000000003.epoch").unlink(),
    "all epoch records removed": lambda run: shutil.rmtree(run / "epochs"),
    "Spark's checkpoint removed": lambda run: shutil.rmtree(run / "spark"),
    "Spark's logs removed": lambda run: [shutil.rmtree(run / "spark" / name) for name in ("offsets", "commits")],
    "position in Spark's offset log": lambda run: other_position(run / "spark" / "offsets" / "2"),
    "Spark's offset log emptied": lambda run: (run / "spark" / "offsets" / "2").write_bytes(b""),
    "Spark's metadata truncated": lambda run: (run / "spark" / "metadata").write_text("{"),
    "state flipped": lambda run: flip(run / "spark" / "state" / "0" / "0" / "2.changelog"),
    "state removed": lambda run: (run / "spark" / "state" / "0" / "1" / "3.changelog").unlink(),
}


@pytest.mark.parametrize("engine", ["micro-batch"])
def test_a_job_never_goes_on_from_damaged_files_of_its_own(tmp_path: Path, start: Environments) -> None:
    home, goes_on, job_id = tmp_path / "home", tmp_path / "goes-on", uuid.uuid4().hex

    def go(results: list[Any]) -> None:
        env = start(home, 2, OFTEN | epochs_of(40), job_id=job_id)
        collected(counting(env, CountAndStop(150, goes_on, ballast=1)), results)

    first: list[Any] = []
    with pytest.raises(JobExecutionError, match="stopped"):
        go(first)
    assert sorted(first) == counted(0, 120)
    goes_on.touch()
    os.rename(home, tmp_path / "whole")
    for what, damage in DAMAGES.items():
        shutil.copytree(tmp_path / "whole", home)
        [run] = (home / "jobs" / job_id).glob("run-*")
        damage(run)
        results: list[Any] = []
        with pytest.raises(JobExecutionError) as told:
            go(results)
            pytest.fail(f"{what}: used as if nothing had happened")
        assert results == [], what
        if "Spark" not in what and "state" not in what:
            assert f"{job_id}/chk-" in str(told.value), "the way out is named"
        shutil.rmtree(home)
    os.rename(tmp_path / "whole", home)
    rest: list[Any] = []
    go(rest)
    assert sorted(rest) == counted(120, 240)


# -- other parallelisms --------------------------------------------------------------------------------------------

RULES = MapStateDescriptor("rules", Types.STRING(), Types.STRING())
WAIT_MS = 3000


class Hundreds(TimestampAssigner):
    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        return int(value) * 100


class Remembering(MapFunction, CheckpointedFunction):
    """List state is dealt out; all subtasks see all of the union-list state, to which each gives one entry."""

    def __init__(self, members_before: int, members: int) -> None:
        self._members_before = members_before
        self._members = members

    def initialize_state(self, context: Any) -> None:
        store = context.get_operator_state_store()
        self.saved = store.get_list_state(ListStateDescriptor("seen", Types.LONG()))
        self.union = store.get_union_list_state(ListStateDescriptor("members", Types.LONG()))
        self.seen = list(self.saved.get())
        # One that moved to another worker finds what all have given since the job started.
        assert len(list(self.union.get())) in (self._members_before, self._members)

    def snapshot_state(self, context: Any) -> None:
        self.saved.update(self.seen)
        self.union.update([1])

    def map(self, value: int) -> int:
        self.seen.append(value)
        return value


class Everything(KeyedBroadcastProcessFunction):
    """Keyed state, a timer of each kind per key, and rules from a broadcast."""

    def open(self, runtime_context: Any) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))
        self.values = runtime_context.get_list_state(ListStateDescriptor("values", Types.LONG()))

    def process_element(self, value: int, ctx: Any) -> Any:
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        self.values.add(value)
        timers = ctx.timer_service()
        timers.register_event_time_timer(1 << 60)
        if count == 1:
            timers.register_processing_time_timer(timers.current_processing_time() + WAIT_MS)
        yield "element", value

    def process_broadcast_element(self, value: str, ctx: Any) -> Any:
        ctx.get_broadcast_state(RULES).put(value, value.upper())
        yield from ()

    def on_timer(self, timestamp: int, ctx: Any) -> Any:
        if timestamp == 1 << 60:
            rules = sorted(ctx.get_broadcast_state(RULES).items())
            yield "end", ctx.get_current_key(), self.count.value(), sorted(self.values.get()), rules
        else:
            yield "clock", ctx.get_current_key()


def everything(env: StreamExecutionEnvironment, members_before: int = 0) -> Any:
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Hundreds())
    numbers = env.from_collection(list(range(600)), Types.LONG()).uid("numbers").rebalance()
    timed = (
        numbers.map(Remembering(members_before, env.get_parallelism()), Types.LONG())
        .uid("remember")
        .assign_timestamps_and_watermarks(strategy)
        .uid("t")
    )
    rules = env.from_collection(["a", "b"], Types.STRING()).uid("rules").broadcast(RULES)
    return timed.key_by(lambda n: n % 11).connect(rules).process(Everything()).uid("everything")


def test_savepoints_carry_a_job_through_other_parallelisms_and_backends(tmp_path: Path, start: Environments) -> None:
    results: list[Any] = []
    path: str | None = None
    registered, before = 0.0, 0
    for parallelism, backend in ((1, "hashmap"), (4, "rocksdb"), (2, "hashmap")):
        options = {**epochs_of(20), "state.backend.type": backend}
        env = start(tmp_path / "home", parallelism, options, savepoint_path=path)
        with everything(env, before).execute_and_collect() as stream:
            results.append(next(stream))
            saved = stream._job.stop(str(tmp_path / "savepoints"), drain=False)
            results += stream
            path, before = saved.result(timeout=patience(60)), parallelism
        registered = registered or time.monotonic()  # the first run has seen all keys
        reader = SavepointReader.load(path)
        dealt = [value for row in reader.read_operator_state("remember", "seen") for value in row.value]
        assert sorted(dealt) == sorted(value for kind, value, *_ in results if kind == "element")
        assert len(list(reader.read_operator_state("remember", "members"))) == parallelism
    while time.monotonic() < registered + WAIT_MS / 1000:
        time.sleep(0.05)  # until its timers are due
    env = start(tmp_path / "home", 3, {**epochs_of(600), "state.backend.type": "rocksdb"}, savepoint_path=path)
    collected(everything(env, before), results)

    undisturbed = everything(StreamExecutionEnvironment(executor=LocalExecutor())).execute_and_collect()
    expected = [result for result in undisturbed if result[0] != "clock"]  # it ends before the timers are due
    assert sorted(results) == sorted([*expected, *(("clock", key) for key in range(11))])
