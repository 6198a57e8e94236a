"""A stream into a Delta table: workers write files, and each epoch is one commit that carries its number."""

from __future__ import annotations

import datetime
import json
import logging
import time
from collections.abc import Sequence
from decimal import Decimal
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.parquet

from penstock.common.errors import JobExecutionError, ProgramError
from penstock.common.time import Instant
from penstock.common.typeinfo import RowTypeInfo
from penstock.connectors.base import StreamTransformer, SupportsPreprocessing
from penstock.connectors.delta.table import DeltaLocation
from penstock.connectors.lake.records import named_row_type, same_kind
from penstock.connectors.lake.staging import (
    DELETED,
    AppendingWriter,
    ChangesWriter,
    OneWriterForEachKey,
    StagedFile,
)
from penstock.connectors.reaching import package, pause_seconds
from penstock.formats.arrow_types import arrow_schema, to_arrow
from penstock.functions.sink import Committer, CommitterContext, Sink, SinkWriter, WriterContext

__all__ = ["DeltaSink"]

_CHANGES = "_penstock"  # a folder that Delta's readers and VACUUM leave alone
_ATTEMPTS = 5
_logger = logging.getLogger("penstock.delta")


class DeltaSink(Sink, SupportsPreprocessing):
    """Appends rows, or with a key keeps the table as a changelog says, for ``ds.sink_to``. Exactly once.

    A table that is not there is created with the columns of the row type.
    """

    def __init__(
        self,
        uri: str,
        row_type: RowTypeInfo,
        key: Sequence[str] = (),
        partition_by: Sequence[str] = (),
        storage_options: dict[str, str] | None = None,
    ) -> None:
        super().__init__()
        self._location = DeltaLocation.of(uri, storage_options)
        self._row_type = named_row_type(row_type, "DeltaSink")
        unknown = [name for name in (*key, *partition_by) if name not in row_type.get_field_names()]
        if unknown:
            raise ProgramError(f"DeltaSink has no column {', '.join(unknown)}; it has {row_type.get_field_names()}.")
        if partition_by and set(partition_by) >= set(row_type.get_field_names()):
            raise ProgramError("DeltaSink needs a column that is not in partition_by: only those are in files.")
        for field in arrow_schema(row_type):
            if pa.types.is_time(field.type):
                raise ProgramError(
                    f"Delta has no times of day: give {field.name!r} as a text, a number or a timestamp."
                )
            if field.name in partition_by and (pa.types.is_binary(field.type) or pa.types.is_nested(field.type)):
                raise ProgramError(f"A Delta table cannot be partitioned by {field.name!r}, which is {field.type}.")
        self._key = list(key)
        self._partition_by = list(partition_by)

    def get_transformer(self) -> StreamTransformer | None:
        return OneWriterForEachKey(self._row_type, self._key) if self._key else None

    def create_writer(self, context: WriterContext) -> SinkWriter:
        if self._key:
            folder = f"{_CHANGES}/{context.job_id}/"
            return ChangesWriter(self._row_type, self._key, partial(_store, self._location, folder))
        return AppendingWriter(self._row_type, partial(_store, self._location, ""), self._partition_by)

    def create_committer(self, context: CommitterContext) -> Committer:
        return DeltaCommitter(self._location, self._row_type, self._key, self._partition_by, context)


def _store(location: DeltaLocation, folder: str, name: str, content: bytes) -> str:
    location.write(folder + name, content)
    return folder + name


