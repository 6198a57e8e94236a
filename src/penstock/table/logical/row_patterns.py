"""Expressions of MATCH_RECOGNIZE: variables of the pattern stand for the rows that they have matched.

A column of a variable is an InputRef whose index also tells the variable: variable * width + column. Variable 0 stands
for all rows of the match.
"""

from __future__ import annotations

from penstock.columns.typed.nodes import Aggregate, Constant, TimeAttribute, Typed
from penstock.columns.typesystem.scalars import TimestampType
from penstock.common.errors import NotSupportedError
from penstock.runtime.table.match_values import MatchTime, Navigation
from penstock.table.logical.builder import NEVER_NULL
from penstock.table.logical.nodes import Field, Fields
from penstock.table.logical.scope import RelationScope
from penstock.table.resolution.resolver import Resolver
from penstock.table.sql.errors import SqlValidationError, suggestion
from penstock.table.syntax import expressions as syntax
from penstock.table.syntax import queries as written
from penstock.table.syntax.position import Position


def variables_of(pattern: written.PatternNode) -> list[str]:
    """In the order in which they appear."""
    own = [pattern.name] if pattern.name else []
    return list(dict.fromkeys([*own, *(name for child in pattern.children for name in variables_of(child))]))


class PatternScope(RelationScope):
    """Columns of the source, of all rows or of those of a variable."""

    def __init__(self, fields: Fields, variables: list[str], clause: str) -> None:
        super().__init__((), None, clause, aggregates=True, special=self._navigation)
        self._columns = fields
        self._variables = variables

    def _find(self, parts: tuple[str, ...], position: Position | None) -> tuple[int, Field, tuple[str, ...]] | None:
        variable = 0
        if len(parts) > 1 and parts[0] in self._variables:
            variable, parts = self._variables.index(parts[0]) + 1, parts[1:]
        for place, field in enumerate(self._columns):
            if field.name == parts[0]:
                return variable * len(self._columns) + place, field, parts[1:]
        names = [field.name for field in self._columns]
        raise SqlValidationError(f"There is no column {parts[0]!r}.{suggestion(parts[0], names)}", position)

    def _navigation(self, call: syntax.Call, resolver: Resolver) -> Typed | None:
        name = call.function.upper()
        if name in ("PREV", "NEXT"):
            raise NotSupportedError(
                f"{name} is not supported, as in Flink: LAST(A.x, 1) is the row of A before the last one."
            )
        if name == "CLASSIFIER":
            raise NotSupportedError("CLASSIFIER() is not supported, as in Flink.")
        if name == "MATCH_ROWTIME":
            time = next((f for f in self._columns if f.time is TimeAttribute.ROWTIME), None)
            return MatchTime(TimestampType(3, False) if time is None else time.data_type)
        if name not in ("FIRST", "LAST") or not call.arguments:
            return None
        operand = resolver.resolve(call.arguments[0])
        offset = resolver.resolve(call.arguments[1]) if len(call.arguments) > 1 else None
        if offset is not None and not isinstance(offset, Constant):
            raise SqlValidationError(f"The second argument of {name} is a whole number.", call.position)
        number = 0 if offset is None else int(offset.value)
        return Navigation(operand.data_type.nullable(), operand, name == "FIRST", number)


def resolved(expression: syntax.Expr, fields: Fields, variables: list[str], clause: str) -> Typed:
    return Resolver(PatternScope(fields, variables, clause)).resolve(expression)


def measure_field(node: Typed, name: str) -> Field:
    """Measures may be null, but for counts and for the time of the match, which is a time attribute."""
    if isinstance(node, MatchTime):
        return Field(name, node.data_type.not_null(), TimeAttribute.ROWTIME)
    counted = isinstance(node, Aggregate) and node.function in NEVER_NULL
    return Field(name, node.data_type if counted else node.data_type.nullable())
