"""JDBC's texts: URLs and statements with question marks."""

from __future__ import annotations

import pickle

import pytest

from penstock.common.errors import ConfigurationError, NotSupportedError, ProgramError
from penstock.common.typeinfo import Types
from penstock.connectors.jdbc.address import parse_url
from penstock.connectors.jdbc.dialect import dialect_of
from penstock.connectors.jdbc.postgresql_stage import plan_for
from penstock.connectors.jdbc.statement import Insert, Statement
from penstock.connectors.jdbc.targets import StatementTarget, TableTarget
from penstock.datastream.connectors.jdbc import JdbcConnectionOptions, JdbcExecutionOptions, JdbcSink

URL = "jdbc:postgresql://db.example:5433/shop"
PAIR = Types.ROW([Types.INT(), Types.STRING()])


def test_urls_are_taken_apart() -> None:
    address = parse_url(URL + "?user=me&password=hush&sslmode=require")
    assert (address.host, address.port, address.database, address.user) == ("db.example", 5433, "shop", "me")
    assert (address.password, address.properties) == ("hush", {"sslmode": "require"})
    assert parse_url(URL + "?user=me", "you").user == "you"
    assert parse_url("jdbc:postgresql:shop").host == "localhost"
    assert parse_url("jdbc:mariadb://h/shop").port == 3306
    assert parse_url("jdbc:sqlite:/data/shop.db").database == "/data/shop.db"


@pytest.mark.parametrize(
    "url",
    ["postgresql://h/db", "jdbc:postgresql://h", "jdbc:sqlite::memory:", "jdbc:mysql://a,b/db", "jdbc:mysql://h:x/db"],
)
def test_urls_that_name_no_database_are_refused(url: str) -> None:
    with pytest.raises(ConfigurationError):
        parse_url(url)


def test_other_databases_are_refused_with_a_way_out() -> None:
    with pytest.raises(NotSupportedError, match="docs/connectors-own.md"):
        parse_url("jdbc:oracle:thin:@h:1521/x")


def test_a_password_is_in_no_text() -> None:
    options = JdbcConnectionOptions(URL, "me", "hush")
    assert options.get_password() == "hush"
    assert "hush" not in f"{options!r} {options.address!r} {options.address}"
    assert pickle.loads(pickle.dumps(options)).get_password() == "hush"
    assert "hush" not in repr(parse_url(URL + "?sslpassword=hush"))


def test_a_login_within_a_url_may_be_encoded() -> None:
    address = parse_url("jdbc:mysql://m%65:hu%40sh@h/shop")
    assert (address.user, address.password) == ("me", "hu@sh")


def test_properties_that_nobody_reads_are_refused() -> None:
    address = parse_url(URL + "?loginTimeuot=3")
    with pytest.raises(ConfigurationError, match="loginTimeuot"):
        dialect_of(address).connect(address)


def test_question_marks_in_texts_names_and_comments_do_not_count() -> None:
    statement = Statement.parse("""update "a?" set b = '?''?', c = ? -- ?\n where d = ? /* ? */ and e like '5%'""")
    assert statement.parameters == 2
    assert "c = %s" in statement.with_marks("%s") and "'5%%'" in statement.with_marks("%s")
    assert statement.with_marks("?").count("?") == 7


@pytest.mark.parametrize(
    "text, insert",
    [
        ("insert into t values (?, ?)", Insert("t", None, "")),
        ('INSERT INTO s."T t" ("a", b) VALUES (? , ?);', Insert('s."T t"', ('"a"', "b"), "")),
        ("insert into t (a) values (?) on conflict do nothing", Insert("t", ("a",), "on conflict do nothing")),
        ("insert into t (a, b) values (?, 1)", None),
        ("insert into t (a) values (?) on conflict (a) do update set n = ?", None),
        ("update t set a = ? where b = ?", None),
    ],
)
def test_what_an_insert_says(text: str, insert: Insert | None) -> None:
    assert Statement.parse(text).insert == insert


def plan(text: str, fields: int = 2) -> str:
    dialect = dialect_of(parse_url(URL))
    found = plan_for(StatementTarget(text, Types.ROW([Types.INT()] * fields)), dialect)
    return "none" if found is None else "straight" if found.straight else found.commands[0]


def test_rows_are_loaded_as_the_statement_says() -> None:
    insert = "insert into t (k, v) values (?, ?)"
    assert plan(insert) == "straight"
    assert plan("insert into t values (?, ?)") == "straight"
    assert "DISTINCT" not in plan(f"{insert} on conflict (k) do nothing")
    assert "DISTINCT ON (k)" in plan(f"{insert} on conflict (k) do update set v = excluded.v")
    # The last row of a key may stand for all only where it replaces everything.
    assert "LOOP" in plan(f"{insert} on conflict (k) do update set v = t.v + excluded.v")
    assert "LOOP" in plan("insert into t (k, v, w) values (?, ?, ?) on conflict (k) do update set v = excluded.v", 3)
    assert "penstock_row.p0" in plan("update t set v = ? where k = ?")
    assert plan("select f(?, ?)") == "none"


def test_parameters_and_fields_must_match() -> None:
    options = JdbcConnectionOptions(URL)
    with pytest.raises(ProgramError, match="1 parameters"):
        JdbcSink.sink("insert into t values (?)", PAIR, options)
    with pytest.raises(ProgramError, match="not among its columns"):
        TableTarget("t", ["a"], ["b"])


def test_execution_options_have_flinks_defaults() -> None:
    options = JdbcExecutionOptions.defaults()
    assert (options.get_batch_size(), options.get_batch_interval_ms(), options.get_max_retries()) == (5000, 0, 3)
    built = JdbcExecutionOptions.builder().with_batch_size(7).with_batch_interval_ms(8).with_max_retries(9).build()
    assert (built.get_batch_size(), built.get_batch_interval_ms(), built.get_max_retries()) == (7, 8, 9)
    with pytest.raises(ConfigurationError):
        JdbcExecutionOptions.builder().with_batch_size(-1).build()
