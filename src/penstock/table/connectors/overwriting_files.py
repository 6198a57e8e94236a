"""INSERT OVERWRITE: files that take the place of those in their directories."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from penstock.connectors.files.commit import FileCommitter, Rename
from penstock.connectors.files.writer import FileSettings
from penstock.functions.sink import WriterContext
from penstock.storage import storage_at
from penstock.table.connectors.table_file_writer import FileLayout, TableFileWriter


@dataclass(frozen=True)
class Overwritten:
    """`directory` is replaced even if no row comes; None: only the partitions that rows come for."""

    directory: str | None


def own_prefix(job_id: str) -> str:
    """What the names of all files of the job begin with."""
    return f"part-{job_id}"


class OverwritingWriter(TableFileWriter):
    """Hands its files over when its input has ended, so that a job that fails has replaced nothing."""

    def __init__(self, settings: FileSettings, context: WriterContext, layout: FileLayout) -> None:
        super().__init__(settings, context, layout)
        self._complete: list[Rename] = []
        self._ended = False

    def flush(self, end_of_input: bool) -> None:
        super().flush(end_of_input)
        self._ended |= end_of_input

    def prepare_commit(self) -> list[Any]:
        self._complete += super().prepare_commit()
        if not self._ended:
            return []
        complete, self._complete = self._complete, []
        return complete

    def snapshot_state(self) -> Any:
        return super().snapshot_state(), list(self._complete)

    def restore_state(self, states: list[Any]) -> None:
        super().restore_state([state for state, _ in states if state is not None])
        self._complete = [part for _, complete in states for part in complete]


class OverwritingCommitter(FileCommitter):
    """What lay in a directory before goes when files of the job have come, which their names tell."""

    def __init__(self, base_path: str, job_id: str, overwritten: Overwritten) -> None:
        super().__init__(base_path, job_id)
        self._base, self._overwritten = base_path, overwritten

    def commit(self, epoch: int, committables: list[Rename]) -> None:
        super().commit(epoch, committables)
        for directory in {os.path.dirname(part.final) for part in committables}:
            self._clear(directory)

    def sweep(self) -> None:
        super().sweep()
        if self._overwritten.directory is not None:
            self._clear(self._overwritten.directory)

    def _clear(self, directory: str) -> None:
        store = storage_at(directory)
        for name in store.names():
            hidden = name.startswith((".", "_"))
            if "/" not in name and not hidden and not name.startswith(own_prefix(self._job_id)):
                store.delete(name)
