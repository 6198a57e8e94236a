"""The changes of a real table: no gap and no overlap between its rows and its log, wherever reading is cut."""

from __future__ import annotations

import contextlib
import pickle
import random
import threading
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from tests.patience import patience
from tests.services.postgres import PASSWORD, USER, PostgresServer
from tests.services.processes import wait_until

from penstock.common import Row, RowKind, WatermarkStrategy
from penstock.common.errors import JobExecutionError, ProgramError
from penstock.common.typeinfo import Types
from penstock.connectors.postgres_cdc.positions import Chunk, LogPosition, SnapshotPosition, Visibility
from penstock.connectors.postgres_cdc.source import PostgresCdcSource, drop_replication_slot
from penstock.datastream import StreamExecutionEnvironment
from penstock.datastream.connectors.jdbc import JdbcConnectionOptions
from penstock.engines.local.executor import LocalExecutor
from penstock.functions.source import EnumeratorContext

ITEM = Types.ROW_NAMED(["name", "id", "n"], [Types.STRING(), Types.INT(), Types.LONG()])


class Table:
    """A table of its own for each test, with its slot."""

    def __init__(self, server: PostgresServer, full: bool = True) -> None:
        self.server = server
        self.name = f"items_{uuid.uuid4().hex[:8]}"
        self.slot = f"slot_{self.name}"
        self.options = JdbcConnectionOptions(server.jdbc_url, USER, PASSWORD)
        server.execute(f"create table {self.name} (id int, name text, n bigint, note text, primary key (name, id))")
        if full:
            server.execute(f"alter table {self.name} replica identity full")

    def source(self, mode: str = "all") -> PostgresCdcSource:
        return PostgresCdcSource(self.options, self.name, ITEM, self.slot, changelog_mode=mode)

    def rows(self) -> dict[Any, int]:
        return {(name, id_): n for name, id_, n in self.server.query(f"select name, id, n from {self.name}")}


@pytest.fixture
def table(postgres: PostgresServer) -> Iterator[Table]:
    made = Table(postgres)
    yield made
    drop_replication_slot(made.options, made.slot)


class Reading:
    """Drives enumerator and reader as an engine does, and forgets what no epoch has kept when it fails."""

    def __init__(self, source: PostgresCdcSource, fetch_size: int = 1_000) -> None:
        self._source = source
        self._fetch_size = fetch_size
        enumerator = source.create_enumerator(EnumeratorContext("job", "source", 1))
        (self.split,) = enumerator.discover()
        self.enumerator = enumerator
        self.position = self.split.start
        self.changes: list[Row] = []
        self._uncommitted: list[Row] = []
        self._start()

    def _start(self) -> None:
        self.reader = self._source.create_reader(None)  # type: ignore[arg-type]
        self.reader.open()
        self._at = self.position
        self.reader.add_split(self.split, self.position)

    def fetch(self) -> bool:
        fetch = self.reader.fetch(self._fetch_size)
        if fetch is None:
            return False
        self._uncommitted += fetch.records
        self._at = fetch.position
        return True

    def complete_epoch(self) -> None:
        self.changes += self._uncommitted
        self._uncommitted = []
        self.position = pickle.loads(pickle.dumps(self._at))
        self.reader.on_commit({self.split.split_id: self.position})

    def crash(self) -> None:
        self._uncommitted = []
        self._start()  # the old reader still lives, and has the slot

    def catch_up(self) -> None:
        def caught_up() -> bool:
            while self.fetch():
                pass
            self.complete_epoch()
            return not self.enumerator.has_news({self.split.split_id: self.position})

        wait_until(caught_up, "the log to be read", 30)

    def close(self) -> None:
        self.reader.close()
        self.enumerator.close()


def applied(changes: list[Row]) -> dict[Any, int]:
    """Every change must fit what is there: a repetition or a gap shows."""
    table: dict[Any, int] = {}
    for row in changes:
        key, kind = (row.name, row.id), row.get_row_kind()
        if kind is RowKind.INSERT:
            assert key not in table, f"twice: {row}"
            table[key] = row.n
        elif kind is RowKind.UPDATE_AFTER:
            assert key not in table, f"no -U before {row}"
            table[key] = row.n
        else:
            assert table.pop(key) == row.n, f"out of order: {row}"
    return table


