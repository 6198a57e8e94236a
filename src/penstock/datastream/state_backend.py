"""Where state lives while a job runs. A backend is a way to write options: each knows those that choose it."""

from __future__ import annotations

from enum import Enum
from typing import Any

from penstock.common.errors import ConfigurationError, NotSupportedError
from penstock.common.state_backend_names import (
    BACKEND,
    HASHMAP,
    LOCAL_DIRECTORIES,
    ROCKSDB,
    local_directory,
)
from penstock.common.utils import refuse_java_object
from penstock.datastream.checkpoint_storage import (
    SAVEPOINTS,
    CheckpointStorage,
    FileSystemCheckpointStorage,
    JobManagerCheckpointStorage,
    with_scheme,
)

__all__ = [
    "CustomStateBackend",
    "EmbeddedRocksDBStateBackend",
    "FsStateBackend",
    "HashMapStateBackend",
    "MemoryStateBackend",
    "PredefinedOptions",
    "RocksDBStateBackend",
    "StateBackend",
]

INCREMENTAL = "execution.checkpointing.incremental"
_PREDEFINED_OPTIONS = "state.backend.rocksdb.predefined-options"
_TRANSFER_THREADS = "state.backend.rocksdb.checkpoint.transfer.thread.num"
_DEFAULT_TRANSFER_THREADS = 4


class StateBackend:
    """Base of the state backends: ``env.set_state_backend(HashMapStateBackend())``."""

    def __init__(self, j_state_backend: Any = None) -> None:
        refuse_java_object(type(self).__name__, "j_state_backend", j_state_backend, "Use HashMapStateBackend().")

    def to_options(self) -> dict[str, str]:
        """The options that say the same."""
        raise NotSupportedError(
            f"{type(self).__name__} is no backend of Penstock; use HashMapStateBackend() or "
            "EmbeddedRocksDBStateBackend()"
        )


class HashMapStateBackend(StateBackend):
    """State as Python objects in the workers' memory, stored with every epoch. The default."""

    def __init__(self, j_hashmap_state_backend: Any = None) -> None:
        super().__init__(j_hashmap_state_backend)

    def to_options(self) -> dict[str, str]:
        return {BACKEND: HASHMAP}


class PredefinedOptions(Enum):
    """Sets of tuning options for RocksDB. All but DEFAULT have no effect, and the job's start warns of them."""

    DEFAULT = 0
    SPINNING_DISK_OPTIMIZED = 1
    SPINNING_DISK_OPTIMIZED_HIGH_MEM = 2
    FLASH_SSD_OPTIMIZED = 3


