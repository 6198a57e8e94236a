"""Where checkpoints are kept."""

from __future__ import annotations

import re
from typing import Any

from penstock.common.directory_uri import normal_uri
from penstock.common.errors import ConfigurationError, NotSupportedError
from penstock.common.state_backend_names import FILESYSTEM, JOBMANAGER, MAX_STATE_SIZE, STORAGE
from penstock.common.utils import refuse_java_object

__all__ = [
    "CheckpointStorage",
    "CustomCheckpointStorage",
    "FileSystemCheckpointStorage",
    "JobManagerCheckpointStorage",
]

CHECKPOINTS = "execution.checkpointing.dir"
SAVEPOINTS = "execution.checkpointing.savepoint-dir"
_THRESHOLD = "execution.checkpointing.data-inline-threshold"
_WRITE_BUFFER = "execution.checkpointing.write-buffer-size"
STORAGE_OPTIONS = (STORAGE, _THRESHOLD, _WRITE_BUFFER)  # nothing of them is left when another storage is set

_USE_DEFAULT = -1
_DEFAULT_FILE_STATE_THRESHOLD = 20 * 1024
_DEFAULT_WRITE_BUFFER_SIZE = 4096


class CheckpointStorage:
    """Base of the places where checkpoints can be kept."""

    def __init__(self, j_checkpoint_storage: Any = None) -> None:
        refuse_java_object(
            type(self).__name__,
            "j_checkpoint_storage",
            j_checkpoint_storage,
            "Use FileSystemCheckpointStorage(path).",
        )

    def to_options(self) -> dict[str, str]:
        """The options that say the same."""
        raise NotSupportedError(
            f"{type(self).__name__} is no storage of Penstock; use FileSystemCheckpointStorage(path) or "
            "JobManagerCheckpointStorage()"
        )


class JobManagerCheckpointStorage(CheckpointStorage):
    """For trying things out: checkpoints in files as well, but one fails if a state is larger than `max_state_size`.

    That is the largest that a single state of one subtask may have, 5 MB by default. Savepoints have no limit.
    """

    DEFAULT_MAX_STATE_SIZE = 5 * 1024 * 1024

    def __init__(
        self,
        checkpoint_path: str | None = None,
        max_state_size: int | None = None,
        j_jobmanager_checkpoint_storage: Any = None,
    ) -> None:
        super().__init__(j_jobmanager_checkpoint_storage)
        if max_state_size is not None and max_state_size <= 0:
            raise ConfigurationError(f"max_state_size must be positive, got {max_state_size}")
        self._checkpoint_path = None if checkpoint_path is None else with_scheme(checkpoint_path)
        self._max_state_size = max_state_size

    def to_options(self) -> dict[str, str]:
        written = {STORAGE: JOBMANAGER}
        if self._checkpoint_path is not None:
            written[CHECKPOINTS] = self._checkpoint_path
        if self._max_state_size is not None:
            written[MAX_STATE_SIZE] = str(self._max_state_size)
        return written

    def get_checkpoint_path(self) -> str | None:
        """The directory, or None for the default."""
        return self._checkpoint_path

    def get_max_state_size(self) -> int:
        """The most bytes that one state may have."""
        return self.DEFAULT_MAX_STATE_SIZE if self._max_state_size is None else self._max_state_size

    def get_savepoint_path(self) -> str | None:
        """None: savepoints go where they are asked to go."""
        return None


class FileSystemCheckpointStorage(CheckpointStorage):
    """Checkpoints in a directory that all workers reach: ``FileSystemCheckpointStorage("file:///checkpoints")``."""

    MAX_FILE_STATE_THRESHOLD = 1024 * 1024

    def __init__(
        self,
        checkpoint_path: str | None = None,
        file_state_size_threshold: int | None = None,
        write_buffer_size: int = _USE_DEFAULT,
        j_filesystem_checkpoint_storage: Any = None,
    ) -> None:
        super().__init__(j_filesystem_checkpoint_storage)
        if checkpoint_path is None:
            raise ConfigurationError("FileSystemCheckpointStorage needs a checkpoint_path")
        threshold = _USE_DEFAULT if file_state_size_threshold is None else file_state_size_threshold
        if not _USE_DEFAULT <= threshold <= self.MAX_FILE_STATE_THRESHOLD:
            raise ConfigurationError(
                f"file_state_size_threshold must be from 0 to {self.MAX_FILE_STATE_THRESHOLD} bytes "
                f"(-1 for the default), got {threshold}"
            )
        self._checkpoint_path = with_scheme(checkpoint_path)
        self._threshold = _DEFAULT_FILE_STATE_THRESHOLD if threshold == _USE_DEFAULT else threshold
        self._write_buffer_size = _DEFAULT_WRITE_BUFFER_SIZE if write_buffer_size == _USE_DEFAULT else write_buffer_size

    def to_options(self) -> dict[str, str]:
        written = {STORAGE: FILESYSTEM, CHECKPOINTS: self._checkpoint_path}
        if self._threshold != _DEFAULT_FILE_STATE_THRESHOLD:
            written[_THRESHOLD] = str(self._threshold)
        if self._write_buffer_size != _DEFAULT_WRITE_BUFFER_SIZE:
            written[_WRITE_BUFFER] = str(self._write_buffer_size)
        return written

    def get_checkpoint_path(self) -> str:
        """The directory."""
        return self._checkpoint_path

    def get_savepoint_path(self) -> str | None:
        """None: savepoints go where they are asked to go."""
        return None

    def get_min_file_size_threshold(self) -> int:
        """Kept, but without effect (the job's start warns of another one than the default)."""
        return self._threshold

    def get_write_buffer_size(self) -> int:
        """Kept, but without effect (the job's start warns of another one than the default)."""
        return self._write_buffer_size


class CustomCheckpointStorage(CheckpointStorage):
    """In PyFlink a storage written in Java; refused."""

    def __init__(self, j_custom_checkpoint_storage: Any) -> None:
        raise NotSupportedError(
            "CustomCheckpointStorage wraps Java classes, which Penstock does not run; "
            "use FileSystemCheckpointStorage(path)"
        )


def with_scheme(path: str) -> str:
    """A path with its scheme, so that a local directory is never mistaken for one that all workers share."""
    if not re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", path):
        raise ConfigurationError(f"the path {path!r} of checkpoints or savepoints has no scheme; write file://{path}")
    return normal_uri(path)
