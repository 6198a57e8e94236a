"""Writers stage the rows of an epoch as Parquet files, which nobody sees before they are in the table's list."""

from __future__ import annotations

import hashlib
import io
import re
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from penstock.common.errors import JobExecutionError
from penstock.common.typeinfo import RowTypeInfo, Types
from penstock.common.types import Row, RowKind
from penstock.connectors.base import StreamTransformer
from penstock.formats.parquet import ParquetBulkWriters
from penstock.formats.row_types import field_values
from penstock.functions.sink import Records, SinkWriter
from penstock.runtime.batch import Batch
from penstock.runtime.keys import stable_hash

DELETED = "penstock_deleted"
_SAFE = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]{0,99}")
Store = Callable[
    [str, bytes], str
]  # a name and the content of a file; gives the name under which the committer finds it


@dataclass(frozen=True)
class StagedFile:
    """A committable: a Parquet file of the epoch."""

    path: str
    rows: int
    size: int
    partition: dict[str, Any] = field(default_factory=dict)


def changes_type(row_type: RowTypeInfo) -> RowTypeInfo:
    """The columns of a staged changelog: those of the table, and whether the row is gone."""
    return RowTypeInfo([*row_type.get_field_types(), Types.BOOLEAN()], [*row_type.get_field_names(), DELETED])


class AppendingWriter(SinkWriter):
    """One file for each epoch, and for each combination of partition values."""

    def __init__(self, row_type: RowTypeInfo, store: Store, partition_by: Sequence[str] = ()) -> None:
        names, types = row_type.get_field_names(), row_type.get_field_types()
        self._row_type = row_type
        self._store = store
        self._partition_by = [names.index(name) for name in partition_by]
        kept = [at for at in range(len(names)) if at not in self._partition_by]
        self._factory: Any = ParquetBulkWriters.for_row_type(
            RowTypeInfo([types[at] for at in kept], [names[at] for at in kept])
        )
        self._kept = kept
        self._open: dict[tuple[Any, ...], tuple[Any, io.BytesIO, list[int]]] = {}

    def write(self, records: Records) -> None:
        _refuse_changes(records)
        if not self._partition_by:
            writer, _, rows = self._part(())
            if isinstance(records, Batch):
                writer.add_batch(records)
            else:
                writer.add_elements(records.values)
            rows[0] += len(records)
            return
        parts: dict[tuple[Any, ...], list[Any]] = {}
        names = self._row_type.get_field_names()
        for record in records.values:
            values = field_values(record, names)
            partition = tuple(values[at] for at in self._partition_by)
            parts.setdefault(partition, []).append(tuple(values[at] for at in self._kept))
        for partition, values in parts.items():
            writer, _, rows = self._part(partition)
            writer.add_elements(values)
            rows[0] += len(values)

    def _part(self, partition: tuple[Any, ...]) -> tuple[Any, io.BytesIO, list[int]]:
        if partition not in self._open:
            stream = io.BytesIO()
            self._open[partition] = (self._factory.create(stream), stream, [0])
        return self._open[partition]

    def prepare_commit(self) -> list[StagedFile]:
        staged = []
        names = [self._row_type.get_field_names()[at] for at in self._partition_by]
        for partition, (writer, stream, rows) in self._open.items():
            writer.finish()
            content = stream.getvalue()
            folder = "".join(f"{_safe(name)}={_safe(value)}/" for name, value in zip(names, partition, strict=True))
            path = self._store(f"{folder}part-{uuid.uuid4()}.parquet", content)
            staged.append(StagedFile(path, rows[0], len(content), dict(zip(names, partition, strict=True))))
        self._open = {}
        return staged


def _safe(value: Any) -> str:
    """As part of a path, which is for people only: what the values are stands in the table's list."""
    text = str(value)
    return text if _SAFE.fullmatch(text) else hashlib.sha256(text.encode()).hexdigest()[:16]


class OneWriterForEachKey(StreamTransformer):
    """Changes of a key that two writers have staged in one epoch would have no order, and be two rows of the table."""

    def __init__(self, row_type: RowTypeInfo, key: Sequence[str]) -> None:
        self._names = row_type.get_field_names()
        self._key = [self._names.index(name) for name in key]

    def apply(self, ds: Any) -> Any:
        return ds.partition_custom(_owner, self._key_of)

    def _key_of(self, record: Any) -> tuple[Any, ...]:
        values = field_values(record, self._names)
        return tuple(values[at] for at in self._key)


def _owner(key: tuple[Any, ...], writers: int) -> int:
    return stable_hash(key) % writers


class ChangesWriter(SinkWriter):
    """The last change of each key, as one file for each epoch."""

    def __init__(self, row_type: RowTypeInfo, key: Sequence[str], store: Store) -> None:
        self._names = row_type.get_field_names()
        self._key = [self._names.index(name) for name in key]
        self._factory: Any = ParquetBulkWriters.for_row_type(changes_type(row_type))
        self._store = store
        self._last: dict[tuple[Any, ...], tuple[Any, ...]] = {}

    def write(self, records: Records) -> None:
        for record in records.values:
            kind = record._row_kind if isinstance(record, Row) else RowKind.INSERT
            if kind is not RowKind.UPDATE_BEFORE:
                values = field_values(record, self._names)
                key = tuple(values[at] for at in self._key)
                if None in key:  # which is equal to no other, so that the row would never be found again
                    names = ", ".join(self._names[at] for at in self._key)
                    raise JobExecutionError(f"The key ({names}) of the table needs values in each row: {record!r:.200}")
                self._last[key] = (*values, kind is RowKind.DELETE)

    def prepare_commit(self) -> list[StagedFile]:
        if not self._last:
            return []
        stream = io.BytesIO()
        writer = self._factory.create(stream)
        writer.add_elements(list(self._last.values()))
        writer.finish()
        rows, self._last = len(self._last), {}
        path = self._store(f"changes-{uuid.uuid4()}.parquet", stream.getvalue())
        return [StagedFile(path, rows, len(stream.getvalue()))]


def _refuse_changes(records: Records) -> None:
    if isinstance(records, Batch) and records.columns is not None:
        changed = records.kinds is not None and bool(records.kinds.any())
    else:
        changed = any(isinstance(r, Row) and r._row_kind is not RowKind.INSERT for r in records.values)
    if changed:
        raise JobExecutionError(
            "The table is written without a key, so that rows can only be appended; the changelog has updates or"
            " deletions. Name the columns of its key."
        )
