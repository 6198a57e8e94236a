"""DELETE, UPDATE and TRUNCATE: a table that is written by its primary key is told what becomes of its rows."""

from __future__ import annotations

from dataclasses import replace

from penstock.columns.typesystem.scalars import CharType
from penstock.common.errors import NotSupportedError
from penstock.table.logical.nodes import FromChangelog, Sink
from penstock.table.logical.queries import QueryBuilder
from penstock.table.logical.sinks import build_insert, build_sink
from penstock.table.logical.tables import TableDefinition, TableLookup, ViewDefinition
from penstock.table.sql import statements as st
from penstock.table.sql.errors import SqlValidationError, suggestion
from penstock.table.syntax.expressions import Expr, Literal, Name
from penstock.table.syntax.position import Position
from penstock.table.syntax.queries import NamedTable, Select

_DELETE, _DELETE_KIND = "DELETE", 3


def build_delete(statement: st.Delete | st.TruncateTable, tables: TableLookup) -> Sink:
    """The rows that are to go, as deletions."""
    truncates = isinstance(statement, st.TruncateTable)
    target = _target(statement.path, "TRUNCATE TABLE" if truncates else "DELETE FROM", tables, statement.position)
    where = None if isinstance(statement, st.TruncateTable) else statement.where
    kind = Literal(_DELETE, CharType(len(_DELETE), False))
    names = [Name((field.name,)) for field in target.sink_fields]
    rows = QueryBuilder(tables).query(_all_at_once((kind, *names), statement.path, where))
    gone = FromChangelog(rows.fields[1:], rows, 0, ((_DELETE, _DELETE_KIND),), in_batch=True)
    return replace(build_sink(gone, statement.path, target, False), deletes=True)


def build_update(statement: st.Update, tables: TableLookup) -> Sink:
    """The rows as they will be, which take the place of those with the same key."""
    target = _target(statement.path, "UPDATE", tables, statement.position)
    names = [field.name for field in target.sink_fields]
    given: dict[str, Expr] = {}
    for name, value in statement.assignments:
        if name not in names:
            raise SqlValidationError(f"There is no column {name!r}.{suggestion(name, names)}", value.position)
        if name in given:
            raise SqlValidationError(f"UPDATE sets the column {name!r} twice.", value.position)
        if name in target.primary_key:
            raise SqlValidationError(
                f"UPDATE cannot change {name!r}, which belongs to the primary key: DELETE and INSERT.", value.position
            )
        given[name] = value
    items = tuple(given.get(name, Name((name,))) for name in names)
    query = _all_at_once(items, statement.path, statement.where)
    sink = build_insert(st.Insert(statement.path, query, position=statement.position), tables)
    assert isinstance(sink, Sink)
    return sink


def _all_at_once(items: tuple[Expr, ...], path: tuple[str, ...], where: Expr | None) -> Select:
    """DISTINCT, though rows with a key are: it waits for the last one, and nothing is written that is still read."""
    return Select(items, NamedTable(path), where, distinct=True)


def _target(path: tuple[str, ...], what: str, tables: TableLookup, position: Position | None) -> TableDefinition:
    target, name = tables.find(path), ".".join(path)
    if target is None:
        raise SqlValidationError(f"There is no table {name!r}.{suggestion(path[-1], tables.known_names())}", position)
    if isinstance(target, ViewDefinition):
        raise SqlValidationError(f"{what} {name}: it is a view, and only rows of tables can be changed.", position)
    if target.sink_before or not target.primary_key or "D" not in target.sink_accepts:
        connector = target.options.get("connector")
        raise NotSupportedError(
            f"{what} {name}: rows can be changed only in tables with a PRIMARY KEY that are written by it, as those of"
            f" jdbc, delta and iceberg; this one is of the connector {connector!r}. Write a query that leaves them out."
        )
    return target
