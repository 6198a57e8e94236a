"""A stream into an Iceberg table: workers write files, and each epoch is one commit that carries its number."""

from __future__ import annotations

import hashlib
import time
import warnings
from collections.abc import Sequence
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.compute
import pyarrow.parquet

from penstock.common.errors import JobExecutionError, ProgramError
from penstock.common.typeinfo import RowTypeInfo
from penstock.connectors.base import StreamTransformer, SupportsPreprocessing
from penstock.connectors.iceberg.table import IcebergLocation
from penstock.connectors.lake.records import named_row_type, same_kind
from penstock.connectors.lake.staging import (
    DELETED,
    AppendingWriter,
    ChangesWriter,
    OneWriterForEachKey,
    StagedFile,
)
from penstock.connectors.reaching import package, pause_seconds
from penstock.formats.arrow_types import arrow_schema
from penstock.functions.sink import Committer, CommitterContext, Sink, SinkWriter, WriterContext

__all__ = ["IcebergSink"]

_ATTEMPTS = 6


class IcebergSink(Sink, SupportsPreprocessing):
    """Appends rows, or with a key keeps the table as a changelog says, for ``ds.sink_to``. Exactly once.

    A table that is not there is created with the columns of the row type.
    """

    def __init__(
        self,
        table: str,
        row_type: RowTypeInfo,
        catalog_properties: dict[str, str],
        key: Sequence[str] = (),
        catalog_name: str = "default",
    ) -> None:
        super().__init__()
        self._location = IcebergLocation.of(table, catalog_properties, catalog_name)
        self._row_type = named_row_type(row_type, "IcebergSink")
        unknown = [name for name in key if name not in row_type.get_field_names()]
        if unknown:
            raise ProgramError(f"IcebergSink has no column {', '.join(unknown)}; it has {row_type.get_field_names()}.")
        self._key = list(key)

    def get_transformer(self) -> StreamTransformer | None:
        return OneWriterForEachKey(self._row_type, self._key) if self._key else None

    def create_writer(self, context: WriterContext) -> SinkWriter:
        store = partial(_store, _made(self._location, self._row_type), context.job_id)
        return ChangesWriter(self._row_type, self._key, store) if self._key else AppendingWriter(self._row_type, store)

    def create_committer(self, context: CommitterContext) -> Committer:
        return IcebergCommitter(self._location, self._row_type, self._key, context)


def _made(location: IcebergLocation, row_type: RowTypeInfo) -> Any:
    """The table. Whoever comes first makes it."""
    catalog = location.open_catalog()
    exceptions = package("pyiceberg.exceptions", "iceberg")
    namespace = location.table.rpartition(".")[0]
    if namespace:
        catalog.create_namespace_if_not_exists(namespace)
    try:
        return catalog.create_table_if_not_exists(location.table, arrow_schema(row_type))
    except exceptions.TableAlreadyExistsError:
        return catalog.load_table(location.table)


def _store(table: Any, job_id: str, name: str, content: bytes) -> str:
    path = f"{table.location()}/data/penstock-{job_id}/{name}"
    with table.io.new_output(path).create() as file:
        file.write(content)
    return path


