"""Reading real databases: every row once, also when the job fails in the middle; and looking rows up by key."""

from __future__ import annotations

import datetime
import re
from decimal import Decimal
from pathlib import Path

import pytest
from tests.conftest import EnvironmentFactory
from tests.engine.test_jdbc_sink import FailsOnce, restarting_env
from tests.services.databases import KINDS, Database, database_of, postgres_database
from tests.services.postgres import PASSWORD, USER, PostgresServer
from tests.services.processes import wait_until

from penstock.common import Row, WatermarkStrategy
from penstock.common.errors import JobExecutionError, ProgramError
from penstock.common.typeinfo import Types
from penstock.connectors.jdbc.source import PartOfQuery, cuts_between
from penstock.datastream.connectors.jdbc import JdbcConnectionOptions, JdbcLookupFunction, JdbcSource

PAIR = Types.ROW_NAMED(["k", "v"], [Types.INT(), Types.STRING()])
NO_WATERMARKS = WatermarkStrategy.no_watermarks()


@pytest.fixture(params=KINDS)
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Database:
    found = database_of(request.param, request, tmp_path / "data.sqlite")
    found.make("pairs", "k int, v varchar(20)")
    # Rows that are equal to each other, and some without a key.
    values = [f"({number // 2 if number < 90 else 'null'}, 'v{number % 5}')" for number in range(100)]
    found.query(f"insert into pairs values {', '.join(values)}")
    return found


