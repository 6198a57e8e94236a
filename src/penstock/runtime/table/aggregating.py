"""What operators with aggregate calls share: functions of users among them are opened and closed with the operator."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.columns.typed.python_call import PythonFunction
from penstock.runtime.operators.base import Operator
from penstock.runtime.table.aggregates.calls import AggregateCalls
from penstock.runtime.table.user_functions import UserFunctions


class AggregatingOperator(Operator):
    _calls: AggregateCalls

    def _user_functions(self) -> Sequence[PythonFunction]:
        return self._calls.user_functions

    def open(self) -> None:
        UserFunctions(self._user_functions(), self.context).open()
        super().open()

    def close(self) -> None:
        UserFunctions(self._user_functions(), self.context).close()
        super().close()
