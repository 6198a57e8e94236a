"""Makes finished part files visible, on the driver, and removes what failed attempts have left behind."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from penstock.common.errors import JobExecutionError
from penstock.connectors.files.stored_part import rename_in
from penstock.functions.sink import Committer
from penstock.storage import Storage, storage_at


def hidden_name(final_name: str, job_id: str, unique: str) -> str:
    """The name of a part file that is still being written, or waits for its commit."""
    return f".{final_name}.inprogress.{job_id}-{unique}"


@dataclass(frozen=True)
class Rename:
    """The committable of a complete part file."""

    hidden: str
    final: str


class FileCommitter(Committer):
    """Gives part files their visible names; what was renamed by an earlier call is left alone."""

    def __init__(self, base_path: str, job_id: str) -> None:
        self._store = storage_at(base_path)
        self._job_id = job_id

    def commit(self, epoch: int, committables: list[Rename]) -> None:
        if not self._store.appends:
            for part in committables:
                rename_in(self._store, part.hidden, part.final)
            return
        directories = {os.path.dirname(part.final) for part in committables if _rename(part.hidden, part.final)}
        for directory in directories:
            _sync_directory(directory)

    def complete(self, buckets: list[str]) -> None:
        """Nothing more comes for these: whatever is still hidden of what was committed becomes visible."""

    def sweep(self) -> None:
        sweep(self._store, self._job_id)


def _rename(hidden: str, final: str) -> bool:
    if os.path.lexists(final):
        if os.path.lexists(hidden):
            raise JobExecutionError(
                f"FileSink cannot make {hidden!r} visible: {final!r} exists already and is another file."
                " Nothing was overwritten; move one of the two away."
            )
        return False
    try:
        os.rename(hidden, final)
    except FileNotFoundError:
        if os.path.lexists(final):
            return False  # a driver that was just taken over has done it in this moment
        raise JobExecutionError(
            f"FileSink cannot make {final!r} visible: its content should be in {hidden!r}, which is gone."
            " Hidden files of a running job must not be deleted, and all workers and the driver must see the"
            " same file system."
        ) from None
    except OSError as error:
        raise JobExecutionError(f"FileSink cannot rename {hidden!r} to {final!r}: {error.strerror}.") from error
    return True


def sweep(store: Storage, job_id: str) -> list[str]:
    """Removes the hidden part files of a job that has finished and committed; returns their names.

    Only files that carry the job's id are touched: other jobs may be writing into the same directory.
    """
    mine = re.compile(r"\..+\.inprogress\." + re.escape(job_id) + r"-[0-9a-f]+")
    removed = [name for name in store.names() if mine.fullmatch(os.path.basename(name))]
    for name in removed:
        store.delete(name)
    return removed


def _sync_directory(directory: str) -> None:
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
