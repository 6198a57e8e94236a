"""Writes records into part files, bucket by bucket, so that each record is visible exactly once.

Part files are hidden while they are written. A snapshot knows how much of each is valid; whoever continues from it
(this process or another one) cuts the file back to that length first, so that what a failed task has appended is
gone. A job that was restarted copies that length into a file of its own, since processes of the attempt before may
still live. When the rolling policy says so, or the input ends, the file is complete and its rename is handed to the
driver, which commits it with the epoch. A file that was created by a failed attempt is in no snapshot: its name is
never used again, and it is swept when the job has ended.
"""

from __future__ import annotations

import os
import uuid
from dataclasses import dataclass
from itertools import repeat
from typing import Any

from penstock.runtime.batch import MIN_TIMESTAMP, Batch
from penstock.runtime.blueprint import OperatorBlueprint
from penstock.runtime.context import SubtaskContext
from penstock.runtime.operators.base import Operator
from penstock.runtime.operators.file_commit import Rename, hidden_name
from penstock.runtime.operators.part_file import BulkPart, PartFile, RowPart, own_copy
from penstock.runtime.operators.record_context import RecordContext


@dataclass
class _Bucket:
    """One directory below the sink's path, as snapshots keep it."""

    unique: str
    counter: int = 0
    part: PartFile | None = None


class FileSinkOperator(Operator):
    """Exactly-once files in a row format (an encoder) or in a bulk format (a writer factory)."""

    def __init__(self, blueprint: OperatorBlueprint, context: SubtaskContext) -> None:
        super().__init__(blueprint, context)
        params = blueprint.params
        self._base_path: str = params["base_path"]
        self._encoder = params.get("encoder")
        self._writer_factory = params.get("writer_factory")
        self._assigner = params["bucket_assigner"]
        self._policy = params["rolling_policy"]
        self._prefix: str = params["part_prefix"]
        self._suffix: str = params["part_suffix"]
        self._check_interval: int = params["bucket_check_interval"]
        self._type = params.get("type_info")
        self._bucket_context = RecordContext(self)
        self._buckets: dict[str, _Bucket] = {}
        self._open_parts: dict[str, Any] = {}
        self._rolled: list[Rename] = []
        self._next_check: int | None = None

    def process(self, batch: Batch, input_index: int) -> None:
        now = self.context.clock()
        if self._next_check is None:
            self._next_check = now + self._check_interval
        for bucket_id, records in self._by_bucket(batch, now).items():
            if self._encoder is None:
                self._write_bulk(bucket_id, records, now)
            else:
                self._write_rows(bucket_id, records, now)

    def _by_bucket(self, batch: Batch, now: int) -> dict[str, list[Any]]:
        common = self._assigner.bucket_at(now)
        if common is not None:
            return {common: batch.values}
        context, assign = self._bucket_context, self._assigner.get_bucket_id
        buckets: dict[str, list[Any]] = {}
        for value, timestamp in zip(batch.values, batch.timestamps or repeat(MIN_TIMESTAMP), strict=False):
            context.record_timestamp = None if timestamp == MIN_TIMESTAMP else timestamp
            buckets.setdefault(assign(value, context), []).append(value)
        return buckets

    # -- writing -----------------------------------------------------------------------------------------------

    def _write_rows(self, bucket_id: str, records: list[Any], now: int) -> None:
        encode, type_info = self._encoder.encode, self._type  # type: ignore[union-attr]
        whole, encoded = self._encoder._encode_all(records), None  # type: ignore[union-attr]
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

    def _write_bulk(self, bucket_id: str, records: list[Any], now: int) -> None:
        part = self._part(bucket_id, now)
        if self._policy.may_write_at_once(part.part, 0):
            part.write(records, now)
            return
        for record in records:
            if self._policy.should_roll_on_event(part.part, record):
                self._roll(bucket_id)
                part = self._part(bucket_id, now)
            part.write([record], now)

    def _part(self, bucket_id: str, now: int) -> Any:
        """The open part file of a bucket: continued from the snapshot, or a new one."""
        if bucket_id in self._open_parts:
            return self._open_parts[bucket_id]
        bucket = self._buckets.setdefault(bucket_id, _Bucket(str(uuid.uuid4())))
        continued = bucket.part is not None
        if bucket.part is None:
            bucket.part = self._new_part(bucket_id, bucket, now)
        elif bucket.part.attempt != self.context.settings.attempt:
            bucket.part = self._own_copy(bucket.part)
        part: Any
        if self._encoder is not None:
            part = RowPart(bucket.part, continued)
        else:
            part = BulkPart(bucket.part, self._writer_factory)
        self._open_parts[bucket_id] = part
        return part

    def _new_part(self, bucket_id: str, bucket: _Bucket, now: int) -> PartFile:
        directory = os.path.join(self._base_path, bucket_id) if bucket_id else self._base_path
        final = f"{self._prefix}-{bucket.unique}-{bucket.counter}{self._suffix}"
        bucket.counter += 1
        return PartFile(
            self._hidden(os.path.join(directory, final)),
            os.path.join(directory, final),
            size=0,
            created=now,
            updated=now,
            attempt=self.context.settings.attempt,
        )

    def _own_copy(self, part: PartFile) -> PartFile:
        return own_copy(part, self._hidden(part.final), self.context.settings.attempt)

    def _hidden(self, final: str) -> str:
        directory, name = os.path.split(final)
        return os.path.join(directory, hidden_name(name, self.context.settings.job_id, uuid.uuid4().hex))

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

    def advance_processing_time(self, now: int) -> None:
        if self._next_check is None or now < self._next_check:
            return
        self._next_check = now + self._check_interval
        for bucket_id, bucket in self._buckets.items():
            if bucket.part is not None and self._policy.should_roll_on_processing_time(bucket.part, now):
                self._roll(bucket_id)

    def next_processing_time(self) -> int | None:
        return self._next_check if any(bucket.part for bucket in self._buckets.values()) else None

    def end_epoch(self) -> None:
        for bucket_id, bucket in self._buckets.items():
            if bucket.part is None:
                continue
            if self._encoder is None or self._policy.should_roll_on_checkpoint(bucket.part):
                self._roll(bucket_id)
            elif bucket_id in self._open_parts:
                self._open_parts[bucket_id].sync()

    def finish(self) -> None:
        for bucket_id in self._buckets:
            self._roll(bucket_id)
        super().finish()

    def committables(self) -> list[Any]:
        rolled, self._rolled = self._rolled, []
        if not rolled:
            # A bucket that is not used any more is forgotten, or those of a clock would pile up.
            self._buckets = {id_: bucket for id_, bucket in self._buckets.items() if bucket.part is not None}
        return rolled

    # -- snapshots ---------------------------------------------------------------------------------------------

    def extra(self) -> Any:
        return self._next_check, self._buckets

    def restore_extra(self, extra: Any) -> None:
        self.close()
        self._next_check, self._buckets = extra

    def close(self) -> None:
        for part in self._open_parts.values():
            part.close()
        self._open_parts.clear()
