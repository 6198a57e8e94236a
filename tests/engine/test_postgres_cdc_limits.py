"""What the log of a table does not have, and what it has in other forms than queries: told, or made the same."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from tests.engine.test_postgres_cdc import ITEM, Reading, Table, applied
from tests.patience import patience
from tests.services.postgres import USER, PostgresServer
from tests.services.processes import wait_until

from penstock.common import Row, RowKind
from penstock.common.errors import JobExecutionError
from penstock.common.typeinfo import Types
from penstock.connectors.postgres_cdc.pgoutput import Begin, Commit, Insert, Relation
from penstock.connectors.postgres_cdc.positions import LogPosition
from penstock.connectors.postgres_cdc.reader import _Log
from penstock.connectors.postgres_cdc.source import PostgresCdcSource, drop_replication_slot


@pytest.fixture
def table(postgres: PostgresServer) -> Iterator[Table]:
    made = Table(postgres)
    yield made
    drop_replication_slot(made.options, made.slot)


def source_of(table: Table, **columns: Any) -> PostgresCdcSource:
    row_type = Types.ROW_NAMED(list(columns), list(columns.values()))
    return PostgresCdcSource(table.options, table.name, row_type, table.slot)


def test_a_commit_that_is_in_the_log_and_not_yet_seen_is_not_lost(table: Table) -> None:
    """The log had it before the slot began, and queries see it only when a synchronous standby has it."""
    server = table.server

    def connected() -> psycopg.Connection[Any]:
        connection = psycopg.connect(server.conninfo)
        connection.execute("set synchronous_commit = local")
        connection.commit()
        return connection

    def slot_waits_for(connection: psycopg.Connection[Any]) -> None:
        waits = (
            "select count(*) from pg_locks held join pg_locks wanted on wanted.transactionid = held.transactionid"
            f" and not wanted.granted where held.pid = {connection.info.backend_pid} and held.granted"
        )
        wait_until(lambda: server.query(waits) == [(1,)], "the slot to wait for a transaction", 10)

    first, second = connected(), connected()
    first.execute(f"insert into {table.name} values (1, 'first', 1)")  # type: ignore[call-overload]
    found: list[Reading] = []

    def begin_to_read() -> None:
        reading = Reading(table.source())
        reading.fetch()
        found.append(reading)

    reader = threading.Thread(target=begin_to_read)
    reader.start()
    slot_waits_for(first)
    second.execute(f"insert into {table.name} values (2, 'second', 2)")  # type: ignore[call-overload]
    first.commit()
    slot_waits_for(second)
    server.execute("alter system set synchronous_standby_names = 'nobody'", "select pg_reload_conf()")
    hanging = threading.Thread(target=server.execute, args=(f"insert into {table.name} values (3, 'third', 3)",))
    try:
        wait_until(lambda: server.query("show synchronous_standby_names") == [("nobody",)], "the setting", 10)
        hanging.start()
        waiting = "select count(*) from pg_stat_activity where wait_event = 'SyncRep'"
        wait_until(lambda: server.query(waiting) == [(1,)], "the commit to wait for its standby", 10)
        second.commit()
        made = f"select count(*) from pg_replication_slots where slot_name = '{table.slot}' and active_pid is null"
        wait_until(lambda: server.query(made) == [(1,)], "the slot", 10)
        reader.join(1)  # as long as the commit hangs nothing may be read
        assert not found
    finally:
        server.execute("alter system reset synchronous_standby_names", "select pg_reload_conf()")
    hanging.join(patience(10))
    reader.join(patience(10))
    first.close()
    second.close()
    (reading,) = found
    reading.catch_up()
    reading.close()
    assert applied(reading.changes) == {("first", 1): 1, ("second", 2): 2, ("third", 3): 3}


def test_what_was_read_of_a_transaction_stays_read_while_the_server_looks_for_it() -> None:
    """A large transaction was cut; its rest is far away in the log, and the server says how far it has looked."""

    class Silent:
        sent_upto = 150

        def read(self, wait_seconds: float) -> None:
            return None

        def ask_how_far(self) -> None:
            pass

    class Changes:
        def rows(self, change: Insert, xid: int, position: LogPosition) -> list[Row]:
            return [Row(change.new)]

        def learn(self, relation: Relation) -> None:
            pass

    log = _Log(Silent(), Changes(), LogPosition(100, skip=2))  # type: ignore[arg-type]
    assert log.read(10) == ([], LogPosition(150, skip=2))
    rows: list[Row] = []
    for message in (Begin(200, 7), *(Insert(1, [b"%d" % n]) for n in range(3)), Commit(200, 210)):
        log._take(message, rows)
    assert rows == [Row([b"2"])]
    assert log.read(10) == ([], LogPosition(210))


@pytest.mark.parametrize(
    "change",
    [
        "alter table {table} rename to {table}_old",
        "alter table {table} rename to {table}_old; create table {table} (like {table}_old including all)",
        "drop table {table}",
        "alter table {table} drop note, drop n",
        "alter table {table} rename id to number",
        "alter publication {slot} drop table {table}",
        "drop publication {slot}",
        "alter table {table} replica identity nothing",
    ],
)
def test_a_table_that_is_another_one_is_noticed(table: Table, change: str) -> None:
    table.server.execute(f"insert into {table.name} values (1, 'a', 1)")
    reading = Reading(table.source())
    reading.catch_up()
    table.server.execute(*change.format(table=table.name, slot=table.slot).split(";"))
    try:
        with pytest.raises(JobExecutionError, match=f"{table.name}|{table.slot}"):
            assert reading.enumerator.discovery_interval_ms is not None
            reading.enumerator.discover()
            table.server.execute(f"update {table.name} set name = 'b'")
            reading.catch_up()
    finally:
        reading.close()


def test_a_table_that_was_renamed_between_two_looks_is_noticed(table: Table) -> None:
    reading = Reading(table.source())
    table.server.execute(f"insert into {table.name} values (1, 'a', 1)")
    reading.catch_up()
    table.server.execute(
        f"alter table {table.name} rename to {table.name}_old", f"insert into {table.name}_old values (2, 'b', 2)"
    )
    with pytest.raises(JobExecutionError, match="was renamed, or replaced"):
        reading.catch_up()
    reading.close()


def test_columns_that_the_log_does_not_have_are_refused_at_once(table: Table) -> None:
    table.server.execute(f"alter table {table.name} add twice bigint generated always as (n * 2) stored")
    refusals = {"twice": "is generated|it is generated", "nothing": "no such column"}
    for column, message in refusals.items():
        with pytest.raises(JobExecutionError, match=f"The column '{column}' of .* cannot be read: .*({message})"):
            Reading(source_of(table, name=Types.STRING(), id=Types.INT(), **{column: Types.LONG()}))
    table.server.execute(
        f"drop publication {table.slot}", f"create publication {table.slot} for table {table.name} (name, id)"
    )
    with pytest.raises(JobExecutionError, match="column 'n' of .* cannot be read: the publication .* leaves it out"):
        Reading(source_of(table, name=Types.STRING(), id=Types.INT(), n=Types.LONG()))


def test_a_table_with_heirs_is_refused(table: Table) -> None:
    table.server.execute(f"create table {table.name}_child () inherits ({table.name})")
    with pytest.raises(JobExecutionError, match="Other tables inherit from"):
        Reading(table.source())
    table.server.execute(f"drop table {table.name}_child")


def test_rows_that_a_policy_hides_are_not_left_out(table: Table) -> None:
    table.server.execute(f"insert into {table.name} values (1, 'a', 1)")
    reading = Reading(table.source())
    table.server.execute(
        f"alter table {table.name} enable row level security, force row level security",
        "create role plain login replication password 's3cret-w0rd' in role pg_read_all_data",
    )
    try:
        hidden = type(table.options)(table.server.jdbc_url, "plain", "s3cret-w0rd")
        reading._source = PostgresCdcSource(hidden, table.name, ITEM, table.slot)
        reading.crash()
        with pytest.raises(JobExecutionError, match="row-level security"):
            reading.fetch()
    finally:
        reading.close()
        table.server.execute("drop role plain")


def test_upserts_need_the_key_of_the_table(table: Table) -> None:
    row_type = Types.ROW_NAMED(["name", "n"], [Types.STRING(), Types.LONG()])
    for source in (
        PostgresCdcSource(table.options, table.name, row_type, table.slot, changelog_mode="upsert"),
        PostgresCdcSource(table.options, table.name, ITEM, table.slot, changelog_mode="upsert", key=["id"]),
    ):
        with pytest.raises(JobExecutionError, match=r"The primary key of .* is \(name, id\)"):
            Reading(source)
    table.server.execute(
        f"create unique index {table.name}_ids on {table.name} (id)",
        f"alter table {table.name} replica identity using index {table.name}_ids",
    )
    with pytest.raises(JobExecutionError, match="REPLICA IDENTITY DEFAULT"):
        Reading(table.source("upsert"))


def test_values_of_the_log_are_those_of_the_table(table: Table) -> None:
    """Whatever the server has set: an old row must be the one that was told before."""
    columns = {
        "at": ("timestamptz", "2024-07-01 12:00:00.123456+00", "2024-07-01 12:00:00.123456+00:00"),
        "ever": ("timestamp", "infinity", "infinity"),
        "long_ago": ("date", "0044-03-15 BC", "0044-03-15 BC"),
        "length": ("interval", "1 mon -2 days 03:00", "1 mon -2 days +03:00:00"),
        "share": ("float8", "0.30000000000000004", "0.30000000000000004"),
        "raw": ("jsonb", '{"a": 12345678901234567890.123456789}', '{"a": 12345678901234567890.123456789}'),
        "noon": ("time", "24:00:00", "24:00:00"),
        "bits": ("bit(3)", "101", "101"),
    }
    for column, (kind, _, _) in columns.items():
        table.server.execute(f"alter table {table.name} add {column} {kind}")
    texts = ", ".join(f"'{text}'" for _, text, _ in columns.values())
    own = {
        "timezone": "Asia/Kolkata", "datestyle": "German", "intervalstyle": "iso_8601", "extra_float_digits": "-3",
    }  # fmt: skip
    table.server.execute(*(f"alter role {USER} set {name} to '{value}'" for name, value in own.items()))
    try:
        table.server.execute(f"insert into {table.name} values (1, 'a', 1, null, {texts})")
        reading = Reading(source_of(table, name=Types.STRING(), **dict.fromkeys(columns, Types.STRING())))
        reading.catch_up()
        table.server.execute(f"update {table.name} set n = 2")
        reading.catch_up()
        reading.close()
    finally:
        table.server.execute(f"alter role {USER} reset all")
    assert [row.get_row_kind() for row in reading.changes] == [
        RowKind.INSERT, RowKind.UPDATE_BEFORE, RowKind.UPDATE_AFTER,
    ]  # fmt: skip
    for row in reading.changes:
        assert [row[column] for column in columns] == [expected for _, _, expected in columns.values()]


def test_a_value_of_the_log_that_does_not_fit_is_named_with_its_column(table: Table) -> None:
    table.server.execute(f"alter table {table.name} add until date")
    reading = Reading(source_of(table, name=Types.STRING(), until=Types.SQL_DATE()))
    reading.catch_up()
    table.server.execute(f"insert into {table.name} values (1, 'a', 1, null, 'infinity')")
    with pytest.raises(JobExecutionError, match="column 'until' has the value 'infinity', which cannot be read as"):
        reading.catch_up()
    reading.close()


def test_why_the_server_has_ended_the_stream_is_said(table: Table) -> None:
    reading = Reading(table.source())
    reading.catch_up()
    table.server.execute(f"drop publication {table.slot}", f"insert into {table.name} values (1, 'a', 1)")
    with pytest.raises(JobExecutionError, match=f'PostgreSQL at .*publication "{table.slot}" does not exist'):
        reading.catch_up()
    reading.close()
