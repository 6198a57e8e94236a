"""Writes the columns of tables into files, exactly once, by the machinery of the file sink."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote

from penstock.connectors.files.commit import FileCommitter, Rename
from penstock.connectors.files.writer import FileSettings, FileWriter
from penstock.functions.sink import Committer, CommitterContext, Records, Sink, SinkWriter, WriterContext
from penstock.runtime.batch import MAX_TIMESTAMP, Batch
from penstock.runtime.key_columns import numbered
from penstock.runtime.table.codec import TableCodec
from penstock.runtime.table.keys import key_column
from penstock.runtime.table.row_type import TableRowType
from penstock.storage import storage_at
from penstock.table.connectors.partition_commit import PartitionCommit, PartitionCommitter, Progress
from penstock.table.formats.text_columns import to_texts

KEPT = " !\"$&'()*+,-.;<>@[]^_`|~"


@dataclass(frozen=True)
class FileLayout:
    """How the rows of a table lie in files: partitions are directories."""

    row_type: TableRowType
    keys: tuple[int, ...]  # columns of the partitions
    default_partition: str

    @property
    def stored(self) -> list[int]:
        """The columns that files hold."""
        return [place for place in range(len(self.row_type)) if place not in self.keys]


class TableFileSink(Sink):
    """Lines of an encoder, or files of a bulk format's writers."""

    def __init__(
        self,
        settings: FileSettings,
        layout: FileLayout,
        overwritten: Overwritten | None = None,
        partitions: PartitionCommit | None = None,
    ) -> None:
        super().__init__()
        self._settings = settings
        self._layout = layout
        self._overwritten = overwritten
        self._partitions = partitions

    def create_writer(self, context: WriterContext) -> SinkWriter:
        if self._overwritten is not None:
            return _OverwritingWriter(replace(self._settings, part_prefix=_own(context.job_id)), context, self._layout)
        if self._partitions is not None:
            return _CommittingWriter(self._settings, context, self._layout, self._partitions)
        return _TableFileWriter(self._settings, context, self._layout)

    def create_committer(self, context: CommitterContext) -> Committer:
        base = self._settings.base_path
        if self._overwritten is not None:
            return _OverwritingCommitter(base, context.job_id, self._overwritten)
        if self._partitions is not None:
            return PartitionCommitter(base, context, self._partitions)
        return FileCommitter(base, context.job_id)


class _TableFileWriter(FileWriter):
    def __init__(
        self,
        settings: FileSettings,
        context: WriterContext,
        layout: FileLayout,
    ) -> None:
        super().__init__(settings, context)
        self._codec = TableCodec(layout.row_type)
        self._keys, self._default = layout.keys, layout.default_partition

    def _by_bucket(self, batch: Records, now: int) -> dict[str, Records]:
        assert isinstance(batch, Batch)
        batch = batch.in_columns(self._codec)
        if not self._keys:
            return {"": batch}
        arrays, types = self._codec.arrays(batch), self._codec.row_type.types
        chosen = [arrays[place] for place in self._keys]
        groups = numbered(key_column(chosen, [types[place] for place in self._keys], len(batch)))
        found: dict[str, Records] = {}
        for number in range(len(groups.distinct)):
            part = batch.filter(groups.codes == number)
            found[self._directory(part)] = part
        return found

    def _directory(self, batch: Batch) -> str:
        """`day=2020-01-01/hour=5`, of rows that have one partition."""
        arrays, row_type = self._codec.arrays(batch), self._codec.row_type
        parts = []
        for place in self._keys:
            text = to_texts(arrays[place].slice(0, 1), row_type.types[place], "UTC")[0].as_py()
            parts.append(f"{row_type.names[place]}={quote(text, safe=KEPT) if text else self._default}")
        return os.path.join(*parts)

    def _write_rows(self, bucket_id: str, batch: Records, now: int) -> None:
        assert isinstance(batch, Batch)
        arrays = self._codec.arrays(batch)
        stored = [array for place, array in enumerate(arrays) if place not in self._keys]
        block: bytes = self._encoder.block(stored, batch.kinds, len(batch))
        part = self._part(bucket_id, now)
        if part.part.size and self._policy.should_roll_on_event(part.part, None):
            self._roll(bucket_id)
            part = self._part(bucket_id, now)
        part.write(block, now)


# -- INSERT OVERWRITE --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Overwritten:
    """`directory` is replaced even if no row comes; None: only the partitions that rows come for."""

    directory: str | None


def _own(job_id: str) -> str:
    """What the names of all files of the job begin with."""
    return f"part-{job_id}"


class _OverwritingWriter(_TableFileWriter):
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


class _OverwritingCommitter(FileCommitter):
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
            if "/" not in name and not hidden and not name.startswith(_own(self._job_id)):
                store.delete(name)


# -- partitions that are told to be complete ---------------------------------------------------------------------------


class _CommittingWriter(_TableFileWriter):
    """Finishes the files of partitions that are due, and tells the driver how far it is."""

    def __init__(
        self, settings: FileSettings, context: WriterContext, layout: FileLayout, partitions: PartitionCommit
    ) -> None:
        super().__init__(settings, context, layout)
        self._partitions = partitions
        self._names = [layout.row_type.names[place] for place in layout.keys]
        self._begun: dict[str, int] = {}  # partitions that this writer has files for, and since when
        self._new: dict[str, int] = {}
        self._told: int | None = None
        self._ended = self._tells = False

    def write(self, records: Records) -> None:
        super().write(records)
        now = self._context.current_processing_time()
        for partition in self._open_parts:
            if partition not in self._begun:
                self._begun[partition] = self._new[partition] = now

    def flush(self, end_of_input: bool) -> None:
        super().flush(end_of_input)
        self._ended |= end_of_input
        due = [one for one, since in self._begun.items() if self._is_due(one, since)]
        self._tells |= bool(due)
        for partition in due:
            if partition in self._buckets:
                self._roll(partition)
            del self._begun[partition]

    def _is_due(self, partition: str, since: int) -> bool:
        if self._ended:
            return True
        return self._partitions.due_at(partition, since) < self._clock()

    def _clock(self) -> int:
        by_rows = self._partitions.by_watermark
        return self._context.current_watermark() if by_rows else self._context.current_processing_time()

    def prepare_commit(self) -> list[Any]:
        found = super().prepare_commit()
        clock = MAX_TIMESTAMP if self._ended else self._clock()
        if self._new or self._tells or (self._partitions.by_watermark and clock != self._told):
            found = [*found, Progress(self._context.subtask, self._context.parallelism, clock, self._new)]
            self._new, self._told, self._tells = {}, clock, False
        return found

    def next_wake_up(self) -> int | None:
        moments = [super().next_wake_up()]
        if not self._partitions.by_watermark:
            moments += [self._partitions.due_at(one, since) + 1 for one, since in self._begun.items()]
        return min((moment for moment in moments if moment is not None), default=None)

    def wake_up(self, now: int) -> None:
        if self._next_check is not None and now >= self._next_check:
            super().wake_up(now)

    def snapshot_state(self) -> Any:
        return super().snapshot_state(), dict(self._begun)

    def restore_state(self, states: list[Any]) -> None:
        super().restore_state([state for state, _ in states if state is not None])
        for _, begun in states:
            self._begun.update(begun)
            self._new.update(begun)
