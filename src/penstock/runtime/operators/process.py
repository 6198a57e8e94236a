"""Process functions: user code that sees context, timers, state and side outputs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from penstock.common.errors import ProgramError
from penstock.functions.output_tag import OutputTag
from penstock.functions.process import KeyedProcessFunction, ProcessFunction
from penstock.functions.time_domain import TimeDomain
from penstock.functions.timer_service import TimerService
from penstock.runtime.batch import MIN_TIMESTAMP, Batch
from penstock.runtime.blueprint import OperatorBlueprint
from penstock.runtime.context import SubtaskContext
from penstock.runtime.operators.base import FunctionOperator
from penstock.runtime.ownership import copied, given
from penstock.runtime.timers import Timers


class ResultCollector:
    """Sorts what user code yields into the main output and the side outputs, in order."""

    def __init__(self, operator: FunctionOperator) -> None:
        self._operator = operator
        self.values: list[Any] = []
        self.timestamps: list[int] = []
        self._sides: dict[str, tuple[list[Any], list[int]]] = {}

    def add(self, results: Iterable[Any], timestamp: int) -> None:
        """Takes the results of one call; each carries the given timestamp."""
        values, timestamps, keeps_given = self.values, self.timestamps, self._operator.keeps_given
        for result in results:
            if type(result) is tuple and len(result) == 2 and type(result[0]) is OutputTag:
                self._add_side(result[0].tag_id, copied(result[1]), timestamp)
            else:
                values.append(given(result) if keeps_given else result)
                timestamps.append(timestamp)

    def _add_side(self, tag_id: str, value: Any, timestamp: int) -> None:
        values, timestamps = self._sides.setdefault(tag_id, ([], []))
        values.append(value)
        timestamps.append(timestamp)

    def flush(self, timed: bool) -> None:
        """Emits everything collected; `timed` says whether the timestamps mean anything."""
        operator = self._operator
        if self.values:
            batch = Batch(self.values, self.timestamps if timed else None)
            self.values, self.timestamps = [], []
            operator.output.emit(batch)
        if self._sides:
            sides, self._sides = self._sides, {}
            for tag_id, (values, timestamps) in sides.items():
                # A side output that nobody consumes is dropped.
                output = operator.side_outputs.get(tag_id)
                if output is not None:
                    output.emit(Batch(values, timestamps if timed else None))


class OperatorTimerService(TimerService):
    """What user code sees of an operator's clocks and timers."""

    __penstock_transient__ = True

    def __init__(self, operator: FunctionOperator, timers: Timers | None) -> None:
        self._operator = operator
        self._timers = timers

    def current_processing_time(self) -> int:
        return self._operator.context.clock()

    def current_watermark(self) -> int:
        return self._operator.watermark

    def register_processing_time_timer(self, timestamp: int) -> None:
        self._keyed().processing.add(timestamp, (self._keyed().scope.key, None))

    def register_event_time_timer(self, timestamp: int) -> None:
        timers = self._keyed()
        timers.event.add(timestamp, (timers.scope.key, None))

    def delete_processing_time_timer(self, timestamp: int) -> None:
        self._keyed().processing.remove(timestamp, (self._keyed().scope.key, None))

    def delete_event_time_timer(self, timestamp: int) -> None:
        self._keyed().event.remove(timestamp, (self._keyed().scope.key, None))

    def _keyed(self) -> Timers:
        if self._timers is None:
            raise ProgramError(
                "timers belong to a key: use key_by() and a keyed process function to set or delete them"
            )
        return self._timers


class ElementContext(ProcessFunction.Context):
    """Context of a record without a key."""

    __penstock_transient__ = True

    def __init__(self, timer_service: TimerService) -> None:
        self._timer_service = timer_service
        self.current_timestamp = MIN_TIMESTAMP

    def timer_service(self) -> TimerService:
        return self._timer_service

    def timestamp(self) -> int:
        return self.current_timestamp


class KeyedContext(KeyedProcessFunction.OnTimerContext):
    """Context of a record, or of a timer, of the current key."""

    __penstock_transient__ = True

    def __init__(self, timer_service: TimerService, timers: Timers) -> None:
        self._timer_service = timer_service
        self._scope = timers.scope
        self.current_timestamp = MIN_TIMESTAMP
        self.current_domain = TimeDomain.EVENT_TIME

    def get_current_key(self) -> Any:
        return self._scope.key

    def timer_service(self) -> TimerService:
        return self._timer_service

    def timestamp(self) -> int:
        return self.current_timestamp

    def time_domain(self) -> TimeDomain:
        return self.current_domain


