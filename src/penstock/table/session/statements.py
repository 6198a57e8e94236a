"""Every statement of Flink SQL and what it does, on one screen."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from penstock.common.credentials import shown_settings
from penstock.common.errors import NotSupportedError, ProgramError
from penstock.common.java_archives import unknown_jars
from penstock.table.logical import nodes as plan
from penstock.table.logical.planning import plan_statement
from penstock.table.logical.row_changes import build_delete, build_update
from penstock.table.session import definition_statements as ddl
from penstock.table.session import plan_documents as plans
from penstock.table.session.explanation import DETAILS, explanation
from penstock.table.session.models import create_model
from penstock.table.session.show import describe, show
from penstock.table.session.statistics import analyze
from penstock.table.session.table_session import TableSession
from penstock.table.sql import statements as st
from penstock.table.sql.dialect import parse_statement
from penstock.table.sql.errors import SqlValidationError
from penstock.table.table_result import TableResult


def execute(sql: str, session: TableSession) -> TableResult:
    """One statement; errors show the line and the place."""
    return execute_statement(parse_statement(sql), session, sql)


def execute_statement(statement: st.Statement, session: TableSession, sql: str | None = None) -> TableResult:
    action = _ACTIONS.get(type(statement))
    if action is None:
        raise NotSupportedError(f"{_REASONS.get(type(statement), f'{type(statement).__name__} is not there.')}")
    try:
        return action(statement, session)
    except SqlValidationError as error:
        raise SqlValidationError(error.message, error.position, sql) from None


def sink_of(statement: st.Statement, session: TableSession, sql: str | None = None) -> plan.Sink:
    """The plan of an INSERT."""
    if not isinstance(statement, st.Insert):
        raise ProgramError("Only INSERT statements can be executed together.")
    relation = plan_statement(statement, session.catalogs, sql)
    assert isinstance(relation, plan.Sink)
    return relation


def _query(statement: st.QueryStatement, session: TableSession) -> TableResult:
    return session.collect(plan_statement(statement, session.catalogs))


def _insert(statement: st.Insert, session: TableSession) -> TableResult:
    return session.insert([sink_of(statement, session)])


def _changed_rows(statement: st.Delete | st.Update | st.TruncateTable, session: TableSession) -> TableResult:
    if not session.batch:
        raise NotSupportedError("DELETE, UPDATE and TRUNCATE TABLE have an end: run them in batch mode, as in Flink.")
    build = build_update if isinstance(statement, st.Update) else build_delete
    return session.insert([build(statement, session.catalogs)])  # type: ignore[arg-type]


def _statement_set(statement: st.StatementSet, session: TableSession) -> TableResult:
    return session.insert([sink_of(insert, session) for insert in statement.inserts])


def _explain(statement: st.Explain, session: TableSession) -> TableResult:
    inner = statement.statement
    statements = inner.inserts if isinstance(inner, st.StatementSet) else (inner,)
    relations = [plan_statement(one, session.catalogs) for one in statements]
    return TableResult.of_text(explanation(relations, session, [DETAILS[name] for name in statement.details]))


def _compile_plan(statement: st.CompilePlan, session: TableSession) -> TableResult:
    """Into a file, which is not overwritten; with EXECUTE a plan that is there already is run."""
    path = Path(statement.file)
    if path.exists() and not (statement.if_not_exists or statement.execute):
        raise ProgramError(f"There is a plan {statement.file!r} already: remove it, or compile IF NOT EXISTS.")
    if not path.exists():
        document = plans.compiled(statement.text, session)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(document, indent=2), "utf-8")
    return _executed(path, session) if statement.execute else TableResult.ok()


def _execute_plan(statement: st.ExecutePlan, session: TableSession) -> TableResult:
    return _executed(Path(statement.file), session)


def _executed(path: Path, session: TableSession) -> TableResult:
    try:
        text = path.read_text("utf-8")
    except OSError as error:
        raise ProgramError(f"The plan {str(path)!r} cannot be read: {error.strerror}.") from None
    return plans.executed(plans.loaded(text, repr(str(path))), session)


def _use_catalog(statement: st.UseCatalog, session: TableSession) -> TableResult:
    session.catalogs.use_catalog(statement.name)
    return TableResult.ok()


def _use_database(statement: st.UseDatabase, session: TableSession) -> TableResult:
    session.catalogs.use_database(statement.path)
    return TableResult.ok()


def _use_modules(statement: st.UseModules, session: TableSession) -> TableResult:
    session.use_modules(list(statement.names))
    return TableResult.ok()


def _load_module(statement: st.LoadModule, session: TableSession) -> TableResult:
    session.load_module(statement.name)
    return TableResult.ok()


def _unload_module(statement: st.UnloadModule, session: TableSession) -> TableResult:
    session.unload_module(statement.name)
    return TableResult.ok()


def _set(statement: st.SetOption, session: TableSession) -> TableResult:
    configuration = session.config.get_configuration()
    if statement.key is None:
        rows = [(key, value) for key, value in sorted(shown_settings(configuration.to_dict()).items())]
        return TableResult.of_rows(["key", "value"], rows)
    configuration.set(statement.key, statement.value)
    return TableResult.ok()


def _reset(statement: st.ResetOption, session: TableSession) -> TableResult:
    configuration = session.config.get_configuration()
    for key in [statement.key] if statement.key is not None else list(configuration.key_set()):
        configuration.remove_config(key)
    return TableResult.ok()


def _jar(statement: st.JarStatement, session: TableSession) -> TableResult:
    if unknown_jars([statement.file]):
        raise NotSupportedError(
            f"{statement.file}: no Java code runs here. Connectors and formats are Python, and jars for Spark itself go"
            " into the option spark.jars."
        )
    return TableResult.ok()  # a connector or format that is here without it


_ACTIONS: dict[type[st.Statement], Callable[[Any, TableSession], TableResult]] = {
    st.QueryStatement: _query,
    st.Insert: _insert,
    st.Delete: _changed_rows,
    st.Update: _changed_rows,
    st.TruncateTable: _changed_rows,
    st.StatementSet: _statement_set,
    st.Explain: _explain,
    st.CompilePlan: _compile_plan,
    st.ExecutePlan: _execute_plan,
    st.Show: show,
    st.Describe: describe,
    st.CreateTable: ddl.create_table,
    st.CreateView: ddl.create_view,
    st.CreateDatabase: ddl.create_database,
    st.CreateCatalog: ddl.create_catalog,
    st.CreateFunction: ddl.create_function,
    st.CreateModel: create_model,
    st.AnalyzeTable: analyze,
    st.AlterTable: ddl.alter_table,
    st.AlterObject: ddl.alter_object,
    st.Drop: ddl.drop,
    st.UseCatalog: _use_catalog,
    st.UseDatabase: _use_database,
    st.UseModules: _use_modules,
    st.LoadModule: _load_module,
    st.UnloadModule: _unload_module,
    st.JarStatement: _jar,
    st.SetOption: _set,
    st.ResetOption: _reset,
}

_REASONS: dict[type[st.Statement], str] = {
    st.CallProcedure: "No catalog has procedures: CALL finds nothing.",
    st.CreateConnection: "Connections are not there: give the options to the table.",
    st.CreateMaterializedTable: "Materialized tables are not there: use a table and an INSERT.",
    st.StopJob: "STOP JOB is not there: use `penstock stop`, or get_job_client() of the result.",
    st.BeginStatementSet: "BEGIN STATEMENT SET belongs into the SQL client: here, use create_statement_set().",
    st.EndStatementSet: "END closes a statement set in the SQL client, and none is open.",
}