class DeltaCommitter(Committer):
    """Runs on the driver. The number of the last epoch is in the table's own log, as an application's transaction."""

    def __init__(
        self,
        location: DeltaLocation,
        row_type: RowTypeInfo,
        key: list[str],
        partition_by: list[str],
        context: CommitterContext,
    ) -> None:
        self._location = location
        self._schema = arrow_schema(row_type)
        self._to_arrow = {
            name: to_arrow(kind) or _unchanged
            for name, kind in zip(row_type.get_field_names(), row_type.get_field_types(), strict=True)
        }
        self._key = key
        self._partition_by = partition_by
        self._application = f"penstock/{context.job_id}/{context.operator_uid}"
        self._changes = f"{_CHANGES}/{context.job_id}"

    def open(self) -> None:
        if not self._location.exists():
            package("deltalake", "delta").DeltaTable.create(
                self._location.uri,
                self._schema,
                mode="ignore",
                partition_by=self._partition_by or None,
                storage_options=self._location.options,
            )
        table = self._location.open()
        there = {field.name: field.type for field in pa.schema(table.schema().to_arrow())}
        wrong = [field.name for field in self._schema if not same_kind(field.type, there.get(field.name))]
        if wrong or table.metadata().partition_columns != self._partition_by and not self._key:
            raise JobExecutionError(
                f"The Delta table {self._location.uri} has the columns {there}, partitioned by"
                f" {table.metadata().partition_columns}; the stream has"
                f" {dict(zip(self._schema.names, self._schema.types, strict=True))}, partitioned by"
                f" {self._partition_by}. Give both the same."
            )

    def commit(self, epoch: int, committables: list[StagedFile]) -> None:
        errors = package("deltalake.exceptions", "delta")
        for attempt in range(_ATTEMPTS):
            table = self._location.open()
            done = table.transaction_version(self._application)
            if done is not None and done >= epoch:
                break
            try:
                self._commit_once(table, epoch, committables)
                break
            except errors.CommitFailedError:  # somebody else has written in this moment
                if attempt == _ATTEMPTS - 1:
                    raise
                time.sleep(pause_seconds(attempt))
            except errors.DeltaError as error:
                raise JobExecutionError(
                    f"The Delta table {self._location.uri} does not take the rows of epoch {epoch}: {error}"
                ) from error
        if self._key:
            self._remove(committables)

    def _commit_once(self, table: Any, epoch: int, committables: list[StagedFile]) -> None:
        deltalake = package("deltalake", "delta")
        properties = deltalake.CommitProperties(
            app_transactions=[deltalake.Transaction(self._application, epoch)],
            custom_metadata={"penstock-epoch": str(epoch)},
        )
        if self._key:
            self._merge(table, committables, properties)
            return
        if _has_rules(table, self._schema):  # which files that are appended are not checked against
            rows = self._content(committables)
            deltalake.write_deltalake(table, rows, mode="append", commit_properties=properties)
            return
        add = package("deltalake.transaction", "delta").AddAction
        now = int(time.time() * 1000)
        actions = [
            add(
                staged.path,
                staged.size,
                {
                    name: partition_text(value, self._schema.field(name).type)
                    for name, value in staged.partition.items()
                },
                now,
                True,
                json.dumps({"numRecords": staged.rows}),
            )
            for staged in committables
        ]
        table.create_write_transaction(
            actions, "append", table.schema(), self._partition_by or None, commit_properties=properties
        )

    def _content(self, committables: list[StagedFile]) -> pa.Table:
        files = self._location.files()
        parts = []
        for staged in committables:
            part = pyarrow.parquet.read_table(staged.path, filesystem=files, partitioning=None)
            for name, value in staged.partition.items():
                column = pa.array([self._to_arrow[name](value)] * staged.rows, self._schema.field(name).type)
                part = part.append_column(name, column)
            parts.append(part.select(self._schema.names))
        return pa.concat_tables(parts)

    def _merge(self, table: Any, committables: list[StagedFile], properties: Any) -> None:
        files = self._location.files()
        changes = pa.concat_tables(pyarrow.parquet.read_table(staged.path, filesystem=files) for staged in committables)
        same = " AND ".join(f"target.{_quoted(name)} = change.{_quoted(name)}" for name in self._key)
        values = {_quoted(name): f"change.{_quoted(name)}" for name in self._schema.names}
        merge = table.merge(changes, same, source_alias="change", target_alias="target", commit_properties=properties)
        stays = f"change.{DELETED} = false"
        merge = merge.when_matched_delete(f"change.{DELETED} = true")
        merge.when_matched_update(values, stays).when_not_matched_insert(values, stays).execute()

    def _remove(self, committables: list[StagedFile]) -> None:
        files = self._location.files()
        for staged in committables:
            if files.get_file_info(staged.path).type.name == "File":
                files.delete_file(staged.path)

    def sweep(self) -> None:
        """Files of attempts that failed; those that were meant to be appended are left for Delta's VACUUM."""
        if self._key:
            self._location.remove(self._changes)

    def conclude(self) -> None:
        """Of a job that was cancelled or has failed, too: VACUUM does not look there."""
        try:
            self.sweep()
        except Exception as error:  # a job that ends has other things to tell
            _logger.warning("%s/%s could not be removed: %s", self._location.uri, self._changes, error)


def _has_rules(table: Any, schema: pa.Schema) -> bool:
    """Whether the table says what its rows have to be like: never null, made from others, or as a constraint says."""
    if any(name.startswith("delta.constraints.") for name in table.metadata().configuration):
        return True
    optional = {field.name for field in schema if field.nullable}
    return any(
        (not field.nullable and (field.name in optional or field.name not in schema.names))
        or any(key.startswith(("delta.invariants", "delta.generation", "delta.identity")) for key in field.metadata)
        for field in table.schema().fields
    )


def _unchanged(value: Any) -> Any:
    return value


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def partition_text(value: Any, kind: pa.DataType) -> str | None:
    """A value as Delta's log has it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Decimal):
        return f"{value:.{kind.scale}f}"
    if isinstance(value, Instant):
        moment = datetime.datetime.fromtimestamp(value.seconds, datetime.UTC) + datetime.timedelta(
            microseconds=value.nanos // 1_000
        )
        return f"{moment:%Y-%m-%d %H:%M:%S.%f}"
    return None if value is None else str(value)
