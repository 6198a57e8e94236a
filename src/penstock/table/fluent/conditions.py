"""Tests and choices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock.table.fluent.base import Fluent, T
from penstock.table.syntax.expressions import InTable

if TYPE_CHECKING:
    from penstock.table.expression import Expression


class ConditionMethods(Fluent[T]):
    def between(self, lower_bound: Any, upper_bound: Any) -> Expression[Any]:
        return self._call("between", lower_bound, upper_bound)

    def not_between(self, lower_bound: Any, upper_bound: Any) -> Expression[Any]:
        return self._call("notBetween", lower_bound, upper_bound)

    def then(self, if_true: Any, if_false: Any) -> Expression[Any]:
        """The one value where this condition holds, the other elsewhere."""
        return self._call("ifThenElse", if_true, if_false)

    def if_null(self, null_replacement: Any) -> Expression[Any]:
        return self._call("IFNULL", null_replacement)

    @property
    def is_null(self) -> Expression[Any]:
        return self._call("isNull")

    @property
    def is_not_null(self) -> Expression[Any]:
        return self._call("isNotNull")

    @property
    def is_true(self) -> Expression[Any]:
        return self._call("isTrue")

    @property
    def is_false(self) -> Expression[Any]:
        return self._call("isFalse")

    @property
    def is_not_true(self) -> Expression[Any]:
        return self._call("isNotTrue")

    @property
    def is_not_false(self) -> Expression[Any]:
        return self._call("isNotFalse")

    def in_(self, first_element_or_table: Any, *remaining_elements: Any) -> Expression[Any]:
        """Whether the value is among the elements, or in the table, which has one column."""
        if hasattr(first_element_or_table, "get_schema"):
            return self._make(InTable(self._node, first_element_or_table))
        return self._call("in", first_element_or_table, *remaining_elements)