class IcebergCommitter(Committer):
    """Runs on the driver. The number of the last epoch is a property of the table, written with the rows."""

    def __init__(
        self, location: IcebergLocation, row_type: RowTypeInfo, key: list[str], context: CommitterContext
    ) -> None:
        self._location = location
        self._row_type = row_type
        self._schema = arrow_schema(row_type)
        self._key = key
        owner = hashlib.sha256(f"{context.job_id}/{context.operator_uid}".encode()).hexdigest()[:16]
        self._property = f"penstock.epoch.{owner}"

    def open(self) -> None:
        table = _made(self._location, self._row_type)
        there = set(table.schema().column_names)
        missing = [name for name in self._schema.names if name not in there]
        if missing:
            raise JobExecutionError(
                f"The Iceberg table {self._location.table} has no column {', '.join(missing)}; it has"
                f" {', '.join(sorted(there))}."
            )
        columns = _columns(table)
        wrong = [
            f"{one.name!r} is {columns[one.name].type}, that of the stream {one.type}"
            for one in self._schema
            if not _can_be(one.type, columns[one.name].type)
        ]
        if wrong:
            raise JobExecutionError(
                f"The Iceberg table {self._location.table} has columns of other types: {'; '.join(wrong)}. Give both"
                " the same (Iceberg has no integers of 8 and 16 bits: declare INT)."
            )

    def commit(self, epoch: int, committables: list[StagedFile]) -> None:
        failed = package("pyiceberg.exceptions", "iceberg").CommitFailedException
        for attempt in range(_ATTEMPTS):
            table = self._location.open()
            if int(table.properties.get(self._property, 0)) >= epoch:
                break
            try:
                self._commit_once(table, epoch, committables)
                break
            except failed:  # somebody else has written in this moment
                if attempt == _ATTEMPTS - 1:
                    raise
                time.sleep(pause_seconds(attempt))
        if self._key:
            _remove(table, committables)

    def _commit_once(self, table: Any, epoch: int, committables: list[StagedFile]) -> None:
        summary = {"penstock-epoch": str(epoch)}
        with table.transaction() as transaction:  # one change of the table's metadata: all of it, or nothing
            if self._key:
                self._change(table, transaction, _content(table, committables), summary)
            elif table.spec().is_unpartitioned() and _fits(table, self._schema):
                transaction.add_files([staged.path for staged in committables], summary)
            else:  # which rows belong together is the table's to say, and files say of no column that it is never null
                transaction.append(_fitting(table, _content(table, committables)), summary)
            transaction.set_properties({self._property: str(epoch)})

    def _change(self, table: Any, transaction: Any, changes: pa.Table, summary: dict[str, str]) -> None:
        match = package("pyiceberg.table.upsert_util", "iceberg").create_match_filter
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that there was nothing to delete
            transaction.delete(match(changes.select(self._key), self._key), summary)
        stays = changes.filter(pa.compute.invert(changes.column(DELETED))).drop_columns([DELETED])
        if stays.num_rows:
            transaction.append(_fitting(table, stays), summary)

    def sweep(self) -> None:
        """Files of attempts that failed are left for Iceberg's own removal of orphan files."""


def _columns(table: Any) -> dict[str, pa.Field]:
    convert = package("pyiceberg.io.pyarrow", "iceberg").schema_to_pyarrow
    return {one.name: one for one in convert(table.schema(), include_field_ids=False)}


def _can_be(ours: pa.DataType, theirs: pa.DataType) -> bool:
    """As Iceberg widens numbers; nested columns are pyiceberg's to compare."""
    if pa.types.is_nested(ours) or pa.types.is_decimal(ours):
        return type(ours) is type(theirs) or pa.types.is_nested(theirs)
    wider = {pa.int32(): pa.int64(), pa.float32(): pa.float64()}
    times = pa.types.is_time(ours) and pa.types.is_time(theirs)
    return times or same_kind(ours, theirs) or wider.get(ours) == theirs


def _fits(table: Any, schema: pa.Schema) -> bool:
    """Whether files of this schema can be the table's as they are."""
    columns = _columns(table)
    decimals = all(columns[one.name].type == one.type for one in schema if pa.types.is_decimal(one.type))
    return decimals and all(one.nullable for one in columns.values())


def _fitting(table: Any, rows: pa.Table) -> pa.Table:
    """The rows with the table's decimals, and with columns that are never null where it asks for that."""
    columns = _columns(table)
    fields = []
    for one in rows.schema:
        theirs = columns[one.name]
        fields.append(pa.field(one.name, theirs.type if pa.types.is_decimal(one.type) else one.type, theirs.nullable))
    for one in fields:
        if not one.nullable and rows.column(one.name).null_count:
            raise JobExecutionError(f"{one.name!r} of {'.'.join(table.name())} is never null, but that of a row is.")
    cast = [rows.column(one.name).cast(one.type) for one in fields]
    return pa.Table.from_arrays(cast, schema=pa.schema(fields))


def _content(table: Any, committables: list[StagedFile]) -> pa.Table:
    tables = []
    for staged in committables:
        with table.io.new_input(staged.path).open() as file:
            tables.append(pyarrow.parquet.read_table(pa.BufferReader(file.read())))
    return pa.concat_tables(tables)


def _remove(table: Any, committables: list[StagedFile]) -> None:
    for staged in committables:
        if table.io.new_input(staged.path).exists():
            table.io.delete(staged.path)
