"""What a database has to have before its changes can be read: a key, a publication, a slot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from penstock.common.errors import JobExecutionError
from penstock.connectors.jdbc.session import Session
from penstock.connectors.postgres_cdc.positions import lsn_of

_RETRIES = 3
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
    full_identity: bool

    def __str__(self) -> str:
        return f"{self.schema}.{self.name}"


def table_shape(session: Session, table: str) -> TableShape:
    schema, _, name = table.rpartition(".")

    def ask(cursor: Any) -> tuple[Any, list[Any]]:
        cursor.execute(
            "SELECT c.oid, n.nspname, c.relname, c.relreplident, c.relkind::text FROM pg_class c JOIN pg_namespace n"
            " ON n.oid = c.relnamespace WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND c.relname = %s"
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
    identity = found[3].decode() if isinstance(found[3], bytes) else found[3]
    return TableShape(found[1], found[2], columns, identity == "f")


def make_publication(session: Session, publication: str, table: TableShape) -> None:
    """One that is there is used as it is, if it has the table."""

    def ensure(cursor: Any) -> None:
        cursor.execute(
            "SELECT pubinsert AND pubupdate AND pubdelete AND pubtruncate FROM pg_publication WHERE pubname = %s",
            (publication,),
        )
        there = cursor.fetchone()
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
    """PostgreSQL 15 has them."""
    cursor.execute("SELECT current_setting('server_version_num')::int >= 150000")
    if not cursor.fetchone()[0]:
        return False
    cursor.execute(
        "SELECT 1 FROM pg_publication_tables WHERE pubname = %s AND schemaname = %s AND tablename = %s"
        " AND rowfilter IS NOT NULL",
        (publication, table.schema, table.name),
    )
    return cursor.fetchone() is not None


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


def free_slot(session: Session, slot: str) -> None:
    """Ends whoever reads the slot: an earlier reader, whose process may not know yet that it was replaced."""

    def end(cursor: Any) -> None:
        cursor.execute(
            "SELECT pg_terminate_backend(active_pid, 5000) FROM pg_replication_slots"
            " WHERE slot_name = %s AND active_pid IS NOT NULL",
            (slot,),
        )

    session.run(end, _RETRIES)
