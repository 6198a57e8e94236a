"""The RuntimeContext of a function that commits on the driver."""

from __future__ import annotations

from typing import Any, NoReturn

from penstock.common.errors import NotSupportedError
from penstock.functions.base import RuntimeContext
from penstock.functions.sink import CommitterContext


class CommitterRuntime(RuntimeContext):
    """One for the whole sink: there are no subtasks, no keys and no metrics."""

    def __init__(self, context: CommitterContext) -> None:
        self._context = context

    def get_task_name(self) -> str:
        return self._context.operator_name

    def get_number_of_parallel_subtasks(self) -> int:
        return 1

    def get_max_number_of_parallel_subtasks(self) -> int:
        return 1

    def get_index_of_this_subtask(self) -> int:
        return 0

    def get_attempt_number(self) -> int:
        return 0

    def get_task_name_with_subtasks(self) -> str:
        return f"{self._context.operator_name} (committer)"

    def get_job_parameter(self, key: str, default_value: str) -> str:
        return default_value

    def get_metrics_group(self) -> NoReturn:
        self._refuse()

    def get_state(self, state_descriptor: Any) -> NoReturn:
        self._refuse()

    def get_list_state(self, state_descriptor: Any) -> NoReturn:
        self._refuse()

    def get_map_state(self, state_descriptor: Any) -> NoReturn:
        self._refuse()

    def get_reducing_state(self, state_descriptor: Any) -> NoReturn:
        self._refuse()

    def get_aggregating_state(self, state_descriptor: Any) -> NoReturn:
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise NotSupportedError(
            f"the sink {self._context.operator_name!r} commits on the driver, where its function is opened once more:"
            " state and metrics belong to the workers, so use them when records are written."
        )
