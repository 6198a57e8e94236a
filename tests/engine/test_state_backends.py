"""State on disk gives the results of state in memory, savepoints lead from one to the other; limits of small ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.engine.test_savepoints import _build, _normal

from penstock.common import Configuration, Types
from penstock.common.errors import ConfigurationError, JobExecutionError
from penstock.common.job_status import JobStatus
from penstock.common.state_backend_names import max_state_size
from penstock.control.checkpoints import CheckpointSettings
from penstock.control.snapshot_machine import Pacing
from penstock.datastream import (
    FsStateBackend,
    HashMapStateBackend,
    KeyedProcessFunction,
    MapFunction,
    MemoryStateBackend,
    RocksDBStateBackend,
    StateBackend,
    StreamExecutionEnvironment,
)
from penstock.datastream.state import ListStateDescriptor, ValueStateDescriptor
from penstock.engines.local.executor import LocalExecutor
from penstock.functions.checkpointed import CheckpointedFunction
from penstock.runtime import state_log
from penstock.runtime.blueprint import DiskStateSettings

_SMALL = 1 << 20


def _disk(tmp_path: Path) -> DiskStateSettings:
    return DiskStateSettings((str(tmp_path),), _SMALL)


def _run(parallelism: int, **options: Any) -> tuple[list[Any], LocalExecutor]:
    executor = LocalExecutor(epoch_records=40, **options)
    env = StreamExecutionEnvironment(executor=executor)
    return list(_build(env, parallelism).execute_and_collect()), executor


@pytest.mark.parametrize("forget", [False, True])
@pytest.mark.parametrize("small_log", [0, 8 << 20])
def test_state_on_disk_gives_the_same_results(
    forget: bool, small_log: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Without a small log, pages are written after every delta, and new containers are made of pages and deltas.
    monkeypatch.setattr(state_log, "_SMALL_LOG_BYTES", small_log)
    in_memory, _ = _run(2)
    on_disk, _ = _run(2, forget=forget, disk_state=_disk(tmp_path))
    assert _normal(on_disk) == _normal(in_memory)


@pytest.mark.parametrize("chain", [("hashmap", "rocksdb", "hashmap"), ("rocksdb", "hashmap", "rocksdb")])
@pytest.mark.parametrize("scales", [(2, 2, 2), (1, 4, 2)])
def test_savepoints_lead_from_one_backend_to_the_other(
    chain: tuple[str, ...], scales: tuple[int, ...], tmp_path: Path
) -> None:
    undisturbed, _ = _run(1)
    results: list[Any] = []
    path: str | None = None
    for number, (backend, parallelism) in enumerate(zip(chain, scales, strict=True)):
        part, executor = _run(
            parallelism,
            start_from=path,
            stop_after=2 if number < 2 else None,
            savepoint_directory=str(tmp_path / "savepoints"),
            disk_state=_disk(tmp_path) if backend == "rocksdb" else None,
        )
        results += part
        path = executor.savepoint_path
    assert _normal(results) == _normal(undisturbed)


def _configuration(**options: str) -> Configuration:
    return Configuration.from_dict({key.replace("__", "-").replace("_", "."): text for key, text in options.items()})


def _settings(**options: str) -> DiskStateSettings | None:
    return DiskStateSettings.of(_configuration(**options))


_FACTORY = "org.apache.flink.runtime.state.{}StateBackendFactory"
_IN_MEMORY = ("hashmap", "filesystem", "jobmanager", "HASHMAP", "memory", _FACTORY.format("hashmap.HashMap"))
_ON_DISK = ("rocksdb", "RocksDB", "org.apache.flink.contrib.streaming.state.RocksDBStateBackendFactory")


def test_backends_are_chosen_by_name() -> None:
    assert _settings() is None
    for name in _IN_MEMORY:
        assert _settings(state_backend_type=name) is None
    for name in _ON_DISK:
        assert _settings(state_backend=name) == DiskStateSettings((), 96 << 20)
    chosen = _settings(state_backend_type="rocksdb", state_backend_rocksdb_localdir="/data")
    assert chosen == DiskStateSettings(("/data",), 96 << 20)
    for unknown in ("forst", "org.example.HashMapStateBackend", "org.apache.flink.OtherStateBackend"):
        with pytest.raises(ConfigurationError, match=f"no state backend '{unknown}'"):
            _settings(state_backend_type=unknown)


def test_some_names_set_a_limit_to_each_state() -> None:
    five = 5 << 20
    for name in ("jobmanager", "memory", _FACTORY.format("memory.Memory")):
        assert max_state_size(_configuration(state_backend_type=name)) == five
    for name in ("hashmap", "rocksdb"):
        backend = {"state_backend_type": name}
        assert max_state_size(_configuration(**backend)) is None
        assert max_state_size(_configuration(**backend, state_checkpoint__storage="jobmanager")) == five
        limit = {"penstock_checkpoint_max__state__size": "1 kb"}
        assert max_state_size(_configuration(**backend, **limit)) is None
        assert max_state_size(_configuration(**backend, **limit, execution_checkpointing_storage="jobmanager")) == 1024
    # As in Flink, an old backend brings its storage with it.
    both = _configuration(state_backend="filesystem", state_checkpoint__storage="jobmanager")
    assert max_state_size(both) is None
    with pytest.raises(ConfigurationError, match="no checkpoint storage 'tape'"):
        max_state_size(_configuration(state_checkpoint__storage="tape"))
    with pytest.raises(ConfigurationError, match="at least 1 byte"):
        max_state_size(_configuration(state_backend="memory", penstock_checkpoint_max__state__size="0"))


# -- directories of working copies ---------------------------------------------------------------------------------


def test_subtasks_use_several_directories_in_turn(tmp_path: Path) -> None:
    first, second = tmp_path / "a", tmp_path / "b"
    settings = _settings(state_backend="rocksdb", state_backend_rocksdb_localdir=f"{first}, file://{second}")
    assert settings is not None
    assert [settings.directory_of(1, subtask) for subtask in range(3)] == [str(second), str(first), str(second)]
    in_memory, _ = _run(2)
    on_disk, _ = _run(2, disk_state=settings)
    assert _normal(on_disk) == _normal(in_memory)
    assert [list(directory.iterdir()) for directory in (first, second)] == [
        [first / "penstock-state"],
        [second / "penstock-state"],
    ]


@pytest.mark.parametrize("path", ["relative", "hdfs://host/data"])
def test_working_copies_are_in_absolute_local_directories(path: str) -> None:
    with pytest.raises(ConfigurationError, match="absolute paths"):
        _settings(state_backend="rocksdb", state_backend_rocksdb_localdir=path)


# -- the limit of small checkpoints --------------------------------------------------------------------------------


class Remember(KeyedProcessFunction):
    def open(self, runtime_context: Any) -> None:
        self.first = runtime_context.get_state(ValueStateDescriptor("first", Types.STRING()))
        self.second = runtime_context.get_state(ValueStateDescriptor("second", Types.STRING()))

    def process_element(self, value: int, ctx: Any) -> Any:
        self.first.update(str(value) * 600)
        self.second.update(str(value) * 600)
        yield value


def _remember(backend: StateBackend, tmp_path: Path, tolerable: int = 0, **options: Any) -> LocalExecutor:
    """Ten records in ten epochs, with a checkpoint of each."""
    pacing = Pacing(interval_ms=0, tolerable_failures=tolerable)
    executor = LocalExecutor(
        1, checkpoints=CheckpointSettings(pacing, tmp_path / "checkpoints", 100, frozenset(JobStatus)), **options
    )
    env = StreamExecutionEnvironment(executor=executor)
    env.set_parallelism(1).set_state_backend(backend)
    stream = env.from_collection(list(range(10)), Types.LONG()).key_by(lambda n: n)
    collected = stream.process(Remember()).name("Remember all").uid("remember").execute_and_collect()
    assert list(collected) == list(range(10))
    return executor


def _statuses(executor: LocalExecutor) -> list[str]:
    assert executor.snapshots is not None
    return [entry.status.name for entry in executor.snapshots.describe().entries]


@pytest.mark.parametrize("on_disk", [False, True])
def test_a_checkpoint_fails_when_one_state_is_larger_than_the_limit(on_disk: bool, tmp_path: Path) -> None:
    backend: StateBackend = MemoryStateBackend(max_state_size=4000)
    if on_disk:
        backend = RocksDBStateBackend(checkpoint_stream_backend=backend)
    executor = _remember(backend, tmp_path, tolerable=10)
    statuses = _statuses(executor)
    # Six values of 600 bytes fit; that both states have more than the limit together does not matter.
    assert statuses == ["COMPLETED"] * 6 + ["FAILED"] * 4
    assert executor.snapshots is not None
    why = executor.snapshots.describe().entries[-1].failure or ""
    for part in ("'first'", "'Remember all'", "uid remember", "subtask 0", "at most 4000", "FsStateBackend"):
        assert part in why
    assert sorted(path.name for path in (tmp_path / "checkpoints").iterdir()) == [f"chk-{n}" for n in range(1, 7)]


def test_too_large_states_count_as_failures(tmp_path: Path) -> None:
    with pytest.raises(JobExecutionError, match="'first' of the operator 'Remember all'"):
        _remember(MemoryStateBackend(max_state_size=4000), tmp_path)
    with pytest.raises(JobExecutionError, match="'first' of the operator 'Remember all'"):
        _remember(MemoryStateBackend(max_state_size=4000), tmp_path / "again", tolerable=3)


def test_other_states_are_limited_as_well(tmp_path: Path) -> None:
    class Listed(CheckpointedFunction, MapFunction):
        def initialize_state(self, context: Any) -> None:
            self.state = context.get_operator_state_store().get_list_state(ListStateDescriptor("l", Types.STRING()))

        def snapshot_state(self, context: Any) -> None:
            pass

        def map(self, value: int) -> int:
            self.state.add(str(value) * 600)
            return value

    pacing = Pacing(interval_ms=0)
    executor = LocalExecutor(1, checkpoints=CheckpointSettings(pacing, tmp_path, 100, frozenset(JobStatus)))
    env = StreamExecutionEnvironment(executor=executor)
    env.set_parallelism(1).set_state_backend(MemoryStateBackend(max_state_size=4000))
    with pytest.raises(JobExecutionError, match="belongs to no key of the operator 'Listed'"):
        list(env.from_collection(list(range(10))).map(Listed()).name("Listed").execute_and_collect())


@pytest.mark.parametrize("backend", [MemoryStateBackend(), HashMapStateBackend(), FsStateBackend("file:///unused")])
def test_what_is_small_enough_is_saved(backend: StateBackend, tmp_path: Path) -> None:
    assert _statuses(_remember(backend, tmp_path)) == ["COMPLETED"] * 10


def test_savepoints_have_no_limit(tmp_path: Path) -> None:
    executor = LocalExecutor(1, stop_after=10, savepoint_directory=str(tmp_path))
    env = StreamExecutionEnvironment(executor=executor)
    env.set_parallelism(1).set_state_backend(MemoryStateBackend(max_state_size=10))
    stream = env.from_collection(list(range(20)), Types.LONG()).key_by(lambda n: n)
    assert len(list(stream.process(Remember()).execute_and_collect())) >= 10
    assert executor.savepoint_path is not None
