"""Assigns timestamps and makes watermarks, idleness included."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, NamedTuple, Protocol

import pyarrow as pa

from penstock.common.watermark_strategy import GeneratorKind, WatermarkOutput, WatermarkStrategy
from penstock.common.watermark_strategy import Watermark as UserWatermark
from penstock.functions.field_timestamps import FieldTimestamps
from penstock.runtime.batch import MAX_TIMESTAMP, MIN_TIMESTAMP, Batch
from penstock.runtime.blueprint import OperatorBlueprint
from penstock.runtime.context import SubtaskContext
from penstock.runtime.operators.base import Operator, Output

_EVERYTHING: Final = ""  # the only lane of an input that has no splits


class _Generator(Protocol):
    """Sees timestamped records; says after how many of them which watermark is due."""

    def on_batch(self, batch: Batch) -> None: ...

    def on_periodic_emit(self) -> None: ...

    def snapshot(self) -> Any: ...

    def restore(self, snapshot: Any) -> None: ...


class _Lane:
    """Event time of a part of the input, as its generator tells it: of a split, or of everything."""

    def __init__(self, operator: TimestampsAndWatermarksOperator, strategy: WatermarkStrategy) -> None:
        self._operator = operator
        self.generator = _generator_of(strategy, self)
        self.watermark = MIN_TIMESTAMP
        self.idle = False
        self.last_record = operator.context.clock()

    @property
    def output(self) -> Output:
        return self._operator.output

    def emit_watermark(self, timestamp: int) -> None:
        if timestamp > self.watermark:
            self.watermark = timestamp
            self._operator.combine()

    def mark_idle(self, idle: bool) -> None:
        if self.idle != idle:
            self.idle = idle
            self._operator.combine()

    def snapshot(self) -> Any:
        return self.generator.snapshot(), self.watermark, self.idle, self.last_record

    def restore(self, snapshot: Any) -> None:
        generator, self.watermark, self.idle, self.last_record = snapshot
        self.generator.restore(generator)


class _SplitSnapshots(NamedTuple):
    by_split: dict[str, Any]


class TimestampsAndWatermarksOperator(Operator):
    """Runs a WatermarkStrategy. Upstream watermarks are ignored, except the last one at the end of input.

    Right after a source of splits every split has a generator of its own, and the slowest that is not idle counts.
    """

    def __init__(self, blueprint: OperatorBlueprint, context: SubtaskContext) -> None:
        super().__init__(blueprint, context)
        strategy: WatermarkStrategy = blueprint.function
        assigner = strategy.timestamp_assigner
        self._extract = None if assigner is None else assigner.extract_timestamp
        self._field = assigner.position if isinstance(assigner, FieldTimestamps) else None
        self._interval = context.settings.auto_watermark_interval_ms
        self._only_at_end = bool(blueprint.params.get("only_at_end"))
        self._idle_timeout = strategy.idle_timeout_ms
        self._strategy = strategy
        self._lane = _Lane(self, strategy)
        self._lanes = {_EVERYTHING: self._lane}
        self._last_emit = context.clock()
        self._idle = False
        self._ended = False
        self._emitted = MIN_TIMESTAMP

    def keep_splits(self, split_ids: Iterable[str]) -> None:
        """These splits are read from now on: others count no more, new ones hold event time back until they tell it."""
        self._lanes = {id_: self._lanes.get(id_) or _Lane(self, self._strategy) for id_ in split_ids}
        self.combine()

    def splits_ahead_of(self, timestamp: int) -> set[str]:
        return {id_ for id_, lane in self._lanes.items() if lane.watermark > timestamp and not lane.idle}

    def select_split(self, split_id: str) -> None:
        """What comes next is of this split."""
        self._lane = self._lanes[split_id]

    def process(self, batch: Batch, input_index: int) -> None:
        now = self.context.clock()
        self._emit_if_due(now)  # as by Flink's timer, which has fired before these records came
        self._lane.last_record = now
        self._lane.mark_idle(False)
        self._lane.generator.on_batch(self._timed(batch))

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
            self._periodic_emit(self.context.clock())

    def advance_processing_time(self, now: int) -> None:
        self._emit_if_due(now)
        timeout = self._idle_timeout
        if timeout is not None and not self._ended:
            for lane in self._lanes.values():
                if now - lane.last_record >= timeout:
                    lane.mark_idle(True)

    def next_processing_time(self) -> int | None:
        if self._idle_timeout is None or self._ended:
            return None
        records = [lane.last_record for lane in self._lanes.values() if not lane.idle]
        return min(records) + self._idle_timeout if records else None

    @property
    def idle(self) -> bool:
        return self._idle

    def combine(self) -> None:
        """A lane has changed: passes on what all of them say together."""
        active = [lane.watermark for lane in self._lanes.values() if not lane.idle]
        self._mark_idle(bool(self._lanes) and not active)
        timestamp = min(active, default=MIN_TIMESTAMP)
        if timestamp > self._emitted and not self._only_at_end:
            self._emitted = timestamp
            self.watermark = timestamp
            self.output.emit_watermark(timestamp)

    def _mark_idle(self, idle: bool) -> None:
        if self._idle != idle:
            self._idle = idle
            self.output.emit_idleness(idle)

    def _emit_if_due(self, now: int) -> None:
        if self._interval > 0 and now - self._last_emit >= self._interval:
            self._periodic_emit(now)

    def _periodic_emit(self, now: int) -> None:
        self._last_emit = now
        for lane in self._lanes.values():
            lane.generator.on_periodic_emit()

    def extra(self) -> Any:
        everything = self._lanes.get(_EVERYTHING)
        if everything is None:
            generator: Any = _SplitSnapshots({id_: lane.snapshot() for id_, lane in self._lanes.items()})
            last_record = self._last_emit
        else:
            generator, last_record = everything.generator.snapshot(), everything.last_record
        return generator, self._emitted, self._idle, self._ended, last_record, self._last_emit

    def restore_extra(self, extra: Any) -> None:
        generator, self._emitted, self._idle, self._ended, last_record, self._last_emit = extra
        if isinstance(generator, _SplitSnapshots):
            self._restore_splits(generator.by_split)
        else:
            self._lane.restore((generator, self._emitted, self._idle, last_record))

    def _restore_splits(self, by_split: dict[str, Any]) -> None:
        self._lanes = {id_: _Lane(self, self._strategy) for id_ in by_split}
        for id_, lane in by_split.items():
            self._lanes[id_].restore(lane)

    def take_over_extras(self, extras: dict[int, Any], old_parallelism: int) -> None:
        if extras:
            # When subtasks change, the one that was furthest behind is the safe one to continue.
            own = extras.get(self.context.subtask) if old_parallelism == self.blueprint.parallelism else None
            generator, self._emitted, *_ = own or min(extras.values(), key=lambda extra: extra[1])
            if isinstance(generator, _SplitSnapshots):  # a split may be anybody's now, and its event time goes with it
                self._restore_splits(
                    {id_: lane for extra in extras.values() for id_, lane in extra[0].by_split.items()}
                )
            else:
                self._lane.generator.restore(generator)


class _NoWatermarks:
    """Records keep their timestamps, event time stands still until the end."""

    def __init__(self, operator: _Lane) -> None:
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

    def __init__(self, operator: _Lane, disorder: int) -> None:
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
    """Takes the watermarks of a user's generator: they belong right after the record that it has just seen."""

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

    def __init__(self, operator: _Lane, supplier: Any) -> None:
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


def _generator_of(strategy: WatermarkStrategy, operator: _Lane) -> _Generator:
    if strategy.generator is GeneratorKind.CUSTOM:
        return _UserGenerator(operator, strategy.generator_supplier)
    if strategy.generator is GeneratorKind.NONE:
        return _NoWatermarks(operator)
    return _BoundedOutOfOrderness(operator, strategy.max_out_of_orderness_ms)
