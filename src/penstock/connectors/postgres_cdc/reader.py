"""Reads a table, chunk by chunk, and then its changes, in one worker."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from penstock.common.errors import JobExecutionError
from penstock.common.typeinfo import RowTypeInfo
from penstock.common.types import Row
from penstock.connectors.jdbc.address import DatabaseAddress
from penstock.connectors.jdbc.session import Session
from penstock.connectors.jdbc.values import RowMaker
from penstock.connectors.postgres_cdc.changes import ChangeRows, Loader
from penstock.connectors.postgres_cdc.pgoutput import Begin, Commit, Relation, decode
from penstock.connectors.postgres_cdc.positions import (
    Chunk,
    LogPosition,
    SnapshotPosition,
    Visibility,
    lsn_of,
    lsn_text,
)
from penstock.connectors.postgres_cdc.replication import ReplicationStream
from penstock.connectors.postgres_cdc.setup import TableShape, free_slot, slot_position, table_shape
from penstock.connectors.reaching import CONNECT_RETRIES, package, reach, without_secrets
from penstock.functions.source import Fetch, SourceReader, Split

_CHUNK_ROWS = 10_000
_WAIT_SECONDS = 0.02
_FIRST_WAIT_SECONDS = 0.2  # until the server has found its place in the log
_READ_RETRIES = 3

Position = SnapshotPosition | LogPosition


class TableReader(SourceReader):
    """There is one split, the table: its rows first, then its changes for ever."""

    def __init__(
        self,
        address: DatabaseAddress,
        table: str,
        row_type: RowTypeInfo,
        slot: str,
        publication: str,
        upsert: bool,
    ) -> None:
        self._address = address
        self._table_name = table
        self._shape: TableShape | None = None
        self._row_type = row_type
        self._slot = slot
        self._publication = publication
        self._upsert = upsert
        self._session = Session(address)
        self._rows = RowMaker(row_type)
        self._split: str | None = None
        self._position: Position = LogPosition(0)
        self._log: _Log | None = None

    def add_split(self, split: Split, position: Position) -> None:
        if self._shape is None:
            self._shape = table_shape(self._session, self._table_name)
        self._split = split.split_id
        self._position = position

    @property
    def _table(self) -> TableShape:
        assert self._shape is not None, "there is no split to read"
        return self._shape

    def remove_split(self, split_id: str) -> None:
        self._split = None
        self._close_log()

    def fetch(self, max_records: int) -> Fetch | None:
        if self._split is None:
            return None
        before = self._position
        if isinstance(before, SnapshotPosition):
            rows = self._read_chunk(before, min(max_records, _CHUNK_ROWS))
        else:
            rows = self._read_log(before, max_records)
        if not rows and self._position == before:
            return None
        return Fetch(self._split, rows, self._position)

    # -- rows --------------------------------------------------------------------------------------------------

    def _read_chunk(self, position: SnapshotPosition, limit: int) -> list[Row]:
        seen, found = self._session.run(lambda cursor: self._chunk(cursor, position, limit), _READ_RETRIES)
        width = len(self._row_type.get_field_names())
        last = len(found) < limit
        chunk = Chunk(None if last else tuple(found[-1][width:]), Visibility.parse(seen))
        reached = position.with_chunk(chunk)
        if last:
            self._position = LogPosition(position.lsn, 0, self._session.run(_end_of_log, _READ_RETRIES), reached.chunks)
        else:
            self._position = reached
        return [self._rows.row(values[:width]) for values in found]

    def _chunk(self, cursor: Any, position: SnapshotPosition, limit: int) -> tuple[str, list[Any]]:
        quoted = self._session.dialect.quoted
        key = [quoted(column.name) + (' COLLATE "C"' if column.is_text else "") for column in self._table.key]
        columns = ", ".join([*map(quoted, self._row_type.get_field_names()), *key])
        where, parameters = "", []
        if position.after is not None:
            where = f" WHERE ({', '.join(key)}) > ({', '.join(['%s'] * len(key))})"
            parameters = list(position.after)
        # One query sees one moment: both the rows, and which transactions are in them.
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        cursor.execute("SET LOCAL row_security = off")  # an error where policies would hide rows: the log has them
        cursor.execute("SELECT pg_current_snapshot()::text")
        seen = cursor.fetchone()[0]
        table = f"{quoted(self._table.schema)}.{quoted(self._table.name)}"
        cursor.execute(f"SELECT {columns} FROM {table}{where} ORDER BY {', '.join(key)} LIMIT {limit}", parameters)
        return seen, cursor.fetchall()

    # -- changes -----------------------------------------------------------------------------------------------

    def _read_log(self, position: LogPosition, max_records: int) -> list[Row]:
        psycopg = package("psycopg", "postgres")
        for retry in (True, False):
            if self._log is None:
                self._log = self._open_log(position)
            try:
                rows, self._position = self._log.read(max_records)
                return rows
            except psycopg.OperationalError as error:
                self._close_log()
                if not retry:
                    text = without_secrets(" ".join(str(error).split()), (self._address.password,))
                    raise JobExecutionError(
                        f"{self._address}: the changes of {self._table} cannot be read from the slot"
                        f" {self._slot!r}: {text}"
                    ) from None
        raise AssertionError("unreachable")

    def _open_log(self, position: LogPosition) -> _Log:
        kept = slot_position(self._session, self._slot)
        if kept is None or kept > position.lsn:
            where = "is gone" if kept is None else f"has moved on to {lsn_text(kept)}"
            raise JobExecutionError(
                f"The replication slot {self._slot!r} {where}, but the job goes on from {lsn_text(position.lsn)}: the"
                " changes in between are lost. Start the job without its state, so that it reads the table again; and"
                " let nobody else use the slot."
            )

        def start() -> ReplicationStream:
            free_slot(self._session, self._slot)
            return ReplicationStream(self._address, self._slot, self._publication, position.lsn)

        secrets = (self._address.password,)
        stream = reach(str(self._address), start, self._session.dialect.is_away, CONNECT_RETRIES, secrets)
        changes = ChangeRows(self._table, self._row_type, self._upsert, self._loader_of())
        return _Log(stream, changes, position)

    def _loader_of(self) -> Any:
        psycopg = package("psycopg", "postgres")
        transformer = package("psycopg.adapt", "postgres").Transformer(self._session.connection())

        def loader_of(type_oid: int) -> Loader:
            load: Loader = transformer.get_loader(type_oid, psycopg.pq.Format.TEXT).load
            return load

        return loader_of

    def on_commit(self, positions: Mapping[str, Any]) -> None:
        for position in positions.values():
            if self._log is not None and isinstance(position, LogPosition):
                try:
                    self._log.confirm(position.lsn)
                except package("psycopg", "postgres").OperationalError:
                    self._close_log()  # the next reading opens it again

    def _close_log(self) -> None:
        if self._log is not None:
            self._log.close()
            self._log = None

    def close(self) -> None:
        self._close_log()
        self._session.close()


class _Log:
    """The changes from a position on, transaction by transaction."""

    def __init__(self, stream: ReplicationStream, changes: ChangeRows, position: LogPosition) -> None:
        self._stream = stream
        self._changes = changes
        self._position = position
        self._to_skip = position.skip
        self._done = 0  # changes of the open transaction
        self._open: Begin | None = None
        self._wait = _FIRST_WAIT_SECONDS

    def read(self, max_records: int) -> tuple[list[Row], LogPosition]:
        rows: list[Row] = []
        wait = self._wait
        while len(rows) < max_records:
            data = self._stream.read(wait if not rows else 0.0)
            if data is None:
                self._ask_for_progress(bool(rows))
                break
            wait = self._wait = _WAIT_SECONDS
            self._take(decode(data), rows)
        return rows, self._position

    def _take(self, message: Any, rows: list[Row]) -> None:
        if isinstance(message, Begin):
            self._open, self._done = message, 0
        elif isinstance(message, Commit):
            self._open, self._to_skip = None, 0
            self._position = self._position.at(message.end_lsn)
        elif isinstance(message, Relation):
            self._changes.learn(message)
        elif message is not None and self._open is not None:
            self._done += 1
            if self._done > self._to_skip:
                # Whether the chunks have seen a transaction is asked only where they may have.
                at = self._position if self._open.final_lsn <= self._position.seen_until else _LATER
                rows += self._changes.rows(message, self._open.xid, at)
                self._position = replace(self._position, skip=self._done)

    def _ask_for_progress(self, found: bool) -> None:
        """When nothing is left, the place moves with the log: other tables' changes need not be kept for us."""
        if self._open is None:
            if self._stream.sent_upto > self._position.lsn:
                # What was read of the next transaction stays read, however far away in the log it ends.
                self._position = self._position.at(self._stream.sent_upto, self._to_skip)
            if not found:
                self._stream.ask_how_far()

    def confirm(self, lsn: int) -> None:
        self._stream.confirm(lsn)

    def close(self) -> None:
        self._stream.close()


_LATER = LogPosition(0)


def _end_of_log(cursor: Any) -> int:
    cursor.execute("SELECT pg_current_wal_insert_lsn()")
    return lsn_of(cursor.fetchone()[0])
