"""Streams into real databases: every row once, or at least once, whatever fails on the way."""

from __future__ import annotations

import contextlib
import datetime
import random
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import EnvironmentFactory
from tests.services.databases import KINDS, Database, database_of, postgres_database
from tests.services.postgres import USER, PostgresServer

from penstock.common import Configuration, Row, RowKind
from penstock.common.errors import JobExecutionError
from penstock.common.time import Instant
from penstock.common.typeinfo import Types
from penstock.connectors.base import DeliveryGuarantee
from penstock.connectors.jdbc import session as jdbc_session
from penstock.connectors.jdbc.committing import EpochCommitter
from penstock.connectors.jdbc.targets import StatementTarget
from penstock.connectors.jdbc.writing import FEW_ROWS, RowsOfEpoch, StagedRows, stage_prefix
from penstock.datastream import MapFunction, StreamExecutionEnvironment
from penstock.datastream.connectors.jdbc import JdbcConnectionOptions, JdbcExecutionOptions, JdbcSink, JdbcTableSink
from penstock.engines.local.executor import LocalExecutor
from penstock.functions.sink import CommitterContext

PAIR = Types.ROW_NAMED(["k", "v"], [Types.INT(), Types.LONG()])
EXACTLY, AT_LEAST = DeliveryGuarantee.EXACTLY_ONCE, DeliveryGuarantee.AT_LEAST_ONCE


@pytest.fixture(params=KINDS)
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Database:
    return database_of(request.param, request, tmp_path / "data.sqlite")


class FailsOnce(MapFunction):
    """Raises at one record of the first attempt."""

    def __init__(self, at: int) -> None:
        self._at = at

    def open(self, runtime_context: Any) -> None:
        self._attempt = runtime_context.get_attempt_number()

    def map(self, value: Any) -> Any:
        if self._attempt == 0 and value[0] == self._at:
            raise ValueError("once")
        return value


def restarting_env(epoch_records: int, parallelism: int = 2) -> StreamExecutionEnvironment:
    configuration = Configuration()
    configuration.set_string("restart-strategy.type", "fixed-delay")
    configuration.set_string("restart-strategy.fixed-delay.delay", "0 s")
    env = StreamExecutionEnvironment(configuration, executor=LocalExecutor(epoch_records))
    env.set_parallelism(parallelism)
    return env


def sink_of(database: Database, text: str, guarantee: DeliveryGuarantee, batch_size: int = 5000) -> JdbcSink:
    make = JdbcSink.exactly_once_sink if guarantee is EXACTLY else JdbcSink.sink
    return make(text, PAIR, database.options, JdbcExecutionOptions.builder().with_batch_size(batch_size).build())


