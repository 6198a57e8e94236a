"""MIN, MAX, FIRST_VALUE and LAST_VALUE of rows that are only added."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from penstock.columns.typesystem.base import DataType
from penstock.runtime.table.aggregates.columnar import ColumnarFunction, Frame, argument
from penstock.runtime.table.aggregates.interface import CallRows
from penstock.runtime.table.aggregates.lanes import lane_of
from penstock.runtime.table.runs import Runs, fold, running_first, running_last
from penstock.runtime.table.slots import SlotField


class Extreme(ColumnarFunction):
    """The smallest or largest value. What no value beats, or None, stands for no value."""

    def __init__(self, prefix: str, argument_type: DataType, largest: bool) -> None:
        self._lane = lane_of(argument_type)
        if self._lane.numbers:
            self._pick: Any = np.fmax if largest else np.fmin
            self._worst: Any = _bound(np.dtype(self._lane.dtype), largest)
        else:
            self._pick, self._worst = np.frompyfunc(_larger if largest else _smaller, 2, 1), None
        fields = [
            SlotField(f"{prefix}best", self._lane.dtype, self._worst),
            SlotField(f"{prefix}seen", np.bool_, False),
        ]
        super().__init__(fields)

    def trail(self, begins: Frame, runs: Runs, rows: CallRows) -> Frame:
        values, signs = argument(rows, runs, self._lane)
        if signs is None:
            return [fold(self._pick, values, begins[0], runs), np.ones(len(values), np.bool_)]
        values = np.where(signs > 0, values, self._worst)
        seen = (running_last(signs > 0, runs) >= 0) | np.repeat(begins[1], runs.counts)
        return [fold(self._pick, values, begins[0], runs), seen]

    def result(self, frame: Frame) -> pa.Array:
        return self._lane.write(frame[0], frame[1])

    def combined(self, ours: Frame, theirs: Frame) -> Frame:
        return [self._pick(ours[0], theirs[0]), ours[1] | theirs[1]]


def _bound(dtype: Any, largest: bool) -> Any:
    if dtype.kind == "f":
        return -np.inf if largest else np.inf
    return np.iinfo(dtype).min if largest else np.iinfo(dtype).max


def _larger(one: Any, other: Any) -> Any:
    return one if other is None or (one is not None and one >= other) else other


def _smaller(one: Any, other: Any) -> Any:
    return one if other is None or (one is not None and one <= other) else other


class Boundary(ColumnarFunction):
    """The first or the last value that is not null."""

    def __init__(self, prefix: str, argument_type: DataType, last: bool) -> None:
        self._lane = lane_of(argument_type)
        self._last = last
        fields = [SlotField(f"{prefix}value", self._lane.dtype, self._lane.nothing)]
        super().__init__([*fields, SlotField(f"{prefix}seen", np.bool_, False)])

    def trail(self, begins: Frame, runs: Runs, rows: CallRows) -> Frame:
        values, signs = argument(rows, runs, self._lane)
        taking_part = np.ones(len(values), np.bool_) if signs is None else signs > 0
        places = running_last(taking_part, runs) if self._last else running_first(taking_part, runs)
        found = places >= 0
        known = np.repeat(begins[1], runs.counts)
        new = found if self._last else found & ~known
        return [np.where(new, values[places], np.repeat(begins[0], runs.counts)), known | found]

    def result(self, frame: Frame) -> pa.Array:
        return self._lane.write(frame[0], frame[1])

    def combined(self, ours: Frame, theirs: Frame) -> Frame:
        new = theirs[1] if self._last else theirs[1] & ~ours[1]
        return [np.where(new, theirs[0], ours[0]), ours[1] | theirs[1]]
