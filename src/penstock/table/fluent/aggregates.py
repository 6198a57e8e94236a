"""Aggregate functions, of bitmaps as well."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from penstock.common.errors import ProgramError
from penstock.table.fluent.base import Fluent, T
from penstock.table.fluent.literals import node_of
from penstock.table.syntax.expressions import Call, InlineCall, Name, Over

if TYPE_CHECKING:
    from penstock.table.expression import Expression


class AggregateMethods(Fluent[T]):
    @property
    def distinct(self) -> Expression[Any]:
        """Lets the aggregate function count equal values once: ``col("a").sum.distinct``."""
        if not isinstance(self._node, Call):
            raise ProgramError("distinct belongs after an aggregate function: col('a').count.distinct")
        return self._make(replace(self._node, distinct=True))

    @property
    def sum(self) -> Expression[Any]:
        return self._call("sum")

    @property
    def sum0(self) -> Expression[Any]:
        return self._call("sum0")

    @property
    def min(self) -> Expression[Any]:
        return self._call("min")

    @property
    def max(self) -> Expression[Any]:
        return self._call("max")

    @property
    def count(self) -> Expression[Any]:
        return self._call("count")

    @property
    def avg(self) -> Expression[Any]:
        return self._call("avg")

    @property
    def first_value(self) -> Expression[Any]:
        return self._call("first_value")

    @property
    def last_value(self) -> Expression[Any]:
        return self._call("last_value")

    def list_agg(self, separator: Any = None) -> Expression[Any]:
        return self._call("listAgg", separator)

    @property
    def stddev_pop(self) -> Expression[Any]:
        return self._call("stddevPop")

    @property
    def stddev_samp(self) -> Expression[Any]:
        return self._call("stddevSamp")

    @property
    def var_pop(self) -> Expression[Any]:
        return self._call("varPop")

    @property
    def var_samp(self) -> Expression[Any]:
        return self._call("varSamp")

    @property
    def collect(self) -> Expression[Any]:
        return self._call("collect")

    @property
    def array_agg(self) -> Expression[Any]:
        return self._call("ARRAY_AGG")

    def over(self, alias: Any) -> Expression[Any]:
        """This aggregate over the window that ``Table.over_window`` gave that name."""
        if not isinstance(self._node, (Call, InlineCall)):
            raise ProgramError("over(..) belongs after an aggregate function: col('a').sum.over(col('w'))")
        name = node_of(alias)
        return self._make(Over(self._node, ".".join(name.parts) if isinstance(name, Name) else str(alias)))

    def bitmap_and_agg(self) -> Expression[Any]:
        return self._call("BITMAP_AND_AGG")

    def bitmap_and_cardinality_agg(self) -> Expression[Any]:
        return self._call("BITMAP_AND_CARDINALITY_AGG")

    def bitmap_build_agg(self) -> Expression[Any]:
        return self._call("BITMAP_BUILD_AGG")

    def bitmap_build_cardinality_agg(self) -> Expression[Any]:
        return self._call("BITMAP_BUILD_CARDINALITY_AGG")

    def bitmap_or_agg(self) -> Expression[Any]:
        return self._call("BITMAP_OR_AGG")

    def bitmap_or_cardinality_agg(self) -> Expression[Any]:
        return self._call("BITMAP_OR_CARDINALITY_AGG")

    def bitmap_xor_agg(self) -> Expression[Any]:
        return self._call("BITMAP_XOR_AGG")

    def bitmap_xor_cardinality_agg(self) -> Expression[Any]:
        return self._call("BITMAP_XOR_CARDINALITY_AGG")
