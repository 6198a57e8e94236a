"""Where state lives while a job runs."""

from __future__ import annotations

from enum import Enum
from typing import Any

from penstock.common.errors import ConfigurationError, NotSupportedError
from penstock.common.utils import refuse_java_object

__all__ = [
    "CustomStateBackend",
    "EmbeddedRocksDBStateBackend",
    "HashMapStateBackend",
    "PredefinedOptions",
    "StateBackend",
]

_DEFAULT_TRANSFER_THREADS = 4


class StateBackend:
    """Base of the state backends: ``env.set_state_backend(HashMapStateBackend())``."""

    def __init__(self, j_state_backend: Any = None) -> None:
        refuse_java_object(type(self).__name__, "j_state_backend", j_state_backend, "Use HashMapStateBackend().")


class HashMapStateBackend(StateBackend):
    """State as Python objects in the workers' memory, stored with every epoch. The default."""

    def __init__(self, j_hashmap_state_backend: Any = None) -> None:
        super().__init__(j_hashmap_state_backend)


class PredefinedOptions(Enum):
    """Sets of tuning options for the on-disk backend."""

    DEFAULT = 0
    SPINNING_DISK_OPTIMIZED = 1
    SPINNING_DISK_OPTIMIZED_HIGH_MEM = 2
    FLASH_SSD_OPTIMIZED = 3


class EmbeddedRocksDBStateBackend(StateBackend):
    """State on disk, for more of it than fits into memory.

    It can be configured already; a job that uses it is refused until the on-disk backend is there.
    """

    def __init__(
        self,
        enable_incremental_checkpointing: bool | None = None,
        j_embedded_rocks_db_state_backend: Any = None,
    ) -> None:
        super().__init__(j_embedded_rocks_db_state_backend)
        if enable_incremental_checkpointing not in (None, True, False):
            raise TypeError(
                "enable_incremental_checkpointing must be None, True or False, "
                f"got {enable_incremental_checkpointing!r}"
            )
        self._incremental = bool(enable_incremental_checkpointing)
        self._paths: list[str] = []
        self._predefined_options = PredefinedOptions.DEFAULT
        self._transfer_threads = _DEFAULT_TRANSFER_THREADS

    def set_db_storage_paths(self, *paths: str) -> None:
        """Set the workers' local directories; None restores the default."""
        if len(paths) == 1 and paths[0] is None:
            self._paths = []
            return
        if not paths:
            raise ConfigurationError("set_db_storage_paths needs at least one path")
        self._paths = [_local_path(path) for path in paths]

    def get_db_storage_paths(self) -> list[str]:
        """The workers' local directories; empty for the default."""
        return list(self._paths)

    def is_incremental_checkpoints_enabled(self) -> bool:
        """Whether checkpoints hold only what changed."""
        return self._incremental

    def set_predefined_options(self, options: PredefinedOptions) -> None:
        """Choose a set of tuning options."""
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
            "use set_predefined_options"
        )

    def get_options(self) -> str | None:
        """None: there is no Java factory of options."""
        return None

    def get_number_of_transfer_threads(self) -> int:
        """Threads that move files in and out of checkpoints."""
        return self._transfer_threads

    def set_number_of_transfer_threads(self, number_of_transfering_threads: int) -> None:
        """Set the threads that move files in and out of checkpoints."""
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


def _local_path(path: str) -> str:
    if path.startswith("file:"):
        return "/" + path.removeprefix("file:").lstrip("/")
    if "://" in path:
        raise ConfigurationError(f"the on-disk backend works in local directories only, got {path!r}")
    return path
