"""How checkpoints are taken: a typed view of the `execution.checkpointing.*` options."""

from __future__ import annotations

import os
from enum import Enum
from typing import Any, TypeVar

from penstock.common.configuration import Configuration
from penstock.common.errors import ConfigurationError, NotSupportedError
from penstock.common.options import parse_duration, value_of
from penstock.common.state_backend_names import max_state_size
from penstock.common.time import Duration
from penstock.datastream.checkpoint_storage import (
    CHECKPOINTS,
    STORAGE_OPTIONS,
    CheckpointStorage,
    FileSystemCheckpointStorage,
    JobManagerCheckpointStorage,
)
from penstock.datastream.checkpointing_mode import CheckpointingMode
from penstock.datastream.externalized_checkpoint_retention import ExternalizedCheckpointRetention

__all__ = ["CheckpointConfig"]

E = TypeVar("E", bound=Enum)

_PREFIX = "execution.checkpointing."
_INTERVAL = _PREFIX + "interval"
_MODE = _PREFIX + "mode"
_TIMEOUT = _PREFIX + "timeout"
_MIN_PAUSE = _PREFIX + "min-pause"
_MAX_CONCURRENT = _PREFIX + "max-concurrent-checkpoints"
_TOLERABLE_FAILURES = _PREFIX + "tolerable-failed-checkpoints"
_RETENTION = _PREFIX + "externalized-checkpoint-retention"
_ALIGNED_TIMEOUT = _PREFIX + "aligned-checkpoint-timeout"
_OLDER_DIRECTORY = "state.checkpoints.dir"
_UNALIGNED = (_PREFIX + "unaligned.enabled", _PREFIX + "unaligned")
_FORCE_UNALIGNED = _PREFIX + "unaligned.forced"

_DISABLED = -1
_MINIMAL_MILLIS = 10
_DEFAULT_TIMEOUT = 600_000
_TOLERATE_ALL_FAILURES = 2**31 - 1


