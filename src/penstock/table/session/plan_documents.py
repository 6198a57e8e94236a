"""Compiled plans: a statement with everything that it names, as JSON that another session can run.

The plan itself is made anew from the statement, and must come out with the same operators: their uids are in the
document. So a plan that would not fit the savepoints of the job that it was compiled for is refused, with a sentence.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from penstock import __version__
from penstock.common.errors import NotSupportedError, ProgramError
from penstock.graph.stream_graph import upstream_first
from penstock.table.catalog.ddl_text import create_statement
from penstock.table.catalog.objects import CatalogBaseTable, CatalogFunction, CatalogView
from penstock.table.logical import nodes as plan
from penstock.table.logical.planning import plan_statement
from penstock.table.logical.resolved_table import resolve_table
from penstock.table.session.catalogs import FullName
from penstock.table.session.table_session import TableSession
from penstock.table.sql import statements as st
from penstock.table.sql.dialect import parse_statement
from penstock.table.table_result import TableResult

Document = dict[str, Any]
_FORM = 1
_KEPT_OPTIONS = "table."


def compiled(text: str, session: TableSession) -> Document:
    """The document of INSERT .., or of STATEMENT SET BEGIN .. END."""
    with session.catalogs.noting() as names:
        sinks = _sinks(text, session)
    options = session.env._configuration.to_dict()
    return {
        "penstockPlan": _FORM,
        "penstockVersion": __version__,
        "statement": text,
        "catalog": session.catalogs.current_catalog,
        "database": session.catalogs.current_database,
        "batch": session.batch,
        "options": {key: value for key, value in sorted(options.items()) if key.startswith(_KEPT_OPTIONS)},
        "functions": _functions(session),
        "objects": [_described(name, session) for name in sorted(names)],
        "operators": _operators(sinks, session),
    }


def loaded(text: str | bytes, what: str) -> Document:
    """A document out of a file or a text, if this version can run it."""
    try:
        document = json.loads(text)
        form = document["penstockPlan"]
    except (ValueError, KeyError, TypeError):
        raise ProgramError(
            f"{what} is no compiled plan of Penstock. Plans of Flink hold Java operators: compile the SQL again with"
            " COMPILE PLAN."
        ) from None
    if form != _FORM:
        raise ProgramError(
            f"{what} is a compiled plan of form {form} (Penstock {document.get('penstockVersion')}); this Penstock"
            f" {__version__} runs form {_FORM}. Compile its SQL again."
        )
    found: Document = document
    return found


def executed(document: Document, session: TableSession) -> TableResult:
    with _restored(document, session):
        return session.insert(checked_sinks(document, session))


def explained(document: Document, session: TableSession, explain: Callable[[list[plan.Relation]], str]) -> str:
    with _restored(document, session):
        return explain(list(checked_sinks(document, session)))


def checked_sinks(document: Document, session: TableSession) -> list[plan.Sink]:
    sinks = _sinks(document["statement"], session)
    now = _operators(sinks, session)
    if now != document["operators"]:
        changed = [one["name"] for one in now if one not in document["operators"]]
        raise ProgramError(
            f"The plan of Penstock {document['penstockVersion']} has other operators than {__version__} would"
            f" run now ({', '.join(changed) or 'fewer'}), so that its savepoints would not fit. Compile its SQL again,"
            " and start without the savepoint."
        )
    return sinks


def _sinks(text: str, session: TableSession) -> list[plan.Sink]:
    statement = parse_statement(f"EXECUTE {text}")
    inserts = statement.inserts if isinstance(statement, st.StatementSet) else (statement,)
    sinks = []
    for insert in inserts:
        if not isinstance(insert, st.Insert):
            raise ProgramError("Only INSERT statements, or sets of them, can be compiled to a plan.")
        sink = plan_statement(insert, session.catalogs, f"EXECUTE {text}")
        assert isinstance(sink, plan.Sink)
        sinks.append(sink)
    return sinks


def _operators(sinks: list[plan.Sink], session: TableSession) -> list[dict[str, str]]:
    operators = session.env._operators
    before, planner = len(operators), session.planner()
    try:
        ends = [session._sink(session.prepared(sink), planner) for sink in sinks]
        return [{"uid": node.uid or "", "name": node.name} for node in upstream_first(ends)]
    finally:
        del operators[before:]


def _functions(session: TableSession) -> dict[str, str]:
    """Functions of the session that are known by the names of their modules; others have to be there already."""
    catalogs = session.catalogs
    found = dict(catalogs.functions)
    found |= {".".join(name): function for name, function in catalogs.temporary_functions.items()}
    return {name: function.get_class_name() for name, function in found.items() if function.get_class_name()}


def _described(name: FullName, session: TableSession) -> dict[str, Any]:
    table = session.catalogs.required(name)
    if table._handle is not None or (table._view is not None and not table._view.text):
        raise NotSupportedError(
            f"{'.'.join(name)} is a table of this program alone: a compiled plan needs CREATE TABLE or CREATE VIEW."
        )
    found: dict[str, Any] = {"name": list(name), "create": create_statement(name, table)}
    if table._view is not None:
        place = table._view.place or (name[0], name[1])
        found |= {"query": table._view.text, "columns": list(table._view.columns), "place": list(place)}
    return found


@contextmanager
def _restored(document: Document, session: TableSession) -> Iterator[None]:
    """The session as it was when the plan was compiled; what its catalogs have already is taken from there."""
    if document["batch"] != session.batch:
        mode = "batch" if document["batch"] else "streaming"
        raise ProgramError(f"The plan was compiled in {mode} mode, and runs in that only.")
    catalogs, configuration = session.catalogs, session.env._configuration
    place = catalogs.current_catalog, catalogs.current_database
    options = {key: configuration.get_string(key, None) for key in document["options"]}
    created: list[FullName] = []
    functions = dict(catalogs.functions), dict(catalogs.temporary_functions)
    try:
        for path, class_name in document["functions"].items():
            function, parts = CatalogFunction.create_instance(class_name), path.split(".")
            if len(parts) == 3:
                catalogs.temporary_functions.setdefault(_full_name(parts), function)
            else:
                catalogs.functions.setdefault(path, function)
        for one in document["objects"]:
            name = _full_name(one["name"])
            if not _is_there(name, one, session):
                catalogs.create(name, _object(one), True, False)
                created.append(name)
        catalogs.current_catalog, catalogs.current_database = document["catalog"], document["database"]
        for key, value in document["options"].items():
            configuration.set_string(key, value)
        yield
    finally:
        catalogs.current_catalog, catalogs.current_database = place
        catalogs.functions, catalogs.temporary_functions = functions
        for name in created:
            del catalogs.temporary[name]
        for key, before in options.items():
            if before is None:
                configuration.remove_config(key)
            else:
                configuration.set_string(key, before)


def _is_there(name: FullName, one: dict[str, Any], session: TableSession) -> bool:
    found = session.catalogs.table(name)
    if found is None:
        return False
    if "query" not in one and found._view is None:
        compiled_with = _object(one)._body
        if resolve_table(compiled_with).fields != resolve_table(found._body).fields:
            raise ProgramError(
                f"The table {'.'.join(name)} has other columns now than when the plan was compiled. Compile it again."
            )
    return True


def _full_name(parts: Sequence[str]) -> FullName:
    return parts[0], parts[1], parts[2]


def _object(one: dict[str, Any]) -> CatalogBaseTable:
    if "query" in one:
        view = CatalogView(one["query"], None, tuple(one["columns"]), (one["place"][0], one["place"][1]))
        return CatalogBaseTable(body=st.TableBody(), view=view)
    statement = parse_statement(one["create"])
    assert isinstance(statement, st.CreateTable)
    return CatalogBaseTable(body=statement.body)
