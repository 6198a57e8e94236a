"""The place of an operator in its container: where its channels end and its results begin."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from penstock.common.typeinfo import TypeInformation
from penstock.functions.base import Function
from penstock.runtime.arrow_codec import codec_for
from penstock.runtime.batch import (
    MAX_TIMESTAMP,
    MIN_TIMESTAMP,
    Batch,
    Control,
    EndOfInput,
    Idleness,
    LatencyMarker,
    Watermark,
)
from penstock.runtime.coerced_lists import list_coercer
from penstock.runtime.failure import OperatorFailure
from penstock.runtime.hot_keys import HotKeys
from penstock.runtime.operator_memory import OperatorSnapshot
from penstock.runtime.operators.base import Operator, Output
from penstock.runtime.saved_parts import snapshots_of, tables_of
from penstock.runtime.savepoint import Savepoint
from penstock.runtime.stack_samples import Stacks
from penstock.runtime.time_sheet import TimeSheet
from penstock.runtime.user_log import speaking
from penstock.runtime.valve import InputsSnapshot, WatermarkValve

Channel = Any
_MOST_LATENCIES = 128  # of a source in an epoch


class Station:
    """Feeds one operator: combines watermarks, notices the end of inputs, counts, and names the culprit of failures."""

    def __init__(
        self, operator: Operator, channels: dict[Channel, int], times: TimeSheet | None = None, keyed: bool = False
    ) -> None:
        self.operator = operator
        self._times = times or TimeSheet()
        self.busy_ns = 0
        self.stacks: Stacks = {}
        self.hot_keys = HotKeys() if keyed else None
        self.latencies: dict[str, list[int]] = {}  # by source, since they were last told
        self._input_of = channels
        self._valve = WatermarkValve(channels)
        self._finished_inputs: set[int] = set()
        self.finished = False
        self.records_in = 0
        self.functions_after: list[Function] = []  # key selectors and partitioners of the exchanges after it
        self._opened = False

    @property
    def uid(self) -> str:
        return self.operator.blueprint.uid

    def open(self) -> None:
        self._opened = True  # also when it fails: part of it may have been opened, and wants to be closed
        for function in self.functions_after:
            self.guard(function.open, self.operator.context.runtime_context)
        self.guard(self.operator.open)

    def close(self) -> None:
        """Once for every open(), however often it is called."""
        if self._opened:
            self._opened = False
            try:
                self.guard(self.operator.close)
            finally:
                for function in self.functions_after:
                    self.guard(function.close)

    def process(self, batch: Batch, input_index: int) -> None:
        self.records_in += len(batch)
        before, working = speaking(self.operator.blueprint), self._times.switch(self)
        try:
            if self.hot_keys is not None:
                self.hot_keys.look_at(batch)
            self.operator.process(batch, input_index)
        except Exception as error:
            raise self.failure(error) from error
        finally:
            self._times.switch(working)
            speaking(before)

    def receive(self, channel: Channel, element: Batch | Control) -> None:
        """An element from another container."""
        if isinstance(element, Batch):
            self.process(element, self._input_of[channel])
        elif isinstance(element, Watermark):
            self.watermark(channel, element.timestamp)
        elif isinstance(element, Idleness):
            self.idleness(channel, element.idle)
        elif isinstance(element, EndOfInput):
            self.end(channel)
        elif isinstance(element, LatencyMarker):
            self.latency(element)

    def watermark(self, channel: Channel, timestamp: int) -> None:
        advanced = self._valve.advance(channel, timestamp)
        if advanced is not None:
            self.guard(self.operator.process_watermark, advanced)

    def latency(self, marker: LatencyMarker) -> None:
        """Passes the operator by, as in Flink: it does not measure how long user code takes."""
        seen = self.latencies.setdefault(marker.source, [])
        if len(seen) < _MOST_LATENCIES:
            seen.append(max(0, self.operator.context.clock() - marker.created))
        self.operator.output.emit_latency(marker)

    def idleness(self, channel: Channel, idle: bool) -> None:
        watermark, changed = self._valve.set_idle(channel, idle)
        if changed is False:
            self.guard(self.operator.process_idleness, False)
        if watermark is not None:
            self.guard(self.operator.process_watermark, watermark)
        if changed:
            self.guard(self.operator.process_idleness, True)

    @property
    def is_over(self) -> bool:
        """Nothing comes any more, and nothing is waited for."""
        return self.finished and not self.operator.lingers

    def end(self, channel: Channel) -> None:
        self._valve.end(channel)
        index = self._input_of[channel]
        siblings = [other for other, input_index in self._input_of.items() if input_index == index]
        if index not in self._finished_inputs and self._valve.ended(siblings):
            self._finished_inputs.add(index)
            self.guard(self.operator.end_input, index)
        if not self.finished and self._valve.ended():
            self.finished = True
            self.guard(self.operator.finish)

    def guard(self, call: Callable[..., Any], *arguments: Any) -> Any:
        """Runs operator code so that a failure, and what it logs, carry the operator's name."""
        before, working = speaking(self.operator.blueprint), self._times.switch(self)
        try:
            return call(*arguments)
        except Exception as error:
            raise self.failure(error) from error
        finally:
            self._times.switch(working)
            speaking(before)

    def failure(self, error: Exception) -> Exception:
        if isinstance(error, OperatorFailure):
            return error
        return OperatorFailure(self.operator.blueprint, self.operator.context.subtask, error)

    # -- snapshots ---------------------------------------------------------------------------------------------

    def snapshot(self, full: bool) -> OperatorSnapshot:
        snapshot: OperatorSnapshot = self.guard(self.operator.snapshot, full)
        snapshot.inputs = self._valve.snapshot(self._finished_inputs, self.finished)
        return snapshot

    def load(self, snapshot: OperatorSnapshot, full: bool) -> None:
        self.operator.load(snapshot, full)
        inputs = snapshot.inputs
        if inputs is not None:
            self._valve.restore(inputs)
            self._finished_inputs, self.finished = set(inputs.finished_inputs), inputs.finished

    def saved_state(self) -> OperatorSnapshot:
        """For a savepoint, right after snapshot(): everything but the tables of keyed state."""
        saved: OperatorSnapshot = self.guard(self.operator.saved_state)
        saved.inputs = InputsSnapshot(self._valve.watermark)
        return saved

    def expect(self, savepoint: Savepoint) -> None:
        """Before open(): what the operator will find in a savepoint, and its share of the state without key."""
        saved = savepoint.operator(self.uid)
        if saved is not None:
            memory = self.operator.memory
            self.guard(memory.expect, saved.states)
            self.guard(memory.take_over_unkeyed, snapshots_of(savepoint, self.uid), saved.parallelism)

    def take_over(self, savepoint: Savepoint, trim: Callable[[], None]) -> None:
        """After open(): starts from a savepoint instead of from nothing."""
        saved = savepoint.operator(self.uid)
        if saved is None:
            return
        snapshots = snapshots_of(savepoint, self.uid)
        reached = [snapshot.inputs.watermark for snapshot in snapshots.values() if snapshot.inputs is not None]
        # An input that had ended tells so again, and that has to pass: another input of those after it may go on.
        self._valve.start_at(min(*reached, MAX_TIMESTAMP - 1) if reached else MIN_TIMESTAMP)
        for piece in tables_of(savepoint, self.uid):
            self.guard(self.operator.take_over_table, piece.table, piece.schema, piece.entries)
            trim()
        self.guard(self.operator.take_over, snapshots, saved.parallelism)