class CheckpointConfig:
    """Got from ``env.get_checkpoint_config()``; it reads and writes the environment's configuration.

    Every epoch is committed exactly once with or without checkpoints; these settings say which epochs become
    checkpoints that can be restored from.
    """

    def __init__(self, configuration: Configuration) -> None:
        if not isinstance(configuration, Configuration):
            raise NotSupportedError(
                f"CheckpointConfig takes a Configuration, got {configuration!r}: Penstock has no Java "
                "objects; use env.get_checkpoint_config()"
            )
        self._configuration = configuration

    def is_checkpointing_enabled(self) -> bool:
        """Whether an interval is set."""
        return self.get_checkpoint_interval() > 0

    def get_checkpointing_mode(self) -> CheckpointingMode:
        """The mode; AT_LEAST_ONCE while checkpointing is disabled, as in Flink."""
        if not self.is_checkpointing_enabled():
            return CheckpointingMode.AT_LEAST_ONCE
        return self._enum(_MODE, CheckpointingMode.EXACTLY_ONCE)

    def set_checkpointing_mode(self, checkpointing_mode: CheckpointingMode) -> CheckpointConfig:
        """Set the guarantee; epochs are exactly once under either."""
        return self._set_enum(_MODE, checkpointing_mode, CheckpointingMode)

    def get_checkpoint_interval(self) -> int:
        """Milliseconds between checkpoints, -1 while disabled."""
        return self._millis(_INTERVAL, _DISABLED)

    def set_checkpoint_interval(self, checkpoint_interval: int) -> CheckpointConfig:
        """Take a checkpoint about every so many milliseconds."""
        _require_at_least(checkpoint_interval, _MINIMAL_MILLIS, "the checkpoint interval in ms")
        return self._set(_INTERVAL, f"{checkpoint_interval} ms")

    def get_checkpoint_timeout(self) -> int:
        """Milliseconds after which a checkpoint is given up; 10 minutes by default."""
        return self._millis(_TIMEOUT, _DEFAULT_TIMEOUT)

    def set_checkpoint_timeout(self, checkpoint_timeout: int) -> CheckpointConfig:
        """Give a checkpoint up after so many milliseconds."""
        _require_at_least(checkpoint_timeout, _MINIMAL_MILLIS, "the checkpoint timeout in ms")
        return self._set(_TIMEOUT, f"{checkpoint_timeout} ms")

    def get_min_pause_between_checkpoints(self) -> int:
        """Milliseconds between the end of a checkpoint and the start of the next."""
        return self._millis(_MIN_PAUSE, 0)

    def set_min_pause_between_checkpoints(self, min_pause_between_checkpoints: int) -> CheckpointConfig:
        """Wait at least so many milliseconds after a checkpoint."""
        _require_at_least(min_pause_between_checkpoints, 0, "the pause between checkpoints in ms")
        return self._set(_MIN_PAUSE, f"{min_pause_between_checkpoints} ms")

    def get_max_concurrent_checkpoints(self) -> int:
        """How many checkpoints may be under way at once; Penstock never has more than one."""
        return self._integer(_MAX_CONCURRENT, 1)

    def set_max_concurrent_checkpoints(self, max_concurrent_checkpoints: int) -> CheckpointConfig:
        """An upper bound, always kept: epochs complete one after the other."""
        _require_at_least(max_concurrent_checkpoints, 1, "the number of concurrent checkpoints")
        return self._set(_MAX_CONCURRENT, str(max_concurrent_checkpoints))

    def is_fail_on_checkpointing_errors(self) -> bool:
        """Whether the first failed checkpoint fails the job."""
        return self.get_tolerable_checkpoint_failure_number() == 0

    def set_fail_on_checkpointing_errors(self, fail_on_checkpointing_errors: bool) -> CheckpointConfig:
        """Tolerate no failed checkpoint (True) or all of them (False)."""
        tolerable = 0 if fail_on_checkpointing_errors else _TOLERATE_ALL_FAILURES
        return self.set_tolerable_checkpoint_failure_number(tolerable)

    def get_tolerable_checkpoint_failure_number(self) -> int:
        """How many checkpoints in a row may fail before the job does."""
        return self._integer(_TOLERABLE_FAILURES, 0)

    def set_tolerable_checkpoint_failure_number(self, tolerable_checkpoint_failure_number: int) -> CheckpointConfig:
        """Let the job fail only after more failed checkpoints in a row than this."""
        _require_at_least(tolerable_checkpoint_failure_number, 0, "the number of tolerable checkpoint failures")
        return self._set(_TOLERABLE_FAILURES, str(tolerable_checkpoint_failure_number))

    def set_externalized_checkpoint_retention(
        self, retention_mode: ExternalizedCheckpointRetention
    ) -> CheckpointConfig:
        """Set what becomes of checkpoints when the job is cancelled."""
        return self._set_enum(_RETENTION, retention_mode, ExternalizedCheckpointRetention)

    def is_externalized_checkpoints_enabled(self) -> bool:
        """Whether checkpoints can be restored from after the job's end."""
        return (
            self.get_externalized_checkpoint_retention()
            is not ExternalizedCheckpointRetention.NO_EXTERNALIZED_CHECKPOINTS
        )

    def get_externalized_checkpoint_retention(self) -> ExternalizedCheckpointRetention:
        """What becomes of checkpoints when the job is cancelled."""
        return self._enum(_RETENTION, ExternalizedCheckpointRetention.NO_EXTERNALIZED_CHECKPOINTS)

    # Unaligned checkpoints: kept, but without effect, because no barrier ever waits for another

    def is_unaligned_checkpoints_enabled(self) -> bool:
        """Only of checkpoints that are exactly once, as in Flink."""
        exactly_once = self.get_checkpointing_mode() is CheckpointingMode.EXACTLY_ONCE
        return exactly_once and any(self._configuration.get_boolean(key, False) for key in _UNALIGNED)

    def enable_unaligned_checkpoints(self, enabled: bool = True) -> CheckpointConfig:
        self._configuration.remove_config(_UNALIGNED[1])
        return self._set(_UNALIGNED[0], "true" if enabled else "false")

    def disable_unaligned_checkpoints(self) -> CheckpointConfig:
        return self.enable_unaligned_checkpoints(False)

    def set_aligned_checkpoint_timeout(self, alignment_timeout: Duration) -> CheckpointConfig:
        """When an aligned checkpoint would become unaligned; it acts only where those are enabled."""
        if not isinstance(alignment_timeout, Duration):
            raise ConfigurationError(f"the alignment timeout must be a Duration, got {alignment_timeout!r}")
        return self._set(_ALIGNED_TIMEOUT, f"{alignment_timeout.to_millis()} ms")

    def get_aligned_checkpoint_timeout(self) -> Duration:
        """When an aligned checkpoint would become unaligned; 0 (the default) is never."""
        return Duration.of_millis(self._millis(_ALIGNED_TIMEOUT, 0))

    def set_alignment_timeout(self, alignment_timeout: Duration) -> CheckpointConfig:
        """Older name of :meth:`set_aligned_checkpoint_timeout`."""
        return self.set_aligned_checkpoint_timeout(alignment_timeout)

    def get_alignment_timeout(self) -> Duration:
        """Older name of :meth:`get_aligned_checkpoint_timeout`."""
        return self.get_aligned_checkpoint_timeout()

    def set_force_unaligned_checkpoints(self, force_unaligned_checkpoints: bool = True) -> CheckpointConfig:
        return self._set(_FORCE_UNALIGNED, "true" if force_unaligned_checkpoints else "false")

    def is_force_unaligned_checkpoints(self) -> bool:
        return bool(self._configuration.get_boolean(_FORCE_UNALIGNED, False))

    def set_checkpoint_storage(self, storage: CheckpointStorage) -> CheckpointConfig:
        """Set where checkpoints are kept (PyFlink 1.13 to 1.20; since 2.0 there are only the options)."""
        if not isinstance(storage, CheckpointStorage):
            raise ConfigurationError(
                f"set_checkpoint_storage() takes a CheckpointStorage, got {storage!r}; "
                "for a directory call set_checkpoint_storage_dir()"
            )
        written = storage.to_options()
        for key in STORAGE_OPTIONS:
            self._configuration.remove_config(key)
        for key, text in written.items():
            self._set(key, text)
        return self

    def set_checkpoint_storage_dir(self, checkpoint_path: str) -> CheckpointConfig:
        """Keep checkpoints in a directory: ``set_checkpoint_storage_dir("file:///checkpoints")``."""
        return self.set_checkpoint_storage(FileSystemCheckpointStorage(checkpoint_path))

    def get_checkpoint_storage(self) -> CheckpointStorage | None:
        """What the options say; None when they say nothing."""
        directory = value_of(self._configuration, CHECKPOINTS) or value_of(self._configuration, _OLDER_DIRECTORY)
        path = None if directory is None or ":/" in directory else f"file://{os.path.abspath(directory)}"
        limit = max_state_size(self._configuration)
        if limit is not None:
            return JobManagerCheckpointStorage(path or directory, limit)
        return None if directory is None else FileSystemCheckpointStorage(path or directory)

    def _set(self, key: str, value: str) -> CheckpointConfig:
        self._configuration.set_string(key, value)
        return self

    def _set_enum(self, key: str, given: Any, kind: type[Any]) -> CheckpointConfig:
        if not isinstance(given, kind):
            raise ConfigurationError(f"{key} takes a {kind.__name__}, got {given!r}")
        return self._set(key, given.name)

    def _enum(self, key: str, default: E) -> E:
        name = str(self._configuration.get_string(key, default.name))
        try:
            return type(default)[name.strip().upper().replace("-", "_")]
        except KeyError:
            names = ", ".join(member.name for member in type(default))
            raise ConfigurationError(f"{key} is {name!r}; it takes one of {names}") from None

    def _integer(self, key: str, default: int) -> int:
        return int(self._configuration.get_integer(key, default))

    def _millis(self, key: str, default: int) -> int:
        text = self._configuration.get_string(key, None)
        if text is None:
            return default
        try:
            return parse_duration(text)
        except ValueError as error:
            raise ConfigurationError(f"{key} is {text!r}: {error}") from None


def _require_at_least(number: int, minimum: int, what: str) -> None:
    if not isinstance(number, int) or isinstance(number, bool) or number < minimum:
        raise ConfigurationError(f"{what} must be an integer of at least {minimum}, got {number!r}")
