"""Assigns timestamps and makes watermarks, idleness included."""

from __future__ import annotations

from typing import Any, Protocol

import pyarrow as pa

from penstock.common.watermark_strategy import GeneratorKind, WatermarkOutput, WatermarkStrategy
from penstock.common.watermark_strategy import Watermark as UserWatermark
from penstock.functions.field_timestamps import FieldTimestamps
from penstock.runtime.batch import MAX_TIMESTAMP, MIN_TIMESTAMP, Batch
from penstock.runtime.blueprint import OperatorBlueprint
from penstock.runtime.context import SubtaskContext
from penstock.runtime.operators.base import Operator


class _Generator(Protocol):
    """Sees timestamped records; says after how many of them which watermark is due."""

    def on_batch(self, batch: Batch) -> None: ...

    def on_periodic_emit(self) -> None: ...

    def snapshot(self) -> Any: ...

    def restore(self, snapshot: Any) -> None: ...


class TimestampsAndWatermarksOperator(Operator):
    """Runs a WatermarkStrategy. Upstream watermarks are ignored, except the last one at the end of input."""

    def __init__(self, blueprint: OperatorBlueprint, context: SubtaskContext) -> None:
        super().__init__(blueprint, context)
        strategy: WatermarkStrategy = blueprint.function
        assigner = strategy.timestamp_assigner
        self._extract = None if assigner is None else assigner.extract_timestamp
        self._field = assigner.position if isinstance(assigner, FieldTimestamps) else None
        self._interval = context.settings.auto_watermark_interval_ms
        self._only_at_end = bool(blueprint.params.get("only_at_end"))
        self._idle_timeout = strategy.idle_timeout_ms
        self._generator = _generator_of(strategy, self)
        self._last_emit = context.clock()
        self._last_record = context.clock()
        self._idle = False
        self._ended = False
        self._emitted = MIN_TIMESTAMP

    def process(self, batch: Batch, input_index: int) -> None:
        now = self.context.clock()
        self._last_record = now
        if self._idle:
            self.mark_idle(False)
        self._generator.on_batch(self._timed(batch))
        self._emit_if_due(now)

    def _timed(self, batch: Batch) -> Batch:
        if self._extract is None:
            return batch
        column = None if self._field is None else batch.field(self._field)
        if column is not None and not column.null_count and pa.types.is_int64(column.type):
            return batch.timed(column.to_numpy())
        old = batch.timestamps or [MIN_TIMESTAMP] * len(batch)
        return batch.timed(list(map(self._extract, batch.values, old)))

    def process_watermark(self, timestamp: int) -> None:
        if timestamp == MAX_TIMESTAMP:
            self._ended = True
            super().process_watermark(timestamp)

    def process_idleness(self, idle: bool) -> None:
        """Idleness from above means nothing here: this operator decides itself."""

    def end_epoch(self) -> None:
        if not self._ended and self._interval > 0:
            self._generator.on_periodic_emit()
            self._last_emit = self.context.clock()

    def advance_processing_time(self, now: int) -> None:
        self._emit_if_due(now)
        timeout = self._idle_timeout
        if timeout is not None and not self._idle and not self._ended and now - self._last_record >= timeout:
            self.mark_idle(True)

    def next_processing_time(self) -> int | None:
        if self._idle_timeout is None or self._idle or self._ended:
            return None
        return self._last_record + self._idle_timeout

    def emit_watermark(self, timestamp: int) -> None:
        if timestamp > self._emitted and not self._only_at_end:
            self._emitted = timestamp
            self.watermark = timestamp
            self.output.emit_watermark(timestamp)

    def mark_idle(self, idle: bool) -> None:
        if self._idle != idle:
            self._idle = idle
            self.output.emit_idleness(idle)

    def _emit_if_due(self, now: int) -> None:
        if self._interval > 0 and now - self._last_emit >= self._interval:
            self._last_emit = now
            self._generator.on_periodic_emit()

    def extra(self) -> Any:
        return (
            self._generator.snapshot(),
            self._emitted,
            self._idle,
            self._ended,
            self._last_record,
            self._last_emit,
        )

    def restore_extra(self, extra: Any) -> None:
        generator, self._emitted, self._idle, self._ended, self._last_record, self._last_emit = extra
        self._generator.restore(generator)

    def take_over_extras(self, extras: dict[int, Any], old_parallelism: int) -> None:
        if extras:
            # When subtasks change, the one that was furthest behind is the safe one to continue.
            own = extras.get(self.context.subtask) if old_parallelism == self.blueprint.parallelism else None
            generator, self._emitted, *_ = own or min(extras.values(), key=lambda extra: extra[1])
            self._generator.restore(generator)


