"""Part files on a store that has no append: complete or not there at all, so that every epoch writes its own."""

from __future__ import annotations

from typing import Any

from penstock.common.errors import JobExecutionError
from penstock.connectors.files.part_file import PartFile, add_records
from penstock.storage import Storage


class StoredPart:
    """Rows as bytes, or, with a factory, records for the writer of a bulk format."""

    def __init__(self, part: PartFile, store: Storage, factory: Any = None) -> None:
        self.part = part
        self._stored = store.writer(name_in(store, part.hidden))
        self._file = self._stored.__enter__()
        self._writer = None if factory is None else factory.create(self._file)

    def write(self, content: Any, now: int) -> None:
        if self._writer is None:
            self._file.write(content)
        else:
            add_records(self._writer, content)
        self.part.size = self._file.tell()
        self.part.updated = now

    def finish(self) -> None:
        if self._writer is not None:
            self._writer.finish()
        self._stored.__exit__(None, None, None)

    def close(self) -> None:
        """Gives it up: nothing of it appears."""
        given_up = RuntimeError("the part file was given up")
        self._stored.__exit__(RuntimeError, given_up, None)


def name_in(store: Storage, location: str) -> str:
    return location.removeprefix(f"{store.location}/")


def rename_in(store: Storage, hidden: str, final: str) -> None:
    """May be repeated: a crash can come between the copy and the removal of the old name."""
    old, new = name_in(store, hidden), name_in(store, final)
    if store.exists(new):
        store.delete(old)
    elif store.exists(old):
        store.rename(old, new)
    else:
        raise JobExecutionError(
            f"FileSink cannot make {final!r} visible: its content should be in {hidden!r}, which is gone."
            " Hidden files of a running job must not be deleted."
        )
