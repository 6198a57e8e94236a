"""The changes of a PostgreSQL table as a stream: first its rows, then whatever happens to them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from penstock.common.errors import JobExecutionError, ProgramError
from penstock.common.typeinfo import RowTypeInfo, TypeInformation
from penstock.connectors.jdbc.address import POSTGRESQL, DatabaseAddress
from penstock.connectors.jdbc.options import JdbcConnectionOptions
from penstock.connectors.jdbc.session import Session
from penstock.connectors.postgres_cdc.positions import LogPosition, SnapshotPosition, lsn_of
from penstock.connectors.postgres_cdc.reader import TableReader
from penstock.connectors.postgres_cdc.setup import (
    TableShape,
    check_columns,
    free_slot,
    make_publication,
    make_slot,
    slot_position,
    table_shape,
    wait_for_commits,
)
from penstock.functions.source import (
    EnumeratorContext,
    ReaderContext,
    Source,
    SourceReader,
    Split,
    SplitEnumerator,
)

__all__ = ["PostgresCdcSource", "drop_replication_slot"]


class PostgresCdcSource(Source):
    """A table as a changelog stream, for ``env.from_source``: rows of the kinds +I, -U, +U and -D.

    The table needs a primary key, and the server ``wal_level = logical``. Full changelogs also need
    ``ALTER TABLE ... REPLICA IDENTITY FULL``; with ``changelog_mode="upsert"`` updates are +U alone and deletions have
    their key only, which works without. `key` is the primary key that the program relies on, if it does.

    The slot keeps the log for this job, also while it does not run: when the job is gone for good, drop it with
    :func:`drop_replication_slot`. Publication and slot are made if they are not there.
    """

    def __init__(
        self,
        connection: JdbcConnectionOptions,
        table: str,
        row_type: RowTypeInfo,
        slot_name: str,
        publication_name: str | None = None,
        changelog_mode: str = "all",
        key: Sequence[str] | None = None,
    ) -> None:
        super().__init__()
        if connection.address.kind != POSTGRESQL:
            raise ProgramError("PostgresCdcSource takes the address of a PostgreSQL database: jdbc:postgresql://...")
        if not isinstance(row_type, RowTypeInfo) or not row_type.has_declared_names():
            raise ProgramError("PostgresCdcSource takes the columns as Types.ROW_NAMED(names, types).")
        if not re.fullmatch(r"[a-z0-9_]{1,63}", slot_name):
            raise ProgramError(f"The name of a slot has small letters, digits and _ only, not {slot_name!r}.")
        if changelog_mode not in ("all", "upsert"):
            raise ProgramError(f"The changelog mode is 'all' or 'upsert', not {changelog_mode!r}.")
        self._address = connection.address
        self._table = table
        self._row_type = row_type
        self._slot = slot_name
        self._publication = publication_name or slot_name
        self._upsert = changelog_mode == "upsert"
        self._key = None if key is None else tuple(key)

    def create_enumerator(self, context: EnumeratorContext) -> SplitEnumerator:
        names = self._row_type.get_field_names()
        return TableEnumerator(
            self._address, self._table, names, self._slot, self._publication, self._upsert, self._key
        )

    def create_reader(self, context: ReaderContext) -> SourceReader:
        return TableReader(self._address, self._table, self._row_type, self._slot, self._publication, self._upsert)

    def get_produced_type(self) -> TypeInformation | None:
        return self._row_type


class TableEnumerator(SplitEnumerator):
    """Prepares the database once, looks from time to time whether it is still so, and tells when its log has grown."""

    discovery_interval_ms = 10_000

    def __init__(
        self,
        address: DatabaseAddress,
        table: str,
        columns: Sequence[str],
        slot: str,
        publication: str,
        upsert: bool,
        key: tuple[str, ...] | None = None,
    ) -> None:
        self._session = Session(address)
        self._table = table
        self._columns = columns
        self._slot = slot
        self._publication = publication
        self._upsert = upsert
        self._key = key
        self._goes_on = False

    def restore_state(self, state: Any) -> None:
        self._goes_on = True

    def discover(self) -> Iterable[Split]:
        table = table_shape(self._session, self._table)
        self._check_old_rows(table)
        if self._goes_on and slot_position(self._session, self._slot) is None:
            raise JobExecutionError(
                f"The replication slot {self._slot!r} is gone, and with it the changes since the job ran. Start the job"
                " without its state, so that it reads the table again."
            )
        make_publication(self._session, self._publication, table, self._goes_on)
        if not self._goes_on:
            check_columns(self._session, self._publication, table, self._columns)
        start = make_slot(self._session, self._slot)
        if not self._goes_on:
            wait_for_commits(self._session)
        self._goes_on = True
        # One split: changes have one order.
        return [Split(self._table, SnapshotPosition(start))]

    def _check_old_rows(self, table: TableShape) -> None:
        if not self._upsert and not table.full_identity:
            raise JobExecutionError(
                f"The log does not have the old rows of {table}: ALTER TABLE {table} REPLICA IDENTITY FULL, or read it"
                " with changelog_mode='upsert'."
            )
        if not self._upsert:
            return
        key = [column.name for column in table.key]
        if table.identity not in ("d", "f"):
            raise JobExecutionError(
                f"The log does not have the primary key of rows that were deleted from {table}: ALTER TABLE {table}"
                " REPLICA IDENTITY DEFAULT."
            )
        if not set(key) <= set(self._columns) or (self._key is not None and set(self._key) != set(key)):
            raise JobExecutionError(
                f"The primary key of {table} is ({', '.join(key)}). With changelog_mode='upsert' these columns must be"
                " read, and be the key of the table that reads them: deletions have nothing else."
            )

    def snapshot_state(self) -> Any:
        return self._slot

    def has_news(self, positions: Mapping[str, Any]) -> bool:
        if not all(isinstance(position, LogPosition) for position in positions.values()):
            return True
        end = self._session.run(_end_of_flushed_log, retries=3)
        return any(position.lsn < end for position in positions.values())

    def close(self) -> None:
        self._session.close()


def _end_of_flushed_log(cursor: Any) -> int:
    cursor.execute("SELECT pg_current_wal_flush_lsn()")
    return lsn_of(cursor.fetchone()[0])


def drop_replication_slot(connection: JdbcConnectionOptions, slot_name: str) -> None:
    """The job will not run again: the server need not keep its log for it any more."""
    session = Session(connection.address)
    try:
        if slot_position(session, slot_name) is not None:
            free_slot(session, slot_name)
            session.run(lambda cursor: cursor.execute("SELECT pg_drop_replication_slot(%s)", (slot_name,)))
    finally:
        session.close()