def change_at_random(connection: psycopg.Connection[Any], table: str, chance: random.Random) -> None:
    """A transaction of a few statements, some of which are rolled back."""
    with connection.transaction(force_rollback=chance.random() < 0.1):
        for _ in range(chance.randrange(1, 5)):
            key = (chance.choice(["a", "B", "b", "ä", "z"]), chance.randrange(40))
            what = chance.random()
            if what < 0.5:
                text = (
                    f"insert into {table} (name, id, n) values (%s, %s, %s)"
                    f" on conflict (name, id) do update set n = {table}.n + 1"
                )
                connection.execute(text, (*key, chance.randrange(1_000)))  # type: ignore[call-overload]
            elif what < 0.75:
                connection.execute(f"delete from {table} where (name, id) = (%s, %s)", key)  # type: ignore[call-overload]
            else:  # another key
                text = f"update {table} set id = id + 100 where (name, id) = (%s, %s)"
                with connection.transaction(force_rollback=False):
                    taken = connection.execute(
                        f"select 1 from {table} where (name, id) = (%s, %s)",  # type: ignore[call-overload]
                        (key[0], key[1] + 100),
                    ).fetchone()
                    if taken is None:
                        connection.execute(text, key)  # type: ignore[call-overload]


@pytest.mark.parametrize("seed", range(4))
def test_no_gap_and_no_overlap(table: Table, seed: int) -> None:
    chance = random.Random(seed)
    stop = threading.Event()

    def write(own: random.Random) -> None:
        with psycopg.connect(table.server.conninfo, autocommit=True) as connection:
            while not stop.is_set():
                with contextlib.suppress(psycopg.errors.DeadlockDetected, psycopg.errors.UniqueViolation):
                    change_at_random(connection, table.name, own)

    writers = [threading.Thread(target=write, args=(random.Random(f"{seed} {n}"),)) for n in range(2)]
    for writer in writers:
        writer.start()
    reading = None
    try:
        wait_until(lambda: len(table.rows()) > 20, "rows", 10)
        reading = Reading(table.source(), fetch_size=chance.choice([3, 17]))
        for _ in range(120):
            for _ in range(chance.randrange(4)):
                reading.fetch()
            if chance.random() < 0.1:
                reading.crash()
            else:
                reading.complete_epoch()
    finally:
        stop.set()
        for writer in writers:
            writer.join(patience(30))
    reading.catch_up()
    assert applied(reading.changes) == table.rows()
    kinds = {row.get_row_kind() for row in reading.changes}
    assert isinstance(reading.position, LogPosition) and kinds == set(RowKind)
    reading.close()


def test_a_large_transaction_is_cut_anywhere(table: Table) -> None:
    reading = Reading(table.source(), fetch_size=7)
    reading.catch_up()
    table.server.execute(f"insert into {table.name} select n, 'x', n from generate_series(1, 100) n")
    while len(reading.changes) < 50:
        reading.fetch()
        reading.complete_epoch()
        reading.fetch()
        reading.crash()
    reading.catch_up()
    assert applied(reading.changes) == table.rows()
    reading.close()


def test_the_slot_lets_go_of_what_is_committed(table: Table) -> None:
    reading = Reading(table.source())
    reading.catch_up()
    kept = f"select confirmed_flush_lsn from pg_replication_slots where slot_name = '{table.slot}'"
    before = table.server.query(kept)
    table.server.execute(f"insert into {table.name} values (1, 'a', 1)")
    reading.catch_up()
    wait_until(lambda: table.server.query(kept) > before, "the slot to move", 10)
    reading.close()


def test_upserts_need_no_old_rows(postgres: PostgresServer) -> None:
    table = Table(postgres, full=False)
    table.server.execute(f"insert into {table.name} values (1, 'a', 1)")
    with pytest.raises(JobExecutionError, match="REPLICA IDENTITY FULL"):
        Reading(table.source())
    reading = Reading(table.source("upsert"))
    reading.catch_up()
    table.server.execute(f"update {table.name} set n = 2", f"delete from {table.name}")
    reading.catch_up()
    reading.close()
    drop_replication_slot(table.options, table.slot)
    found = [(str(row.get_row_kind()), row.name, row.id, row.n) for row in reading.changes]
    assert found == [("+I", "a", 1, 1), ("+U", "a", 1, 2), ("-D", "a", 1, None)]


def test_a_slot_that_is_gone_is_noticed(table: Table) -> None:
    reading = Reading(table.source())
    reading.catch_up()
    reading.close()
    drop_replication_slot(table.options, table.slot)
    reading.crash()
    with pytest.raises(JobExecutionError, match="is gone, but the job goes on from"):
        reading.fetch()
    enumerator = table.source().create_enumerator(EnumeratorContext("job", "source", 1))
    enumerator.restore_state(table.slot)
    with pytest.raises(JobExecutionError, match="reads the table again"):
        enumerator.discover()
    enumerator.close()


def test_a_server_that_starts_again_is_read_on(table: Table) -> None:
    reading = Reading(table.source())
    table.server.execute(f"insert into {table.name} values (1, 'a', 1)")
    reading.catch_up()
    table.server.stop()
    table.server.start()
    table.server.execute(f"update {table.name} set n = 2")
    reading.catch_up()
    assert applied(reading.changes) == {("a", 1): 2}
    reading.close()


