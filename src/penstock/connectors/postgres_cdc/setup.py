"""What a database has to have before its changes can be read: a key, a publication, a slot."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from penstock.common.errors import JobExecutionError
from penstock.connectors.jdbc.session import Session
from penstock.connectors.postgres_cdc.positions import lsn_of

_RETRIES = 3
_COMMIT_WAIT_SECONDS = 0.05
# Their order is the same in the database (texts with the collation C) and in Python.
_KEY_TYPES = {
    "int2", "int4", "int8", "numeric", "text", "varchar", "bpchar", "uuid", "date", "timestamp", "timestamptz", "bytea",
    "bool",
}  # fmt: skip
_TEXTS = {"text", "varchar", "bpchar"}


@dataclass(frozen=True)
class KeyColumn:
    name: str
    is_text: bool


@dataclass(frozen=True)
class TableShape:
    """What of a table has to be known to read it."""

    schema: str
    name: str
    key: tuple[KeyColumn, ...]
    identity: str  # what the log has of old rows; d: the key, f: all, i: an index's columns, n: nothing

    @property
    def full_identity(self) -> bool:
        return self.identity == "f"

    def __str__(self) -> str:
        return f"{self.schema}.{self.name}"


def table_shape(session: Session, table: str) -> TableShape:
    schema, _, name = table.rpartition(".")

    def ask(cursor: Any) -> tuple[Any, list[Any]]:
        cursor.execute(
            "SELECT c.oid, n.nspname, c.relname, c.relreplident::text, c.relkind::text,"
            " EXISTS (SELECT FROM pg_inherits WHERE inhparent = c.oid)"
            " FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
            " WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND c.relname = %s"
            " AND n.nspname = %s",
            (name, schema or "public"),
        )
        found = cursor.fetchone()
        if found is None:
            return None, []
        cursor.execute(
            "SELECT a.attname, t.typname FROM pg_index i CROSS JOIN LATERAL unnest(i.indkey) WITH ORDINALITY"
            " k(attnum, n) JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum"
            " JOIN pg_type t ON t.oid = a.atttypid WHERE i.indrelid = %s AND i.indisprimary ORDER BY k.n",
            (found[0],),
        )
        return found, cursor.fetchall()

    found, key = session.run(ask, _RETRIES)
    if found is None:
        raise JobExecutionError(f"There is no table {table!r} whose changes could be read (write it as schema.table).")
    if found[4] != "r":
        what = "is partitioned: read its partitions, which are tables" if found[4] == "p" else "is no plain table"
        raise JobExecutionError(f"{table!r} {what}. The log has changes of plain tables only.")
    if found[5]:
        raise JobExecutionError(
            f"Other tables inherit from {table!r}: their rows are among its own, but their changes are not. Read each"
            " of the tables, and put the streams together."
        )
    if not key:
        raise JobExecutionError(
            f"The table {table!r} has no primary key: without one its rows and its changes cannot be told apart while"
            " it is read. Add a primary key."
        )
    for column, kind in key:
        if kind not in _KEY_TYPES:
            raise JobExecutionError(
                f"The primary key of {table!r} has the column {column!r} of the type {kind}, whose order is not known"
                f" here; known are {', '.join(sorted(_KEY_TYPES))}."
            )
    columns = tuple(KeyColumn(column, kind in _TEXTS) for column, kind in key)
    return TableShape(found[1], found[2], columns, found[3])


def check_columns(session: Session, publication: str, table: TableShape, wanted: Sequence[str]) -> None:
    """What the log will not have of a table is noticed before its rows are read."""

    def ask(cursor: Any) -> tuple[set[str], set[str], set[str]]:
        cursor.execute(
            "SELECT attname, attgenerated <> '' FROM pg_attribute WHERE attrelid = to_regclass(%s) AND attnum > 0"
            " AND NOT attisdropped",
            (".".join(map(session.dialect.quoted, (table.schema, table.name))),),
        )
        columns = dict(cursor.fetchall())
        generated = {name for name, is_generated in columns.items() if is_generated}
        return set(columns), generated, _published_columns(cursor, publication, table)

    there, generated, published = session.run(ask, _RETRIES)
    needed = [*wanted, *(column.name for column in table.key)]
    for name in needed:
        if name not in there:
            reason = "there is no such column"
        elif name in generated:
            reason = "it is generated, and the log does not have such columns: compute it in the job"
        elif published and name not in published:
            reason = f"the publication {publication!r} leaves it out"
        else:
            continue
        raise JobExecutionError(f"The column {name!r} of {table} cannot be read: {reason}.")


def _published_columns(cursor: Any, publication: str, table: TableShape) -> set[str]:
    """Empty: all of them."""
    if not _has_filters(cursor):
        return set()
    cursor.execute(
        "SELECT unnest(attnames)::text FROM pg_publication_tables WHERE pubname = %s AND schemaname = %s"
        " AND tablename = %s",
        (publication, table.schema, table.name),
    )
    return {name for (name,) in cursor.fetchall()}


def make_publication(session: Session, publication: str, table: TableShape, goes_on: bool = False) -> None:
    """One that is there is used as it is, if it has the table."""

    def ensure(cursor: Any) -> None:
        cursor.execute(
            "SELECT pubinsert AND pubupdate AND pubdelete AND pubtruncate FROM pg_publication WHERE pubname = %s",
            (publication,),
        )
        there = cursor.fetchone()
        if there is None and goes_on:
            raise JobExecutionError(
                f"The publication {publication!r} of {table} is gone, and with it the changes since then. Start the job"
                " without its state and with another slot, so that it reads the table again."
            )
        if there is None:
            names = (session.dialect.quoted(name) for name in (publication, table.schema, table.name))
            cursor.execute("CREATE PUBLICATION {} FOR TABLE {}.{}".format(*names))
            return
        cursor.execute(
            "SELECT 1 FROM pg_publication_tables WHERE pubname = %s AND schemaname = %s AND tablename = %s",
            (publication, table.schema, table.name),
        )
        if cursor.fetchone() is None:
            raise JobExecutionError(
                f"The publication {publication!r} is there, but does not have the table {table}. Add it with ALTER"
                f" PUBLICATION {publication} ADD TABLE {table}, or name another publication."
            )
        # What a publication keeps back would be missing without anybody noticing.
        if not there[0]:
            raise JobExecutionError(
                f"The publication {publication!r} leaves out some kinds of changes: ALTER PUBLICATION {publication} SET"
                " (publish = 'insert, update, delete, truncate'), or name another publication."
            )
        if _has_filter(cursor, publication, table):
            raise JobExecutionError(
                f"The publication {publication!r} has some rows of {table} only, so that changes would be missing. Name"
                " a publication without WHERE, and filter the stream."
            )

    session.run(ensure)


def _has_filter(cursor: Any, publication: str, table: TableShape) -> bool:
    if not _has_filters(cursor):
        return False
    cursor.execute(
        "SELECT 1 FROM pg_publication_tables WHERE pubname = %s AND schemaname = %s AND tablename = %s"
        " AND rowfilter IS NOT NULL",
        (publication, table.schema, table.name),
    )
    return cursor.fetchone() is not None


def _has_filters(cursor: Any) -> bool:
    """Publications of some rows and some columns came with PostgreSQL 15."""
    cursor.execute("SELECT current_setting('server_version_num')::int >= 150000")
    return bool(cursor.fetchone()[0])


def slot_position(session: Session, slot: str) -> int | None:
    """From where on the slot keeps the log; None when there is no such slot."""

    def ask(cursor: Any) -> Any:
        cursor.execute("SELECT plugin, confirmed_flush_lsn FROM pg_replication_slots WHERE slot_name = %s", (slot,))
        return cursor.fetchone()

    found = session.run(ask, _RETRIES)
    if found is None:
        return None
    if found[0] != "pgoutput":
        raise JobExecutionError(f"The replication slot {slot!r} is of the plugin {found[0]!r}: name another one.")
    return lsn_of(found[1])


def make_slot(session: Session, slot: str) -> int:
    there = slot_position(session, slot)
    if there is not None:
        return there

    def create(cursor: Any) -> Any:
        cursor.execute("SHOW wal_level")
        level = cursor.fetchone()[0]
        if level != "logical":
            raise JobExecutionError(
                f"Changes can only be read from a server with wal_level = logical; this one has {level!r}. Set it in"
                " postgresql.conf and start the server again."
            )
        cursor.execute("SELECT lsn FROM pg_create_logical_replication_slot(%s, 'pgoutput')", (slot,))
        return cursor.fetchone()[0]

    return lsn_of(session.run(create))


def wait_for_commits(session: Session) -> None:
    """Until every transaction that may have committed before the slot's place in the log is seen by queries.

    A commit is in the log first, and visible when the disk and synchronous standbys have it.
    """
    pending = session.run(_running, _RETRIES)
    while pending:
        time.sleep(_COMMIT_WAIT_SECONDS)
        pending &= session.run(_running, _RETRIES)


def _running(cursor: Any) -> set[str]:
    """By the lock that each holds of itself until it is visible. Prepared ones, which have no process, do not end by
    themselves, and their commit will be in the log."""
    cursor.execute(
        "SELECT transactionid::text FROM pg_locks"
        " WHERE locktype = 'transactionid' AND mode = 'ExclusiveLock' AND granted AND pid IS NOT NULL"
    )
    return {xid for (xid,) in cursor.fetchall()}


def free_slot(session: Session, slot: str) -> None:
    """Ends whoever reads the slot: an earlier reader, whose process may not know yet that it was replaced."""

    def end(cursor: Any) -> None:
        cursor.execute(
            "SELECT pg_terminate_backend(active_pid, 5000) FROM pg_replication_slots"
            " WHERE slot_name = %s AND active_pid IS NOT NULL",
            (slot,),
        )

    session.run(end, _RETRIES)