class LocalInput(Output):
    """Leads straight into an operator of the same container."""

    def __init__(self, station: Station, channel: Channel, input_index: int, declared: TypeInformation | None) -> None:
        self._station = station
        self._channel = channel
        self._input_index = input_index
        self._codec = None if declared is None else codec_for(declared)  # of the type that records get here
        self._coerce = None if declared is None else list_coercer(declared)
        self.records_sent = 0
        self.bytes_sent = 0  # nothing is serialized on the way

    @property
    def operator(self) -> Operator:
        return self._station.operator

    def emit(self, batch: Batch) -> None:
        if self._coerce is not None:
            batch = self._station.guard(self._coerced, batch)
        self.records_sent += len(batch)
        self._station.process(batch, self._input_index)

    def _coerced(self, batch: Batch) -> Batch:
        assert self._coerce is not None and self._codec is not None
        if batch.columns_of(self._codec) is not None:
            return batch
        return Batch(self._coerce(batch.values), batch.timestamps, batch.keys)

    def emit_watermark(self, timestamp: int) -> None:
        self._station.watermark(self._channel, timestamp)

    def emit_idleness(self, idle: bool) -> None:
        self._station.idleness(self._channel, idle)

    def emit_latency(self, marker: LatencyMarker) -> None:
        self._station.latency(marker)

    def end(self) -> None:
        self._station.end(self._channel)


class FanOut(Output):
    """The same elements to several places (or to none). What functions of one change, others do not see."""

    def __init__(self, outputs: Sequence[Output], changing: bool = False) -> None:
        """`changing`: records can be changed, which functions of this subtask do, and writers of exchanges do not."""
        self._outputs = sorted(outputs, key=lambda output: isinstance(output, LocalInput))
        local = sum(isinstance(output, LocalInput) for output in outputs)
        self._copies = 0 if not changing else local if local < len(outputs) else local - 1

    def emit(self, batch: Batch) -> None:
        private = [batch.copied() for _ in range(self._copies)]
        shared = len(self._outputs) - len(private)
        for output in self._outputs[:shared]:
            output.emit(batch)
        for output, copy in zip(self._outputs[shared:], private, strict=True):
            output.emit(copy)

    def emit_watermark(self, timestamp: int) -> None:
        for output in self._outputs:
            output.emit_watermark(timestamp)

    def emit_idleness(self, idle: bool) -> None:
        for output in self._outputs:
            output.emit_idleness(idle)

    def emit_latency(self, marker: LatencyMarker) -> None:
        for output in self._outputs:
            output.emit_latency(marker)

    def end(self) -> None:
        for output in self._outputs:
            output.end()