def test_as_a_stream_with_a_savepoint(table: Table, tmp_path: Path) -> None:
    table.server.execute(f"insert into {table.name} select n, 'x', n from generate_series(1, 30) n")
    changes: list[Row] = []
    start_from, stop = None, threading.Event()

    def write() -> None:
        with psycopg.connect(table.server.conninfo, autocommit=True) as connection:
            while not stop.is_set():
                change_at_random(connection, table.name, random.Random(len(changes)))

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for parallelism in (2, 1):
            executor = LocalExecutor(4, stop_after=10, savepoint_directory=str(tmp_path), start_from=start_from)
            env = StreamExecutionEnvironment(executor=executor)
            env.set_parallelism(parallelism)
            rows = env.from_source(table.source(), WatermarkStrategy.no_watermarks(), "items").uid("items")
            changes += rows.execute_and_collect()
            start_from = executor.savepoint_path
    finally:
        stop.set()
        writer.join(patience(10))
    assert len(changes) > 30 and applied(changes)


def test_what_cannot_be_read_is_refused(table: Table, postgres: PostgresServer) -> None:
    sqlite = JdbcConnectionOptions("jdbc:sqlite:/x")
    for arguments in ((sqlite, "t", ITEM, "s"), (table.options, "t", Types.ROW([Types.INT()]), "s")):
        with pytest.raises(ProgramError):
            PostgresCdcSource(*arguments)
    with pytest.raises(ProgramError, match="small letters"):
        PostgresCdcSource(table.options, "t", ITEM, "My-Slot")
    postgres.execute("create table if not exists keyless (name text)")
    postgres.execute("create table if not exists cut (id int primary key) partition by range (id)")
    for name, message in (("keyless", "no primary key"), ("nowhere", "no table"), ("cut", "is partitioned")):
        enumerator = PostgresCdcSource(table.options, name, ITEM, "s").create_enumerator(
            EnumeratorContext("job", "source", 1)
        )
        with pytest.raises(JobExecutionError, match=message):
            enumerator.discover()
        enumerator.close()


def test_a_publication_that_keeps_changes_back_is_refused(table: Table) -> None:
    table.server.execute(f"create publication {table.slot} for table {table.name} with (publish = 'insert')")
    with pytest.raises(JobExecutionError, match="leaves out some kinds of changes"):
        Reading(table.source())
    table.server.execute(
        f"drop publication {table.slot}", f"create publication {table.slot} for table {table.name} where (id > 5)"
    )
    with pytest.raises(JobExecutionError, match="has some rows of public.* only"):
        Reading(table.source())


def test_a_large_value_is_not_lost_with_a_change_of_the_key(postgres: PostgresServer) -> None:
    table = Table(postgres, full=False)
    table.server.execute(
        f"alter table {table.name} alter note set storage external",
        f"insert into {table.name} values (1, 'a', 1, repeat('x', 20000))",
    )
    row_type = Types.ROW_NAMED(["name", "id", "note"], [Types.STRING(), Types.INT(), Types.STRING()])
    source = PostgresCdcSource(table.options, table.name, row_type, table.slot, changelog_mode="upsert")
    reading = Reading(source)
    reading.catch_up()
    table.server.execute(f"update {table.name} set id = 2")  # the log has neither the old note nor the new one
    with pytest.raises(JobExecutionError, match="has left a large value alone"):
        reading.catch_up()
    reading.close()
    drop_replication_slot(table.options, table.slot)


@pytest.mark.parametrize("change", ["delete from {table}", "update {table} set id = 2", "update {table} set n = 2"])
def test_old_rows_that_are_not_in_the_log_are_no_nulls(table: Table, change: str) -> None:
    table.server.execute(f"insert into {table.name} values (1, 'a', 1)")
    reading = Reading(table.source())
    reading.catch_up()
    table.server.execute(f"alter table {table.name} replica identity default", change.format(table=table.name))
    with pytest.raises(JobExecutionError, match="REPLICA IDENTITY was changed"):
        reading.catch_up()
    reading.close()


def test_which_transactions_a_query_has_seen() -> None:
    seen = Visibility.parse("4294967290:4294967300:4294967292,4294967297")
    assert [seen.includes(n % (1 << 32)) for n in (4294967289, 4294967291, 4294967292)] == [True, True, False]
    assert [seen.includes(n % (1 << 32)) for n in (4294967296, 4294967297, 4294967300)] == [True, False, False]
    quiet, busy = Visibility(5, 5), Visibility(6, 7)
    position = SnapshotPosition(0).with_chunk(Chunk((1,), quiet)).with_chunk(Chunk((2,), quiet))
    assert position.chunks == (Chunk((2,), quiet),)
    log = LogPosition(0, 0, 100, position.with_chunk(Chunk(None, busy)).chunks)
    assert (log.was_seen((2,), 5), log.was_seen((3,), 5)) == (False, True)
    assert log.at(101).chunks == ()
