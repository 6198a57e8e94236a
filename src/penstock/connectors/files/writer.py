"""Writes records into part files, bucket by bucket, so that each record is visible exactly once.

Part files are hidden while they are written. A snapshot knows how much of each is valid; whoever continues from it
(this process or another one) cuts the file back to that length first, so that what a failed task has appended is
gone. A job that was restarted copies that length into a file of its own, since processes of the attempt before may
still live. When the rolling policy says so, or the input ends, the file is complete and its rename is handed to the
driver, which commits it with the epoch. A file that was created by a failed attempt is in no snapshot: its name is
never used again, and it is swept when the job has ended.
"""

from __future__ import annotations

import contextlib
import os
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import repeat
from typing import Any

from penstock.common.errors import JobExecutionError
from penstock.connectors.files.commit import Rename, hidden_name
from penstock.connectors.files.part_file import BulkPart, PartFile, RowPart, own_copy
from penstock.connectors.files.stored_part import StoredPart
from penstock.connectors.files.success_markers import EventTime, SuccessMarkers
from penstock.functions.sink import Records, SinkWriter, WriterContext
from penstock.functions.source_sink import SinkFunction
from penstock.runtime.batch import MIN_TIMESTAMP, Batch
from penstock.storage import storage_at


@dataclass(frozen=True)
class FileSettings:
    """What a file sink was told."""

    base_path: str
    bucket_assigner: Any
    rolling_policy: Any
    bucket_check_interval: int
    part_prefix: str
    part_suffix: str
    encoder: Any = None  # of row formats
    writer_factory: Any = None  # of bulk formats
    compaction: Any = None  # strategy and compactor
    markers: SuccessMarkers | None = None


@dataclass
class _Bucket:
    """One directory below the sink's path, as snapshots keep it."""

    unique: str
    counter: int = 0
    part: PartFile | None = None


@dataclass(frozen=True)
class _WriterState:
    next_check: int | None
    buckets: dict[str, _Bucket]


class _BucketContext(SinkFunction.Context):
    """What a bucket assigner may ask about the record in hand."""

    def __init__(self, context: WriterContext) -> None:
        self._context = context
        self.record_timestamp: int | None = None

    def current_processing_time(self) -> int:
        return self._context.current_processing_time()

    def current_watermark(self) -> int:
        return self._context.current_watermark()

    def timestamp(self) -> int | None:
        return self.record_timestamp


