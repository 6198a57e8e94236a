"""Every statement of the data files is read into the tree beside it, or refused with the message beside it.

Both files were held against the parser of Flink 2.3: it accepts the one and refuses the other.
"""

from __future__ import annotations

from pathlib import Path

import pytest
import sqlglot
from tests.unit.table.tree_summary import summary

from penstock.table.sql.dialect import parse_expression, parse_query, parse_statement, parse_statements
from penstock.table.sql.errors import SqlParseError
from penstock.table.sql.statements import Show
from penstock.table.syntax.expressions import Call, Name
from penstock.table.syntax.position import Position

FOLDER = Path(__file__).parent


def pairs(file: str) -> list[tuple[str, str]]:
    lines = (FOLDER / file).read_text().splitlines()
    return list(zip(lines[::2], (line.strip() for line in lines[1::2]), strict=True))


@pytest.mark.parametrize(("sql", "tree"), pairs("statements.txt"))
def test_a_statement_becomes_its_tree(sql: str, tree: str) -> None:
    assert summary(parse_statement(sql)) == tree


@pytest.mark.parametrize(("sql", "message"), pairs("refusals.txt"))
def test_what_is_not_flink_sql_is_refused_with_its_place(sql: str, message: str) -> None:
    with pytest.raises(SqlParseError) as refused:
        parse_statement(sql)
    assert str(refused.value).splitlines()[0] == message
    assert refused.value.position is not None


def test_there_are_many_statements() -> None:
    assert len(pairs("statements.txt")) >= 150


def test_a_script_has_several_statements() -> None:
    script = "-- first\nUSE CATALOG c; /* then */ SHOW TABLES;;\n"
    assert [type(statement).__name__ for statement in parse_statements(script)] == ["UseCatalog", "Show"]
    assert parse_statements(" ;; ") == []


def test_the_message_shows_the_line_and_the_place() -> None:
    with pytest.raises(SqlParseError) as refused:
        parse_statement("SELECT a\nFROM t\nWHER b = 1 GROUPE BY c")
    assert str(refused.value).splitlines() == [
        "Expected ';' or the end of the statement, found 'b' (line 3, column 6)",
        "  WHER b = 1 GROUPE BY c",
        "       ^",
    ]


@pytest.mark.parametrize(
    ("options", "shown", "marked"),
    [
        ("'a' = 'b' 'password' = 'hush'", "'a' = '*****' 'password' = '*****'", "'password' ="),
        ("'a' = 'b', 'password' 'hush')", "'a' = '*****', '*****' '*****')", "'*****')"),
        ("'password' == 'hush')", "'password' == '*****')", "= '*****')"),
        ("'password' = hush)", "'password' = '*****')", "'*****')"),
        ("'password' = \n'hush' 'hush'", "'*****' '*****'", "'*****'"),
        ("'a' = 'jdbc:mysql://me:hush@h/d' x)", "'a' = '*****' x)", "x)"),
        ("'password' = 'hush", "'password' = '*****'", "CREATE TABLE"),
    ],
)
def test_a_message_about_options_shows_no_password(options: str, shown: str, marked: str) -> None:
    with pytest.raises(SqlParseError) as refused:
        parse_statement(f"CREATE TABLE t (x INT) WITH ({options}")
    _, line, mark = str(refused.value).splitlines()
    assert "hush" not in str(refused.value)
    assert line.endswith(shown) and line[mark.index("^") :].startswith(marked)


def test_expressions_know_where_they_stand() -> None:
    query = parse_query("SELECT a,\n  b + 1 FROM t")
    plus = query.items[1]  # type: ignore[attr-defined]
    assert isinstance(plus, Call)
    assert plus.position == Position(2, 5)
    assert plus.arguments[0].position == Position(2, 3)


def test_a_lone_expression_can_be_read() -> None:
    assert parse_expression("`a b`.c") == Name(("a b", "c"))


def test_the_dialect_is_known_to_sqlglot() -> None:
    assert sqlglot.parse("SHOW TABLES", dialect="flink") == [Show("TABLES")]
