"""Filters and projections of tables: any number of them that follow each other, fused into one operator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from penstock.columns.kernels.comparison import true_rows
from penstock.columns.kernels.datum import Session, as_array
from penstock.columns.typed.evaluation import Rows, evaluate
from penstock.columns.typed.nodes import Constant, InputRef, Typed, columns_of, walk
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
        needed = _needed_after(params.steps, len(blueprint.output_type))
        self._steps = [*zip(params.steps, needed, _shared_after(params.steps), strict=True)]

    def open(self) -> None:
        self._functions.open()

    def close(self) -> None:
        self._functions.close()

    def process(self, batch: Batch, input_index: int) -> None:
        batch = batch.in_columns(self._input)
        columns: list[Any] = self._input.arrays(batch)
        kinds = batch.kinds
        rows = Rows(columns, len(batch), session_at(self._session, self.context.clock(), self.watermark))
        for step, needed, shared in self._steps:
            if isinstance(step, Compute):
                columns = [
                    as_array(evaluate(node, rows), rows.count) if place in needed else None
                    for place, node in enumerate(step.expressions)
                ]
                rows = Rows(columns, rows.count, rows.session)
                continue
            mask = true_rows(evaluate(step.condition, rows), rows.count)
            kept = int(np.count_nonzero(mask))
            if not kept:
                return
            if kept < rows.count:
                rows = rows.kept(mask, needed, shared)
                kinds = None if kinds is None else kinds[mask]
        self.output.emit(self._output.batch(rows.columns, kinds, rows.count))


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


def _shared_after(steps: Sequence[Step]) -> list[list[Typed]]:
    """For each condition the parts of it that are computed again on the rows that it keeps."""
    found = []
    for place, step in enumerate(steps):
        later: set[Typed] = set()
        for other in steps[place + 1 :] if isinstance(step, Keep) else ():
            later.update(part for one in _expressions([other]) for part in walk(one))
            if isinstance(other, Compute):
                break
        parts = dict.fromkeys(walk(step.condition)) if isinstance(step, Keep) else {}
        found.append([part for part in parts if part in later and not isinstance(part, (InputRef, Constant))])
    return found


def session_at(session: Session, now_millis: int, watermark: int | None = None) -> Session:
    """The session with this moment as its clock, and with a watermark where one may ask for it."""
    return Session(session.zone, now_millis * 1_000, session.database, watermark)


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
