"""StatementSet: several inserts that run as one job and share what they have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock.common.errors import NotSupportedError, ProgramError
from penstock.table.compiled_plan import CompiledPlan
from penstock.table.logical.nodes import Sink
from penstock.table.session.explanation import explanation
from penstock.table.session.statements import sink_of
from penstock.table.sql.dialect import parse_statement
from penstock.table.table_descriptor import TableDescriptor
from penstock.table.table_pipeline import TablePipeline
from penstock.table.table_result import TableResult

if TYPE_CHECKING:
    from penstock.table.table_environment import TableEnvironment

__all__ = ["StatementSet"]


class StatementSet:
    """Made by ``t_env.create_statement_set()``."""

    def __init__(self, _j_statement_set: Any, t_env: TableEnvironment) -> None:
        self._t_env = t_env
        self._sinks: list[Sink] = []
        self._texts: list[str] = []  # of those that are SQL

    def add(self, table_pipeline: TablePipeline) -> StatementSet:
        self._sinks.append(table_pipeline._sink)
        return self

    def add_insert_sql(self, stmt: str) -> StatementSet:
        self._sinks.append(sink_of(parse_statement(stmt), self._t_env._session, stmt))
        self._texts.append(stmt.strip().rstrip(";"))
        return self

    def add_insert(
        self, target_path_or_descriptor: str | TableDescriptor, table: Any, overwrite: bool = False
    ) -> StatementSet:
        self._sinks.append(self._t_env._sink_into(table, target_path_or_descriptor, overwrite))
        return self

    def attach_as_datastream(self) -> None:
        """Hands the inserts to the StreamExecutionEnvironment, whose execute() then runs them."""
        self._t_env._session.attach(self._taken())

    def explain(self, *extra_details: int) -> str:
        return explanation(self._sinks, self._t_env._session, extra_details)

    def print_explain(self, *extra_details: int) -> None:
        print(self.explain(*extra_details))

    def execute(self) -> TableResult:
        """Starts the job, and returns at once. The set is empty afterwards."""
        return self._t_env._session.insert(self._taken())

    def _taken(self) -> list[Sink]:
        if not self._sinks:
            raise ProgramError("The statement set is empty: add_insert_sql() or add_insert() first.")
        sinks, self._sinks, self._texts = self._sinks, [], []
        return sinks

    def compile_plan(self) -> CompiledPlan:
        """The plan of all inserts, which must be SQL."""
        if len(self._texts) < len(self._sinks):
            raise NotSupportedError("compile_plan() needs inserts of SQL text: use add_insert_sql().")
        text = "".join(f"{one};\n" for one in self._texts)
        self._taken()
        return self._t_env.compile_plan_sql(f"STATEMENT SET BEGIN\n{text}END")
