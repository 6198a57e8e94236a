"""Expression: what ``col("a") + 1`` is."""

from __future__ import annotations

from typing import Any

from penstock.columns.typesystem.base import DataType
from penstock.table.fluent.aggregates import AggregateMethods
from penstock.table.fluent.base import T
from penstock.table.fluent.collections import CollectionMethods
from penstock.table.fluent.conditions import ConditionMethods
from penstock.table.fluent.documents import JsonMethods
from penstock.table.fluent.literals import node_of
from penstock.table.fluent.numbers import NumberMethods
from penstock.table.fluent.summary import summary_of
from penstock.table.fluent.texts import TextMethods
from penstock.table.fluent.times import TimeMethods
from penstock.table.fluent.units import (
    JsonExistsOnError,
    JsonOnNull,
    JsonQueryOnEmptyOrError,
    JsonQueryWrapper,
    JsonType,
    JsonValueOnEmptyOrError,
    TimeIntervalUnit,
    TimePointUnit,
)
from penstock.table.syntax.expressions import Aliased, Call, CastTo, Named, Order

__all__ = [
    "Expression",
    "JsonExistsOnError",
    "JsonOnNull",
    "JsonQueryOnEmptyOrError",
    "JsonQueryWrapper",
    "JsonType",
    "JsonValueOnEmptyOrError",
    "TimeIntervalUnit",
    "TimePointUnit",
]


class Expression(
    NumberMethods[T],
    ConditionMethods[T],
    AggregateMethods[T],
    TextMethods[T],
    TimeMethods[T],
    CollectionMethods[T],
    JsonMethods[T],
):
    """A column, a literal, or a function of expressions; its type is known when a table is made with it.

    >>> from penstock.table.expressions import col
    >>> str(col("a") + 1 > 5)
    'greaterThan(plus(a, 1), 5)'
    """

    def __abs__(self) -> Expression[T]:
        return self._make(Call("abs", (self._node,)))

    def __lt__(self, other: Any) -> Expression[bool]:
        return self._call("lessThan", other)

    def __le__(self, other: Any) -> Expression[bool]:
        return self._call("lessThanOrEqual", other)

    def __eq__(self, other: Any) -> Expression[bool]:  # type: ignore[override]
        return self._call("equals", _given(other))

    def __ne__(self, other: Any) -> Expression[bool]:  # type: ignore[override]
        return self._call("notEquals", _given(other))

    def __gt__(self, other: Any) -> Expression[bool]:
        return self._call("greaterThan", other)

    def __ge__(self, other: Any) -> Expression[bool]:
        return self._call("greaterThanOrEqual", other)

    def __and__(self, other: Any) -> Expression[bool]:
        return self._call("and", other)

    def __rand__(self, other: Any) -> Expression[bool]:
        return self._call_with_first("and", other)

    def __or__(self, other: Any) -> Expression[bool]:
        return self._call("or", other)

    def __ror__(self, other: Any) -> Expression[bool]:
        return self._call_with_first("or", other)

    def __invert__(self) -> Expression[bool]:
        return self._call("not")

    def __add__(self, other: Any) -> Expression[Any]:
        return self._call("plus", other)

    def __radd__(self, other: Any) -> Expression[Any]:
        return self._call_with_first("plus", other)

    def __sub__(self, other: Any) -> Expression[Any]:
        return self._call("minus", other)

    def __rsub__(self, other: Any) -> Expression[Any]:
        return self._call_with_first("minus", other)

    def __mul__(self, other: Any) -> Expression[Any]:
        return self._call("times", other)

    def __rmul__(self, other: Any) -> Expression[Any]:
        return self._call_with_first("times", other)

    def __truediv__(self, other: Any) -> Expression[Any]:
        return self._call("divide", other)

    def __rtruediv__(self, other: Any) -> Expression[Any]:
        return self._call_with_first("divide", other)

    def __mod__(self, other: Any) -> Expression[Any]:
        return self._call("mod", other)

    def __rmod__(self, other: Any) -> Expression[Any]:
        return self._call_with_first("mod", other)

    def __pow__(self, other: Any) -> Expression[Any]:
        return self._call("power", other)

    def __rpow__(self, other: Any) -> Expression[Any]:
        return self._call_with_first("power", other)

    def __neg__(self) -> Expression[Any]:
        return self._call("minusPrefix")

    def __pos__(self) -> Expression[Any]:
        return self

    def __hash__(self) -> int:
        return hash(self._node)

    def __bool__(self) -> bool:
        raise TypeError(
            "An expression is not true or false before the job runs: use & | ~ instead of and, or, not,"
            " and if_then_else(..) instead of if."
        )

    def __str__(self) -> str:
        return summary_of(self._node)

    def __repr__(self) -> str:
        return f"Expression<{self}>"

    def alias(self, name: str, *extra_names: str) -> Expression[T]:
        """This expression under a name; a table function may give several columns."""
        return self._make(Aliased(self._node, (name, *extra_names)))

    def as_argument(self, name: str) -> Expression[Any]:
        return self._make(Named(name, self._node))

    def cast(self, data_type: DataType) -> Expression[Any]:
        """The value as another type; fails where there is none."""
        return self._make(CastTo(self._node, data_type))

    def try_cast(self, data_type: DataType) -> Expression[Any]:
        """The value as another type, or null where there is none."""
        return self._make(CastTo(self._node, data_type, safe=True))

    @property
    def asc(self) -> Expression[Any]:
        """Nulls come last; in SQL they come first."""
        return self._make(Order(self._node, nulls_first=False))

    @property
    def desc(self) -> Expression[Any]:
        """Nulls come first; in SQL they come last."""
        return self._make(Order(self._node, ascending=False, nulls_first=True))


def _given(value: Any) -> Any:
    """None is a literal here, not an argument that was left out."""
    return node_of(value) if value is None else value
