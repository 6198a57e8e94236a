"""Where checkpoints are kept."""

from __future__ import annotations

import re
from typing import Any

from penstock.common.errors import ConfigurationError, NotSupportedError
from penstock.common.utils import refuse_java_object

__all__ = [
    "CheckpointStorage",
    "CustomCheckpointStorage",
    "FileSystemCheckpointStorage",
    "JobManagerCheckpointStorage",
]

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


class JobManagerCheckpointStorage(CheckpointStorage):
    """Small checkpoints in the driver, for trying things out; with a path, their metadata in files."""

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
        self._checkpoint_path = None if checkpoint_path is None else _normalized(checkpoint_path)
        self._max_state_size = self.DEFAULT_MAX_STATE_SIZE if max_state_size is None else max_state_size

    def get_checkpoint_path(self) -> str | None:
        """Where metadata is written, or None."""
        return self._checkpoint_path

    def get_max_state_size(self) -> int:
        """The largest state, in bytes, that one state may have."""
        return self._max_state_size

    def get_savepoint_path(self) -> str | None:
        """None: savepoints go where they are asked to go."""
        return None


class FileSystemCheckpointStorage(CheckpointStorage):
    """Checkpoints in a directory that all workers reach: ``FileSystemCheckpointStorage("hdfs:///checkpoints")``."""

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
        self._checkpoint_path = _normalized(checkpoint_path)
        self._threshold = _DEFAULT_FILE_STATE_THRESHOLD if threshold == _USE_DEFAULT else threshold
        self._write_buffer_size = _DEFAULT_WRITE_BUFFER_SIZE if write_buffer_size == _USE_DEFAULT else write_buffer_size

    def get_checkpoint_path(self) -> str:
        """The directory."""
        return self._checkpoint_path

    def get_savepoint_path(self) -> str | None:
        """None: savepoints go where they are asked to go."""
        return None

    def get_min_file_size_threshold(self) -> int:
        """State below this many bytes is kept in the metadata file."""
        return self._threshold

    def get_write_buffer_size(self) -> int:
        """Bytes buffered before they are written."""
        return self._write_buffer_size


class CustomCheckpointStorage(CheckpointStorage):
    """In PyFlink a storage written in Java; refused."""

    def __init__(self, j_custom_checkpoint_storage: Any) -> None:
        raise NotSupportedError(
            "CustomCheckpointStorage wraps Java classes, which Penstock does not run; "
            "use FileSystemCheckpointStorage(path)"
        )


def _normalized(path: str) -> str:
    """With its scheme, so that a local directory is never mistaken for one that all workers share."""
    if not re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", path):
        raise ConfigurationError(
            f"the checkpoint path {path!r} has no scheme; write file://{path} for a local directory, "
            "or hdfs://, s3a://..."
        )
    return re.sub(r"^file:/+", "file:/", path).rstrip("/") or path
