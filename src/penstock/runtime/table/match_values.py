"""Values of expressions over the rows of a match: for DEFINE one row at a time, for MEASURES all matches at once.

Rows are tuples of plain values. An InputRef's index is variable * width + column; variable 0 is all rows.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import pyarrow as pa

from penstock.columns.kernels.datum import Session, as_array, from_plain, plain_values
from penstock.columns.typed.evaluation import Rows, evaluate
from penstock.columns.typed.nodes import Aggregate, Constant, InputRef, Invoke, Typed
from penstock.columns.typesystem.families import is_integer
from penstock.common.errors import NotSupportedError

Row = tuple[Any, ...]
RowsOf = Callable[[int], Sequence[Row]]  # the rows of a variable, oldest first


@dataclass(frozen=True)
class Navigation(Typed):
    """FIRST or LAST: an expression in another row of a variable."""

    operand: Typed
    first: bool
    offset: int = 0

    def children(self) -> tuple[Typed, ...]:
        return (self.operand,)

    def with_children(self, children: tuple[Typed, ...]) -> Typed:
        return replace(self, operand=children[0])


@dataclass(frozen=True)
class MatchTime(Typed):
    """MATCH_ROWTIME(): the time of the last row of the match."""


class MatchExpression:
    """An expression over the rows of one match."""

    def __init__(self, node: Typed, width: int, session: Session) -> None:
        self._width = width
        self._session = session
        self.leaves: list[Typed] = []
        self.node = self._planted(node)
        self._quick = _quick(self.node)

    def _planted(self, node: Typed) -> Typed:
        """The expression over columns of its leaves, each a value that the rows of the match give."""
        if isinstance(node, (InputRef, Navigation, Aggregate, MatchTime)):
            if node not in self.leaves:
                self.leaves.append(node)
            return InputRef(node.data_type, self.leaves.index(node), "")
        return node.with_children(tuple(self._planted(child) for child in node.children()))

    def leaf_values(self, rows_of: RowsOf, time: int) -> list[Any]:
        return [self._leaf(leaf, rows_of, time) for leaf in self.leaves]

    def holds(self, rows_of: RowsOf, time: int) -> bool:
        """The expression as a condition."""
        values = self.leaf_values(rows_of, time)
        if self._quick is not None:
            return self._quick(values) is True
        columns = [from_plain([value], leaf.data_type) for value, leaf in zip(values, self.leaves, strict=True)]
        return as_array(evaluate(self.node, Rows(columns, 1, self._session)), 1)[0].as_py() is True

    def column(self, values: list[list[Any]]) -> pa.Array:
        """The expression for many matches, of which these are the values of the leaves."""
        by_leaf = list(zip(*values, strict=True)) if self.leaves else []
        columns = [from_plain(list(one), leaf.data_type) for one, leaf in zip(by_leaf, self.leaves, strict=True)]
        return as_array(evaluate(self.node, Rows(columns, len(values), self._session)), len(values))

    # -- leaves ----------------------------------------------------------------------------------------------------

    def _leaf(self, leaf: Typed, rows_of: RowsOf, time: int) -> Any:
        match leaf:
            case MatchTime():
                return time
            case InputRef():
                rows = rows_of(leaf.index // self._width)
                return rows[-1][leaf.index % self._width] if rows else None
            case Navigation():
                rows = rows_of(self._variable(leaf.operand))
                if leaf.offset >= len(rows):
                    return None
                return self._in_row(leaf.operand, rows[leaf.offset if leaf.first else -1 - leaf.offset])
            case Aggregate():
                return self._aggregate(leaf, rows_of)
        raise NotSupportedError(f"{type(leaf).__name__} cannot stand in MATCH_RECOGNIZE.")

    def _variable(self, node: Typed) -> int:
        if isinstance(node, InputRef):
            return node.index // self._width
        return next((found for child in node.children() if (found := self._variable(child))), 0)

    def _in_row(self, node: Typed, row: Row) -> Any:
        """An expression over the columns of one row."""
        if isinstance(node, InputRef):
            return row[node.index % self._width]

        def filled(part: Typed) -> Typed:
            if isinstance(part, InputRef):
                return Constant(part.data_type, row[part.index % self._width])
            return part.with_children(tuple(filled(child) for child in part.children()))

        return plain_values(as_array(evaluate(filled(node), Rows((), 1, self._session)), 1), node.data_type)[0]

    def _aggregate(self, call: Aggregate, rows_of: RowsOf) -> Any:
        rows = rows_of(self._variable(call.arguments[0]) if call.arguments else 0)
        if call.function == "count" and not call.arguments:
            return len(rows)
        values = [value for row in rows if (value := self._in_row(call.arguments[0], row)) is not None]
        if call.distinct:
            values = list(dict.fromkeys(values))
        compute = _AGGREGATES.get(call.function)
        if compute is None:
            raise NotSupportedError(
                f"{call.function.upper()} cannot stand in MATCH_RECOGNIZE: COUNT, SUM, AVG, MIN, MAX can."
            )
        if call.function == "count":
            return len(values)
        return compute(values, call) if values else None


def _average(values: list[Any], call: Aggregate) -> Any:
    total = sum(values)
    if is_integer(call.data_type):
        return abs(total) // len(values) * (1 if total >= 0 else -1)
    return total / len(values)


_AGGREGATES: dict[str, Callable[[list[Any], Aggregate], Any]] = {
    "count": lambda values, call: len(values),
    "sum": lambda values, call: sum(values),
    "avg": _average,
    "min": lambda values, call: min(values),
    "max": lambda values, call: max(values),
    "first_value": lambda values, call: values[0],
    "last_value": lambda values, call: values[-1],
}

# -- conditions on plain values, for which columns of one row would be a waste -----------------------------------------

_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "equals": operator.eq,
    "notEquals": operator.ne,
    "lessThan": operator.lt,
    "lessThanOrEqual": operator.le,
    "greaterThan": operator.gt,
    "greaterThanOrEqual": operator.ge,
}
_PLAIN = (int, float, str, Decimal)

Quick = Callable[[list[Any]], Any]


def _quick(node: Typed) -> Quick | None:
    """Comparisons of values as they are, joined by AND and OR; None for everything else."""
    if isinstance(node, InputRef):
        return operator.itemgetter(node.index)
    if isinstance(node, Constant):
        value = node.value
        return (lambda values: value) if value is None or isinstance(value, _PLAIN) else None
    if not isinstance(node, Invoke):
        return None
    parts = [_quick(argument) for argument in node.arguments]
    if any(part is None for part in parts):
        return None
    known: list[Quick] = [part for part in parts if part is not None]
    if node.function in _BINARY and node.arguments[0].data_type.same_but_nullability(node.arguments[1].data_type):
        compare, (one, other) = _BINARY[node.function], known

        def compared(values: list[Any]) -> Any:
            left, right = one(values), other(values)
            return None if left is None or right is None else compare(left, right)

        return compared
    if node.function == "and":
        return lambda values: _all(part(values) for part in known)
    if node.function == "or":
        return lambda values: _any(part(values) for part in known)
    if node.function == "isNull":
        return lambda values: known[0](values) is None
    if node.function == "isNotNull":
        return lambda values: known[0](values) is not None
    return None


def _all(answers: Any) -> bool | None:
    found = list(answers)
    return False if False in found else None if None in found else True


def _any(answers: Any) -> bool | None:
    found = list(answers)
    return True if True in found else None if None in found else False
