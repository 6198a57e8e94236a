"""From the text of a statement to its plan: what an environment calls."""

from __future__ import annotations

from penstock.common.errors import NotSupportedError
from penstock.table.logical.nodes import Relation
from penstock.table.logical.queries import QueryBuilder
from penstock.table.logical.sinks import build_insert
from penstock.table.logical.tables import TableLookup
from penstock.table.sql import statements as st
from penstock.table.sql.dialect import parse_statement
from penstock.table.sql.errors import SqlValidationError


def plan_sql(sql: str, tables: TableLookup) -> Relation:
    """The plan of a query or an INSERT; errors show the line and the place."""
    return plan_statement(parse_statement(sql), tables, sql)


def plan_statement(statement: st.Statement, tables: TableLookup, sql: str | None = None) -> Relation:
    try:
        match statement:
            case st.QueryStatement(query):
                return QueryBuilder(tables).query(query)
            case st.Insert():
                return build_insert(statement, tables)
    except SqlValidationError as error:
        raise SqlValidationError(error.message, error.position, sql) from None
    raise NotSupportedError(
        f"{type(statement).__name__} has no plan: it is for the catalog or the session, not for the engine."
    )
