"""Functions that mean something to the plan: windows, their properties, and calls of models and changelogs."""

from __future__ import annotations

from penstock.columns.functions import results
from penstock.columns.functions.arguments import ANY, MOMENT, anything, takes
from penstock.columns.functions.function import Function, Role
from penstock.columns.kernels.datum import Datum, Invocation, constant
from penstock.columns.typesystem.data_types import DataTypes

_TIMESTAMP = DataTypes.TIMESTAMP(3)
_BY_PLAN = "the plan replaces it; it has no value of its own"


def _database(call: Invocation) -> Datum:
    return constant(call.session.database, call.result_type)


def _window(name: str) -> Function:
    return Function(
        name,
        takes(MOMENT, ANY, repeated=True),
        lambda site: _TIMESTAMP.not_null(),
        None,
        (name,),
        Role.WINDOW,
        missing=_BY_PLAN,
    )


GROUP_WINDOWS: tuple[Function, ...] = tuple(
    _window(window + suffix)
    for window in ("TUMBLE", "HOP", "SESSION")
    for suffix in ("", "_START", "_END", "_ROWTIME", "_PROCTIME")
)

TABLE_FUNCTIONS: tuple[Function, ...] = tuple(
    Function(name, anything(0), results.maybe(DataTypes.ROW()), None, (name,), Role.TABLE, missing=reason)
    for name, reason in (
        ("CUMULATE", _BY_PLAN),
        ("ML_PREDICT", "models are not there: call the service in a Python function"),
        ("TO_CHANGELOG", _BY_PLAN),
        ("FROM_CHANGELOG", _BY_PLAN),
    )
)

AUXILIARY: tuple[Function, ...] = (
    Function("currentDatabase", takes(), results.never_null(DataTypes.STRING()), _database, ("CURRENT_DATABASE",)),
)
