"""Values on their way into databases and back: the same in both directions, and whatever there is, no other one."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import EnvironmentFactory
from tests.engine.test_jdbc_sink import PAIR
from tests.services.databases import KINDS, Database, database_of, postgres_database
from tests.services.mariadb import MariaDbServer
from tests.services.postgres import PASSWORD, USER, PostgresServer

from penstock.common import Row, WatermarkStrategy
from penstock.common.errors import JobExecutionError
from penstock.common.time import Instant
from penstock.common.typeinfo import TypeInformation, Types
from penstock.connectors.jdbc.writing import FEW_ROWS
from penstock.datastream.connectors.jdbc import (
    JdbcConnectionOptions,
    JdbcLookupFunction,
    JdbcSink,
    JdbcSource,
    JdbcTableSink,
)
from penstock.table import StreamTableEnvironment

BERLIN = datetime.timezone(datetime.timedelta(hours=2))
SUMMER = datetime.datetime(2024, 7, 1, 12, 0, 0, 123000)


@pytest.fixture(params=KINDS)
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    found = database_of(request.param, request, tmp_path / "data.sqlite")
    if found.kind == "postgresql":
        found.query(f"alter role {USER} set timezone to 'Asia/Kolkata'")
    yield found
    if found.kind == "postgresql":
        found.query(f"alter role {USER} reset all")


def read(options: JdbcConnectionOptions, query: str, type_info: TypeInformation) -> list[Any]:
    reader = JdbcSource(options, Types.ROW_NAMED(["c"], [type_info]), query=query).create_reader(None)  # type: ignore[arg-type]
    from penstock.connectors.jdbc.source import PartOfQuery

    reader.add_split(PartOfQuery("all", 0), 0)
    found: list[Any] = []
    try:
        while (fetch := reader.fetch(100)) is not None:
            found += [row.c for row in fetch.records]
    finally:
        reader.close()
    return found


@pytest.mark.parametrize("copies", [1, FEW_ROWS])
@pytest.mark.parametrize("make", [JdbcSink.sink, JdbcSink.exactly_once_sink])
def test_times_come_back_as_they_went(
    local_env: EnvironmentFactory, database: Database, copies: int, make: Any
) -> None:
    types = {
        "postgresql": ("timestamp", "timestamptz"),
        "mariadb": ("datetime(6)", "timestamp(6)"),
        "sqlite": ("text", "text"),
    }
    plain, zoned = types[database.kind]
    database.make("moments", f"a {plain}, b {zoned}, c {plain}, d {zoned}, e {plain}")
    moment, instant = Types.SQL_TIMESTAMP(), Types.INSTANT()
    at = Instant(1_719_835_200, 123_000_000)
    written = Types.ROW_NAMED(list("abcde"), [moment, moment, instant, instant, Types.PICKLED_BYTE_ARRAY()])
    rows = [Row(SUMMER, SUMMER, at, at, SUMMER.replace(hour=14, tzinfo=BERLIN))] * copies
    env = local_env()
    env.from_collection(rows, written).add_sink(
        make("insert into moments values (?, ?, ?, ?, ?)", written, database.options)
    )
    env.execute()
    row_type = Types.ROW_NAMED(list("abcde"), [moment, moment, instant, instant, moment])
    source = JdbcSource(database.options, row_type, table="moments")
    found = list(local_env().from_source(source, WatermarkStrategy.no_watermarks(), "m").execute_and_collect())
    assert found == [Row(a=SUMMER, b=SUMMER, c=at, d=at, e=SUMMER)] * copies


PECULIAR = [
    ("'24:00:00'::time", Types.SQL_TIME(), "24:00:00"),
    ("'infinity'::timestamp", Types.SQL_TIMESTAMP(), "infinity"),
    ("'-infinity'::date", Types.SQL_DATE(), "-infinity"),
    ("'0044-03-15 BC'::date", Types.SQL_DATE(), "0044-03-15 BC"),
    ("1.7::numeric", Types.INT(), "1.7"),
    ("1.7::float8", Types.LONG(), "1.7"),
    ("'NaN'::float8", Types.INT(), "nan"),
    ("'perhaps'", Types.BOOLEAN(), "perhaps"),
    ("'NaN'::numeric", Types.BIG_DEC(), "NaN"),
    ("1e300::float8", Types.FLOAT(), r"1e\+300"),
    ("'1_0'", Types.INT(), "1_0"),
    ("'2024-01-01junk'", Types.SQL_DATE(), "junk"),
]


@pytest.mark.parametrize(("value", "type_info", "named"), PECULIAR)
def test_what_has_no_place_in_a_type_is_named(
    postgres: PostgresServer, value: str, type_info: TypeInformation, named: str
) -> None:
    options = postgres_database(postgres).options
    with pytest.raises(JobExecutionError, match=f"The column 'c' has the value .*{named}.*, which cannot be read as"):
        read(options, f"select {value} as c", type_info)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("'1 mon'::interval", "1 mon"),
        ("'{\"a\": 12345678901234567890.123456789}'::jsonb", '{"a": 12345678901234567890.123456789}'),
        ("'infinity'::date", "infinity"),
        ("'24:00:00'::time", "24:00:00"),
        ("12345678901234567890.10::numeric", "12345678901234567890.10"),
        ("true", "true"),
    ],
)
def test_texts_have_what_the_database_shows(postgres: PostgresServer, value: str, text: str) -> None:
    assert read(postgres_database(postgres).options, f"select {value} as c", Types.STRING()) == [text]


def test_objects_of_json_are_read_as_maps(postgres: PostgresServer) -> None:
    options = postgres_database(postgres).options
    query = "select '{\"a\": 1}'::jsonb as c"
    assert read(options, query, Types.MAP(Types.STRING(), Types.INT())) == [{"a": 1}]


def test_bits_and_times_of_mysql(mariadb: MariaDbServer, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    database = database_of("mariadb", request, tmp_path)
    database.make("odd", "flag bit(1), few bit(8), length time")
    database.query("insert into odd values (0, 53, '25:00:00'), (1, 200, '-01:00:00')")
    assert read(database.options, "select flag c from odd", Types.BOOLEAN()) == [False, True]
    assert read(database.options, "select few c from odd", Types.INT()) == [53, 200]
    assert read(database.options, "select length c from odd", Types.STRING()) == ["-01:00:00", "25:00:00"]
    for length in ("few = 53", "few = 200"):
        with pytest.raises(JobExecutionError, match=r"column 'c' has the value .*no time of a day"):
            read(database.options, f"select length c from odd where {length}", Types.SQL_TIME())


def test_times_of_sql_keep_their_digits(
    local_env: EnvironmentFactory, postgres: PostgresServer, mariadb: MariaDbServer
) -> None:
    databases = {
        (postgres.jdbc_url, "postgresql"): ("timestamp", "timestamptz", postgres.execute),
        (mariadb.jdbc_url, "mysql"): ("datetime(6)", "timestamp(6)", mariadb.query),
    }
    for (url, _), (plain, zoned, run) in databases.items():
        run("drop table if exists digits")
        run(f"create table digits (a {plain}, b {zoned}, c {plain}, d {zoned})")
        t_env = StreamTableEnvironment.create(local_env())
        t_env.get_config().set_local_timezone("UTC")
        t_env.execute_sql(
            "CREATE TABLE digits (a TIMESTAMP(6), b TIMESTAMP_LTZ(6), c TIMESTAMP(3), d TIMESTAMP_LTZ(3)) WITH ("
            f"'connector' = 'jdbc', 'url' = '{url}', 'username' = '{USER}', 'password' = '{PASSWORD}',"
            " 'table-name' = 'digits')"
        )
        fine, coarse = "TIMESTAMP '2024-07-01 12:00:00.123456'", "TIMESTAMP '2024-07-01 12:00:00.123'"
        t_env.execute_sql(
            f"INSERT INTO digits VALUES ({fine}, CAST({fine} AS TIMESTAMP_LTZ(6)), {coarse},"
            f" CAST({coarse} AS TIMESTAMP_LTZ(3)))"
        ).wait()
        texts = ", ".join(f"CAST({column} AS STRING)" for column in "abcd")
        with t_env.execute_sql(f"SELECT {texts} FROM digits").collect() as found:
            assert [tuple(row) for row in found] == [
                ("2024-07-01 12:00:00.123456",) * 2 + ("2024-07-01 12:00:00.123",) * 2
            ]


@pytest.mark.parametrize("make", [JdbcSink.sink, JdbcSink.exactly_once_sink])
def test_mysql_does_not_cut_values_to_fit(
    local_env: EnvironmentFactory, mariadb: MariaDbServer, request: pytest.FixtureRequest, tmp_path: Path, make: Any
) -> None:
    database = database_of("mariadb", request, tmp_path)
    database.make("narrow", "k tinyint, v varchar(3)")
    row_type = Types.ROW([Types.INT(), Types.STRING()])
    (mode,) = database.query("select @@global.sql_mode")[0]
    admin = {"host": "127.0.0.1", "port": mariadb.port, "user": "root"}
    import pymysql

    with pymysql.connect(**admin) as connection, connection.cursor() as cursor:
        cursor.execute("set global sql_mode = ''")
    try:
        for row in (Row(1000, "a"), Row(1, "abcdef")):
            env = local_env()
            env.from_collection([row], row_type).add_sink(
                make("insert into narrow values (?, ?)", row_type, database.options)
            )
            with pytest.raises(JobExecutionError, match=r"MySQL at .*(Out of range|too long)"):
                env.execute()
    finally:
        with pymysql.connect(**admin) as connection, connection.cursor() as cursor:
            cursor.execute("set global sql_mode = %s", (mode,))
    assert database.query("select * from narrow") == []


@pytest.mark.parametrize("copies", [3, 2 * FEW_ROWS])
@pytest.mark.parametrize("make", [JdbcSink.sink, JdbcSink.exactly_once_sink])
def test_rows_without_a_key_do_not_replace_each_other(
    local_env: EnvironmentFactory, database: Database, copies: int, make: Any
) -> None:
    database.make("pairs", "k int unique, v bigint")
    tail = {
        "postgresql": "on conflict (k) do update set v = excluded.v",
        "mariadb": "on duplicate key update v = values(v)",
        "sqlite": "on conflict (k) do update set v = excluded.v",
    }[database.kind]
    rows = [Row(None, n) for n in range(copies)] + [Row(7, n) for n in range(copies)]
    env = local_env()
    env.from_collection(rows, PAIR).add_sink(
        make(f"insert into pairs (k, v) values (?, ?) {tail}", PAIR, database.options)
    )
    env.execute()
    assert sorted(database.query("select v from pairs where k is null")) == [(n,) for n in range(copies)]
    assert database.query("select v from pairs where k = 7") == [(copies - 1,)]


def test_a_changelog_without_keys_is_refused(local_env: EnvironmentFactory, database: Database) -> None:
    database.make("pairs", "k int unique, v bigint")
    env = local_env()
    env.from_collection([Row(1, 1), Row(None, 2)], PAIR).sink_to(
        JdbcTableSink(database.options, "pairs", ["k", "v"], ["k"])
    )
    with pytest.raises(JobExecutionError, match="a record has no value in 'k'"):
        env.execute()


@pytest.mark.parametrize("copies", [3, 2 * FEW_ROWS])
@pytest.mark.parametrize("make", [JdbcSink.sink, JdbcSink.exactly_once_sink])
def test_rules_of_a_table_see_every_row(
    local_env: EnvironmentFactory, postgres: PostgresServer, copies: int, make: Any
) -> None:
    database = postgres_database(postgres)
    database.query("drop table if exists noted cascade")
    database.make("noted", "k int, v bigint")
    database.make("pairs", "k int, v bigint")
    database.query("create rule note as on insert to pairs do also insert into noted values (new.k, new.v)")
    env = local_env()
    env.from_collection([Row(n, n) for n in range(copies)], PAIR).add_sink(
        make("insert into pairs values (?, ?)", PAIR, database.options)
    )
    env.execute()
    assert database.query("select count(*) from pairs") == database.query("select count(*) from noted") == [(copies,)]


def test_what_is_equal_is_the_databases_to_say(database: Database) -> None:
    """Padded texts, and texts that differ in capitals only."""
    key = {"postgresql": "char(5)", "mariadb": "varchar(5)", "sqlite": "text collate nocase"}[database.kind]
    database.make("named", f"k {key}, v int")
    database.query("insert into named values ('ann', 1), ('bob', 2), ('x?%s', 3)")
    row_type = Types.ROW_NAMED(["k", "v"], [Types.STRING(), Types.INT()])
    lookup = JdbcLookupFunction(database.options, "named", row_type, ["k"])
    lookup.open()
    asked = ("ann", "bob" if database.kind == "postgresql" else "BOB", "eve", "x?%s")
    found = lookup.lookup([(name,) for name in asked])
    assert [[row.v for row in rows] for rows in found] == [[1], [2], [], [3]]
    many = [(f"n{number}",) for number in range(1_000)]
    assert [rows for rows in lookup.lookup([*many, ("ann",)]) if rows] == [found[0]]
    lookup.close()


def test_texts_that_are_equal_have_an_order(
    mariadb: MariaDbServer, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """A part that goes on behind so many rows relies on it."""
    database = database_of("mariadb", request, tmp_path)
    database.make("named", "c varchar(5)")
    names = [first + second for first in "aA" for second in "bB"] * 50
    for start in (names, names[::-1]):
        database.query(
            "delete from named",
        )
        database.query("insert into named values " + ", ".join(f"('{name}')" for name in start))
        assert read(database.options, "select c from named", Types.STRING()) == sorted(names)


def test_a_file_that_is_not_there_is_not_made(local_env: EnvironmentFactory, tmp_path: Path) -> None:
    path = tmp_path / "nowhere.sqlite"
    options = JdbcConnectionOptions(f"jdbc:sqlite:{path}")
    env = local_env()
    env.from_source(JdbcSource(options, PAIR, table="pairs"), WatermarkStrategy.no_watermarks(), "pairs").print()
    with pytest.raises(JobExecutionError, match=f"There is no file {path}"):
        env.execute()
    assert not path.exists()


@pytest.mark.parametrize("bounds", [(0.5, float("inf")), (float("-inf"), float("inf")), (Decimal(1), Decimal("NaN"))])
def test_bounds_that_cannot_be_cut(bounds: tuple[Any, Any]) -> None:
    from penstock.connectors.jdbc.source import cuts_between

    assert cuts_between(*bounds, 4) == []
