"""TablePipeline: a query with the sink that its rows go to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.common.errors import NotSupportedError
from penstock.table.catalog.object_names import ObjectIdentifier
from penstock.table.compiled_plan import CompiledPlan
from penstock.table.logical.nodes import Sink
from penstock.table.session.explanation import explanation
from penstock.table.table_result import TableResult

if TYPE_CHECKING:
    from penstock.table.table_environment import TableEnvironment

__all__ = ["TablePipeline"]


class TablePipeline:
    """What ``table.insert_into(..)`` returns."""

    def __init__(self, j_table_pipeline: Sink, t_env: TableEnvironment) -> None:
        self._sink = j_table_pipeline
        self._t_env = t_env

    def execute(self) -> TableResult:
        """Starts the job, and returns at once."""
        return self._t_env._session.insert([self._sink])

    def explain(self, *extra_details: int) -> str:
        return explanation([self._sink], self._t_env._session, extra_details)

    def print_explain(self, *extra_details: int) -> None:
        print(self.explain(*extra_details))

    def get_sink_identifier(self) -> ObjectIdentifier | None:
        path = self._sink.path
        return ObjectIdentifier.of(path[0], path[1], path[2]) if len(path) == 3 else None

    def compile_plan(self) -> CompiledPlan:
        raise NotSupportedError("A plan is compiled from SQL text: use t_env.compile_plan_sql('INSERT INTO ..').")
