"""CREATE, DROP and ALTER: statements that change catalogs."""

from __future__ import annotations

from dataclasses import replace

from penstock.common.errors import NotSupportedError, ProgramError
from penstock.table.catalog.base import Catalog
from penstock.table.catalog.file_catalog import FileCatalog
from penstock.table.catalog.iceberg_catalog import IcebergCatalog
from penstock.table.catalog.jdbc_catalog import JdbcCatalog
from penstock.table.catalog.object_names import ObjectPath
from penstock.table.catalog.objects import CatalogBaseTable, CatalogDatabase, CatalogFunction, CatalogView
from penstock.table.logical import nodes as plan
from penstock.table.logical.queries import QueryBuilder
from penstock.table.logical.resolved_table import resolve_table
from penstock.table.logical.sinks import build_insert
from penstock.table.session.altered_table import altered, with_key
from penstock.table.session.catalogs import FullName
from penstock.table.session.like_clause import like
from penstock.table.session.models import alter_model, drop_model
from penstock.table.session.partitions import alter_partitions
from penstock.table.session.table_session import TableSession
from penstock.table.sql import statements as st
from penstock.table.sql.errors import SqlValidationError
from penstock.table.table_result import TableResult


def create_table(statement: st.CreateTable, session: TableSession) -> TableResult:
    catalogs = session.catalogs
    name = catalogs.full_name(statement.path)
    body = statement.body
    if statement.like is not None:
        body = like(body, catalogs.required(catalogs.full_name(statement.like.table), "table"), statement.like)
    if statement.query is not None:
        return _create_as(statement, name, body, session)
    # As in Flink, OR REPLACE replaces nothing without a query: a table that is there is an error.
    resolve_table(body)
    catalogs.create(name, CatalogBaseTable(body=with_key(body)), statement.temporary, statement.if_not_exists)
    return TableResult.ok()


def _create_as(statement: st.CreateTable, name: FullName, body: st.TableBody, session: TableSession) -> TableResult:
    """The columns of the query, with those that are declared beside them; then the query fills the table."""
    assert statement.query is not None
    relation = QueryBuilder(session.catalogs).query(statement.query)
    declared: dict[str, st.AnyColumn | None] = {column.name: column for column in body.columns}
    given = [declared.pop(f.name, None) or st.Column(f.name, f.data_type) for f in relation.fields]
    if body.names:
        by_name = {column.name: column for column in given}
        if set(body.names) != set(by_name):
            raise SqlValidationError(
                f"The columns {', '.join(body.names)} are not those of the query: {', '.join(by_name)}."
            )
        given = [by_name[column] for column in body.names]
    columns = (*(column for column in declared.values() if column is not None), *given)
    body = with_key(replace(body, columns=columns, names=()))
    resolve_table(body)
    if statement.must_exist and session.catalogs.table(name) is None:
        raise ProgramError(f"There is no table {'.'.join(name)} to be replaced: write CREATE OR REPLACE TABLE.")
    if statement.replace:
        session.catalogs.drop(name, False, statement.temporary, ignore=True)
    elif statement.if_not_exists and session.catalogs.table(name) is not None:
        return TableResult.ok()
    session.catalogs.create(name, CatalogBaseTable(body=body), statement.temporary, False)
    insert = st.Insert(name, statement.query, relation.names, position=statement.position)
    try:
        sink = build_insert(insert, session.catalogs)
        assert isinstance(sink, plan.Sink)
        return session.insert([sink])
    except Exception:
        session.catalogs.drop(name, False, statement.temporary, ignore=True)
        raise


def create_view(statement: st.CreateView, session: TableSession) -> TableResult:
    catalogs = session.catalogs
    name = catalogs.full_name(statement.path)
    relation = QueryBuilder(catalogs).query(statement.query)
    if statement.columns and len(statement.columns) != len(relation.fields):
        raise SqlValidationError(
            f"The view has {len(statement.columns)} names for {len(relation.fields)} columns.", statement.position
        )
    place = (catalogs.current_catalog, catalogs.current_database)
    view = CatalogView(statement.query_text, statement.query, statement.columns or relation.names, place)
    body = st.TableBody(comment=statement.comment)
    catalogs.create(name, CatalogBaseTable(body=body, view=view), statement.temporary, statement.if_not_exists)
    return TableResult.ok()


