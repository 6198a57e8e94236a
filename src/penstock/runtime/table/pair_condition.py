"""What joins share: functions of users in the condition are opened and closed with the operator."""

from __future__ import annotations

from penstock.columns.typed.python_call import functions_in
from penstock.runtime.blueprint import OperatorBlueprint
from penstock.runtime.context import SubtaskContext
from penstock.runtime.operators.base import Operator
from penstock.runtime.table.user_functions import UserFunctions


class JoiningOperator(Operator):
    """Its parameters are `join`, with a condition on pairs or none."""

    def __init__(self, blueprint: OperatorBlueprint, context: SubtaskContext) -> None:
        super().__init__(blueprint, context)
        condition = blueprint.params["join"].condition
        self._functions = UserFunctions(functions_in(() if condition is None else (condition,)), context)

    def open(self) -> None:
        self._functions.open()
        super().open()

    def close(self) -> None:
        self._functions.close()
        super().close()
