"""Runs one operator without Spark: elements in, results out, with the clock and the epochs in the test's hands."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import cloudpickle

from penstock.runtime.batch import MAX_TIMESTAMP, Batch, LatencyMarker
from penstock.runtime.blueprint import JobSettings, OperatorBlueprint, Origin
from penstock.runtime.context import SubtaskContext
from penstock.runtime.operators.base import Operator
from penstock.runtime.operators.registry import OPERATORS

KeySelector = Callable[[Any], Any]


@dataclass
class Collected:
    """What an operator sent to one output, in order."""

    records: list[tuple[Any, int | None]] = field(default_factory=list)
    watermarks: list[int] = field(default_factory=list)
    idleness: list[bool] = field(default_factory=list)
    ended: bool = False

    @property
    def values(self) -> list[Any]:
        return [value for value, _ in self.records]

    def emit(self, batch: Batch) -> None:
        timestamps: Sequence[int | None] = batch.timestamps or [None] * len(batch)
        self.records.extend(zip(batch.values, timestamps, strict=True))

    def emit_watermark(self, timestamp: int) -> None:
        self.watermarks.append(timestamp)

    def emit_latency(self, marker: LatencyMarker) -> None:
        """Nobody looks at them."""

    def emit_idleness(self, idle: bool) -> None:
        self.idleness.append(idle)

    def end(self) -> None:
        self.ended = True


class _SideOutputs(dict[str, Collected]):
    """Has every side output, as if each had a consumer."""

    def get(self, tag_id: str, default: Any = None) -> Any:
        return self[tag_id]

    def __missing__(self, tag_id: str) -> Collected:
        return self.setdefault(tag_id, Collected())

    def __contains__(self, tag_id: object) -> bool:
        return True


class OperatorHarness:
    """One subtask of one operator.

    ``key`` says how keys are taken from records: a callable, or one per input. Results are read from ``output`` and
    ``side(tag_id)``; ``restart()`` moves the operator to another process as Spark does between two epochs::

        harness = OperatorHarness("reduce", MyReduce(), key=lambda value: value[0])
        harness.push(("a", 1), timestamp=10)
        harness.restart()
        assert harness.output.values == [("a", 1)]
    """

    def __init__(
        self,
        kind: str,
        function: Any = None,
        params: dict[str, Any] | None = None,
        *,
        key: KeySelector | Sequence[KeySelector] | None = None,
        now: int = 0,
        parallelism: int = 1,
        subtask: int = 0,
        name: str = "operator under test",
        output_type: Any = None,
    ) -> None:
        self._keys = key
        self._subtask = subtask
        self._snapshots: list[bytes] = []  # the first of them is full, or that of the first epoch
        self._epochs = 0
        self._resting: tuple[Operator, int] | None = None  # of another process, and the epochs that it knows
        self._restarts = 0
        self.now = now
        self.output = Collected()
        self.side_outputs = _SideOutputs()
        blueprint = OperatorBlueprint(
            id=1,
            uid="under-test",
            name=name,
            kind=kind,
            function=function,
            params=params or {},
            parallelism=parallelism,
            max_parallelism=128,
            level=0,
            origin=Origin("test", 0),
            output_type=output_type,
            task_name=name,
        )
        self._program = cloudpickle.dumps(blueprint)
        self.operator = self._build()
        self.operator.open()

    def _build(self) -> Operator:
        # Every instance gets its own copy of the user's objects, as in a worker process.
        blueprint: OperatorBlueprint = pickle.loads(self._program)
        settings = JobSettings("0" * 32, "harness")
        context = SubtaskContext(blueprint, settings, self._subtask, lambda: self.now)
        operator = OPERATORS[blueprint.kind](blueprint, context)
        operator.connect(self.output, self.side_outputs)
        return operator

    # -- elements in -------------------------------------------------------------------------------------------

    def push(self, value: Any, timestamp: int | None = None, input_index: int = 0) -> None:
        """One record."""
        self.push_all([value], None if timestamp is None else [timestamp], input_index)

    def push_all(self, values: Iterable[Any], timestamps: Iterable[int] | None = None, input_index: int = 0) -> None:
        """Records in one batch."""
        batch_values = list(values)
        selector = self._selector(input_index)
        self.operator.process(
            Batch(
                batch_values,
                None if timestamps is None else list(timestamps),
                None if selector is None else [selector(value) for value in batch_values],
            ),
            input_index,
        )

    def _selector(self, input_index: int) -> KeySelector | None:
        if self._keys is None or callable(self._keys):
            return self._keys
        return self._keys[input_index]

    def watermark(self, timestamp: int) -> None:
        """Event time advances; an older watermark than the last one is ignored, as by the valve in front."""
        if timestamp > self.operator.watermark:
            self.operator.process_watermark(timestamp)

    def processing_time(self, now: int) -> None:
        """The clock advances, and what is due fires."""
        self.now = now
        self.operator.advance_processing_time(now)

    def end_of_input(self, inputs: int = 1) -> None:
        """The highest watermark, then the end of all inputs."""
        self.watermark(MAX_TIMESTAMP)
        for index in range(inputs):
            self.operator.end_input(index)
        self.operator.finish()

    # -- epochs ------------------------------------------------------------------------------------------------

    def snapshot(self, full: bool = False) -> bytes:
        """Ends an epoch; returns what changed in the form that goes into the store.

        A full one replaces all earlier ones, as when a log is compacted.
        """
        self.operator.end_epoch()
        snapshot = pickle.dumps(self.operator.snapshot(full), 5)
        if full:
            self._snapshots.clear()
        self._snapshots.append(snapshot)
        self._epochs += 1
        return snapshot

    def restore(self) -> None:
        """Replaces the operator by a new instance that knows nothing but the snapshots so far."""
        self.operator.close()
        self.operator = self._rebuilt()

    def _rebuilt(self) -> Operator:
        operator = self._build()
        operator.open()
        self._replay(operator, len(self._snapshots))
        return operator

    def _replay(self, operator: Operator, missed: int) -> None:
        for snapshot in self._snapshots[len(self._snapshots) - missed :]:
            operator.load(pickle.loads(snapshot))
        operator.loaded()

    def restart(self, full: bool = False) -> None:
        """An epoch ends, and the next one begins in another process.

        Two processes take turns, and the one that rested applies what it has missed; now and then there is a new one.
        """
        self.snapshot(full)
        rested, self._resting = self._resting, (self.operator, self._epochs)
        self._restarts += 1
        missed = self._epochs if rested is None else self._epochs - rested[1]
        if rested is not None and missed < len(self._snapshots) and self._restarts % 3:
            self.operator = rested[0]
            self._replay(self.operator, missed)
            return
        if rested is not None:
            rested[0].close()
        self.operator = self._rebuilt()

    # -- results out -------------------------------------------------------------------------------------------

    @property
    def results(self) -> list[tuple[Any, int | None]]:
        """Values with timestamps of the main output."""
        return self.output.records

    def take(self) -> list[Any]:
        """The values since the last call."""
        values = self.output.values
        self.output.records.clear()
        return values

    def side(self, tag_id: str) -> Collected:
        return self.side_outputs[tag_id]
