"""Rows in bulk: they are copied into a table of their own, and one command brings them from there to the target."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from penstock.common.errors import NotSupportedError
from penstock.common.typeinfo import (
    BasicType,
    BasicTypeInfo,
    DateTypeInfo,
    PrimitiveArrayTypeInfo,
    RowTypeInfo,
    TimestampTypeInfo,
    TimeTypeInfo,
    TypeInformation,
)
from penstock.connectors.jdbc.dialect import Dialect, Rows
from penstock.connectors.jdbc.statement import Insert, Statement, without_line_comments
from penstock.connectors.jdbc.targets import StatementTarget, TableTarget

NUMBER = "penstock_n"  # the order of rows
DELETED = "penstock_deleted"  # of changelogs
_UPSERT = re.compile(r"ON\s+CONFLICT\s*\((?P<key>[^()]*)\)\s*DO\s+UPDATE\s+SET\s+(?P<changes>.*)", re.I | re.S)
_CHANGE = re.compile(r'\s*("[^"]+"|\w+)\s*=\s*EXCLUDED\s*\.\s*("[^"]+"|\w+)\s*', re.I)
_LEAVES_ROWS = re.compile(r"ON\s+CONFLICT.*DO\s+NOTHING", re.I | re.S)
_REPEATABLE = re.compile(r"\s*(INSERT|UPDATE|DELETE|MERGE)\b", re.I)
_ANSWERS = re.compile(r"\bRETURNING\b", re.I)
_TYPES = {
    BasicType.STRING: "text",
    BasicType.CHAR: "text",
    BasicType.BOOLEAN: "boolean",
    BasicType.BYTE: "smallint",
    BasicType.SHORT: "smallint",
    BasicType.INT: "integer",
    BasicType.LONG: "bigint",
    BasicType.FLOAT: "real",
    BasicType.DOUBLE: "double precision",
    BasicType.BIG_INT: "numeric",
    BasicType.BIG_DEC: "numeric",
    BasicType.INSTANT: "timestamptz",
}


@dataclass(frozen=True)
class StagePlan:
    """How the rows of a target go through a table of their own."""

    columns: tuple[str, ...] | None  # those that are copied; None: the first so many of the target
    width: int
    definition: str  # what makes the table behind CREATE TABLE name
    ordered: bool
    commands: tuple[str, ...]  # with {stage} and {columns}
    table: str | None = None  # whose columns they are
    straight: str | None = None  # the target, when rows can be copied into it at once, if it is a plain table
    exception: tuple[str, str] | None = None  # a question, and what is done instead when it has an answer
    deletion: str | None = None  # of the rows of a changelog that say so

    def create(self, cursor: Any, stage: str, temporary: bool = False) -> None:
        kind = "TEMPORARY TABLE" if temporary else "TABLE"
        cursor.execute(f"CREATE {kind} {stage} {self.definition.replace('{columns}', self._names(cursor))}")
        if self.deletion is not None:
            cursor.execute(f"ALTER TABLE {stage} ADD {DELETED} boolean NOT NULL")
        if self.ordered:
            cursor.execute(f"ALTER TABLE {stage} ADD {NUMBER} bigint GENERATED ALWAYS AS IDENTITY")

    def takes_copies(self, cursor: Any) -> bool:
        """Views and tables with row level security take rows, but no copies of them, and rules do not see copies."""
        if self.straight is None:
            return False
        cursor.execute(
            "SELECT relkind IN ('r', 'p') AND NOT relrowsecurity AND NOT relhasrules FROM pg_class"
            " WHERE oid = %s::regclass",
            (self.straight,),
        )
        return bool(cursor.fetchone()[0])

    def copy(self, cursor: Any, stage: str, rows: Rows) -> None:
        names = self._names(cursor) + (f", {DELETED}" if self.deletion is not None else "")
        with cursor.copy(f"COPY {stage} ({names}) FROM STDIN") as copy:
            write_row = copy.write_row
            for row in rows:
                write_row(row)

    def apply(self, cursor: Any, stage: str) -> None:
        for command in self._commands(cursor, stage):
            cursor.execute(command.replace("{stage}", stage).replace("{columns}", self._names(cursor)))
        cursor.execute(f"DROP TABLE {stage}")

    def _commands(self, cursor: Any, stage: str) -> tuple[str, ...]:
        """To look for what is rare costs little; to find the last row of each key is most of the work."""

        def there_is(question: str) -> bool:
            cursor.execute(question.replace("{stage}", stage))
            return cursor.fetchone() is not None

        if self.exception is not None and there_is(self.exception[0]):
            return (self.exception[1],)
        if self.deletion is not None and there_is(f"SELECT 1 FROM {{stage}} WHERE {DELETED} LIMIT 1"):
            return (self.deletion, *self.commands)
        return self.commands

    def _names(self, cursor: Any) -> str:
        if self.columns is None:
            cursor.execute(f"SELECT * FROM {self.table} LIMIT 0")
            names = ['"' + column.name.replace('"', '""') + '"' for column in cursor.description]
            return ", ".join(names[: self.width])
        return ", ".join(self.columns)


def plan_for(target: Any, dialect: Dialect) -> StagePlan | None:
    """None for statements that have to be executed row by row by who has the rows."""
    if isinstance(target, TableTarget):
        return _plan_for_table(target, dialect)
    if isinstance(target, StatementTarget):
        if any(map(_ANSWERS.search, target.statement.pieces)):
            return None  # inside the server nobody takes the answers
        insert = target.statement.insert
        if insert is not None:
            return _plan_for_insert(insert, target.statement)
        if _REPEATABLE.match(target.statement.pieces[0]) and target.type_info is not None:
            return _plan_for_statement(target.statement, target.type_info)
    return None


def _plan_for_insert(insert: Insert, statement: Statement) -> StagePlan | None:
    definition = f"AS SELECT {{columns}} FROM {insert.table} WITH NO DATA"
    plan = StagePlan(insert.columns, statement.parameters, definition, ordered=True, commands=(), table=insert.table)
    into = f"INSERT INTO {insert.table} ({{columns}})"
    if not insert.tail:
        commands = (f"{into} SELECT {{columns}} FROM {{stage}}",)
        return replace(plan, ordered=False, commands=commands, straight=insert.table)
    if _LEAVES_ROWS.fullmatch(insert.tail):
        return replace(plan, commands=(f"{into} SELECT {{columns}} FROM {{stage}} ORDER BY {NUMBER} {insert.tail}",))
    key = _key_of_upsert(insert)
    if key is not None:
        assert insert.columns is not None, "an upsert names its columns"
        last = f"SELECT DISTINCT ON ({key}) {{columns}} FROM {{stage}} ORDER BY {key}, {NUMBER} DESC"
        # Rows without a key are usually in nobody's way, however many they are.
        keyless = f"SELECT 1 FROM {{stage}} WHERE NOT (ROW({key}) IS NOT NULL) LIMIT 1"
        by_row = _loop(statement, insert.columns)
        return replace(plan, commands=(f"{into} {last} {insert.tail}",), exception=(keyless, by_row))
    if insert.columns is None:
        return None  # a loop would need their names
    return replace(plan, commands=(_loop(statement, insert.columns),))


def _key_of_upsert(insert: Insert) -> str | None:
    """The key, if the last of several rows with one key may stand for all: every other column is replaced by it."""
    found = _UPSERT.fullmatch(insert.tail)
    if found is None or insert.columns is None:
        return None
    changes = [_CHANGE.fullmatch(change) for change in found["changes"].split(",")]
    if not all(change is not None and change[1].lower() == change[2].lower() for change in changes):
        return None
    replaced = {_plain(change[1]) for change in changes if change is not None}
    key = {_plain(name) for name in found["key"].split(",")}
    return found["key"] if {_plain(name) for name in insert.columns} <= replaced | key else None


def _plain(name: str) -> str:
    name = name.strip()
    return name[1:-1] if name.startswith('"') else name.lower()


def _plan_for_statement(statement: Statement, type_info: RowTypeInfo) -> StagePlan:
    names = tuple(f"p{number}" for number in range(statement.parameters))
    types = [f"{name} {_sql_type(each)}" for name, each in zip(names, type_info.get_field_types(), strict=True)]
    return StagePlan(names, len(names), f"({', '.join(types)})", ordered=True, commands=(_loop(statement, names),))


def _loop(statement: Statement, names: Sequence[str]) -> str:
    """The statement itself for each row in its order, inside the server."""
    whole = statement.with_values([f"penstock_row.{name}" for name in names])
    body = without_line_comments(whole).strip().rstrip(";")
    rows = f"SELECT * FROM {{stage}} ORDER BY {NUMBER}"
    loop = f"FOR penstock_row IN {rows} LOOP {body}; END LOOP"
    return f"DO $penstock$ DECLARE penstock_row record; BEGIN {loop}; END $penstock$"


def _plan_for_table(target: TableTarget, dialect: Dialect) -> StagePlan:
    table = dialect.table_name(target.table)
    columns = tuple(map(dialect.quoted, target.columns))
    definition = f"AS SELECT {{columns}} FROM {table} WITH NO DATA"
    if not target.key:
        command = f"INSERT INTO {table} ({{columns}}) SELECT {{columns}} FROM {{stage}}"
        return StagePlan(columns, len(columns), definition, False, (command,), table, straight=table)
    key = ", ".join(map(dialect.quoted, target.key))
    same = " AND ".join(f"target.{name} = last.{name}" for name in map(dialect.quoted, target.key))
    last = f"(SELECT DISTINCT ON ({key}) * FROM {{stage}} ORDER BY {key}, {NUMBER} DESC) last"
    tail = dialect.upsert(target.table, target.columns, target.key).split(" ON CONFLICT ")[1]
    deletion = f"DELETE FROM {table} target USING {last} WHERE last.{DELETED} AND {same}"
    into = f"INSERT INTO {table} ({{columns}}) SELECT {{columns}} FROM {last} WHERE NOT last.{DELETED}"
    return StagePlan(columns, len(columns), definition, True, (f"{into} ON CONFLICT {tail}",), table, deletion=deletion)


def _sql_type(type_info: TypeInformation) -> str:
    if isinstance(type_info, BasicTypeInfo) and type_info.basic_type in _TYPES:
        return _TYPES[type_info.basic_type]
    if isinstance(type_info, DateTypeInfo):
        return "date"
    if isinstance(type_info, TimeTypeInfo):
        return "time"
    if isinstance(type_info, TimestampTypeInfo):
        return "timestamp"
    if isinstance(type_info, PrimitiveArrayTypeInfo):
        return "bytea"
    raise NotSupportedError(f"PostgreSQL has no form for values of the type {type_info!r} in a statement's parameters.")
