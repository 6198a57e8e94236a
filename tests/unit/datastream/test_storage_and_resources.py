"""Backends, storages and slot sharing groups hold what they are given and refuse Java."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.common.errors import ConfigurationError, NotSupportedError
from penstock.datastream import (
    CustomCheckpointStorage,
    CustomStateBackend,
    EmbeddedRocksDBStateBackend,
    FileSystemCheckpointStorage,
    FsStateBackend,
    HashMapStateBackend,
    JobManagerCheckpointStorage,
    MemorySize,
    MemoryStateBackend,
    PredefinedOptions,
    RocksDBStateBackend,
    SlotSharingGroup,
)


def test_file_system_storage() -> None:
    storage = FileSystemCheckpointStorage("file:///var/checkpoints", write_buffer_size=500)
    assert storage.get_checkpoint_path() == "file:/var/checkpoints"
    assert (storage.get_min_file_size_threshold(), storage.get_write_buffer_size()) == (20480, 500)
    assert storage.get_savepoint_path() is None


@pytest.mark.parametrize("arguments", [(), ("/var/checkpoints",), ("file:///x", 2 * 1024 * 1024)])
def test_impossible_file_system_storages(arguments: tuple[Any, ...]) -> None:
    with pytest.raises(ConfigurationError):
        FileSystemCheckpointStorage(*arguments)


def test_job_manager_storage() -> None:
    storage = JobManagerCheckpointStorage()
    assert (storage.get_checkpoint_path(), storage.get_max_state_size()) == (None, 5 * 1024 * 1024)


def test_rocksdb_backend_can_be_configured() -> None:
    backend = EmbeddedRocksDBStateBackend(True)
    backend.set_db_storage_paths("/data/a", "file:///data/b")
    backend.set_predefined_options(PredefinedOptions.FLASH_SSD_OPTIMIZED)
    assert backend.is_incremental_checkpoints_enabled()
    assert backend.get_db_storage_paths() == ["/data/a", "/data/b"]
    assert backend.get_predefined_options() is PredefinedOptions.FLASH_SSD_OPTIMIZED
    for path in ("relative", "hdfs://host/data", "/a,b"):
        with pytest.raises(ConfigurationError):
            backend.set_db_storage_paths(path)
    assert backend.to_options() == {
        "state.backend.type": "rocksdb",
        "execution.checkpointing.incremental": "true",
        "state.backend.rocksdb.localdir": "/data/a,/data/b",
        "state.backend.rocksdb.predefined-options": "FLASH_SSD_OPTIMIZED",
    }
    backend.set_db_storage_paths()
    assert backend.get_db_storage_paths() == []
    with pytest.raises(ConfigurationError):
        backend.set_number_of_transfer_threads(0)
    with pytest.raises(TypeError):
        EmbeddedRocksDBStateBackend("yes")  # type: ignore[arg-type]


def test_old_backends_say_where_checkpoints_go() -> None:
    memory = MemoryStateBackend("file:///c", "file:///s/", 1000, False)
    assert (memory.get_checkpoint_path(), memory.get_savepoint_path(), memory.get_max_state_size()) == (
        "file:/c",
        "file:/s",
        1000,
    )
    assert not memory.is_using_asynchronous_snapshots()
    assert memory.to_options() == {
        "state.backend.type": "hashmap",
        "execution.checkpointing.storage": "jobmanager",
        "execution.checkpointing.dir": "file:/c",
        "execution.checkpointing.savepoint-dir": "file:/s",
        "penstock.checkpoint.max-state-size": "1000",
    }
    assert MemoryStateBackend().get_max_state_size() == MemoryStateBackend.DEFAULT_MAX_STATE_SIZE == 5 << 20

    files = FsStateBackend("file:///c", "file:///s", 100)
    assert (files.get_checkpoint_path(), files.get_min_file_size_threshold(), files.get_write_buffer_size()) == (
        "file:/c",
        100,
        4096,
    )
    assert files.is_using_asynchronous_snapshots()
    assert files.to_options() == {
        "state.backend.type": "hashmap",
        "execution.checkpointing.storage": "filesystem",
        "execution.checkpointing.dir": "file:/c",
        "execution.checkpointing.savepoint-dir": "file:/s",
        "execution.checkpointing.data-inline-threshold": "100",
    }


def test_the_old_rocksdb_backend_has_a_backend_for_checkpoints() -> None:
    backend = RocksDBStateBackend("file:///c", False)
    backend.set_number_of_transfering_threads(2)
    assert backend.get_number_of_transfering_threads() == 2
    checkpoints = backend.get_checkpoint_backend()
    assert isinstance(checkpoints, FsStateBackend) and checkpoints.get_checkpoint_path() == "file:/c"
    assert backend.to_options() == {
        "state.backend.type": "rocksdb",
        "execution.checkpointing.storage": "filesystem",
        "execution.checkpointing.dir": "file:/c",
        "execution.checkpointing.incremental": "false",
        "state.backend.rocksdb.checkpoint.transfer.thread.num": "2",
    }
    memory = MemoryStateBackend(max_state_size=7)
    options = RocksDBStateBackend(checkpoint_stream_backend=memory).to_options()
    assert (options["state.backend.type"], options["penstock.checkpoint.max-state-size"]) == ("rocksdb", "7")


@pytest.mark.parametrize(
    "attempt",
    [
        lambda: FsStateBackend(),
        lambda: FsStateBackend("/no/scheme"),
        lambda: FsStateBackend("file:///c", file_state_size_threshold=2 << 20),
        lambda: MemoryStateBackend(max_state_size=0),
        lambda: MemoryStateBackend(savepoint_path="/no/scheme"),
        lambda: RocksDBStateBackend(),
        lambda: RocksDBStateBackend(checkpoint_stream_backend=HashMapStateBackend()),
        lambda: MemoryStateBackend(using_asynchronous_snapshots="no"),  # type: ignore[arg-type]
    ],
)
def test_impossible_old_backends(attempt: Any) -> None:
    with pytest.raises((ConfigurationError, TypeError)):
        attempt()


def test_java_is_refused() -> None:
    for build in (
        lambda: CustomStateBackend(object()),
        lambda: CustomCheckpointStorage(object()),
        lambda: HashMapStateBackend(object()),
        lambda: MemoryStateBackend(j_memory_state_backend=object()),
        lambda: EmbeddedRocksDBStateBackend().set_options("org.example.Factory"),
    ):
        with pytest.raises(NotSupportedError):
            build()


def test_memory_sizes() -> None:
    three = MemorySize.of_mebi_bytes(3)
    assert (three.get_bytes(), three.get_kibi_bytes(), three.get_gibi_bytes()) == (3145728, 3072, 0)
    assert three == MemorySize(bytes_size=3145728)
    assert MemorySize(bytes_size=1) < three
    assert [str(MemorySize(bytes_size=size)) for size in (0, 1, 1024, 1500, 3 << 20)] == [
        "0 bytes",
        "1 bytes",
        "1 kb",
        "1500 bytes",
        "3 mb",
    ]
    with pytest.raises(ConfigurationError):
        MemorySize(bytes_size=-1)


def test_a_slot_sharing_group_may_be_just_a_name() -> None:
    group = SlotSharingGroup.builder("g").build()
    assert (group.get_name(), group.get_cpu_cores(), group.has_resources()) == ("g", None, False)
    assert group == SlotSharingGroup.builder("g").build()


def test_resources_of_a_slot_sharing_group_come_together() -> None:
    builder = SlotSharingGroup.builder("g").set_cpu_cores(1.5)
    with pytest.raises(ConfigurationError, match="both cpu cores and task heap memory"):
        builder.build()
    group = builder.set_task_heap_memory_mb(10).set_external_resource("gpu", 1.0).build()
    assert group.has_resources()
    assert group.get_task_heap_memory() == MemorySize.of_mebi_bytes(10)
    assert group.get_managed_memory() == MemorySize(bytes_size=0)
    assert group.get_external_resources() == {"gpu": 1.0}
