"""Interval join: each record meets those of the other stream that are near it in event time."""

from __future__ import annotations

from typing import Any

from penstock.common.errors import ProgramError
from penstock.functions.join import ProcessJoinFunction
from penstock.functions.state_descriptors import MapStateDescriptor
from penstock.functions.time_domain import TimeDomain
from penstock.runtime.batch import MIN_TIMESTAMP, Batch
from penstock.runtime.blueprint import OperatorBlueprint
from penstock.runtime.context import SubtaskContext
from penstock.runtime.operators.process import ResultCollector, TimedOperator
from penstock.runtime.state.table import MapTable
from penstock.runtime.windows.late import LateOutput

LEFT, RIGHT = 0, 1


class PairContext(ProcessJoinFunction.Context):
    __penstock_transient__ = True

    def __init__(self) -> None:
        self.left = self.right = MIN_TIMESTAMP

    def get_left_timestamp(self) -> int:
        return self.left

    def get_right_timestamp(self) -> int:
        return self.right

    def get_timestamp(self) -> int:
        return max(self.left, self.right)


class IntervalJoinOperator(TimedOperator):
    """Keeps the records of both sides, by key and timestamp, as long as the other side may still ask for them."""

    def __init__(self, blueprint: OperatorBlueprint, context: SubtaskContext) -> None:
        super().__init__(blueprint, context)
        lower, upper = blueprint.params["lower_bound"], blueprint.params["upper_bound"]
        # Where the partners of a record are, relative to its own timestamp, seen from either side.
        self._bounds = ((lower, upper), (-upper, -lower))
        self._buffers: tuple[MapTable, MapTable] = (
            self.backend.table("_left_records", MapStateDescriptor),
            self.backend.table("_right_records", MapStateDescriptor),
        )
        self._late = tuple(LateOutput(self, tag) for tag in blueprint.params["late_tags"])
        self._context = PairContext()
        self._results = ResultCollector(self)

    def process(self, batch: Batch, input_index: int) -> None:
        if batch.timestamps is None:
            self._refuse_untimed()
            return
        assert batch.keys is not None
        for key, value, timestamp in zip(batch.keys, batch.values, batch.timestamps, strict=True):
            if timestamp < self.watermark:
                self._late[input_index].add(value, timestamp)
                continue
            if timestamp == MIN_TIMESTAMP:
                self._refuse_untimed()
            self._keep(key, value, timestamp, input_index)
            self._meet(key, value, timestamp, input_index)
        self._results.flush(True)
        self._late[input_index].flush()

    def _refuse_untimed(self) -> None:
        raise ProgramError(
            "an interval join got an element without timestamp: call assign_timestamps_and_watermarks(...) "
            "with a timestamp assigner on both streams"
        )

    def _keep(self, key: Any, value: Any, timestamp: int, side: int) -> None:
        buffer = self._buffers[side]
        same_time = (buffer.get(key) or {}).get(timestamp, ())
        buffer.put(key, timestamp, [*same_time, value])
        # The last partner is `upper` later; after that nobody asks for this record again.
        self.timers.event.add(timestamp + max(self._bounds[side][1], 0), (key, side))

    def _meet(self, key: Any, value: Any, timestamp: int, side: int) -> None:
        others = self._buffers[1 - side].get(key)
        if not others:
            return
        self.scope.key = key
        lower, upper = self._bounds[side]
        earliest, latest = timestamp + lower, timestamp + upper
        process, context, add = self.function.process_element, self._context, self._results.add
        for other_time in sorted(time for time in others if earliest <= time <= latest):
            if side == LEFT:
                context.left, context.right = timestamp, other_time
            else:
                context.left, context.right = other_time, timestamp
            for other in others[other_time]:
                left, right = (value, other) if side == LEFT else (other, value)
                results = process(left, right, context)
                if results is not None:
                    add(results, max(timestamp, other_time))

    def fire(self, due: list[tuple[int, tuple[Any, Any]]], domain: TimeDomain) -> None:
        for moment, (key, side) in due:
            self._buffers[side].remove_entry(key, moment - max(self._bounds[side][1], 0))
