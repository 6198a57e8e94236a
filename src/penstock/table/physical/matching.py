"""MATCH_RECOGNIZE: patterns of rows become stages of the automaton, their conditions columns where they can."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from penstock.columns.typed.nodes import Aggregate, InputRef, TimeAttribute, Typed, walk
from penstock.common.errors import NotSupportedError
from penstock.runtime.cep.conditions import Condition, Mask
from penstock.runtime.cep.pattern_model import Contiguity, PatternModel, Stage
from penstock.runtime.cep.settings import PARAMETER, CepSettings
from penstock.runtime.cep.skip_strategy import AfterMatchSkipStrategy
from penstock.runtime.table.match_recognize import Holds, HoldsBit, MatchParams, by_place
from penstock.runtime.table.match_values import MatchTime, Navigation
from penstock.table.logical import nodes as plan
from penstock.table.logical.conditions import moved
from penstock.table.logical.row_patterns import resolved, variables_of
from penstock.table.physical.table_stream import TableStream
from penstock.table.syntax.queries import PatternNode

if TYPE_CHECKING:
    from penstock.table.physical.planner import Planner


def match(relation: plan.Match, planner: Planner) -> TableStream:
    stream = planner.plan(relation.source)
    fields = relation.source.fields
    variables = variables_of(relation.pattern)
    conditions = _Conditions(relation, variables, planner)
    stages = _stages(relation.pattern, conditions)
    if stages[-1].greedy and stages[-1].loops:
        raise NotSupportedError(
            "Greedy quantifiers are not allowed as the last element of a PATTERN, as in Flink: add another variable "
            "after it, or make it reluctant, as A+?."
        )
    if relation.within is not None:
        first = stages[0]
        stages = (Stage(**{**first.__dict__, "window": int(relation.within)}), *stages[1:])
    time = relation.order_by[0].operand
    assert isinstance(time, InputRef)
    others = relation.order_by[1:]
    settings = CepSettings(
        PatternModel(stages, _skip(relation.after_match)),
        time.time is TimeAttribute.PROCTIME,
        by_place if others else None,
    )
    params = MatchParams(
        stream.row_type,
        time.index,
        others,
        tuple(variables),
        tuple(conditions.simple),
        relation.partition_by,
        tuple(resolved(node, fields, variables, "MEASURES") for node, _ in relation.measures),
        planner.session,
    )
    both = {"match": params, PARAMETER: settings}
    return planner.operator(relation, "table_match", [stream], both, keys=[relation.partition_by], name="Match")


class _Conditions:
    """The conditions of variables; those of the row alone get a bit each."""

    def __init__(self, relation: plan.Match, variables: list[str], planner: Planner) -> None:
        self._fields = relation.source.fields
        self._defines = dict(relation.defines)
        self._variables = variables
        self._session = planner.session
        self._ordered = len(relation.order_by) > 1  # by more than time: events are Python values from the start
        self.simple: list[Typed] = []

    def of(self, variable: str) -> Condition:
        written = self._defines.get(variable)
        if written is None:
            return Condition(_always, False, columns=None if self._ordered else _Always())
        node = resolved(written, self._fields, self._variables, "DEFINE")
        number, width = self._variables.index(variable) + 1, len(self._fields)
        if all(_looks_at_row(part, number, width) for part in walk(node)):
            self.simple.append(moved(node, {v * width + c: c for v in (0, number) for c in range(width)}))
            bit = HoldsBit(len(self.simple) - 1)
            return Condition(bit, False, columns=None if self._ordered else bit)
        return Condition(Holds(node, number, tuple(self._variables), width, self._session), True)


def _looks_at_row(part: Typed, variable: int, width: int) -> bool:
    if isinstance(part, InputRef):
        return part.index // width in (0, variable)
    return not isinstance(part, (Navigation, MatchTime, Aggregate))


def _always(event: object) -> bool:
    return True


class _Always:
    def holds(self, columns: pa.RecordBatch) -> Mask:
        return np.ones(columns.num_rows, np.bool_)


def _stages(pattern: PatternNode, conditions: _Conditions) -> tuple[Stage, ...]:
    plain = (pattern.least, pattern.most) == (1, 1)
    if pattern.kind == "sequence" and plain:
        return tuple(stage for child in pattern.children for stage in _stages(child, conditions))
    if pattern.kind != "name" or pattern.name is None:
        raise NotSupportedError(
            "A PATTERN is a sequence of variables with quantifiers, as in Flink: no groups with quantifiers, no "
            "alternatives, no PERMUTE, no exclusion."
        )
    condition = conditions.of(pattern.name)
    if plain:
        return (Stage(pattern.name, Contiguity.STRICT, condition=condition),)
    return (
        Stage(
            pattern.name,
            Contiguity.STRICT,
            condition=condition,
            at_least=max(pattern.least, 1),
            at_most=pattern.most,
            quantified=True,
            inner=Contiguity.STRICT,
            optional=pattern.least == 0,
            # As in Flink, A? is not greedy: of an event that fits it and the next one, both are tried.
            greedy=pattern.greedy and (pattern.least, pattern.most) != (0, 1),
        ),
    )


def _skip(after_match: tuple[str, str | None]) -> AfterMatchSkipStrategy:
    kind, variable = after_match
    match kind:
        case "TO NEXT ROW":
            return AfterMatchSkipStrategy.skip_to_next()
        case "TO FIRST":
            return AfterMatchSkipStrategy.skip_to_first(variable or "").throw_exception_on_miss()
        case "TO LAST":
            return AfterMatchSkipStrategy.skip_to_last(variable or "").throw_exception_on_miss()
    return AfterMatchSkipStrategy.skip_past_last_event()
