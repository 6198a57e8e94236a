"""MATCH_RECOGNIZE: rows of a table as events of the automaton for patterns, matches as rows again.

Conditions that look only at the row itself are tested for a whole batch, as columns; the automaton then reads a bit.
Rows stay columns until one of them can begin or continue a match.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from penstock.columns.kernels.datum import Session, from_plain, plain_values
from penstock.columns.typed.evaluation import matching
from penstock.columns.typed.nodes import SortKey, Typed
from penstock.common.typeinfo import TypeInformation
from penstock.runtime.batch import Batch, Codec, Integers
from penstock.runtime.blueprint import OperatorBlueprint
from penstock.runtime.cep.conditions import Mask
from penstock.runtime.cep.keyed_matcher import Reported
from penstock.runtime.context import SubtaskContext
from penstock.runtime.operators.cep import CepOperator
from penstock.runtime.table.calc import session_at
from penstock.runtime.table.codec import TableCodec
from penstock.runtime.table.match_values import MatchExpression
from penstock.runtime.table.row_type import TableRowType
from penstock.runtime.table.sort_order import SortOrder
from penstock.runtime.table.window_times import millis

_BITS, _NUMBER = "$bits", "$number"
Event = tuple[tuple[Any, ...], int, tuple[Any, ...]]  # values, bits of conditions that hold, place in the order


@dataclass(frozen=True)
class MatchParams:
    """`simple` are conditions over the row's own columns, by the number of their bit."""

    input_type: TableRowType
    time_column: int
    others: tuple[SortKey, ...]
    variables: tuple[str, ...]
    simple: tuple[Typed, ...]
    partition: tuple[int, ...]
    measures: tuple[Typed, ...]
    session: Session


class HoldsBit:
    """A condition that was tested for the batch."""

    def __init__(self, number: int) -> None:
        self._mask = 1 << number

    def __call__(self, event: Event) -> bool:
        return event[1] & self._mask != 0

    def holds(self, columns: pa.RecordBatch) -> Mask:
        bits: Mask = columns.column(_BITS).to_numpy() & self._mask != 0
        return bits


class EventCodec:
    """Events in columns: those of the table, the bits of conditions, and the number in the order of arrival."""

    mutable = False

    def __init__(self, row_type: TableRowType, time_column: int) -> None:
        self._table = TableCodec(row_type)
        self._time = time_column
        self.type_info: TypeInformation = row_type
        fields = [*self._table.schema, pa.field(_BITS, pa.int64()), pa.field(_NUMBER, pa.int64())]
        self.schema = pa.schema(fields)
        self.form = f"events {self.schema.types}"

    def columns(self, arrays: list[pa.Array], bits: Integers, numbers: Integers) -> pa.RecordBatch:
        return pa.RecordBatch.from_arrays([*arrays, pa.array(bits), pa.array(numbers)], schema=self.schema)

    def encode(self, events: list[Event]) -> pa.RecordBatch:
        cells = zip(*(values for values, _, _ in events), strict=True)
        arrays = [from_plain(list(part), kind) for part, kind in zip(cells, self._table.row_type.types, strict=True)]
        bits, numbers = [bits for _, bits, _ in events], [place[-1] for _, _, place in events]
        fitted = _fitted(arrays, self._table.schema)
        return self.columns(fitted, np.array(bits, np.int64), np.array(numbers, np.int64))

    def decode(self, columns: pa.RecordBatch) -> list[Event]:
        types = self._table.row_type.types
        arrays = columns.columns[: len(types)]
        cells = [plain_values(array, kind) for array, kind in zip(arrays, types, strict=True)]
        places = zip(millis(arrays[self._time]).tolist(), columns.column(_NUMBER).to_pylist(), strict=True)
        return list(zip(zip(*cells, strict=True), columns.column(_BITS).to_pylist(), places, strict=True))

    def field(self, columns: pa.RecordBatch, position: Any) -> pa.Array | None:
        return None

    def field_values(self, columns: pa.RecordBatch, position: Any) -> list[Any] | None:
        return None


