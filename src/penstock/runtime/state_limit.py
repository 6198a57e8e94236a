"""The limit that a checkpoint storage for small checkpoints sets to every state."""

from __future__ import annotations

from collections import Counter

from penstock.common.errors import JobExecutionError
from penstock.common.state_backend_names import FILESYSTEM, MAX_STATE_SIZE, STORAGE
from penstock.runtime.blueprint import JobBlueprint
from penstock.runtime.saved_parts import Label


class StateTooLargeError(JobExecutionError):
    """A checkpoint cannot be written because of the limit; the job itself is well."""


class StateLimit:
    """Counts the bytes of the states of one subtask while they are written, and stops where one has too many."""

    def __init__(self, job: JobBlueprint, subtask: int, of_checkpoint: bool) -> None:
        self._max_bytes = job.settings.max_state_size if of_checkpoint else None  # savepoints have none, as in Flink
        self._operators = {operator.uid: operator for operator in job.operators}
        self._subtask = subtask
        self._bytes: Counter[Label] = Counter()

    def count(self, label: Label, size: int) -> None:
        self._bytes[label] += size
        if self._max_bytes is not None and self._bytes[label] > self._max_bytes:
            raise StateTooLargeError(self._text(label))

    def _text(self, label: Label) -> str:
        operator = self._operators[label.uid]
        state = "the state that belongs to no key" if label.table is None else f"the state {label.table!r}"
        return (
            f"{state} of the operator {operator.name!r} (uid {operator.uid}, subtask {self._subtask}) has at least "
            f"{self._bytes[label]} bytes; the checkpoint storage jobmanager takes at most {self._max_bytes} of one "
            f"state. Let checkpoints go to files ({STORAGE}: {FILESYSTEM}, or FileSystemCheckpointStorage, "
            "or FsStateBackend in place of MemoryStateBackend), or allow larger ones (max_state_size, "
            f"{MAX_STATE_SIZE})."
        )