def create_database(statement: st.CreateDatabase, session: TableSession) -> TableResult:
    catalog, database = _database_path(statement.path, session)
    made = CatalogDatabase(properties=dict(statement.options), comment=statement.comment)
    catalog.create_database(database, made, statement.if_not_exists)
    return TableResult.ok()


def _database_path(path: tuple[str, ...], session: TableSession) -> tuple[Catalog, str]:
    catalog_name, database = (session.catalogs.current_catalog, *path)[-2:]
    return session.catalogs.catalog(catalog_name), database


def create_catalog(statement: st.CreateCatalog, session: TableSession) -> TableResult:
    if statement.name in session.catalogs.catalogs:
        if statement.if_not_exists:
            return TableResult.ok()
        raise ProgramError(f"There is a catalog {statement.name!r} already.")
    add_catalog(session, statement.name, dict(statement.options), statement.comment)
    return TableResult.ok()


def add_catalog(session: TableSession, name: str, options: dict[str, str], comment: str | None) -> None:
    session.catalogs.catalogs[name] = catalog_of(name, options)
    session.catalogs.catalog_options[name] = (options, comment)


def catalog_of(name: str, options: dict[str, str]) -> Catalog:
    kind = options.get("type")
    database = options.get("default-database", "default" if kind == "generic_in_memory" else "default_database")
    if kind == "generic_in_memory":
        return Catalog(default_database=database)
    if kind == "file":
        if "path" not in options:
            raise ProgramError(f"The catalog {name!r} of type 'file' needs the option 'path': a directory.")
        return FileCatalog(options["path"], database, name)
    if kind == "iceberg":
        return IcebergCatalog(name, options)
    if kind == "jdbc":
        wanted = ("default-database", "username", "password", "base-url")
        missing = [key for key in wanted if key not in options]
        if missing:
            raise ProgramError(f"The catalog {name!r} of type 'jdbc' needs the option {missing[0]!r}.")
        return JdbcCatalog(name, *(options[key] for key in wanted))
    if kind is None:
        raise ProgramError(f"The catalog {name!r} has no option 'type': give 'generic_in_memory' or 'file'.")
    raise NotSupportedError(
        f"There are no catalogs of type {kind!r}: use 'generic_in_memory', 'file', 'iceberg', 'jdbc', or"
        " register_catalog() with a subclass of Catalog."
    )


def create_function(statement: st.CreateFunction, session: TableSession) -> TableResult:
    if (statement.language or "JAVA").upper() != "PYTHON":
        raise NotSupportedError(
            f"CREATE FUNCTION {'.'.join(statement.path)}: no Java code runs here. Write LANGUAGE PYTHON, with"
            " 'module.function' as the class."
        )
    function = CatalogFunction(class_name=statement.class_name, language="PYTHON")
    catalogs = session.catalogs
    if statement.system:
        catalogs.functions.setdefault(statement.path[-1].lower(), function)
        return TableResult.ok()
    name = catalogs.full_name(statement.path)
    if statement.temporary:
        if name in catalogs.temporary_functions and not statement.if_not_exists:
            raise ProgramError(f"There is a temporary function {'.'.join(name)} already.")
        catalogs.temporary_functions.setdefault(name, function)
    else:
        path = ObjectPath(name[1], name[2])
        catalogs.catalog(name[0]).create_function(path, function, statement.if_not_exists)
    return TableResult.ok()


def drop(statement: st.Drop, session: TableSession) -> TableResult:
    catalogs = session.catalogs
    match statement.kind:
        case "TABLE" | "VIEW":
            name = catalogs.full_name(statement.path)
            catalogs.drop(name, statement.kind == "VIEW", statement.temporary, statement.if_exists)
        case "DATABASE":
            catalog, database = _database_path(statement.path, session)
            if catalog is catalogs.catalogs[catalogs.current_catalog] and database == catalogs.current_database:
                raise ProgramError(f"{database!r} is the current database: USE another one first.")
            catalog.drop_database(database, statement.if_exists, statement.cascade)
        case "CATALOG":
            _drop_catalog(statement, session)
        case "FUNCTION":
            _drop_function(statement, session)
        case "MODEL":
            drop_model(statement, session)
        case _:
            raise NotSupportedError(f"DROP {statement.kind} is not there.")
    return TableResult.ok()


