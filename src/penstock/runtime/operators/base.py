"""The life of an operator: opened once, fed with batches and control elements, asked for what changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from penstock.runtime.attributes import AttributeTracker
from penstock.runtime.batch import MAX_TIMESTAMP, MIN_TIMESTAMP, Batch
from penstock.runtime.blueprint import OperatorBlueprint
from penstock.runtime.context import SubtaskContext
from penstock.runtime.state.backend import KeyedStateBackend
from penstock.runtime.state.operator_state import InitializationContext, OperatorStates, SnapshotContext
from penstock.runtime.state_schema import StateSchema


class Output(Protocol):
    """Where an operator's results go: chained operators, exchange writers, or both."""

    def emit(self, batch: Batch) -> None: ...

    def emit_watermark(self, timestamp: int) -> None: ...

    def emit_idleness(self, idle: bool) -> None: ...

    def end(self) -> None: ...


class Operator:
    """Base of all operators. Subclasses override what they need; results go to `self.output`."""

    def __init__(self, blueprint: OperatorBlueprint, context: SubtaskContext) -> None:
        self.blueprint = blueprint
        self.context = context
        self.output: Output
        self.side_outputs: Mapping[str, Output] = {}
        self.watermark = MIN_TIMESTAMP
        self.backend: KeyedStateBackend | None = None  # has the tables of keyed operators

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
        """Event time advances for this operator: fire what is due, then tell those behind."""
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

    def take_delta(self) -> Any:
        """What changed since the last call, picklable; None for nothing."""
        return None

    def full_delta(self) -> Any:
        """The delta that brings a newly opened instance to the state of the last take_delta(), but for its tables.

        Tables may be large: whoever saves or loads them asks the backend, and applies them first.
        """
        return None

    def apply_delta(self, delta: Any) -> None:
        """Brings a (possibly older) instance up to date; the inverse of take_delta."""

    def before_savepoint(self) -> None:
        """The epoch that ends now is saved for another job: finish what only this job could go on with."""

    def restore_operator_state(self, states: list[tuple[int, Any]], old_parallelism: int) -> None:
        """Before open(): takes over the share of state that belongs to no key."""

    def restore_table(self, name: str, schema: StateSchema, entries: dict[Any, Any]) -> None:
        """Takes over this subtask's share of some entries of a saved table."""
        raise NotImplementedError

    def restore_savepoint(self, states: list[tuple[int, Any]], old_parallelism: int) -> None:
        """Takes over this subtask's share of the full deltas of the old subtasks, behind the tables."""
        own = [state for subtask, state in states if subtask == self.context.subtask]
        if own and old_parallelism == self.blueprint.parallelism:
            self.apply_delta(own[0])

    def committables(self) -> list[Any]:
        """What the driver must make visible when the epoch is complete (sinks only)."""
        return []


class FunctionOperator(Operator):
    """An operator around a user function, whose plain attributes are kept with the snapshot."""

    def __init__(self, blueprint: OperatorBlueprint, context: SubtaskContext) -> None:
        super().__init__(blueprint, context)
        self.function = blueprint.function
        self._attributes = AttributeTracker(self.function)
        self._operator_states = OperatorStates(context.operator_states)
        self._restored = self._from_savepoint = self._opened = False

    def open(self) -> None:
        self._opened = True
        if hasattr(self.function, "initialize_state"):
            self.function.initialize_state(InitializationContext(self._operator_states, self._restored))
        open_function = getattr(self.function, "open", None)
        if open_function is not None:
            open_function(self.context.runtime_context)
        # What was made of a savepoint's state cannot be made again elsewhere.
        self._attributes.mark_opened(repeatable=not self._from_savepoint)

    def close(self) -> None:
        close_function = getattr(self.function, "close", None)
        if close_function is not None:
            close_function()

    def end_epoch(self) -> None:
        if hasattr(self.function, "snapshot_state"):
            self.function.snapshot_state(SnapshotContext(self.context.clock))

    def take_delta(self) -> Any:
        changed, states = self._attributes.take_changes(), self._operator_states.take_delta()
        nothing = not changed and states is None and self.watermark == MIN_TIMESTAMP
        return None if nothing else (self.watermark, changed, states)

    def full_delta(self) -> Any:
        return self.watermark, self._attributes.all_changes(), self._operator_states.full_delta()

    def apply_delta(self, delta: Any) -> None:
        self.watermark, changed, states = delta
        self._restored = self._restored or not self._opened
        self._attributes.apply(changed)
        if states is not None:
            self._operator_states.apply_delta(states)

    def restore_operator_state(self, states: list[tuple[int, Any]], old_parallelism: int) -> None:
        saved = [(subtask, self.function_part(state)[2]) for subtask, state in states]
        self._restored = self._from_savepoint = True
        parallelism = self.blueprint.parallelism
        self._operator_states.restore(saved, self.context.subtask, parallelism, old_parallelism)

    def function_part(self, state: Any) -> Any:
        """What this class has put into the full delta of a subclass."""
        return state

    def restore_savepoint(self, states: list[tuple[int, Any]], old_parallelism: int) -> None:
        # Plain attributes belong to a subtask; when the subtasks change there is nobody to give them to, as in Flink.
        FunctionOperator._restore_function(self, states, old_parallelism)

    def _restore_function(self, states: list[tuple[int, Any]], old_parallelism: int) -> None:
        if old_parallelism == self.blueprint.parallelism:
            for subtask, state in states:
                if subtask == self.context.subtask:
                    self._attributes.apply(state[1])
        self.watermark = min((state[0] for _, state in states), default=MIN_TIMESTAMP)


__all__ = ["MAX_TIMESTAMP", "FunctionOperator", "Operator", "Output"]
