"""The settings of an environment: one Configuration behind all setters."""

from __future__ import annotations

import os
import warnings
from typing import Self

from penstock.common import options
from penstock.common.configuration import Configuration
from penstock.common.directory_uri import normal_uri
from penstock.common.errors import ProgramError
from penstock.common.execution_config import ExecutionConfig
from penstock.common.state_backend_names import BACKEND, OLDER_BACKEND
from penstock.datastream.checkpoint_config import CheckpointConfig
from penstock.datastream.checkpoint_storage import SAVEPOINTS
from penstock.datastream.checkpointing_mode import CheckpointingMode
from penstock.datastream.execution_mode import RuntimeExecutionMode
from penstock.datastream.python_dependencies import PythonDependencySettings
from penstock.datastream.slot_sharing_group import SlotSharingGroup
from penstock.datastream.state_backend import StateBackend
from penstock.datastream.state_backend_setting import StateBackendSetting

__all__ = ["EnvironmentSettings"]

_PARALLELISM = "parallelism.default"
_CHAINING = "pipeline.operator-chaining.enabled"
_OLDER_CHAINING = "pipeline.operator-chaining"
_RUNTIME_MODE = "execution.runtime-mode"
_BUFFER_TIMEOUT = "execution.buffer-timeout.interval"
_OLDER_BUFFER_TIMEOUT = "execution.buffer-timeout"
_BUFFER_TIMEOUT_ENABLED = "execution.buffer-timeout.enabled"
_FLINKS_BUFFER_TIMEOUT = 100
_CHANGELOG = "state.changelog.enabled"
_OLDER_SAVEPOINTS = "state.savepoints.dir"

_default_local_parallelism: int | None = None


def default_local_parallelism() -> int:
    """What `set_default_local_parallelism` said, else the number of cores."""
    return _default_local_parallelism or os.cpu_count() or 1