EXPECTED = sorted((str(n // 2 if n < 90 else None), f"v{n % 5}") for n in range(100))


@pytest.mark.parametrize("partitions", [1, 4])
def test_every_row_is_read_once(local_env: EnvironmentFactory, database: Database, partitions: int) -> None:
    column = "k" if partitions > 1 else None
    source = JdbcSource(database.options, PAIR, table="pairs", partition_column=column, partitions=partitions)
    rows = local_env(2, epoch_records=7, forget=True).from_source(source, NO_WATERMARKS, "pairs").execute_and_collect()
    assert sorted((str(row.k), row.v) for row in rows) == EXPECTED


def test_a_part_goes_on_where_it_was(database: Database) -> None:
    query = "select k, v from pairs where v like 'v%' -- ?"
    source = JdbcSource(database.options, PAIR, query=query, partition_column="k", partitions=2, upper=20, lower=5)
    env = restarting_env(epoch_records=9)
    rows = env.from_source(source, NO_WATERMARKS, "pairs").map(FailsOnce(30), PAIR).execute_and_collect()
    assert sorted((str(row.k), row.v) for row in rows) == EXPECTED


@pytest.mark.parametrize("partitions", [1, 3])
def test_signs_in_the_query_are_no_parameters(
    local_env: EnvironmentFactory, database: Database, partitions: int
) -> None:
    query = "select k, v from pairs where v like '%4' and v <> '?' and v <> '%s'"
    source = JdbcSource(database.options, PAIR, query=query, partition_column="k", partitions=partitions)
    rows = local_env(2, epoch_records=7, forget=True).from_source(source, NO_WATERMARKS, "pairs").execute_and_collect()
    assert sorted((str(row.k), row.v) for row in rows) == [pair for pair in EXPECTED if pair[1] == "v4"]


def test_texts_are_not_cut_into_parts(local_env: EnvironmentFactory, database: Database) -> None:
    source = JdbcSource(database.options, PAIR, table="pairs", partition_column="v", partitions=2)
    with pytest.raises(JobExecutionError, match="cannot cut the values of 'v' from 'v0' to 'v4' into parts"):
        list(local_env().from_source(source, NO_WATERMARKS, "pairs").execute_and_collect())


def test_a_value_that_does_not_fit_its_type_is_named_with_its_column(
    local_env: EnvironmentFactory, database: Database
) -> None:
    row_type = Types.ROW_NAMED(["k", "v"], [Types.INT(), Types.LONG()])
    source = JdbcSource(database.options, row_type, table="pairs")
    with pytest.raises(JobExecutionError, match=r"The column 'v' has the value 'v\d', which cannot be read as"):
        list(local_env().from_source(source, NO_WATERMARKS, "pairs").execute_and_collect())


def test_what_cannot_be_read_is_said_with_the_place(local_env: EnvironmentFactory, database: Database) -> None:
    source = JdbcSource(database.options, PAIR, table="nowhere")
    with pytest.raises(JobExecutionError, match=f"{re.escape(str(database.options.address))}.*nowhere"):
        list(local_env().from_source(source, NO_WATERMARKS, "pairs").execute_and_collect())


def test_a_server_that_starts_again_is_read_on(postgres: PostgresServer) -> None:
    database = postgres_database(postgres)
    database.make("pairs", "k int, v varchar(20)")
    database.query("insert into pairs select n, 'v' from generate_series(0, 99) n")
    reader = JdbcSource(database.options, PAIR, table="pairs").create_reader(None)  # type: ignore[arg-type]
    reader.add_split(PartOfQuery("all", 0), 0)
    keys: list[int] = []
    while (fetch := reader.fetch(30)) is not None and not fetch.finished:
        keys += [row.k for row in fetch.records]
        if len(keys) == 60:
            postgres.stop()
            postgres.start()
    reader.close()
    assert keys == list(range(100))


def test_rows_are_found_by_key(database: Database) -> None:
    lookup = JdbcLookupFunction(database.options, "pairs", PAIR, ["k"])
    lookup.open()
    found = lookup.lookup([(3,), (99,), (None,), (3,)])
    assert [sorted(row.v for row in rows) for rows in found] == [["v1", "v2"], [], [], ["v1", "v2"]]
    lookup.close()
    both = JdbcLookupFunction(database.options, "pairs", PAIR, ["v", "k"])
    both.open()
    assert both.lookup([("v1", 3), ("v1", 4)]) == [[Row(k=3, v="v1")], []]
    both.close()


@pytest.mark.parametrize(
    "lower, upper, parts, cuts",
    [
        (0, 10, 2, [5]),
        (0, 2, 4, [1]),
        (5, 5, 4, []),
        (None, None, 4, []),
        (Decimal(0), Decimal(3), 3, [Decimal(1), Decimal(2)]),
        (datetime.date(2024, 1, 1), datetime.date(2024, 1, 5), 2, [datetime.date(2024, 1, 3)]),
        (datetime.datetime(2024, 1, 1), datetime.datetime(2024, 1, 2), 2, [datetime.datetime(2024, 1, 1, 12)]),
    ],
)
def test_ranges(lower: object, upper: object, parts: int, cuts: list[object]) -> None:
    assert cuts_between(lower, upper, parts) == cuts


def test_what_cannot_be_read_is_refused(database: Database) -> None:
    for settings in ({}, {"table": "a", "query": "b"}, {"table": "a", "partitions": 2}):
        with pytest.raises(ProgramError):
            JdbcSource(database.options, PAIR, **settings)  # type: ignore[arg-type]
    with pytest.raises(ProgramError, match="ROW_NAMED"):
        JdbcSource(database.options, Types.ROW([Types.INT()]), table="a")


def test_a_server_that_ends_idle_transactions_is_read_on(postgres: PostgresServer) -> None:
    database = postgres_database(postgres)
    database.make("pairs", "k int, v varchar(20)")
    database.query("insert into pairs select n, 'v' from generate_series(0, 99) n")
    options = JdbcConnectionOptions(
        f"{postgres.jdbc_url}?options=-cidle_in_transaction_session_timeout=200", USER, PASSWORD
    )
    reader = JdbcSource(options, PAIR, table="pairs").create_reader(None)  # type: ignore[arg-type]
    reader.add_split(PartOfQuery("all", 0), 0)
    keys: list[int] = []
    idle = "select count(*) from pg_stat_activity where application_name = 'penstock'"
    while (fetch := reader.fetch(30)) is not None and not fetch.finished:
        keys += [row.k for row in fetch.records]
        wait_until(lambda: database.query(idle) == [(0,)], "the server to end the transaction", 10)
    reader.close()
    assert keys == list(range(100))
