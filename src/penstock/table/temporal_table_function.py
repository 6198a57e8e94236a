"""Temporal table functions: the rows of a table at a moment, for joins."""

from __future__ import annotations

from typing import Any

from penstock.common.errors import ProgramError
from penstock.table.expression import Expression
from penstock.table.fluent.literals import node_of
from penstock.table.logical.nodes import Relation
from penstock.table.logical.table_functions import Versions
from penstock.table.syntax import expressions as syntax

__all__ = ["TemporalTableFunction"]


class TemporalTableFunction:
    """Made by :meth:`Table.create_temporal_table_function`. Register it, and call it with a time of the left table::

    t_env.create_temporary_system_function("rates", rates)
    t_env.sql_query("SELECT .. FROM orders AS o, LATERAL TABLE(rates(o.ts)) AS r WHERE r.currency = o.currency")
    """

    def __init__(self, relation: Relation, time_attribute: Expression[Any], primary_key: Expression[Any]) -> None:
        time = _column(relation, time_attribute)
        if relation.fields[time].time is None:
            raise ProgramError(f"{relation.names[time]!r} is no time attribute: a watermark or PROCTIME() makes one.")
        self._versions = Versions(relation, time, (_column(relation, primary_key),))

    def __call__(self, time: Expression[Any]) -> Expression[Any]:
        from penstock.table.expressions import call

        return call(self, time)


def _column(relation: Relation, expression: Expression[Any]) -> int:
    node = node_of(expression)
    name = node.parts[-1] if isinstance(node, syntax.Name) else ""
    if name not in relation.names:
        raise ProgramError(f"{expression} is no column of the table, which has {', '.join(relation.names)}.")
    return relation.names.index(name)
