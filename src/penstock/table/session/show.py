"""SHOW and DESCRIBE: what catalogs hold, as rows."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from penstock.columns.functions.registry import sql_names
from penstock.columns.typesystem.scalars import MAX_LENGTH, BooleanType, VarCharType
from penstock.common.credentials import shown_settings
from penstock.common.errors import NotSupportedError, ProgramError
from penstock.table.catalog.base import Catalog
from penstock.table.catalog.column_text import with_quoted_names
from penstock.table.catalog.ddl_text import create_statement, options_text, shown_options
from penstock.table.catalog.object_names import quoted
from penstock.table.catalog.objects import CatalogBaseTable
from penstock.table.logical.queries import QueryBuilder
from penstock.table.logical.resolved_table import resolve_table
from penstock.table.logical.tables import ViewDefinition
from penstock.table.session.catalogs import FullName
from penstock.table.session.described_functions import describe_function
from penstock.table.session.models import describe_model, show_create_model
from penstock.table.session.partitions import show_partitions
from penstock.table.session.table_session import TableSession
from penstock.table.sql import statements as st
from penstock.table.table_result import TableResult

_TEXT = VarCharType(MAX_LENGTH)


_INSTEAD = {
    "JOBS": " The command line lists them: `penstock list`.",
    "JOB": " The command line has it: `penstock info`.",
    "CONNECTIONS": " Options are given to each table.",
    "CREATE MATERIALIZED TABLE": " Use a table and an INSERT.",
}


def show(statement: st.Show, session: TableSession) -> TableResult:
    listing = _LISTINGS.get(statement.kind)
    if listing is not None:
        title, names = listing[0], listing[1](session, statement)
        return TableResult.of_rows([title], [(name,) for name in _matching(names, statement)])
    other = _OTHERS.get(statement.kind)
    if other is None:
        raise NotSupportedError(f"SHOW {statement.kind} is not there.{_INSTEAD.get(statement.kind, '')}")
    return other(session, statement)


def _matching(names: list[str], statement: st.Show) -> list[str]:
    if statement.like is None:
        return names
    pattern = like_pattern(statement.like, statement.like_kind == "ILIKE")
    return [name for name in names if bool(pattern.fullmatch(name)) != statement.negated]


def like_pattern(text: str, any_case: bool) -> re.Pattern[str]:
    parts = [".*" if sign == "%" else "." if sign == "_" else re.escape(sign) for sign in text]
    return re.compile("".join(parts), re.DOTALL | (re.IGNORECASE if any_case else 0))


def _database(session: TableSession, path: tuple[str, ...]) -> tuple[str, str]:
    catalogs = session.catalogs
    found = (catalogs.current_catalog, catalogs.current_database)
    if path:
        found = (catalogs.current_catalog, *path)[-2:]  # type: ignore[assignment]
    if not catalogs.catalog(found[0]).database_exists(found[1]):
        raise ProgramError(f"There is no database {found[1]!r} in the catalog {found[0]!r}.")
    return found


def _catalog_of(session: TableSession, statement: st.Show) -> Catalog:
    return session.catalogs.catalog(_database(session, statement.path)[0])


def _databases(session: TableSession, statement: st.Show) -> list[str]:
    return sorted(session.catalogs.catalog((session.catalogs.current_catalog, *statement.path)[-1]).list_databases())


def _tables(views: bool | None) -> Callable[[TableSession, st.Show], list[str]]:
    return lambda session, statement: session.catalogs.list_tables(*_database(session, statement.path), views)


def user_functions(session: TableSession) -> list[str]:
    catalogs = session.catalogs
    place = (catalogs.current_catalog, catalogs.current_database)
    own = catalogs.catalog(place[0]).list_functions(place[1])
    temporary = [name for *at, name in catalogs.temporary_functions if tuple(at) == place]
    return sorted({*own, *temporary, *catalogs.functions})


def _functions(session: TableSession, statement: st.Show) -> list[str]:
    return sorted({*user_functions(session), *(name.lower() for name in sql_names())})


_LISTINGS: dict[str, tuple[str, Callable[[TableSession, st.Show], list[str]]]] = {
    "CATALOGS": ("catalog name", lambda session, _: sorted(session.catalogs.catalogs)),
    "DATABASES": ("database name", _databases),
    "TABLES": ("table name", _tables(None)),
    "VIEWS": ("view name", _tables(True)),
    "MATERIALIZED TABLES": ("materialized table", lambda session, _: []),
    "FUNCTIONS": ("function name", _functions),
    "USER FUNCTIONS": ("function name", lambda session, _: user_functions(session)),
    "PROCEDURES": ("procedure name", lambda session, _: []),
    "MODELS": (
        "model name",
        lambda session, statement: _catalog_of(session, statement).list_models(_database(session, statement.path)[1]),
    ),
    "MODULES": ("module name", lambda session, _: session.used_modules),
    "JARS": ("jars", lambda session, _: []),
    "CURRENT CATALOG": ("current catalog name", lambda session, _: [session.catalogs.current_catalog]),
    "CURRENT DATABASE": ("current database name", lambda session, _: [session.catalogs.current_database]),
}


def _full_modules(session: TableSession, statement: st.Show) -> TableResult:
    rows = [(name, name in session.used_modules) for name in session.modules]
    return TableResult.of_rows(["module name", "used"], rows, [_TEXT, BooleanType()])


def _create_table(session: TableSession, statement: st.Show) -> TableResult:
    name = session.catalogs.full_name(statement.path)
    table = session.catalogs.required(name)
    wants_view = statement.kind == "CREATE VIEW"
    if (table._view is not None) != wants_view:
        kind = "view" if table._view is not None else "table"
        raise ProgramError(f"{'.'.join(name)} is a {kind}: write SHOW CREATE {kind.upper()}.")
    if not wants_view:
        table = CatalogBaseTable(body=replace(table._body, options=shown_options(table._body.options)))
    text = create_statement(name, table, name in session.catalogs.temporary)
    return TableResult.of_rows(["result"], [(text + "\n",)])


def _create_catalog(session: TableSession, statement: st.Show) -> TableResult:
    [name] = statement.path
    session.catalogs.catalog(name)
    options, comment = session.catalogs.catalog_options.get(name, ({"type": "generic_in_memory"}, None))
    note = f"COMMENT '{comment}'\n" if comment else ""
    text = f"CREATE CATALOG {quoted(name)}\n{note}WITH (\n{options_text(shown_options(tuple(options.items())))}\n)\n"
    return TableResult.of_rows(["result"], [(text,)])


def _columns(session: TableSession, statement: st.Show) -> TableResult:
    pattern = None if statement.like is None else like_pattern(statement.like, statement.like_kind == "ILIKE")
    return described(
        session,
        session.catalogs.full_name(statement.path),
        lambda name: pattern is None or bool(pattern.fullmatch(name)) != statement.negated,
    )


_OTHERS: dict[str, Callable[[TableSession, st.Show], TableResult]] = {
    "FULL MODULES": _full_modules,
    "CREATE TABLE": _create_table,
    "CREATE VIEW": _create_table,
    "CREATE CATALOG": _create_catalog,
    "COLUMNS": _columns,
    "PARTITIONS": show_partitions,
    "CREATE MODEL": show_create_model,
}


def describe(statement: st.Describe, session: TableSession) -> TableResult:
    if statement.kind == "TABLE":
        return described(session, session.catalogs.full_name(statement.path), lambda _: True)
    if statement.kind == "CATALOG":
        [name] = statement.path
        session.catalogs.catalog(name)
        options, comment = session.catalogs.catalog_options.get(name, ({"type": "generic_in_memory"}, None))
        rows = [("name", name), ("type", options.get("type", "")), ("comment", comment or "")]
        if statement.extended:
            rows += [(f"option:{key}", value) for key, value in shown_settings(options).items() if key != "type"]
        return TableResult.of_rows(["info name", "info value"], rows)
    if statement.kind == "MODEL":
        return describe_model(session, statement.path)
    if statement.kind == "FUNCTION":
        return describe_function(session, statement.path, statement.extended)
    raise NotSupportedError(
        f"DESCRIBE {statement.kind} is not there: DESCRIBE takes a table, view, CATALOG, FUNCTION or MODEL."
        f"{_INSTEAD.get(statement.kind, '')}"
    )


def described(session: TableSession, name: FullName, wanted: Callable[[str], bool]) -> TableResult:
    """One row for each column: name, type, null, key, extras, watermark, and comments if there are any."""
    table = session.catalogs.required(name)
    if table._view is not None:
        definition = session.catalogs.definition(name, table)
        assert isinstance(definition, ViewDefinition)
        relation = QueryBuilder(session.catalogs).view_relation(definition)
        rows: list[tuple[Any, ...]] = [
            (field.name, _shown_type(field), field.data_type.is_nullable, None, None, None, None)
            for field in relation.fields
        ]
    else:
        rows = [_described_column(field, table._body) for field in resolve_table(table._body).fields]
    commented = any(row[6] for row in rows)
    rows = [row for row in rows if wanted(row[0])]
    titles = ["name", "type", "null", "key", "extras", "watermark", "comment"]
    types = [_TEXT, _TEXT, BooleanType(), _TEXT, _TEXT, _TEXT, _TEXT]
    if not commented:
        titles, types, rows = titles[:6], types[:6], [row[:6] for row in rows]
    texts = [tuple("" if cell is None else cell for cell in row) for row in rows]
    return TableResult.of_rows(titles, texts, types)


def _shown_type(field: Any) -> str:
    text = field.data_type.nullable().as_summary_string()
    return text if field.time is None else f"{text} *{field.time.value}*"


def _described_column(field: Any, body: st.TableBody) -> tuple[Any, ...]:
    declared = next(column for column in body.columns if column.name == field.name)
    names = [column.name for column in body.columns]
    key = body.primary_key
    in_key = f"PRI({', '.join(key.columns)})" if key is not None and field.name in key.columns else None
    watermark = body.watermark
    mark = with_quoted_names(watermark.text, names) if watermark and watermark.column == (field.name,) else None
    return (
        field.name,
        _shown_type(field),
        field.data_type.is_nullable,
        in_key,
        _extras(declared, names),
        mark,
        declared.comment,
    )


def _extras(column: st.AnyColumn, names: list[str]) -> str | None:
    match column:
        case st.ComputedColumn(_, _, text):
            return f"AS {with_quoted_names(text, names)}"
        case st.MetadataColumn(_, _, key, virtual):
            return f"METADATA{f' FROM {chr(39)}{key}{chr(39)}' if key else ''}{' VIRTUAL' if virtual else ''}"
    return None
