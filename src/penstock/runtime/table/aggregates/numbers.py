"""COUNT, SUM, AVG and the variances."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.columns.kernels.casting import cast
from penstock.columns.kernels.datum import Session
from penstock.columns.kernels.decimal_columns import from_unscaled
from penstock.columns.typesystem.arrow_mapping import to_arrow_type
from penstock.columns.typesystem.base import DataType
from penstock.columns.typesystem.decimals import fit
from penstock.columns.typesystem.scalars import DecimalType, DoubleType
from penstock.runtime.key_columns import integers_as_column
from penstock.runtime.table.aggregates.columnar import ColumnarFunction, Frame, Values, signs_where
from penstock.runtime.table.aggregates.interface import CallRows
from penstock.runtime.table.aggregates.lanes import lane_of, whole_digits
from penstock.runtime.table.runs import Runs, fold_frame, running_sum
from penstock.runtime.table.slots import SlotField

_LARGEST = (1 << 62) - 1
_EXACT = Context(prec=100, rounding=ROUND_HALF_UP)


class Count(ColumnarFunction):
    """COUNT(*), or COUNT of what is not null."""

    def __init__(self, prefix: str, arguments: int) -> None:
        super().__init__([SlotField(f"{prefix}count", np.int64, 0)])
        self._arguments = arguments

    def trail(self, begins: Frame, runs: Runs, rows: CallRows) -> Frame:
        valid = None
        for column in rows.arguments[: self._arguments]:
            if column.null_count:
                present = pc.is_valid(column).to_numpy(zero_copy_only=False)
                valid = present if valid is None else valid & present
        return [running_count(signs_where(rows, runs, valid), begins[0], runs)]

    def result(self, frame: Frame) -> pa.Array:
        return integers_as_column(frame[0])

    def combined(self, ours: Frame, theirs: Frame) -> Frame:
        return [ours[0] + theirs[0]]


def running_count(signs: Any, begins: Values, runs: Runs) -> Values:
    if signs is None:
        counted = np.arange(1, len(runs.order) + 1)
        return counted + np.repeat(begins - runs.starts, runs.counts)
    return running_sum(signs.astype(np.int64), begins, runs)


class Total(ColumnarFunction):
    """A sum of what is not null, and how much that was: the state of SUM and AVG."""

    def __init__(self, prefix: str, argument_type: DataType) -> None:
        self._decimal = isinstance(argument_type, DecimalType)
        self._lane = lane_of(argument_type)
        dtype = object if self._decimal else self._lane.dtype
        # x + -0.0 is x for every x, also for -0.0.
        nothing: Any = -0.0 if np.dtype(dtype).kind == "f" else 0
        super().__init__([SlotField(f"{prefix}total", dtype, nothing), SlotField(f"{prefix}count", np.int64, 0)])
        self._nothing = nothing

    def trail(self, begins: Frame, runs: Runs, rows: CallRows) -> Frame:
        column = rows.arguments[0]
        values, valid = whole_digits(column) if self._decimal else self._lane.read(column)
        values, signs = values[runs.order], signs_where(rows, runs, valid)
        if signs is not None:
            values = np.where(signs == 0, self._nothing, values * signs) if (signs != 1).any() else values
            values = values.astype(object) if self._decimal and values.dtype == object else values
        totals = (
            self._decimal_sums(values, begins[0], runs)
            if self._decimal
            else running_sum(values.astype(self._lane.dtype, copy=False), begins[0], runs)
        )
        return [totals, running_count(signs, begins[1], runs)]

    @staticmethod
    def _decimal_sums(values: Values, begins: Values, runs: Runs) -> Values:
        """In 64 bits where no sum can leave them."""
        if values.dtype != object:
            reach = int(np.abs(values.astype(np.float64)).max(initial=0)) * int(runs.counts.max(initial=0))
            largest = max(map(abs, begins.tolist()), default=0)
            if reach + largest < _LARGEST:
                return running_sum(values, begins.astype(np.int64), runs).astype(object)
        return running_sum(values.astype(object), begins, runs)

    def combined(self, ours: Frame, theirs: Frame) -> Frame:
        return [ours[0] + theirs[0], ours[1] + theirs[1]]


class Sum(Total):
    """SUM, and with `zero` $SUM0, which is 0 for nothing."""

    def __init__(self, prefix: str, argument_type: DataType, result_type: DataType, zero: bool = False) -> None:
        super().__init__(prefix, argument_type)
        self._result_type = result_type
        self._zero = zero

    def result(self, frame: Frame) -> pa.Array:
        totals, counts = frame
        valid = None if self._zero else counts > 0
        if isinstance(self._result_type, DecimalType):
            return decimals(totals, valid, self._result_type)
        return lane_of(self._result_type).write(totals, valid)


class Average(Total):
    """AVG: of whole numbers a whole number, cut toward zero."""

    def __init__(self, prefix: str, argument_type: DataType, result_type: DataType) -> None:
        super().__init__(prefix, argument_type)
        self._result_type = result_type
        self._scale = argument_type.scale if isinstance(argument_type, DecimalType) else 0

    def result(self, frame: Frame) -> pa.Array:
        totals, counts = frame
        valid = counts > 0
        divisors = np.where(valid, counts, 1)
        if isinstance(self._result_type, DecimalType):
            return self._decimal_averages(totals, counts, self._result_type)
        if totals.dtype.kind == "f":
            return lane_of(self._result_type).write(totals.astype(np.float64) / divisors, valid)
        return lane_of(self._result_type).write(np.sign(totals) * (np.abs(totals) // divisors), valid)

    def _decimal_averages(self, totals: Values, counts: Values, result: DecimalType) -> pa.Array:
        values = [
            fit(_EXACT.divide(Decimal(total).scaleb(-self._scale, _EXACT), Decimal(count)), result)
            if count > 0
            else None
            for total, count in zip(totals.tolist(), counts.tolist(), strict=True)
        ]
        return pa.array(values, to_arrow_type(result))


class Variance(ColumnarFunction):
    """The variances and standard deviations, by Welford's method, in which Flink computes them too."""

    def __init__(self, prefix: str, argument_type: DataType, result_type: DataType, sample: bool, root: bool) -> None:
        names = (f"{prefix}mean", f"{prefix}m2")
        super().__init__(
            [*(SlotField(name, np.float64, 0.0) for name in names), SlotField(f"{prefix}count", np.int64, 0)]
        )
        self._argument_type, self._result_type = argument_type, result_type
        self._sample, self._root = sample, root

    def trail(self, begins: Frame, runs: Runs, rows: CallRows) -> Frame:
        column = cast(rows.arguments[0], self._argument_type, DoubleType(), Session())
        values, valid = lane_of(DoubleType()).read(column)
        signs = signs_where(rows, runs, valid)
        if signs is None:
            signs = np.ones(len(runs.order), np.int8)
        return fold_frame(_welford, [values[runs.order], signs], begins, runs)

    def result(self, frame: Frame) -> pa.Array:
        _, m2, counts = frame
        divisors = counts - 1 if self._sample else counts
        valid = divisors > 0
        found = m2 / np.where(valid, divisors, 1)
        found = lane_of(DoubleType()).write(np.sqrt(found) if self._root else found, valid)
        return cast(found, DoubleType(), self._result_type, Session())

    def versions(self, frame: Frame) -> pa.Array:
        return integers_as_column(frame[2])

    def combined(self, ours: Frame, theirs: Frame) -> Frame:
        (mean, m2, count), (other_mean, other_m2, other_count) = ours, theirs
        total = count + other_count
        divisor = np.where(total > 0, total, 1)
        delta = other_mean - mean
        return [
            mean + delta * other_count / divisor,
            m2 + other_m2 + delta * delta * count * other_count / divisor,
            total,
        ]


def _welford(frame: Frame, arguments: list[Values]) -> Frame:
    (mean, m2, count), (values, signs) = frame, arguments
    after = count + signs
    delta = values - mean
    moved = mean + signs * delta / np.where(after > 0, after, 1)
    changed = (signs != 0) & (after > 0)
    emptied = (signs < 0) & (after <= 0)
    new_mean = np.where(changed, moved, np.where(emptied, 0.0, mean))
    new_m2 = np.where(changed, m2 + signs * delta * (values - moved), np.where(emptied, 0.0, m2))
    return [new_mean, new_m2, after]


def decimals(digits: Values, valid: Any, result: DecimalType) -> pa.Array:
    """Whole numbers of the last digit as decimals; too large ones are null."""
    try:
        return from_unscaled(digits.astype(np.int64), valid, result)
    except OverflowError:
        bound = 10**result.precision
        present = [True] * len(digits) if valid is None else valid.tolist()
        values = [
            Decimal(number).scaleb(-result.scale, _EXACT) if there and abs(number) < bound else None
            for number, there in zip(digits.tolist(), present, strict=True)
        ]
        return pa.array(values, to_arrow_type(result))