class EnvironmentSettings(PythonDependencySettings):
    """Parallelism, modes and checkpoints of an environment. Every setter returns the environment."""

    def __init__(self, configuration: Configuration) -> None:
        super().__init__(configuration)
        if not configuration.contains_key(_PARALLELISM):
            configuration.set(_PARALLELISM, default_local_parallelism())
        self._config = ExecutionConfig(configuration)
        self._state_backend = StateBackendSetting(configuration)
        self._slot_sharing_groups: dict[str, SlotSharingGroup] = {}

    def get_config(self) -> ExecutionConfig:
        """Further settings: watermark interval, global job parameters and more."""
        return self._config

    def configure(self, configuration: Configuration) -> None:
        """Takes over all options of a configuration; where both have one, the given one wins."""
        if not isinstance(configuration, Configuration):
            raise ProgramError(f"configure() takes a Configuration, got {configuration!r}")
        if any(configuration.contains_key(key) for key in (BACKEND, OLDER_BACKEND)):
            self._state_backend.forget()
        self._configuration.add_all(configuration)

    # Parallelism and chaining

    def set_parallelism(self, parallelism: int) -> Self:
        """Sets the parallelism of operators that are created from now on and set none themselves."""
        self._config.set_parallelism(parallelism)
        return self

    def get_parallelism(self) -> int:
        parallelism = self._config.get_parallelism()
        return default_local_parallelism() if parallelism < 1 else parallelism

    def set_max_parallelism(self, max_parallelism: int) -> Self:
        """Sets the number of key groups of operators that set none themselves."""
        self._config.set_max_parallelism(max_parallelism)
        return self

    def get_max_parallelism(self) -> int:
        """The number of key groups; -1 when nobody has set it."""
        return self._config.get_max_parallelism()

    def get_default_local_parallelism(self) -> int:
        """The parallelism of environments for which nobody sets one."""
        return default_local_parallelism()

    def set_default_local_parallelism(self, parallelism: int) -> None:
        """Sets the parallelism of environments that are created from now on."""
        global _default_local_parallelism
        if not isinstance(parallelism, int) or parallelism < 1:
            raise ProgramError(f"set_default_local_parallelism() takes a number of at least 1, got {parallelism!r}")
        _default_local_parallelism = parallelism

    def disable_operator_chaining(self) -> Self:
        """Gives every operator a task of its own."""
        self._configuration.set(_CHAINING, False)
        return self

    def is_chaining_enabled(self) -> bool:
        return all(options.value_of(self._configuration, key) for key in (_CHAINING, _OLDER_CHAINING))

    def is_chaining_of_operators_with_different_max_parallelism_enabled(self) -> bool:
        return True

    def register_slot_sharing_group(self, slot_sharing_group: SlotSharingGroup) -> Self:
        """Makes a group known; Spark gives no cores and memory to a part of a job, which a warning says."""
        if not isinstance(slot_sharing_group, SlotSharingGroup):
            raise ProgramError(f"register_slot_sharing_group() takes a SlotSharingGroup, got {slot_sharing_group!r}")
        if slot_sharing_group.has_resources():
            warnings.warn(
                f"The resources of the slot sharing group {slot_sharing_group.get_name()!r} have no effect: Spark gives"
                " none to a part of a job. Set spark.executor.cores and spark.executor.memory.",
                stacklevel=2,
            )
        self._slot_sharing_groups[slot_sharing_group.get_name()] = slot_sharing_group
        return self

    # Modes

    def set_runtime_mode(self, execution_mode: RuntimeExecutionMode) -> Self:
        """STREAMING, BATCH (only final results, all sources bounded), or AUTOMATIC (BATCH if possible)."""
        if not isinstance(execution_mode, RuntimeExecutionMode):
            raise ProgramError(f"set_runtime_mode() takes a RuntimeExecutionMode, got {execution_mode!r}")
        self._configuration.set(_RUNTIME_MODE, execution_mode.name)
        return self

    def _runtime_mode(self) -> RuntimeExecutionMode:
        text = str(options.value_of(self._configuration, _RUNTIME_MODE)).strip().upper()
        if text not in RuntimeExecutionMode.__members__:
            raise ProgramError(f"{_RUNTIME_MODE} is one of {', '.join(RuntimeExecutionMode.__members__)}, not {text!r}")
        return RuntimeExecutionMode[text]

    def set_buffer_timeout(self, timeout_millis: int) -> Self:
        """Kept, but without effect (the job's start warns of it): there are no network buffers to flush."""
        if not isinstance(timeout_millis, int) or timeout_millis < -1:
            raise ProgramError(f"Timeout of buffer must be non-negative or -1, got {timeout_millis!r}")
        self._configuration.set(_BUFFER_TIMEOUT_ENABLED, timeout_millis >= 0)
        if timeout_millis >= 0:
            self._configuration.set(_BUFFER_TIMEOUT, f"{timeout_millis} ms")
        return self

    def get_buffer_timeout(self) -> int:
        """Milliseconds; -1 when switched off. Flink's default when nobody has said: engines have their own."""
        if not options.value_of(self._configuration, _BUFFER_TIMEOUT_ENABLED):
            return -1
        for key in (_BUFFER_TIMEOUT, _OLDER_BUFFER_TIMEOUT):
            if self._configuration.contains_key(key):
                return int(options.value_of(self._configuration, key))
        return _FLINKS_BUFFER_TIMEOUT

    # Checkpoints and state

    def get_checkpoint_config(self) -> CheckpointConfig:
        return CheckpointConfig(self._configuration)

    def enable_checkpointing(self, interval: int, mode: CheckpointingMode | None = None) -> Self:
        """Sets how often, in milliseconds, checkpoints are taken."""
        checkpoints = self.get_checkpoint_config().set_checkpoint_interval(interval)
        if mode is not None:
            checkpoints.set_checkpointing_mode(mode)
        return self

    def get_checkpoint_interval(self) -> int:
        """Milliseconds; -1 when checkpointing is off."""
        return self.get_checkpoint_config().get_checkpoint_interval()

    def get_checkpointing_mode(self) -> CheckpointingMode:
        return self.get_checkpoint_config().get_checkpointing_mode()

    def get_checkpointing_consistency_mode(self) -> CheckpointingMode:
        return self.get_checkpointing_mode()

    def is_unaligned_checkpoints_enabled(self) -> bool:
        return self.get_checkpoint_config().is_unaligned_checkpoints_enabled()

    def is_force_unaligned_checkpoints(self) -> bool:
        return self.get_checkpoint_config().is_force_unaligned_checkpoints()

    def enable_changelog_state_backend(self, enabled: bool) -> Self:
        """Kept, but without effect: state is always written as a log of changes, there is no second one to add."""
        self._configuration.set(_CHANGELOG, bool(enabled))
        return self

    def is_changelog_state_backend_enabled(self) -> bool | None:
        """None when nobody has said."""
        return self._configuration.get_boolean(_CHANGELOG, None)  # type: ignore[no-any-return]

    def set_state_backend(self, state_backend: StateBackend) -> Self:
        """Sets where state lives while a job runs (PyFlink 1; since 2.0 there are only the options)."""
        self._state_backend.set(state_backend)
        return self

    def get_state_backend(self) -> StateBackend | None:
        """What was set, or what the options say; None for the default."""
        return self._state_backend.get()

    def set_default_savepoint_directory(self, directory: str) -> Self:
        """Sets where savepoints go that are asked for without a directory."""
        if not isinstance(directory, str) or not directory:
            raise ProgramError(f"set_default_savepoint_directory() takes a path, got {directory!r}")
        self._configuration.set_string(SAVEPOINTS, normal_uri(directory))
        return self

    def get_default_savepoint_directory(self) -> str | None:
        keys = (SAVEPOINTS, _OLDER_SAVEPOINTS)
        return next((value for key in keys if (value := options.value_of(self._configuration, key))), None)
