"""The life of an operator: opened once, fed with batches and control elements, asked for what changed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

from penstock.runtime.batch import MAX_TIMESTAMP, MIN_TIMESTAMP, Batch, LatencyMarker
from penstock.runtime.blueprint import OperatorBlueprint
from penstock.runtime.context import SubtaskContext
from penstock.runtime.key_layout import KeyLayout, owned_entries
from penstock.runtime.operator_memory import OperatorSnapshot
from penstock.runtime.ownership import can_change, given
from penstock.runtime.pickling import dumps, loads
from penstock.runtime.state.operator_state import InitializationContext, SnapshotContext
from penstock.runtime.state_schema import StateSchema


class Output(Protocol):
    """Where an operator's results go: chained operators, exchange writers, or both."""

    def emit(self, batch: Batch) -> None: ...

    def emit_watermark(self, timestamp: int) -> None: ...

    def emit_idleness(self, idle: bool) -> None: ...

    def emit_latency(self, marker: LatencyMarker) -> None: ...

    def end(self) -> None: ...


class Operator:
    """Base of all operators. Subclasses override what they need; results go to `self.output`."""

    takes_rows = False  # whether it looks at records only as objects, whatever form they come in
    asynchronous = False  # it goes on between epochs, so that one that is run again may have other results

    def __init__(self, blueprint: OperatorBlueprint, context: SubtaskContext) -> None:
        self.blueprint = blueprint
        self.context = context
        self.output: Output
        self.side_outputs: Mapping[str, Output] = {}
        self.watermark = MIN_TIMESTAMP
        self.memory = context.memory
        self._last_extra: bytes | None = None

    @property
    def idle(self) -> bool:
        """Whether it makes watermarks itself, and has none to tell for now."""
        return False

    @property
    def lingers(self) -> bool:
        """Whether it needs another epoch although its inputs have ended."""
        return False

    @property
    def congested(self) -> bool:
        """Whether it has more than it can begin; it takes what comes all the same."""
        return False

    def connect(self, output: Output, side_outputs: Mapping[str, Output]) -> None:
        self.output = output
        self.side_outputs = side_outputs

    def open(self) -> None:
        """Called before the first element and again after the operator came to another process."""

    def close(self) -> None:
        """Called when the job ends, or this process gives the operator up."""

    def process(self, batch: Batch, input_index: int) -> None:
        raise NotImplementedError

    def process_watermark(self, timestamp: int) -> None:
        """Event time advances for this operator: fire what is due, then tell those after it."""
        self.watermark = timestamp
        self.output.emit_watermark(timestamp)
        for side in self.side_outputs.values():
            side.emit_watermark(timestamp)

    def process_idleness(self, idle: bool) -> None:
        self.output.emit_idleness(idle)
        for side in self.side_outputs.values():
            side.emit_idleness(idle)

    def end_input(self, input_index: int) -> None:
        """Nothing more comes on this input."""

    def finish(self) -> None:
        """All inputs have ended: the last chance to emit, then the end is passed on."""
        self.output.end()
        for side in self.side_outputs.values():
            side.end()

    def advance_processing_time(self, now: int) -> None:
        """Fire what is due by the clock."""

    def next_processing_time(self) -> int | None:
        """The earliest moment at which this operator wants to be woken although nothing arrives."""
        return None

    def end_epoch(self) -> None:
        """The barrier has arrived: bring buffered work into state or output before the snapshot."""

    def on_commit(self, epoch: int) -> None:
        """What was reported up to the epoch of this number is visible, and will not be asked for again."""

    def key_layout(self, table: str) -> KeyLayout:
        """Where the key is in a table of this operator."""
        return KeyLayout.KEY

    # -- what it remembers -------------------------------------------------------------------------------------

    def extra(self) -> Any:
        """What it remembers in none of the parts of its memory: small, picklable, whole; None for nothing."""
        return None

    def restore_extra(self, extra: Any) -> None:
        """The inverse of extra()."""

    def take_over_extras(self, extras: dict[int, Any], old_parallelism: int) -> None:
        """Those of the old subtasks, from a savepoint."""
        if self.context.subtask in extras and old_parallelism == self.blueprint.parallelism:
            self.restore_extra(extras[self.context.subtask])

    def loaded(self) -> None:
        """Its memory has got other contents: what was derived from it must be made again."""

    def before_savepoint(self) -> None:
        """The epoch that ends now is saved for another job: finish what only this job could go on with."""

    def snapshot(self, full: bool = False) -> OperatorSnapshot:
        """What changed since the last call, or everything."""
        snapshot = self.memory.take(full)
        snapshot.watermark = self.watermark
        extra = self.extra()
        pickled = None if extra is None else dumps(extra)
        if full or pickled != self._last_extra:
            snapshot.extra = self._last_extra = pickled
        return snapshot

    def load(self, snapshot: OperatorSnapshot, full: bool = False) -> None:
        """Brings a (possibly older) instance up to date; the inverse of snapshot(). loaded() follows after the last."""
        self.watermark = snapshot.watermark
        self.memory.load(snapshot, full)
        if snapshot.extra is not None:
            self.restore_extra(loads(snapshot.extra))
            self._last_extra = snapshot.extra

    def saved_state(self) -> OperatorSnapshot:
        """For a savepoint, right after snapshot(): everything but the tables, which follow in pieces."""
        saved = self.memory.without_tables()
        extra = self.extra()
        saved.watermark, saved.extra = self.watermark, None if extra is None else dumps(extra)
        return saved

    def take_over_table(self, name: str, schema: StateSchema, entries: dict[Any, Any]) -> None:
        """Some entries of a saved table: those of this subtask's keys are its own now."""
        owned = owned_entries(entries, self.key_layout(name), self.memory.owns)
        self.memory.keyed.apply_delta({name: (schema, owned)})

    def take_over(self, saved: dict[int, OperatorSnapshot], old_parallelism: int) -> None:
        """The rest of what the old subtasks saved, after the tables."""
        self.watermark = min((snapshot.watermark for snapshot in saved.values()), default=MIN_TIMESTAMP)
        self.memory.take_over(saved, old_parallelism)
        extras = {subtask: loads(s.extra) for subtask, s in saved.items() if s.extra is not None}
        self.take_over_extras(extras, old_parallelism)
        self.loaded()

    def committables(self) -> list[Any]:
        """What the driver must make visible when the epoch is complete (sinks only)."""
        return []


