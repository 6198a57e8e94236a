"""Statements on models: they are kept in catalogs and described. No query can call one."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.columns.typesystem.scalars import MAX_LENGTH, BooleanType, VarCharType
from penstock.common.errors import NotSupportedError, ProgramError
from penstock.table.catalog.base import Catalog
from penstock.table.catalog.ddl_text import create_model_statement
from penstock.table.catalog.object_names import ObjectPath
from penstock.table.catalog.objects import CatalogModel
from penstock.table.schema import Schema
from penstock.table.session.catalogs import FullName
from penstock.table.session.table_session import TableSession
from penstock.table.sql import statements as st
from penstock.table.sql.errors import SqlValidationError, suggestion
from penstock.table.table_result import TableResult

_TEXT = VarCharType(MAX_LENGTH)


def create_model(statement: st.CreateModel, session: TableSession) -> TableResult:
    if statement.query is not None:
        raise NotSupportedError("CREATE MODEL .. AS: no model is trained here. Leave the query out, as in Flink.")
    if not statement.options:
        raise SqlValidationError("CREATE MODEL: the options of WITH are missing, as 'provider'.", statement.position)
    if bool(statement.inputs) != bool(statement.outputs):
        raise SqlValidationError("CREATE MODEL takes INPUT and OUTPUT columns, or neither.", statement.position)
    for columns in (statement.inputs, statement.outputs):
        names = [column.name for column in columns]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise SqlValidationError(f"CREATE MODEL: the column {twice!r} is named twice.", statement.position)
    schemas = tuple(Schema(body=st.TableBody(columns)) for columns in (statement.inputs, statement.outputs))
    model = CatalogModel(schemas=schemas, options=dict(statement.options), comment=statement.comment)
    name = session.catalogs.full_name(statement.path)
    if statement.temporary:
        known = session.catalogs.temporary_models
        if name in known and not statement.if_not_exists:
            raise ProgramError(f"There is a temporary model {'.'.join(name)} already.")
        known.setdefault(name, model)
    else:
        catalog_of_models(session, name).create_model(ObjectPath(*name[1:]), model, statement.if_not_exists)
    return TableResult.ok()


def catalog_of_models(session: TableSession, name: FullName) -> Catalog:
    """The catalog, if what it is told about models is kept."""
    catalog = session.catalogs.catalog(name[0])
    if not catalog.keeps_everything:
        raise NotSupportedError(f"The catalog {name[0]!r} keeps no models: CREATE TEMPORARY MODEL, or use another one.")
    return catalog


def drop_model(statement: st.Drop, session: TableSession) -> None:
    catalogs = session.catalogs
    name = catalogs.full_name(statement.path)
    if statement.temporary:
        if catalogs.temporary_models.pop(name, None) is None and not statement.if_exists:
            raise ProgramError(f"There is no temporary model {'.'.join(name)}.")
        return
    if name in catalogs.temporary_models:
        raise ProgramError(f"A temporary model {'.'.join(name)} is in the way: drop it first (DROP TEMPORARY MODEL).")
    catalogs.catalog(name[0]).drop_model(ObjectPath(*name[1:]), statement.if_exists)


def alter_model(statement: st.AlterObject, session: TableSession) -> TableResult:
    catalogs = session.catalogs
    name = catalogs.full_name(statement.path)
    catalog, place = catalogs.catalog(name[0]), ObjectPath(*name[1:])
    if name in catalogs.temporary_models:
        raise ProgramError(
            f"{'.'.join(name)} is a temporary model, which cannot be altered: drop it and create it anew."
        )
    if statement.if_exists and not catalog.model_exists(place):
        return TableResult.ok()
    old = catalog.get_model(place)
    if statement.action == "RENAME":
        target = catalogs.full_name(statement.value) if len(statement.value) > 1 else (*name[:2], *statement.value)
        if target[:2] != name[:2]:
            raise NotSupportedError("A model can be renamed only within its database.")
        catalog.rename_model(place, target[2], False)
        return TableResult.ok()
    options = old.get_options()
    if statement.action == "SET":
        options.update(dict(statement.value))
    elif not statement.value:
        raise SqlValidationError("ALTER MODEL .. RESET names the options to be taken away.", statement.position)
    else:
        options = {key: value for key, value in options.items() if key not in statement.value}
    catalog.alter_model(place, CatalogModel(schemas=old._schemas, options=options, comment=old.get_comment()), False)
    return TableResult.ok()


def show_create_model(session: TableSession, statement: st.Show) -> TableResult:
    name = session.catalogs.full_name(statement.path)
    text = create_model_statement(name, _model(session, name), name in session.catalogs.temporary_models)
    return TableResult.of_rows(["result"], [(text + "\n",)])


def describe_model(session: TableSession, path: tuple[str, ...]) -> TableResult:
    """One row for each column, with comments if there are any."""
    model = _model(session, session.catalogs.full_name(path))
    rows = []
    for columns, is_input in zip(model_columns(model), (True, False), strict=True):
        for column in columns:
            shown = column.data_type.nullable().as_summary_string()
            rows.append((column.name, shown, column.data_type.is_nullable, is_input, column.comment or ""))
    titles, types = ["name", "type", "null", "is input", "comment"], [_TEXT, _TEXT, BooleanType(), BooleanType(), _TEXT]
    width = 5 if any(row[4] for row in rows) else 4
    return TableResult.of_rows(titles[:width], [row[:width] for row in rows], types[:width])


def model_columns(model: CatalogModel) -> Sequence[tuple[st.Column, ...]]:
    """Those that go in, and those that come out."""
    schemas = model._schemas or (None, None)
    return [
        () if one is None else tuple(column for column in one._body.columns if isinstance(column, st.Column))
        for one in schemas
    ]


def _model(session: TableSession, name: FullName) -> CatalogModel:
    catalogs = session.catalogs
    if name in catalogs.temporary_models:
        return catalogs.temporary_models[name]
    catalog, place = catalogs.catalog(name[0]), ObjectPath(*name[1:])
    if not catalog.model_exists(place):
        known = catalog.list_models(name[1]) if catalog.database_exists(name[1]) else []
        raise ProgramError(f"There is no model {'.'.join(name)}.{suggestion(name[2], known)}")
    return catalog.get_model(place)