class Holds:
    """A condition that looks back: the row itself counts as the last one of its variable."""

    def __init__(self, node: Typed, variable: int, variables: tuple[str, ...], width: int, session: Session) -> None:
        self._expression = MatchExpression(node, width, session)
        self._variable, self._variables = variable, variables

    def __call__(self, event: Event, context: Any) -> bool:
        def rows_of(variable: int) -> list[tuple[Any, ...]]:
            if variable:
                rows = [one[0] for one in context.get_events_for_pattern(self._variables[variable - 1])]
                return [*rows, event[0]] if variable == self._variable else rows
            events = [one for name in self._variables for one in context.get_events_for_pattern(name)]
            return [*(one[0] for one in sorted(events, key=_place)), event[0]]

        return self._expression.holds(rows_of, context.timestamp())


def _place(event: Event) -> tuple[Any, ...]:
    return event[2]


def by_place(one: Event, other: Event) -> int:
    """For events of one time."""
    return (one[2] > other[2]) - (one[2] < other[2])


class MatchRecognizeOperator(CepOperator):
    def __init__(self, blueprint: OperatorBlueprint, context: SubtaskContext) -> None:
        self._params: MatchParams = blueprint.params["match"]
        super().__init__(blueprint, context)
        self._codec, self._result = TableCodec(self._params.input_type), TableCodec(blueprint.output_type)
        self._events = EventCodec(self._params.input_type, self._params.time_column)
        self._order = SortOrder(self._params.others, self._params.input_type.types)
        width = len(self._params.input_type)
        self._measures = [MatchExpression(node, width, self._params.session) for node in self._params.measures]
        self._seen = 0

    def _event_codec(self) -> Codec | None:
        return self._events

    def process(self, batch: Batch, input_index: int) -> None:
        arrays = self._codec.arrays(batch)
        count = len(batch)
        bits = np.zeros(count, np.int64)
        session = session_at(self._params.session, self.context.clock())
        for number, condition in enumerate(self._params.simple):
            bits |= matching(condition, arrays, count, session).astype(np.int64) << number
        numbers = np.arange(self._seen, self._seen + count)
        self._seen += count
        times = millis(arrays[self._params.time_column])
        columns = self._events.columns(arrays, bits, numbers)
        events = Batch.of_columns(
            self._events, columns, times, batch.key_column if batch.has_key_column else batch.keys
        )
        if self._params.others:
            others = self._order.of_columns(arrays)
            placed = zip(events.values, others, strict=True)
            with_order = [(values, held, (place[0], *other, place[1])) for (values, held, place), other in placed]
            events = Batch(with_order, times.tolist(), events.keys)
        super().process(events, input_index)

    def _report(self, name: str, found: Reported) -> None:
        matches = [outcome for _, outcome in found if not outcome.timed_out]
        if not matches:
            return
        values: list[list[list[Any]]] = [[] for _ in self._measures]
        firsts: list[tuple[Any, ...]] = []
        for outcome in matches:
            by_variable = {variable: sorted(events, key=_place) for variable, events in outcome.events.items()}
            everything = sorted((one for events in by_variable.values() for one in events), key=_place)
            firsts.append(everything[0][0])

            def rows_of(variable: int, named: Any = by_variable, rows: Any = everything) -> list[tuple[Any, ...]]:
                events = named.get(self._params.variables[variable - 1], ()) if variable else rows
                return [one[0] for one in events]

            time = everything[-1][2][0]
            for place, measure in enumerate(self._measures):
                values[place].append(measure.leaf_values(rows_of, time))
        keys = [
            from_plain([row[place] for row in firsts], self._params.input_type.types[place])
            for place in self._params.partition
        ]
        columns = [*keys, *(measure.column(one) for measure, one in zip(self._measures, values, strict=True))]
        self.output.emit(self._result.batch(_fitted(columns, self._result.schema), rows=len(matches)))

    def extra(self) -> Any:
        return self._seen

    def restore_extra(self, extra: Any) -> None:
        self._seen = extra

    def take_over_extras(self, extras: dict[int, Any], old_parallelism: int) -> None:
        self._seen = max(extras.values(), default=0)


def _fitted(columns: list[pa.Array], schema: pa.Schema) -> list[pa.Array]:
    return [
        column if column.type == field.type else column.cast(field.type)
        for column, field in zip(columns, schema, strict=True)
    ]