class FunctionOperator(Operator):
    """An operator around a user function, whose plain attributes are kept with the snapshot."""

    def __init__(self, blueprint: OperatorBlueprint, context: SubtaskContext) -> None:
        super().__init__(blueprint, context)
        self.function = blueprint.function
        self.keeps_given = can_change(blueprint.output_type)  # a function may go on changing what it has given
        self.memory.track("function", self.function)

    def results_of(self, call: Callable[[Any], Any], batch: Batch) -> list[Any]:
        """One of every record, none of which the function can change any more."""
        if self.keeps_given:
            return [given(result) for result in map(call, batch.values)]
        return list(map(call, batch.values))

    def adder(self, values: list[Any]) -> Callable[[Iterable[Any]], None]:
        """Puts results of a call into the list, while they are as they were given."""
        if not self.keeps_given:
            return values.extend

        def add(results: Iterable[Any]) -> None:
            for result in results:
                values.append(given(result))

        return add

    def open(self) -> None:
        if hasattr(self.function, "initialize_state"):
            self.function.initialize_state(InitializationContext(self.memory.unkeyed, self.memory.restored))
        open_function = getattr(self.function, "open", None)
        if open_function is not None:
            open_function(self.context.runtime_context)
        self.memory.mark_opened()

    def close(self) -> None:
        close_function = getattr(self.function, "close", None)
        if close_function is not None:
            close_function()

    def end_epoch(self) -> None:
        if hasattr(self.function, "snapshot_state"):
            self.function.snapshot_state(SnapshotContext(self.context.clock))


__all__ = ["MAX_TIMESTAMP", "FunctionOperator", "Operator", "Output"]
