"""The ends of a job: operators around sinks and sink functions."""

from __future__ import annotations

from typing import Any, Final

from penstock.functions.sink import Sink, SinkWriter, WriterContext
from penstock.runtime.batch import MIN_TIMESTAMP, Batch
from penstock.runtime.blueprint import OperatorBlueprint
from penstock.runtime.context import SubtaskContext
from penstock.runtime.operators.base import FunctionOperator, Operator
from penstock.runtime.operators.record_context import RecordContext

AT_ONCE: Final = 0  # as a moment of processing time


class SinkOperator(Operator):
    """Drives the writer of a sink. What is staged becomes visible when the driver commits the epoch."""

    def __init__(self, blueprint: OperatorBlueprint, context: SubtaskContext) -> None:
        super().__init__(blueprint, context)
        self._sink: Sink = blueprint.function
        self._states: list[Any] = []  # from which the writer goes on
        self._awaits_commit = False
        self._writer: SinkWriter | None = None

    @property
    def writer(self) -> SinkWriter:
        assert self._writer is not None, "the sink is not open"
        return self._writer

    def open(self) -> None:
        self._writer = self._sink.create_writer(self._writer_context())
        if self._states:
            self._writer.restore_state(self._states)
            self._await_commit([])
        self._writer.open()

    def _writer_context(self) -> WriterContext:
        blueprint, settings = self.blueprint, self.context.settings
        return WriterContext(
            job_id=settings.job_id,
            operator_uid=blueprint.uid,
            subtask=self.context.subtask,
            parallelism=blueprint.parallelism,
            attempt=settings.attempt,
            type_info=blueprint.params.get("type_info"),
            metrics=self.memory.metrics,
            current_processing_time=self.context.clock,
            current_watermark=lambda: self.watermark,
            directory=settings.directory_of_sink(blueprint.uid),
            runtime_context=self.context.runtime_context,
        )

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._writer = None
        self._awaits_commit = False

    def process(self, batch: Batch, input_index: int) -> None:
        self.writer.write(batch)

    def advance_processing_time(self, now: int) -> None:
        moment = self.writer.next_wake_up()
        if moment is not None and moment <= now:
            self.writer.wake_up(now)

    @property
    def lingers(self) -> bool:
        return self._awaits_commit

    def next_processing_time(self) -> int | None:
        if self._awaits_commit:
            return AT_ONCE
        return self.writer.next_wake_up()

    def on_commit(self, epoch: int) -> None:
        if self._awaits_commit:
            self._awaits_commit = False
            self.writer.on_commit(epoch)

    def finish(self) -> None:
        self.writer.flush(end_of_input=True)
        super().finish()

    def before_savepoint(self) -> None:
        self.writer.before_savepoint()

    def end_epoch(self) -> None:
        self.writer.flush(end_of_input=False)

    def committables(self) -> list[Any]:
        committables = self.writer.prepare_commit()
        self._await_commit(committables)
        return committables

    def _await_commit(self, prepared: list[Any]) -> None:
        self._awaits_commit = self._sink.writers_hear_commits and self.writer.awaits_commit(prepared)

    # -- what it remembers -------------------------------------------------------------------------------------

    def extra(self) -> Any:
        return self.writer.snapshot_state()

    def restore_extra(self, extra: Any) -> None:
        self._go_on_from([extra])

    def take_over_extras(self, extras: dict[int, Any], old_parallelism: int) -> None:
        parallelism, subtask = self.blueprint.parallelism, self.context.subtask
        self._go_on_from([state for old, state in extras.items() if old % parallelism == subtask])

    def _go_on_from(self, states: list[Any]) -> None:
        self._states = states
        if self._writer is not None:
            self.close()
            self.open()


class SinkFunctionOperator(FunctionOperator):
    """Calls a user-written SinkFunction for every record (at least once after a failure)."""

    def __init__(self, blueprint: OperatorBlueprint, context: SubtaskContext) -> None:
        super().__init__(blueprint, context)
        self._context = RecordContext(self)

    def process(self, batch: Batch, input_index: int) -> None:
        invoke, context = self.function.invoke, self._context
        timestamps = batch.timestamps or [MIN_TIMESTAMP] * len(batch)
        for value, timestamp in zip(batch.values, timestamps, strict=True):
            context.record_timestamp = None if timestamp == MIN_TIMESTAMP else timestamp
            invoke(value, context)

    def finish(self) -> None:
        self.function.finish()
        super().finish()
