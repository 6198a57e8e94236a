"""The life of Python functions in an operator of tables: opened before the first row, closed at the end."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.columns.typed.python_call import PythonFunction
from penstock.functions.table_function import FunctionContext
from penstock.runtime.context import SubtaskContext


class UserFunctions:
    def __init__(self, functions: Sequence[PythonFunction], context: SubtaskContext) -> None:
        self._functions = functions
        self._context = context

    def open(self) -> None:
        for function in self._functions:
            function.function.open(self._function_context())

    def close(self) -> None:
        for function in self._functions:
            function.function.close()

    def _function_context(self) -> FunctionContext:
        runtime = self._context.runtime_context
        return FunctionContext(
            runtime.get_metrics_group(),
            self._context.settings.job_parameters,
            runtime.get_task_name(),
            runtime.get_task_name_with_subtasks(),
            runtime.get_number_of_parallel_subtasks(),
            runtime.get_max_number_of_parallel_subtasks(),
            runtime.get_index_of_this_subtask(),
            runtime.get_attempt_number(),
        )