class _NoWatermarks:
    """Records keep their timestamps, event time stands still until the end."""

    def __init__(self, operator: TimestampsAndWatermarksOperator) -> None:
        self._operator = operator

    def on_batch(self, batch: Batch) -> None:
        self._operator.output.emit(batch)

    def on_periodic_emit(self) -> None:
        pass

    def snapshot(self) -> Any:
        return None

    def restore(self, snapshot: Any) -> None:
        pass


class _BoundedOutOfOrderness(_NoWatermarks):
    """The highest timestamp minus the allowed disorder minus one, as Flink defines it."""

    def __init__(self, operator: TimestampsAndWatermarksOperator, disorder: int) -> None:
        super().__init__(operator)
        self._disorder = disorder
        self._highest = MIN_TIMESTAMP + disorder + 1

    def on_batch(self, batch: Batch) -> None:
        self._highest = max(self._highest, batch.latest_timestamp())
        super().on_batch(batch)

    def on_periodic_emit(self) -> None:
        self._operator.emit_watermark(self._highest - self._disorder - 1)

    def snapshot(self) -> Any:
        return self._highest

    def restore(self, snapshot: Any) -> None:
        self._highest = snapshot


class _UserOutput(WatermarkOutput):
    """Takes the watermarks of a user's generator: they belong right behind the record that it has just seen."""

    __penstock_transient__ = True

    def __init__(self, generator: _UserGenerator) -> None:
        self._generator = generator

    def emit_watermark(self, watermark: UserWatermark | int) -> None:
        timestamp = watermark if isinstance(watermark, int) else watermark.timestamp
        self._generator.flush_records()
        self._generator.operator.mark_idle(False)
        self._generator.operator.emit_watermark(timestamp)

    def mark_idle(self) -> None:
        self._generator.flush_records()
        self._generator.operator.mark_idle(True)

    def mark_active(self) -> None:
        self._generator.operator.mark_idle(False)


class _UserGenerator:
    """A generator written in Python, called for every record (punctuated) and every interval (periodic)."""

    def __init__(self, operator: TimestampsAndWatermarksOperator, supplier: Any) -> None:
        self.operator = operator
        self._generator = supplier()
        self._output = _UserOutput(self)
        self._batch = Batch([])
        self._seen = self._sent = 0

    def on_batch(self, batch: Batch) -> None:
        self._batch, self._seen, self._sent = batch, 0, 0
        timestamps = batch.timestamps or [MIN_TIMESTAMP] * len(batch)
        on_event, output = self._generator.on_event, self._output
        for value, timestamp in zip(batch.values, timestamps, strict=True):
            self._seen += 1
            on_event(value, timestamp, output)
        self.flush_records()

    def flush_records(self) -> None:
        if self._seen > self._sent:
            part = self._batch.slice(self._sent, self._seen)
            self._sent = self._seen
            self.operator.output.emit(part)

    def on_periodic_emit(self) -> None:
        self._generator.on_periodic_emit(self._output)

    def snapshot(self) -> Any:
        return dict(vars(self._generator))

    def restore(self, snapshot: Any) -> None:
        vars(self._generator).update(snapshot)


def _generator_of(strategy: WatermarkStrategy, operator: TimestampsAndWatermarksOperator) -> _Generator:
    if strategy.generator is GeneratorKind.CUSTOM:
        return _UserGenerator(operator, strategy.generator_supplier)
    if strategy.generator is GeneratorKind.NONE:
        return _NoWatermarks(operator)
    return _BoundedOutOfOrderness(operator, strategy.max_out_of_orderness_ms)
