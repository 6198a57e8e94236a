"""Aggregate functions whose state after each row is computed for all rows of a batch at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from penstock.runtime.key_columns import Integers
from penstock.runtime.table.aggregates.interface import CallRows, Running
from penstock.runtime.table.aggregates.lanes import Lane
from penstock.runtime.table.runs import Runs
from penstock.runtime.table.slots import SlotField, SlotTable

Values = npt.NDArray[Any]
Frame = list[Values]  # the fields of an accumulator, for many slots or rows


class ColumnarFunction:
    """Fields are arrays of numbers or values; a subclass says how rows change them and what they come to."""

    def __init__(self, fields: Sequence[SlotField]) -> None:
        self.fields = tuple(fields)
        self.maps: Sequence[str] = ()

    def trail(self, begins: Frame, runs: Runs, rows: CallRows) -> Frame:
        """The fields after each row, in the order of runs."""
        raise NotImplementedError

    def result(self, frame: Frame) -> pa.Array:
        raise NotImplementedError

    def combined(self, ours: Frame, theirs: Frame) -> Frame:
        raise NotImplementedError

    def versions(self, frame: Frame) -> pa.Array | None:
        """What differs when the value counts as changed; None: the value itself."""
        return None

    def running(self, table: SlotTable, runs: Runs, rows: CallRows) -> Running:
        begins, after = self._taken_in(table, runs, rows)
        frame = [np.concatenate(pair) for pair in zip(begins, after, strict=True)]
        return Running(self.result(frame), self.versions(frame))

    def accumulate(self, table: SlotTable, runs: Runs, rows: CallRows) -> None:
        self._taken_in(table, runs, rows)

    def value(self, table: SlotTable, slots: Integers) -> pa.Array:
        return self.result(self._frame(table, slots))

    def merge(self, table: SlotTable, into: Integers, other: SlotTable, sources: Integers) -> None:
        self._store(table, into, self.combined(self._frame(table, into), self._frame(other, sources)))

    def _taken_in(self, table: SlotTable, runs: Runs, rows: CallRows) -> tuple[Frame, Frame]:
        begins = [runs.begins(table.column(field.name), field.initial) for field in self.fields]
        after = self.trail(begins, runs, rows)
        self._store(table, runs.slots, [values[runs.lasts] for values in after])
        return begins, after

    def _frame(self, table: SlotTable, slots: Integers) -> Frame:
        return [table.column(field.name)[slots] for field in self.fields]

    def _store(self, table: SlotTable, slots: Integers, frame: Frame) -> None:
        for field, values in zip(self.fields, frame, strict=True):
            table.column(field.name)[slots] = values  # of several runs of a slot the last one stays


def argument(rows: CallRows, runs: Runs, lane: Lane, place: int = 0) -> tuple[Values, npt.NDArray[np.int8] | None]:
    """An argument in the order of runs, and the signs of the rows, 0 where it is null; None: all are added."""
    values, valid = lane.read(rows.arguments[place])
    return values[runs.order], signs_where(rows, runs, valid)


def signs_where(rows: CallRows, runs: Runs, valid: npt.NDArray[np.bool_] | None) -> npt.NDArray[np.int8] | None:
    signs = rows.signs_in(runs)
    if valid is None:
        return signs
    sorted_valid = valid[runs.order]
    return sorted_valid.astype(np.int8) if signs is None else np.where(sorted_valid, signs, np.int8(0))
