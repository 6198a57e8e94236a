"""The state backend and the checkpoint storage that options choose, by all the names that Flink has had for them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from penstock.common.directory_uri import normal_path
from penstock.common.errors import ConfigurationError
from penstock.common.options import bytes_of, value_of

if TYPE_CHECKING:
    from penstock.common.configuration import Configuration

BACKEND: Final = "state.backend.type"
OLDER_BACKEND: Final = "state.backend"
STORAGE: Final = "execution.checkpointing.storage"
OLDER_STORAGE: Final = "state.checkpoint-storage"
MAX_STATE_SIZE: Final = "penstock.checkpoint.max-state-size"
LOCAL_DIRECTORIES: Final = "state.backend.rocksdb.localdir"

HASHMAP: Final = "hashmap"
ROCKSDB: Final = "rocksdb"
JOBMANAGER: Final = "jobmanager"
FILESYSTEM: Final = "filesystem"

# The backends of Flink before 1.13 said where checkpoints go, too.
_OLD_BACKENDS = {JOBMANAGER: JOBMANAGER, "memory": JOBMANAGER, FILESYSTEM: FILESYSTEM}
_BACKEND_CLASSES = {
    "HashMapStateBackend": HASHMAP,
    "MemoryStateBackend": JOBMANAGER,
    "FsStateBackend": FILESYSTEM,
    "EmbeddedRocksDBStateBackend": ROCKSDB,
    "RocksDBStateBackend": ROCKSDB,
}
_STORAGE_CLASSES = {"JobManagerCheckpointStorage": JOBMANAGER, "FileSystemCheckpointStorage": FILESYSTEM}
_CLASS = re.compile(r"org\.apache\.flink\.(?:\w+\.)*(\w+?)(?:Factory)?")


def chosen_backend(configuration: Configuration) -> str:
    """`hashmap` or `rocksdb`."""
    name = _short(_backend_text(configuration), _BACKEND_CLASSES)
    if name == ROCKSDB:
        return ROCKSDB
    if name == HASHMAP or name in _OLD_BACKENDS:
        return HASHMAP
    raise ConfigurationError(
        f"there is no state backend {_backend_text(configuration)!r}; {BACKEND} is {HASHMAP} or {ROCKSDB}"
    )


def chosen_storage(configuration: Configuration) -> str:
    """`filesystem`, or `jobmanager` for small checkpoints, which sets a limit to every state."""
    of_backend = _OLD_BACKENDS.get(_short(_backend_text(configuration), _BACKEND_CLASSES))
    if of_backend is not None:
        return of_backend
    text = value_of(configuration, STORAGE) or value_of(configuration, OLDER_STORAGE) or FILESYSTEM
    name = _short(text, _STORAGE_CLASSES)
    if name not in (JOBMANAGER, FILESYSTEM):
        raise ConfigurationError(f"there is no checkpoint storage {text!r}; {STORAGE} is {FILESYSTEM} or {JOBMANAGER}")
    return name


def max_state_size(configuration: Configuration) -> int | None:
    """Most bytes that a state may have in a checkpoint; None: as many as it has."""
    if chosen_storage(configuration) != JOBMANAGER:
        return None
    size = bytes_of(value_of(configuration, MAX_STATE_SIZE))
    if size < 1:
        raise ConfigurationError(f"{MAX_STATE_SIZE} is {size}; it has to be at least 1 byte")
    return size


def local_directories(text: str | None) -> tuple[str, ...]:
    """The directories of `state.backend.rocksdb.localdir`, with commas between them."""
    return tuple(local_directory(part.strip()) for part in (text or "").split(",") if part.strip())


def local_directory(path: str) -> str:
    if path.startswith("file:"):
        path = "/" + path.removeprefix("file:").lstrip("/")
    if not path.startswith("/"):
        raise ConfigurationError(
            f"the rocksdb backend works in local directories, given as absolute paths; {path!r} is none"
        )
    return normal_path(path)


def _backend_text(configuration: Configuration) -> str:
    return str(value_of(configuration, BACKEND) or value_of(configuration, OLDER_BACKEND) or HASHMAP)


def _short(text: str, by_class: dict[str, str]) -> str:
    found = _CLASS.fullmatch(text.strip())
    return by_class.get(found[1], text) if found is not None else text.strip().lower()