class ProcessOperator(FunctionOperator):
    """ProcessFunction on a stream without keys."""

    takes_rows = True

    def __init__(self, blueprint: OperatorBlueprint, context: SubtaskContext) -> None:
        super().__init__(blueprint, context)
        self._context = ElementContext(OperatorTimerService(self, None))
        self._results = ResultCollector(self)

    def process(self, batch: Batch, input_index: int) -> None:
        call, context, add = self._element_function(input_index), self._context, self._results.add
        timestamps = batch.timestamps
        if timestamps is None:
            context.current_timestamp = MIN_TIMESTAMP
            for value in batch.values:
                results = call(value, context)
                if results is not None:
                    add(results, MIN_TIMESTAMP)
        else:
            for value, timestamp in zip(batch.values, timestamps, strict=True):
                context.current_timestamp = timestamp
                results = call(value, context)
                if results is not None:
                    add(results, timestamp)
        self._results.flush(timestamps is not None)

    def _element_function(self, input_index: int) -> Any:
        return self.function.process_element


class CoProcessOperator(ProcessOperator):
    """CoProcessFunction on two streams without keys."""

    def _element_function(self, input_index: int) -> Any:
        return self.function.process_element1 if input_index == 0 else self.function.process_element2


class TimedOperator(FunctionOperator):
    """What all keyed operators with user code share: state of the current key, and timers."""

    def __init__(self, blueprint: OperatorBlueprint, context: SubtaskContext) -> None:
        super().__init__(blueprint, context)
        context.runtime_context.keyed = True
        self.backend = self.memory.keyed
        self.backend.layout_of = self.key_layout
        self.scope = self.backend.scope
        self.timers = self.memory.timers

    def process_watermark(self, timestamp: int) -> None:
        self.watermark = timestamp
        # Timers set while others fire may be due as well, in a round of their own.
        while due := self.timers.event.take_due(timestamp):
            self.fire(due, TimeDomain.EVENT_TIME)
        super().process_watermark(timestamp)

    def advance_processing_time(self, now: int) -> None:
        while due := self.timers.processing.take_due(now):
            self.fire(due, TimeDomain.PROCESSING_TIME)

    def next_processing_time(self) -> int | None:
        return self.timers.processing.earliest()

    def finish(self) -> None:
        self.timers.processing.clear()
        super().finish()

    def fire(self, due: list[tuple[int, tuple[Any, Any]]], domain: TimeDomain) -> None:
        raise NotImplementedError


class KeyedProcessOperator(TimedOperator):
    """KeyedProcessFunction; with two inputs KeyedCoProcessFunction."""

    takes_rows = True

    def __init__(self, blueprint: OperatorBlueprint, context: SubtaskContext) -> None:
        super().__init__(blueprint, context)
        self._context = KeyedContext(OperatorTimerService(self, self.timers), self.timers)
        self._results = ResultCollector(self)

    def process(self, batch: Batch, input_index: int) -> None:
        call, context, scope = self._element_function(input_index), self._context, self.scope
        assert batch.keys is not None
        if batch.timestamps is None:
            self._process_untimed(call, batch)
            return
        # The hottest loops of all: results go straight into lists, and are searched for side outputs only once.
        keeps_given = self.keeps_given
        values: list[Any] = []
        times: list[int] = []
        append, append_time = values.append, times.append
        for key, value, timestamp in zip(batch.keys, batch.values, batch.timestamps, strict=True):
            scope.key = key
            context.current_timestamp = timestamp
            results = call(value, context)
            if results is not None:
                for result in results:
                    append(given(result) if keeps_given else result)
                    append_time(timestamp)
        self._emit(values, times)

    def _process_untimed(self, call: Any, batch: Batch) -> None:
        context, scope, keeps_given = self._context, self.scope, self.keeps_given
        context.current_timestamp = MIN_TIMESTAMP
        values: list[Any] = []
        append = values.append
        assert batch.keys is not None
        for key, value in zip(batch.keys, batch.values, strict=True):
            scope.key = key
            results = call(value, context)
            if results is not None:
                if keeps_given:
                    for result in results:
                        append(given(result))
                else:
                    for result in results:  # quicker than extend(), which asks a generator for its length
                        append(result)
        self._emit(values, None)

    def _emit(self, values: list[Any], times: list[int] | None) -> None:
        if tuple in map(type, values) and any(
            type(v) is tuple and len(v) == 2 and type(v[0]) is OutputTag for v in values
        ):
            for value, timestamp in zip(values, times or [MIN_TIMESTAMP] * len(values), strict=True):
                self._results.add((value,), timestamp)
            self._results.flush(times is not None)
        elif values:
            self.output.emit(Batch(values, times))

    def fire(self, due: list[tuple[int, tuple[Any, Any]]], domain: TimeDomain) -> None:
        context, scope, add = self._context, self.scope, self._results.add
        on_timer = self.function.on_timer
        context.current_domain = domain
        for timestamp, (key, _) in due:
            scope.key = key
            context.current_timestamp = timestamp
            results = on_timer(timestamp, context)
            if results is not None:
                add(results, timestamp)
        # Processing time says nothing about event time: such results carry no timestamp.
        self._results.flush(domain is TimeDomain.EVENT_TIME)

    def _element_function(self, input_index: int) -> Any:
        return self.function.process_element


class KeyedCoProcessOperator(KeyedProcessOperator):
    """KeyedCoProcessFunction: two keyed inputs that share state and timers."""

    def _element_function(self, input_index: int) -> Any:
        return self.function.process_element1 if input_index == 0 else self.function.process_element2