class FileWriter(SinkWriter):
    """Exactly-once files in a row format (an encoder) or in a bulk format (a writer factory)."""

    def __init__(self, settings: FileSettings, context: WriterContext) -> None:
        self._settings = settings
        self._context = context
        self._encoder = settings.encoder
        self._policy = settings.rolling_policy
        self._bucket_context = _BucketContext(context)
        self._buckets: dict[str, _Bucket] = {}
        self._open_parts: dict[str, Any] = {}
        self._rolled: list[Rename] = []
        self._next_check: int | None = None
        self._told_time: int | None = None
        store = storage_at(settings.base_path)
        self._store = None if store.appends else store  # None: files can be continued in the next epoch

    def write(self, records: Records) -> None:
        now = self._context.current_processing_time()
        if self._next_check is None:
            self._next_check = now + self._settings.bucket_check_interval
        write = self._write_bulk if self._encoder is None else self._write_rows
        with self._naming_the_place():
            for bucket_id, part in self._by_bucket(records, now).items():
                write(bucket_id, part, now)

    @contextlib.contextmanager
    def _naming_the_place(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:  # such as a full disk, of which the system does not say which one
            raise JobExecutionError(
                f"FileSink cannot write into {self._settings.base_path!r}: {error.strerror or error}. Is there room,"
                " and may the workers of the job write there?"
            ) from error

    def _by_bucket(self, batch: Records, now: int) -> dict[str, Records]:
        assigner = self._settings.bucket_assigner
        common = assigner.bucket_at(now)
        if common is not None:
            return {common: batch}
        context, assign = self._bucket_context, assigner.get_bucket_id
        buckets: dict[str, list[Any]] = {}
        for value, timestamp in zip(batch.values, batch.timestamps or repeat(MIN_TIMESTAMP), strict=False):
            context.record_timestamp = None if timestamp == MIN_TIMESTAMP else timestamp
            buckets.setdefault(assign(value, context), []).append(value)
        return {bucket_id: Batch(values) for bucket_id, values in buckets.items()}

    # -- writing -----------------------------------------------------------------------------------------------

    def _write_rows(self, bucket_id: str, batch: Records, now: int) -> None:
        records = batch.values
        encode, type_info = self._encoder.encode, self._context.type_info
        whole, encoded = self._encoder._encode_all(records), None
        if whole is None:
            encoded = [encode(record, type_info) for record in records]
            whole = b"".join(encoded)
        part = self._part(bucket_id, now)
        if self._policy.may_write_at_once(part.part, len(whole)):
            part.write(whole, now)
            return
        lines = encoded or [encode(record, type_info) for record in records]
        for record, line in zip(records, lines, strict=True):
            if self._policy.should_roll_on_event(part.part, record):
                self._roll(bucket_id)
                part = self._part(bucket_id, now)
            part.write(line, now)

    def _write_bulk(self, bucket_id: str, batch: Records, now: int) -> None:
        part = self._part(bucket_id, now)
        if self._policy.may_write_at_once(part.part, 0):
            part.write(batch, now)
            return
        for record in batch.values:
            if self._policy.should_roll_on_event(part.part, record):
                self._roll(bucket_id)
                part = self._part(bucket_id, now)
            part.write(Batch([record]), now)

    def _part(self, bucket_id: str, now: int) -> Any:
        """The open part file of a bucket: continued from the snapshot, or a new one."""
        if bucket_id in self._open_parts:
            return self._open_parts[bucket_id]
        bucket = self._buckets.setdefault(bucket_id, _Bucket(str(uuid.uuid4())))
        continued = bucket.part is not None
        if bucket.part is None:
            bucket.part = self._new_part(bucket_id, bucket, now)
        elif bucket.part.attempt != self._context.attempt:
            bucket.part = own_copy(bucket.part, self._hidden(bucket.part.final), self._context.attempt)
        part: Any
        if self._store is not None:
            part = StoredPart(bucket.part, self._store, self._settings.writer_factory)
        elif self._encoder is not None:
            part = RowPart(bucket.part, continued)
        else:
            part = BulkPart(bucket.part, self._settings.writer_factory)
        self._open_parts[bucket_id] = part
        return part

    def _new_part(self, bucket_id: str, bucket: _Bucket, now: int) -> PartFile:
        settings = self._settings
        directory = _directory_of(bucket_id, settings.base_path) if bucket_id else settings.base_path
        final = f"{settings.part_prefix}-{bucket.unique}-{bucket.counter}{settings.part_suffix}"
        bucket.counter += 1
        return PartFile(
            self._hidden(os.path.join(directory, final)),
            os.path.join(directory, final),
            size=0,
            created=now,
            updated=now,
            attempt=self._context.attempt,
        )

    def _hidden(self, final: str) -> str:
        directory, name = os.path.split(final)
        return os.path.join(directory, hidden_name(name, self._context.job_id, uuid.uuid4().hex))

    def before_savepoint(self) -> None:
        """A hidden file belongs to this job alone: whoever starts from the savepoint begins new ones."""
        for bucket_id in list(self._buckets):
            self._roll(bucket_id)

    def _roll(self, bucket_id: str) -> None:
        """The part file is complete: it becomes visible with the epoch."""
        bucket = self._buckets[bucket_id]
        if bucket.part is None:
            return
        self._part(bucket_id, bucket.part.updated).finish()
        del self._open_parts[bucket_id]
        self._rolled.append(Rename(bucket.part.hidden, bucket.part.final))
        bucket.part = None

    # -- time and epochs ---------------------------------------------------------------------------------------

    def next_wake_up(self) -> int | None:
        return self._next_check if any(bucket.part for bucket in self._buckets.values()) else None

    def wake_up(self, now: int) -> None:
        self._next_check = now + self._settings.bucket_check_interval
        for bucket_id, bucket in self._buckets.items():
            if bucket.part is not None and self._policy.should_roll_on_processing_time(bucket.part, now):
                self._roll(bucket_id)

    def flush(self, end_of_input: bool) -> None:
        with self._naming_the_place():
            self._finish_or_sync(end_of_input)

    def _finish_or_sync(self, end_of_input: bool) -> None:
        for bucket_id, bucket in self._buckets.items():
            if bucket.part is None:
                continue
            whole = self._encoder is None or self._store is not None  # it cannot be continued
            if end_of_input or whole or self._is_over(bucket_id) or self._policy.should_roll_on_checkpoint(bucket.part):
                self._roll(bucket_id)
            elif bucket_id in self._open_parts:
                self._open_parts[bucket_id].sync()

    def _is_over(self, bucket_id: str) -> bool:
        markers = self._settings.markers
        return markers is not None and markers.end_of(bucket_id) <= self._context.current_watermark()

    def prepare_commit(self) -> list[Any]:
        return [*self._prepared(), *self._event_time()]

    def _event_time(self) -> list[EventTime]:
        """Told when it has moved, and by a writer that is new."""
        watermark = self._context.current_watermark()
        if self._settings.markers is None or watermark == self._told_time:
            return []
        self._told_time = watermark
        return [EventTime(self._context.subtask, self._context.parallelism, watermark)]

    def _prepared(self) -> list[Rename]:
        rolled, self._rolled = self._rolled, []
        if not rolled:
            # A bucket that is not used any more is forgotten, or those of a clock would pile up.
            self._buckets = {id_: bucket for id_, bucket in self._buckets.items() if bucket.part is not None}
        return rolled

    def snapshot_state(self) -> Any:
        copies = {
            id_: replace(bucket, part=None if bucket.part is None else replace(bucket.part))
            for id_, bucket in self._buckets.items()
        }
        return _WriterState(self._next_check, copies) if copies else None

    def restore_state(self, states: list[Any]) -> None:
        for state in states:
            self._next_check = state.next_check
            self._buckets.update(state.buckets)

    def close(self) -> None:
        for part in self._open_parts.values():
            part.close()
        self._open_parts.clear()


def _directory_of(bucket_id: Any, base_path: str) -> str:
    """Names of buckets often come out of records: none of them may lead to another place."""
    if not isinstance(bucket_id, str):
        raise JobExecutionError(f"A bucket assigner gives the bucket's name as text, not {bucket_id!r:.200}.")
    if os.path.isabs(bucket_id) or ".." in bucket_id.split("/") or "\0" in bucket_id:
        raise JobExecutionError(
            f"The bucket {bucket_id!r:.200} is no directory below {base_path!r}: give it another name."
        )
    return os.path.join(base_path, bucket_id)
