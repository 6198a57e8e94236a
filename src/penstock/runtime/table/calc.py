"""Filters and projections of tables: any number of them that follow each other, fused into one operator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from penstock.columns.kernels.comparison import true_rows
from penstock.columns.kernels.datum import Session, as_array
from penstock.columns.typed.evaluation import Rows, evaluate
from penstock.columns.typed.nodes import InputRef, Typed, columns_of
from penstock.columns.typed.python_call import functions_in
from penstock.runtime.batch import Batch
from penstock.runtime.blueprint import OperatorBlueprint
from penstock.runtime.context import SubtaskContext
from penstock.runtime.operators.base import Operator
from penstock.runtime.table.codec import TableCodec
from penstock.runtime.table.row_type import TableRowType
from penstock.runtime.table.user_functions import UserFunctions


@dataclass(frozen=True)
class Keep:
    """Rows for which the condition is true stay."""

    condition: Typed


@dataclass(frozen=True)
class Compute:
    """The columns are replaced."""

    expressions: tuple[Typed, ...]


Step = Keep | Compute


@dataclass(frozen=True)
class CalcParams:
    """What the operator does; `session` says zone and database, its clock is that of the worker."""

    input_type: TableRowType
    steps: tuple[Step, ...]
    session: Session


class TableCalcOperator(Operator):
    """Runs the steps on the columns of a batch. Columns that no later step reads are left behind."""

    def __init__(self, blueprint: OperatorBlueprint, context: SubtaskContext) -> None:
        super().__init__(blueprint, context)
        params: CalcParams = blueprint.params["calc"]
        self._input = TableCodec(params.input_type)
        self._output = TableCodec(blueprint.output_type)
        self._session = params.session
        self._functions = UserFunctions(functions_in(_expressions(params.steps)), context)
        self._steps = [*zip(params.steps, _needed_after(params.steps, len(blueprint.output_type)), strict=True)]

    def open(self) -> None:
        self._functions.open()

    def close(self) -> None:
        self._functions.close()

    def process(self, batch: Batch, input_index: int) -> None:
        batch = batch.in_columns(self._input)
        columns: list[Any] = self._input.arrays(batch)
        kinds, count = batch.kinds, len(batch)
        session = session_at(self._session, self.context.clock())
        for step, needed in self._steps:
            rows = Rows(columns, count, session)
            if isinstance(step, Compute):
                columns = [
                    as_array(evaluate(node, rows), count) if place in needed else None
                    for place, node in enumerate(step.expressions)
                ]
                continue
            mask = true_rows(evaluate(step.condition, rows), count)
            kept = int(np.count_nonzero(mask))
            if not kept:
                return
            if kept < count:
                chosen = pa.array(mask)
                columns = [c.filter(chosen) if place in needed else None for place, c in enumerate(columns)]
                kinds, count = None if kinds is None else kinds[mask], kept
        self.output.emit(self._output.batch(columns, kinds, count))


def _expressions(steps: Sequence[Step]) -> list[Typed]:
    return [one for step in steps for one in (step.expressions if isinstance(step, Compute) else (step.condition,))]


def _needed_after(steps: Sequence[Step], width: int) -> list[set[int]]:
    """For each step the columns of its result that are read later."""
    needed, found = set(range(width)), []
    for step in reversed(steps):
        found.append(needed)
        if isinstance(step, Keep):
            needed = needed | columns_of(step.condition)
        else:
            nodes = [node for place, node in enumerate(step.expressions) if place in needed]
            needed = set().union(*(columns_of(node) for node in nodes)) if nodes else set()
    return found[::-1]


def session_at(session: Session, now_millis: int) -> Session:
    """The session with this moment as its clock."""
    return Session(session.zone, now_millis * 1_000, session.database)


def merged(steps: Sequence[Step]) -> tuple[Step, ...]:
    """Without the projections that only choose columns and are followed by another one."""
    found: list[Step] = []
    for step in steps:
        before = found[-1] if found else None
        if isinstance(step, Compute) and isinstance(before, Compute) and _only_columns(before):
            found[-1] = Compute(tuple(_substituted(node, before.expressions) for node in step.expressions))
        else:
            found.append(step)
    return tuple(found)


def _only_columns(step: Compute) -> bool:
    return all(isinstance(node, InputRef) for node in step.expressions)


def _substituted(node: Typed, columns: Sequence[Typed]) -> Typed:
    if isinstance(node, InputRef):
        return columns[node.index]
    return node.with_children(tuple(_substituted(child, columns) for child in node.children()))