def _drop_catalog(statement: st.Drop, session: TableSession) -> None:
    [name] = statement.path
    if name == session.catalogs.current_catalog:
        raise ProgramError(f"{name!r} is the current catalog: USE CATALOG another one first.")
    if name not in session.catalogs.catalogs and statement.if_exists:
        return
    session.catalogs.catalog(name)
    del session.catalogs.catalogs[name]
    session.catalogs.catalog_options.pop(name, None)


def _drop_function(statement: st.Drop, session: TableSession) -> None:
    catalogs = session.catalogs
    if statement.system:
        found = catalogs.functions.pop(statement.path[-1].lower(), None)
    elif statement.temporary:
        found = catalogs.temporary_functions.pop(catalogs.full_name(statement.path), None)
    else:
        name = catalogs.full_name(statement.path)
        catalogs.catalog(name[0]).drop_function(ObjectPath(name[1], name[2]), statement.if_exists)
        return
    if found is None and not statement.if_exists:
        raise ProgramError(f"There is no such temporary function: {'.'.join(statement.path)}.")


def alter_table(statement: st.AlterTable, session: TableSession) -> TableResult:
    catalogs = session.catalogs
    name = catalogs.full_name(statement.path)
    if statement.kind != "TABLE":
        raise NotSupportedError("Materialized tables are not there: use a table and an INSERT.")
    if catalogs.table(name) is None and statement.if_exists:
        return TableResult.ok()
    table = catalogs.required(name, "table")
    if table._view is not None:
        raise ProgramError(f"{'.'.join(name)} is a view: write ALTER VIEW.")
    for action, value in statement.actions:
        if action == "RENAME":
            _rename(name, value, session)
            return TableResult.ok()
        if action in ("ADD PARTITION", "DROP PARTITION"):
            alter_partitions(session, name, action, value)
            return TableResult.ok()
    catalogs.replace(name, altered(table, statement.actions))
    return TableResult.ok()


def _rename(name: FullName, target: tuple[str, ...], session: TableSession) -> None:
    catalogs = session.catalogs
    new = (*name[:2], *target)[-3:] if len(target) == 1 else catalogs.full_name(target)
    if tuple(new[:2]) != name[:2]:
        raise NotSupportedError("A table can be renamed only within its database.")
    if name in catalogs.temporary:
        catalogs.temporary[new] = catalogs.temporary.pop(name)
    else:
        catalogs.catalog(name[0]).rename_table(ObjectPath(name[1], name[2]), new[2], False)


def alter_object(statement: st.AlterObject, session: TableSession) -> TableResult:
    catalogs = session.catalogs
    match statement.kind, statement.action:
        case "MODEL", _:
            return alter_model(statement, session)
        case "VIEW", "RENAME":
            name = catalogs.full_name(statement.path)
            catalogs.required(name, "view")
            _rename(name, statement.value, session)
        case "VIEW", "AS":
            name = catalogs.full_name(statement.path)
            old = catalogs.required(name, "view")
            query, text = statement.value
            relation = QueryBuilder(catalogs).query(query)
            view = CatalogView(text, query, relation.names, (catalogs.current_catalog, catalogs.current_database))
            catalogs.replace(name, CatalogBaseTable(body=old._body, view=view))
        case "DATABASE", "SET" | "RESET":
            catalog, database = _database_path(statement.path, session)
            properties = catalog.get_database(database).get_properties()
            _change(properties, statement)
            comment = catalog.get_database(database).get_comment()
            catalog.alter_database(database, CatalogDatabase(properties=properties, comment=comment), False)
        case "CATALOG", "SET" | "RESET" | "COMMENT":
            [name_] = statement.path
            catalogs.catalog(name_)
            options, comment = catalogs.catalog_options.get(name_, ({}, None))
            options = dict(options)
            if statement.action == "COMMENT":
                comment = statement.value
            else:
                _change(options, statement)
            catalogs.catalog_options[name_] = (options, comment)
        case "FUNCTION", "AS":
            class_name, language = statement.value
            create = st.CreateFunction(
                statement.path, class_name, language, temporary=statement.temporary, system=statement.system
            )
            drop(
                st.Drop("FUNCTION", statement.path, statement.temporary, statement.system, statement.if_exists), session
            )
            create_function(create, session)
        case _:
            raise NotSupportedError(f"ALTER {statement.kind} .. {statement.action} is not there.")
    return TableResult.ok()


def _change(properties: dict[str, str], statement: st.AlterObject) -> None:
    if statement.action == "SET":
        properties.update(dict(statement.value))
    else:
        for key in statement.value:
            properties.pop(key, None)