@pytest.mark.parametrize("guarantee", [EXACTLY, AT_LEAST])
@pytest.mark.parametrize("records", [7, 3 * FEW_ROWS])
def test_rows_arrive(
    local_env: EnvironmentFactory, database: Database, guarantee: DeliveryGuarantee, records: int
) -> None:
    database.make("pairs", "k int, v bigint")
    rows = [Row(n, n * n) for n in range(records)]
    stream = local_env(2, epoch_records=2 * records // 3).from_collection(rows, PAIR)
    stream.add_sink(sink_of(database, "insert into pairs (k, v) values (?, ?)", guarantee, batch_size=100))
    stream.get_execution_environment().execute()
    assert sorted(database.query("select k, v from pairs")) == [(n, n * n) for n in range(records)]


@pytest.mark.parametrize("records", [60, 6 * FEW_ROWS])
def test_a_failure_between_epochs_neither_loses_nor_repeats(database: Database, records: int) -> None:
    database.make("totals", "k int primary key, v bigint")
    env = restarting_env(records // 3)
    rows = env.from_collection([Row(n, 1) for n in range(records)], PAIR)
    totals = rows.map(FailsOnce(records // 2), PAIR).map(lambda row: Row(row[0] % 3, 1), PAIR)
    # Adding up shows each repetition.
    totals.add_sink(sink_of(database, f"insert into totals (k, v) values (?, ?) {database.upsert_tail}", EXACTLY))
    env.execute()
    assert sorted(database.query("select k, v from totals")) == [(n, records // 3) for n in range(3)]
    if database.kind == "postgresql":
        assert database.query("select tablename from pg_tables where tablename like 'penstock\\_stage%'") == []


def test_statements_that_are_no_inserts(postgres: PostgresServer) -> None:
    database = postgres_database(postgres)
    database.make("pairs", "k int, v bigint")
    database.query("insert into pairs select n, 0 from generate_series(0, 9) n")
    env = restarting_env(2_000)
    rows = env.from_collection([Row(n, n % 10) for n in range(4_000)], PAIR)
    rows.add_sink(sink_of(database, "update pairs set v = v + 1 where v < ? + 4000 and k = ?", EXACTLY))
    env.execute()
    assert sorted(database.query("select k, v from pairs")) == [(n, 400) for n in range(10)]


@pytest.mark.parametrize("engine", ["MyISAM", "InnoDB"])
def test_a_table_without_transactions_is_not_written_exactly_once(
    local_env: EnvironmentFactory, request: pytest.FixtureRequest, tmp_path: Path, engine: str
) -> None:
    database = database_of("mariadb", request, tmp_path)
    database.query("drop table if exists plain")
    database.query(f"create table plain (k int, v bigint) engine = {engine}")
    stream = local_env().from_collection([Row(1, 1)], PAIR)
    stream.add_sink(sink_of(database, "insert into `plain` (k, v) values (?, ?)", EXACTLY))
    with pytest.raises(JobExecutionError, match="MyISAM") if engine == "MyISAM" else contextlib.nullcontext():
        stream.get_execution_environment().execute()
    assert len(database.query("select k, v from plain")) == (0 if engine == "MyISAM" else 1)


@pytest.mark.parametrize("guarantee", [EXACTLY, AT_LEAST])
@pytest.mark.parametrize("records", [7, 2 * FEW_ROWS])
@pytest.mark.parametrize(
    "statement",
    [
        "insert into pairs_view (k, v) values (?, ?)",
        "insert into pairs (k, v) values (?, ?) returning k",
        "insert into pairs (k, v) values (?, ? + 0); -- all of them",
    ],
)
def test_many_rows_mean_the_same_as_few(
    local_env: EnvironmentFactory, postgres: PostgresServer, statement: str, records: int, guarantee: DeliveryGuarantee
) -> None:
    """Whatever is done with a statement to load many rows at once."""
    database = postgres_database(postgres)
    database.query("drop view if exists pairs_view")
    database.make("pairs", "k int, v bigint")
    database.query("create view pairs_view as select k, v from pairs")
    stream = local_env().from_collection([Row(n, n * n) for n in range(records)], PAIR)
    stream.add_sink(sink_of(database, statement, guarantee))
    stream.get_execution_environment().execute()
    assert sorted(database.query("select k, v from pairs")) == [(n, n * n) for n in range(records)]
    database.query("drop view pairs_view")


@pytest.mark.parametrize("guarantee", [EXACTLY, AT_LEAST])
@pytest.mark.parametrize("epoch_records", [200, 1_500])
def test_a_table_follows_a_changelog(database: Database, guarantee: DeliveryGuarantee, epoch_records: int) -> None:
    database.make("pairs", "k int primary key, v bigint")
    chance = random.Random(epoch_records)
    expected: dict[int, int] = {}
    changes = []
    for n in range(3_000):
        key = chance.randrange(50)
        if key in expected and chance.random() < 0.3:
            changes.append(Row.of_kind(RowKind.DELETE, key, expected.pop(key)))
        elif key in expected:
            changes.append(Row.of_kind(RowKind.UPDATE_BEFORE, key, expected[key]))
            changes.append(Row.of_kind(RowKind.UPDATE_AFTER, key, n))
            expected[key] = n
        else:
            changes.append(Row.of_kind(RowKind.INSERT, key, n))
            expected[key] = n
    env = restarting_env(epoch_records, parallelism=1)
    stream = env.from_collection(changes, PAIR)
    stream.sink_to(JdbcTableSink(database.options, "pairs", ["k", "v"], ["k"], guarantee))
    env.execute()
    assert dict(database.query("select k, v from pairs")) == expected


def test_a_changelog_needs_a_key(local_env: EnvironmentFactory, postgres: PostgresServer) -> None:
    database = postgres_database(postgres)
    database.make("pairs", "k int, v bigint")
    stream = local_env().from_collection([Row.of_kind(RowKind.DELETE, 1, 1)], PAIR)
    stream.sink_to(JdbcTableSink(database.options, "pairs", ["k", "v"]))
    with pytest.raises(JobExecutionError, match="written without a key"):
        stream.get_execution_environment().execute()


@pytest.mark.parametrize("repeat", [1, 200])
def test_values_of_all_types(local_env: EnvironmentFactory, database: Database, repeat: int) -> None:
    types = {
        "postgresql": "s text, b boolean, d float8, n numeric(10, 2), day date, at timestamp, i timestamptz, r bytea",
        "mariadb": "s text, b boolean, d double, n decimal(10, 2), day date, at datetime(3), i timestamp(3), r blob",
        "sqlite": "s text, b boolean, d double, n text, day text, at text, i text, r blob",
    }
    database.make("every", types[database.kind])
    declared = Types.ROW(
        [
            Types.STRING(), Types.BOOLEAN(), Types.DOUBLE(), Types.BIG_DEC(), Types.SQL_DATE(), Types.SQL_TIMESTAMP(),
            Types.INSTANT(), Types.PRIMITIVE_ARRAY(Types.BYTE()),
        ]
    )  # fmt: skip
    at = datetime.datetime(2024, 5, 6, 7, 8, 9, 250_000)
    row = Row("it's\t?%s\\", True, 0.5, Decimal("12.34"), at.date(), at, Instant(1_700_000_000, 500_000_000), b"\0\xff")
    nothing = Row(*[None] * 8)
    stream = local_env().from_collection([row, nothing] * repeat, declared)
    sink = JdbcSink.sink("insert into every values (?, ?, ?, ?, ?, ?, ?, ?)", declared, database.options)
    stream.add_sink(sink)
    stream.get_execution_environment().execute()
    found = database.query("select s, b, d, n, day, at, r from every where s is not null")
    assert len(found) == repeat
    text, flag, number, amount, day, moment, raw = found[0]
    assert (text, bool(flag), number, Decimal(amount), bytes(raw)) == (
        "it's\t?%s\\",
        True,
        0.5,
        Decimal("12.34"),
        b"\0\xff",
    )
    assert (str(day), str(moment)[:23]) == ("2024-05-06", "2024-05-06 07:08:09.250")
    instant = database.query("select i from every where s is not null")[0][0]
    assert "2023-11-14 22:13:20.5" in str(
        instant.astimezone(datetime.UTC) if database.kind == "postgresql" else instant
    )
    assert database.query("select count(*) from every where s is null and i is null and r is null") == [(repeat,)]


@pytest.mark.in_this_process
def test_a_database_that_is_away_is_named_and_its_password_is_not(
    local_env: EnvironmentFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[float] = []
    monkeypatch.setattr(jdbc_session, "CONNECT_RETRIES", 2)
    monkeypatch.setattr("penstock.connectors.reaching.time.sleep", pauses.append)
    options = JdbcConnectionOptions("jdbc:postgresql://127.0.0.1:1/shop?password=hush", "me")
    stream = local_env().from_collection([Row(1, 1)], PAIR)
    stream.add_sink(JdbcSink.sink("insert into t values (?, ?)", PAIR, options))
    with pytest.raises(JobExecutionError) as failure:
        stream.get_execution_environment().execute()
    assert "PostgreSQL at 127.0.0.1:1, database 'shop', user 'me' is away, after 3 attempts" in str(failure.value)
    assert "hush" not in str(failure.value)


@pytest.mark.parametrize("guarantee", [EXACTLY, AT_LEAST])
@pytest.mark.parametrize("records", [1, 3 * FEW_ROWS])
def test_what_a_table_refuses_is_said_with_its_name(
    local_env: EnvironmentFactory, database: Database, guarantee: DeliveryGuarantee, records: int
) -> None:
    database.make("pairs", "k int primary key, v bigint")
    stream = local_env().from_collection([Row(n, n) for n in range(records)] + [Row(1, 1)] * 2, PAIR)
    stream.add_sink(sink_of(database, "insert into pairs (k, v) values (?, ?)", guarantee))
    with pytest.raises(JobExecutionError, match=r"database.*, writing \d+ rows into pairs:"):
        stream.get_execution_environment().execute()


def test_a_wrong_password_is_not_tried_again(local_env: EnvironmentFactory, postgres: PostgresServer) -> None:
    options = JdbcConnectionOptions(postgres.jdbc_url, USER, "wr0ng-w0rd")
    stream = local_env().from_collection([Row(1, 1)], PAIR)
    stream.add_sink(JdbcSink.exactly_once_sink("insert into t values (?, ?)", PAIR, options))
    with pytest.raises(JobExecutionError, match="does not let us in: .*authentication failed") as failure:
        stream.get_execution_environment().execute()
    assert "wr0ng-w0rd" not in str(failure.value)


def test_an_epoch_that_is_committed_already_is_left_alone(postgres: PostgresServer) -> None:
    database = postgres_database(postgres)
    database.make("pairs", "k int, v bigint")
    target = StatementTarget("insert into pairs values (?, ?)", PAIR)
    context = CommitterContext("again" * 6, "sink", "sink")
    for _ in range(2):  # two drivers, one after the other
        committer = EpochCommitter(database.options.address, target, context, 0)
        committer.open()
        committer.commit(4, [RowsOfEpoch([(1, 1)], "a")])
        committer.commit(4, [RowsOfEpoch([(1, 1)], "a")])
        committer.close()
    assert database.query("select k, v from pairs") == [(1, 1)]
    committer = EpochCommitter(database.options.address, target, context, 0)
    with pytest.raises(JobExecutionError, match="must not be dropped"):
        committer.commit(5, [RowsOfEpoch([(2, 2)]), StagedRows("penstock_stage_gone", 3)])
    committer.close()
    assert database.query("select k, v from pairs") == [(1, 1)]


def test_a_job_that_begins_anew_under_its_old_id_does_not_lose_its_rows(database: Database) -> None:
    """Its files are gone, so that it counts its epochs from the first one."""
    database.make("pairs", "k int, v bigint")
    database.query("drop table if exists penstock_epochs")
    database.query(
        "create table penstock_epochs (owner varchar(512) primary key, epoch bigint not null)"
    )  # the old form
    target = StatementTarget("insert into pairs values (?, ?)", PAIR)
    context = CommitterContext("anew" * 8, "sink", "sink")
    committer = EpochCommitter(database.options.address, target, context, 0)
    committer.open()
    committer.commit(2, [RowsOfEpoch([(1, 1)], "a")])
    for epoch in (1, 2):
        with pytest.raises(JobExecutionError, match="give another --job-id"):
            committer.commit(epoch, [RowsOfEpoch([(2, 2)], "b")])
    committer.commit(3, [RowsOfEpoch([(3, 3)], "c")])
    committer.close()
    assert sorted(database.query("select k, v from pairs")) == [(1, 1), (3, 3)]


def test_a_job_that_is_cancelled_leaves_no_tables(postgres: PostgresServer, caplog: pytest.LogCaptureFixture) -> None:
    database = postgres_database(postgres)
    database.make("pairs", "k int, v bigint")
    target = StatementTarget("insert into pairs values (?, ?)", PAIR)
    mine, another = (f"{stage_prefix(job * 3, 'sink')}abc" for job in ("cancelled", "another"))
    for table in (mine, another):
        database.query(f"create table {table} (k int)")
    committer = EpochCommitter(database.options.address, target, CommitterContext("cancelled" * 3, "sink", "sink"), 0)
    committer.conclude()
    committer.close()
    assert database.query("select tablename from pg_tables where tablename like '%abc'") == [(another,)]
    database.query(f"drop table {another}")
    away = JdbcConnectionOptions("jdbc:postgresql://127.0.0.1:1/shop", USER, "hush").address
    EpochCommitter(away, target, CommitterContext("away" * 8, "sink", "sink"), 0).conclude()
    assert "could not be dropped" in caplog.text and "hush" not in caplog.text
