"""Sinks that need no commit: printing, collecting for the driver, and user-written sink functions."""

from __future__ import annotations

import sys
from typing import Any

from penstock.common.text import print_text
from penstock.runtime.batch import MIN_TIMESTAMP, Batch
from penstock.runtime.blueprint import OperatorBlueprint
from penstock.runtime.context import SubtaskContext
from penstock.runtime.operators.base import FunctionOperator, Operator
from penstock.runtime.operators.record_context import RecordContext


class SourceOperator(Operator):
    """Stands for a source: the container reads, and lets this operator's output emit."""


class PrintOperator(Operator):
    """Writes records as text to standard output, which the container brings to the driver's."""

    def __init__(self, blueprint: OperatorBlueprint, context: SubtaskContext) -> None:
        super().__init__(blueprint, context)
        identifier = blueprint.params.get("identifier")
        number = str(context.subtask + 1) if blueprint.parallelism > 1 else ""
        prefix = ":".join(part for part in (identifier, number) if part)
        self._prefix = f"{prefix}> " if prefix else ""
        self._type = blueprint.params.get("type_info")

    def process(self, batch: Batch, input_index: int) -> None:
        prefix, type_info = self._prefix, self._type
        sys.stdout.write("".join(f"{prefix}{print_text(value, type_info)}\n" for value in batch.values))


class CollectOperator(Operator):
    """Keeps the epoch's records for the driver, which hands them to the program when the epoch is complete."""

    def __init__(self, blueprint: OperatorBlueprint, context: SubtaskContext) -> None:
        super().__init__(blueprint, context)
        self._collected: list[Any] = []

    def process(self, batch: Batch, input_index: int) -> None:
        self._collected.extend(batch.values)

    def committables(self) -> list[Any]:
        collected, self._collected = self._collected, []
        return collected


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
