"""Moments, intervals, and the time of windows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock.columns.functions.mathematics import MILLISECONDS, MONTHS
from penstock.columns.typesystem.data_types import DataTypes
from penstock.table.fluent.base import Fluent, T
from penstock.table.fluent.units import TimeIntervalUnit
from penstock.table.syntax.expressions import CastTo, Literal

if TYPE_CHECKING:
    from penstock.table.expression import Expression


class TimeMethods(Fluent[T]):
    @property
    def to_date(self) -> Expression[Any]:
        return self._make(CastTo(self._node, DataTypes.DATE()))

    @property
    def to_time(self) -> Expression[Any]:
        return self._make(CastTo(self._node, DataTypes.TIME()))

    @property
    def to_timestamp(self) -> Expression[Any]:
        return self._make(CastTo(self._node, DataTypes.TIMESTAMP(3)))

    def extract(self, time_interval_unit: TimeIntervalUnit) -> Expression[Any]:
        """A part of a moment, as ``TimeIntervalUnit.YEAR``."""
        return self._call("extract", unit=time_interval_unit.name)

    def floor(self, time_interval_unit: TimeIntervalUnit | None = None) -> Expression[Any]:
        """A number rounded down, or a moment cut to a unit."""
        return self._call("floor") if time_interval_unit is None else self._call("floor", unit=time_interval_unit.name)

    def ceil(self, time_interval_unit: TimeIntervalUnit | None = None) -> Expression[Any]:
        return self._call("ceil") if time_interval_unit is None else self._call("ceil", unit=time_interval_unit.name)

    def _interval(self, amount: int, months: bool) -> Expression[Any]:
        """So many months or milliseconds for each 1 of this number."""
        unit = MONTHS if months else MILLISECONDS
        if isinstance(self._node, Literal) and isinstance(self._node.value, int):
            return self._make(Literal(self._node.value * amount, unit.not_null()))
        return self._call("times", Literal(amount, unit.not_null()))

    @property
    def year(self) -> Expression[Any]:
        return self._interval(12, True)

    @property
    def years(self) -> Expression[Any]:
        return self._interval(12, True)

    @property
    def quarter(self) -> Expression[Any]:
        return self._interval(3, True)

    @property
    def quarters(self) -> Expression[Any]:
        return self._interval(3, True)

    @property
    def month(self) -> Expression[Any]:
        return self._interval(1, True)

    @property
    def months(self) -> Expression[Any]:
        return self._interval(1, True)

    @property
    def week(self) -> Expression[Any]:
        return self._interval(604_800_000, False)

    @property
    def weeks(self) -> Expression[Any]:
        return self._interval(604_800_000, False)

    @property
    def day(self) -> Expression[Any]:
        return self._interval(86_400_000, False)

    @property
    def days(self) -> Expression[Any]:
        return self._interval(86_400_000, False)

    @property
    def hour(self) -> Expression[Any]:
        return self._interval(3_600_000, False)

    @property
    def hours(self) -> Expression[Any]:
        return self._interval(3_600_000, False)

    @property
    def minute(self) -> Expression[Any]:
        return self._interval(60_000, False)

    @property
    def minutes(self) -> Expression[Any]:
        return self._interval(60_000, False)

    @property
    def second(self) -> Expression[Any]:
        return self._interval(1_000, False)

    @property
    def seconds(self) -> Expression[Any]:
        return self._interval(1_000, False)

    @property
    def milli(self) -> Expression[Any]:
        return self._interval(1, False)

    @property
    def millis(self) -> Expression[Any]:
        return self._interval(1, False)

    @property
    def rowtime(self) -> Expression[Any]:
        return self._call("rowtime")

    @property
    def proctime(self) -> Expression[Any]:
        return self._call("proctime")

    @property
    def start(self) -> Expression[Any]:
        return self._call("start")

    @property
    def end(self) -> Expression[Any]:
        return self._call("end")
