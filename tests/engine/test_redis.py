"""A real Redis at the end of a stream, and beside it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import redis as redis_client
from tests.conftest import EnvironmentFactory
from tests.engine.connector_pages import ConnectorPage
from tests.services.redis import PASSWORD, redis_server

from penstock.common import Row, RowKind
from penstock.common.errors import JobExecutionError, NotSupportedError, ProgramError
from penstock.common.time import Instant
from penstock.common.typeinfo import TypeInformation, Types
from penstock.connectors.redis.lookup import RedisLookupFunction
from penstock.connectors.redis.options import RedisOptions
from penstock.connectors.redis.sink import RedisSink
from penstock.table import StreamTableEnvironment

USER = Types.ROW_NAMED(["id", "name", "age", "active"], [Types.INT(), Types.STRING(), Types.LONG(), Types.BOOLEAN()])


@pytest.fixture(scope="module")
def options() -> Iterator[RedisOptions]:
    with redis_server() as port:
        yield RedisOptions("127.0.0.1", port, password=PASSWORD)


def client(options: RedisOptions) -> redis_client.Redis:
    return redis_client.Redis(port=options.port, password=PASSWORD, decode_responses=True)


def test_commands(local_env: EnvironmentFactory, options: RedisOptions) -> None:
    env = local_env(2, epoch_records=30)
    numbers = env.from_collection(list(range(3_000)), Types.INT())
    numbers.sink_to(RedisSink(options, lambda n: ("SADD", f"rest {n % 2}", n)))
    env.execute()
    assert [client(options).scard(f"rest {rest}") for rest in (0, 1)] == [1_500, 1_500]


def test_rows_are_hashes_and_can_be_looked_up(local_env: EnvironmentFactory, options: RedisOptions) -> None:
    rows = [
        Row(1, "Ann", 40, True),
        Row(2, "Bob", None, False),
        Row.of_kind(RowKind.UPDATE_AFTER, 1, "Anna", None, True),
        Row(3, "Eve", 1, True),
        Row.of_kind(RowKind.DELETE, 3, "Eve", 1, True),
    ]
    env = local_env()
    env.from_collection(rows, USER).sink_to(RedisSink(options, key=["id"], prefix="user:"))
    env.execute()
    assert client(options).hgetall("user:1") == {"id": "1", "name": "Anna", "active": "true"}
    lookup = RedisLookupFunction(options, USER, ["id"], "user:")
    lookup.open()
    found = lookup.lookup([(2,), (3,), (1,), (2,)])
    lookup.close()
    bob = Row(id=2, name="Bob", age=None, active=False)
    assert found == [[bob], [], [Row(id=1, name="Anna", age=None, active=True)], [bob]]


def test_what_goes_wrong_is_said(local_env: EnvironmentFactory, options: RedisOptions) -> None:
    with pytest.raises(ProgramError, match="either a function"):
        RedisSink(options)
    wrong = RedisOptions("127.0.0.1", options.port, password="wr0ng-w0rd")
    env = local_env()
    env.from_collection([1], Types.INT()).sink_to(RedisSink(wrong, lambda n: ("SET", "a", n)))
    with pytest.raises(
        JobExecutionError, match=r"Redis at 127.0.0.1:\d+, database 0: .*invalid username-password"
    ) as failure:
        env.execute()
    assert "wr0ng-w0rd" not in f"{failure.value} {wrong!r}"


@pytest.mark.parametrize(
    ("record", "type_info", "message"),
    [
        (
            Row(None, b""),
            Types.ROW_NAMED(["id", "raw"], [Types.INT(), Types.PRIMITIVE_ARRAY(Types.BYTE())]),
            "needs a value in",
        ),
        (
            Row(1, b""),
            Types.ROW_NAMED(["no", "raw"], [Types.INT(), Types.PRIMITIVE_ARRAY(Types.BYTE())]),
            "needs a value in",
        ),
        ("Ann", Types.STRING(), "takes rows with names"),
    ],
)
def test_rows_without_a_key_are_refused(
    local_env: EnvironmentFactory, options: RedisOptions, record: Any, type_info: TypeInformation, message: str
) -> None:
    env = local_env()
    env.from_collection([record], type_info).sink_to(RedisSink(options, key=["id"]))
    with pytest.raises(JobExecutionError, match=message):
        env.execute()


def test_what_is_no_command_is_refused(local_env: EnvironmentFactory, options: RedisOptions) -> None:
    env = local_env()
    env.from_collection([1], Types.INT()).sink_to(RedisSink(options, lambda n: f"SET a {n}"))  # type: ignore[arg-type, return-value]
    with pytest.raises(JobExecutionError, match="it has made 'SET a 1'"):
        env.execute()


def test_bytes_stay_bytes(local_env: EnvironmentFactory, options: RedisOptions) -> None:
    row_type = Types.ROW_NAMED(["id", "raw"], [Types.INT(), Types.PRIMITIVE_ARRAY(Types.BYTE())])
    env = local_env()
    env.from_collection([Row(1, b"\xff\x00\xfe")], row_type).sink_to(RedisSink(options, key=["id"], prefix="raw:"))
    env.execute()
    lookup = RedisLookupFunction(options, row_type, ["id"], "raw:")
    lookup.open()
    assert lookup.lookup([(1,), (None,)]) == [[Row(id=1, raw=b"\xff\x00\xfe")], []]
    lookup.close()


def test_a_table_of_sql_is_written_and_looked_up(local_env: EnvironmentFactory, options: RedisOptions) -> None:
    t_env = StreamTableEnvironment.create(local_env(1))
    t_env.execute_sql(
        "CREATE TABLE stock (shop STRING, good INT, pieces BIGINT, fresh BOOLEAN,"
        " PRIMARY KEY (shop, good) NOT ENFORCED) WITH ('connector' = 'redis', 'hostname' = '127.0.0.1',"
        f" 'port' = '{options.port}', 'password' = '{PASSWORD}', 'key-prefix' = 'stock:')"
    )
    t_env.execute_sql(
        "INSERT INTO stock SELECT shop, good, COUNT(*), TRUE FROM (VALUES ('a', 1), ('b', 1), ('a', 1))"
        " AS T(shop, good) GROUP BY shop, good"
    ).wait()
    assert client(options).hgetall("stock:a:1")["pieces"] == "2"
    t_env.execute_sql(
        "CREATE TEMPORARY VIEW asked AS SELECT *, PROCTIME() AS proc"
        " FROM (VALUES (1, 'a', 2), (1, 'b', 2), (2, 'a', 2)) AS T(g, s, p)"
    )
    joined = "FROM asked LEFT JOIN stock FOR SYSTEM_TIME AS OF asked.proc AS k ON k.good = asked.g"
    with t_env.execute_sql(f"SELECT g, s, pieces, fresh {joined} AND k.shop = asked.s").collect() as found:
        assert [tuple(row) for row in found] == [(1, "a", 2, True), (1, "b", 1, True), (2, "a", None, None)]
    more = f"SELECT s {joined} AND k.shop = asked.s AND k.pieces = asked.p WHERE pieces IS NOT NULL"
    with t_env.execute_sql(more).collect() as found:
        assert [tuple(row) for row in found] == [("a",)]
    with pytest.raises(ProgramError, match="whole PRIMARY KEY"):
        t_env.execute_sql(f"SELECT g {joined}")
    with pytest.raises(NotSupportedError, match="cannot be read from"):
        t_env.execute_sql("SELECT * FROM stock")


def test_the_program_of_the_page(
    local_env: EnvironmentFactory, options: RedisOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = ConnectorPage("redis", local_env(2), monkeypatch)
    page.run({'"localhost", 6379, password="secret"': f'"127.0.0.1", {options.port}, password="{PASSWORD}"'})
    assert client(options).hgetall("user:1") == {"id": "1", "name": "Ann"}
    assert client(options).smembers("names") == {"Ann", "Bob"}


def test_different_keys_have_different_names(local_env: EnvironmentFactory, options: RedisOptions) -> None:
    row_type = Types.ROW_NAMED(["a", "b", "n"], [Types.STRING(), Types.STRING(), Types.INT()])
    rows = [Row("x:y", "z", 1), Row("x", "y:z", 2), Row("x\\", "y", 3), Row("x", "\\:y", 4), Row("", "x:y:z", 5)]
    env = local_env()
    env.from_collection(rows, row_type).sink_to(RedisSink(options, key=["a", "b"], prefix="pair:"))
    env.execute()
    lookup = RedisLookupFunction(options, row_type, ["a", "b"], "pair:")
    lookup.open()
    found = lookup.lookup([(row[0], row[1]) for row in rows])
    lookup.close()
    assert [[row.n for row in each] for each in found] == [[1], [2], [3], [4], [5]]


def test_points_in_time_come_back(local_env: EnvironmentFactory, options: RedisOptions) -> None:
    row_type = Types.ROW_NAMED(["id", "at"], [Types.INT(), Types.INSTANT()])
    at = Instant(1_719_835_200, 5_000_000)
    env = local_env()
    env.from_collection([Row(1, at)], row_type).sink_to(RedisSink(options, key=["id"], prefix="at:"))
    env.execute()
    lookup = RedisLookupFunction(options, row_type, ["id"], "at:")
    lookup.open()
    assert lookup.lookup([(1,)]) == [[Row(id=1, at=at)]]
    lookup.close()
