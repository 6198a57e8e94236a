"""A sink that can be watched: importable, so that what it writes down is seen wherever it is pickled to."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from penstock.connectors import Committer, CommitterContext, Records, Sink, SinkWriter, WriterContext

EVENTS: dict[str, list[Any]] = defaultdict(list)
VISIBLE: dict[str, dict[tuple[str, int], list[Any]]] = defaultdict(dict)  # by name: what each commit has brought


class Notes(Sink):
    """Commits by replacing what is there under the job's id and the epoch's number; may be told to fail after it."""

    writers_hear_commits = True

    def __init__(self, name: str, fail_at: int | None = None) -> None:
        self.name = name
        self.fail_at = fail_at

    def create_writer(self, context: WriterContext) -> SinkWriter:
        return NoteWriter(self.name, context.subtask)

    def create_committer(self, context: CommitterContext) -> Committer:
        return NoteCommitter(self, context.job_id)


class NoteWriter(SinkWriter):
    def __init__(self, name: str, subtask: int) -> None:
        self._name = name
        self._subtask = subtask
        self._staged: list[Any] = []
        self._written = 0

    def _did(self, *event: Any) -> None:
        EVENTS[self._name].append((self._subtask, *event))

    def restore_state(self, states: list[Any]) -> None:
        self._did("restore", *states)
        self._written = sum(states)

    def open(self) -> None:
        self._did("open")

    def write(self, records: Records) -> None:
        self._staged += records.values
        self._written += len(records)

    def flush(self, end_of_input: bool) -> None:
        if end_of_input:
            self._did("end")

    def prepare_commit(self) -> list[Any]:
        staged, self._staged = self._staged, []
        return staged

    def snapshot_state(self) -> int:
        return self._written

    def on_commit(self, epoch: int) -> None:
        self._did("committed", epoch)

    def close(self) -> None:
        self._did("close")


class NoteCommitter(Committer):
    def __init__(self, sink: Notes, job_id: str) -> None:
        self._sink = sink
        self._job_id = job_id

    def open(self) -> None:
        EVENTS[self._sink.name].append("open committer")

    def commit(self, epoch: int, committables: list[Any]) -> None:
        VISIBLE[self._sink.name][self._job_id, epoch] = list(committables)
        if epoch == self._sink.fail_at:
            self._sink.fail_at = None
            raise OSError("the line broke after the commit")

    def sweep(self) -> None:
        EVENTS[self._sink.name].append("sweep")

    def close(self) -> None:
        EVENTS[self._sink.name].append("close committer")


def visible(name: str) -> list[Any]:
    return [record for _, records in sorted(VISIBLE[name].items(), key=lambda item: item[0][1]) for record in records]