class EmbeddedRocksDBStateBackend(StateBackend):
    """State on the workers' disks, for more of it than fits into memory; stored with every epoch.

    How much memory it uses is the option ``state.backend.rocksdb.memory.fixed-per-slot``.
    """

    def __init__(
        self,
        enable_incremental_checkpointing: bool | None = None,
        j_embedded_rocks_db_state_backend: Any = None,
    ) -> None:
        super().__init__(j_embedded_rocks_db_state_backend)
        self._incremental = _three_valued("enable_incremental_checkpointing", enable_incremental_checkpointing)
        self._paths: list[str] = []
        self._predefined_options = PredefinedOptions.DEFAULT
        self._transfer_threads = _DEFAULT_TRANSFER_THREADS

    def to_options(self) -> dict[str, str]:
        written = {BACKEND: ROCKSDB}
        if self._incremental is not None:
            written[INCREMENTAL] = str(self._incremental).lower()
        if self._paths:
            written[LOCAL_DIRECTORIES] = ",".join(self._paths)
        if self._predefined_options is not PredefinedOptions.DEFAULT:
            written[_PREDEFINED_OPTIONS] = self._predefined_options.name
        if self._transfer_threads != _DEFAULT_TRANSFER_THREADS:
            written[_TRANSFER_THREADS] = str(self._transfer_threads)
        return written

    def set_db_storage_paths(self, *paths: str | None) -> None:
        """Set the workers' local directories, which subtasks use in turn; none, or None, restores the default."""
        given = [path for path in paths if path is not None]
        for path in given:
            if not isinstance(path, str) or "," in path:
                raise ConfigurationError(f"set_db_storage_paths takes paths without commas, got {path!r}")
        self._paths = [local_directory(path) for path in given]

    def get_db_storage_paths(self) -> list[str]:
        """The workers' local directories; empty for the default."""
        return list(self._paths)

    def is_incremental_checkpoints_enabled(self) -> bool:
        """Whether checkpoints are asked to hold only what changed; they hold the whole state all the same."""
        return bool(self._incremental)

    def set_predefined_options(self, options: PredefinedOptions) -> None:
        """Kept, but without effect (the job's start warns of it)."""
        if not isinstance(options, PredefinedOptions):
            raise ConfigurationError(f"set_predefined_options takes a PredefinedOptions, got {options!r}")
        self._predefined_options = options

    def get_predefined_options(self) -> PredefinedOptions:
        """The chosen set of tuning options."""
        return self._predefined_options

    def set_options(self, options_factory_class_name: str) -> None:
        """In PyFlink a Java factory of options; refused."""
        raise NotSupportedError(
            f"set_options({options_factory_class_name!r}) names a Java class, which Penstock does not run; "
            "set the option state.backend.rocksdb.memory.fixed-per-slot"
        )

    def get_options(self) -> str | None:
        """None: there is no Java factory of options."""
        return None

    def get_number_of_transfer_threads(self) -> int:
        """Threads that move files in and out of checkpoints."""
        return self._transfer_threads

    def set_number_of_transfer_threads(self, number_of_transfering_threads: int) -> None:
        """Kept, but without effect (the job's start warns of it)."""
        if number_of_transfering_threads <= 0:
            raise ConfigurationError(
                f"the number of transfer threads must be positive, got {number_of_transfering_threads}"
            )
        self._transfer_threads = number_of_transfering_threads


class CustomStateBackend(StateBackend):
    """In PyFlink a backend written in Java; refused."""

    def __init__(self, j_custom_state_backend: Any) -> None:
        raise NotSupportedError(
            "CustomStateBackend wraps Java classes, which Penstock does not run; use HashMapStateBackend()"
        )


class _BackendWithStorage(StateBackend):
    """The in-memory backends of Flink before 1.13, which say where checkpoints and savepoints go as well."""

    def __init__(
        self,
        storage: CheckpointStorage,
        savepoint_path: str | None,
        using_asynchronous_snapshots: bool | None,
        j_state_backend: Any,
    ) -> None:
        super().__init__(j_state_backend)
        self._storage = storage
        self._savepoint_path = None if savepoint_path is None else with_scheme(savepoint_path)
        self._asynchronous = _three_valued("using_asynchronous_snapshots", using_asynchronous_snapshots)

    def to_options(self) -> dict[str, str]:
        return {BACKEND: HASHMAP, **self.storage_options()}

    def storage_options(self) -> dict[str, str]:
        savepoints = {} if self._savepoint_path is None else {SAVEPOINTS: self._savepoint_path}
        return {**self._storage.to_options(), **savepoints}

    def get_savepoint_path(self) -> str | None:
        """Where savepoints go by default, if this backend says it."""
        return self._savepoint_path

    def is_using_asynchronous_snapshots(self) -> bool:
        """What was given, by default True; it has no effect, as in Flink since 1.13."""
        return self._asynchronous is not False


class MemoryStateBackend(_BackendWithStorage):
    """Older name of HashMapStateBackend with JobManagerCheckpointStorage: a checkpoint of a large state fails."""

    DEFAULT_MAX_STATE_SIZE = JobManagerCheckpointStorage.DEFAULT_MAX_STATE_SIZE

    def __init__(
        self,
        checkpoint_path: str | None = None,
        savepoint_path: str | None = None,
        max_state_size: int | None = None,
        using_asynchronous_snapshots: bool | None = None,
        j_memory_state_backend: Any = None,
    ) -> None:
        storage = JobManagerCheckpointStorage(checkpoint_path, max_state_size)
        super().__init__(storage, savepoint_path, using_asynchronous_snapshots, j_memory_state_backend)
        self._storage: JobManagerCheckpointStorage = storage

    def get_checkpoint_path(self) -> str | None:
        """The directory of checkpoints, if this backend says it."""
        return self._storage.get_checkpoint_path()

    def get_max_state_size(self) -> int:
        """The most bytes that one state may have in a checkpoint."""
        return self._storage.get_max_state_size()


class FsStateBackend(_BackendWithStorage):
    """Older name of HashMapStateBackend with FileSystemCheckpointStorage."""

    def __init__(
        self,
        checkpoint_directory_uri: str | None = None,
        default_savepoint_directory_uri: str | None = None,
        file_state_size_threshold: int | None = None,
        write_buffer_size: int | None = None,
        using_asynchronous_snapshots: bool | None = None,
        j_fs_state_backend: Any = None,
    ) -> None:
        if checkpoint_directory_uri is None:
            raise ConfigurationError("FsStateBackend needs a checkpoint_directory_uri")
        buffer = {} if write_buffer_size is None else {"write_buffer_size": write_buffer_size}
        storage = FileSystemCheckpointStorage(checkpoint_directory_uri, file_state_size_threshold, **buffer)
        super().__init__(storage, default_savepoint_directory_uri, using_asynchronous_snapshots, j_fs_state_backend)
        self._storage: FileSystemCheckpointStorage = storage

    def get_checkpoint_path(self) -> str:
        """The directory of checkpoints."""
        return self._storage.get_checkpoint_path()

    def get_min_file_size_threshold(self) -> int:
        """Kept, but without effect (the job's start warns of it)."""
        return self._storage.get_min_file_size_threshold()

    def get_write_buffer_size(self) -> int:
        """Kept, but without effect (the job's start warns of it)."""
        return self._storage.get_write_buffer_size()


class RocksDBStateBackend(EmbeddedRocksDBStateBackend):
    """Older name of EmbeddedRocksDBStateBackend with a directory, or with the checkpoint storage of another backend."""

    def __init__(
        self,
        checkpoint_data_uri: str | None = None,
        enable_incremental_checkpointing: bool | None = None,
        checkpoint_stream_backend: StateBackend | None = None,
        j_rocks_db_state_backend: Any = None,
    ) -> None:
        super().__init__(enable_incremental_checkpointing, j_rocks_db_state_backend)
        backend = checkpoint_stream_backend if checkpoint_data_uri is None else FsStateBackend(checkpoint_data_uri)
        if not isinstance(backend, _BackendWithStorage):
            raise ConfigurationError(
                "RocksDBStateBackend needs a checkpoint_data_uri, or an FsStateBackend or MemoryStateBackend as "
                f"checkpoint_stream_backend; got {checkpoint_stream_backend!r}"
            )
        self._checkpoint_backend = backend

    def to_options(self) -> dict[str, str]:
        return {**self._checkpoint_backend.storage_options(), **super().to_options()}

    def get_checkpoint_backend(self) -> StateBackend:
        """The backend that says where checkpoints go."""
        return self._checkpoint_backend

    def get_number_of_transfering_threads(self) -> int:
        """Older name of :meth:`get_number_of_transfer_threads`."""
        return self.get_number_of_transfer_threads()

    def set_number_of_transfering_threads(self, number_of_transfering_threads: int) -> None:
        """Older name of :meth:`set_number_of_transfer_threads`."""
        self.set_number_of_transfer_threads(number_of_transfering_threads)


def _three_valued(argument: str, value: bool | None) -> bool | None:
    if value not in (None, True, False):
        raise TypeError(f"{argument} must be None, True or False, got {value!r}")
    return value
