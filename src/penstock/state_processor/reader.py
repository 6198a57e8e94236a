"""Looks into a savepoint."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from penstock.common.errors import ConfigurationError
from penstock.runtime.operator_content import has_windows, layout_of
from penstock.runtime.pickling import dumps
from penstock.runtime.saved_parts import snapshots_of, tables_of
from penstock.runtime.savepoint import SavedOperator, Savepoint, open_savepoint
from penstock.runtime.state_rows import StateRow, content_of_entry, rows_of_table
from penstock.runtime.state_schema import OPERATOR_KINDS, StateSchema
from penstock.runtime.timers import TimerChanges
from penstock.runtime.windows.saved_contents import CONTENTS, SLICES, TIMED_ELEMENTS, WINDOW_SETS
from penstock.runtime.windows.tokens import token_of, window_of
from penstock.state_processor.rows import StateRows


@dataclass(frozen=True)
class StateSummary:
    """One state of an operator; `kind` is value, list, map, ..., or timers."""

    name: str
    kind: str
    type: str
    entries: int
    bytes: int


@dataclass(frozen=True)
class OperatorSummary:
    """One operator of a savepoint."""

    uid: str
    name: str
    kind: str
    parallelism: int
    max_parallelism: int
    states: tuple[StateSummary, ...]


class TimerRow(NamedTuple):
    """A timer that had not fired; `domain` is event or processing."""

    key: Any
    namespace: Any
    time: int
    domain: str


class SavepointReader:
    """A savepoint, checked completely when it is loaded.

    Reading runs the pickles in it: load only savepoints from people whom you would let run code::

        reader = SavepointReader.load("savepoint-1a2b3c-...")
        for key, _, visits, _ in reader.read_keyed_state("counting", "visits"):
            ...
    """

    def __init__(self, savepoint: Savepoint) -> None:
        self.savepoint = savepoint

    @staticmethod
    def load(path: str) -> SavepointReader:
        """Raises JobExecutionError when the savepoint is damaged, or is none."""
        return SavepointReader(open_savepoint(path))

    def operators(self) -> list[OperatorSummary]:
        """All operators, with the states that they had; reads everything once."""
        return [self._summary(operator) for operator in self.savepoint.operators]

    def keyed_state_names(self, uid: str) -> list[str]:
        """State by key; names that begin with an underscore are the engine's own."""
        return [name for name, schema in self._schemas(uid).items() if schema.kind not in OPERATOR_KINDS]

    def operator_state_names(self, uid: str) -> list[str]:
        """List, union-list and broadcast state."""
        return [name for name, schema in self._schemas(uid, keyed=False).items() if schema.kind in OPERATOR_KINDS]

    def read_keyed_state(self, uid: str, name: str) -> StateRows:
        """The entries of a keyed state of all subtasks together."""
        operator = self._operator(uid)
        schema = self._schema(operator, name, self.keyed_state_names(uid), "keyed state", keyed=True)
        return self._rows(operator, partial(_keyed_rows, name=name), schema)

    def read_operator_state(self, uid: str, name: str) -> StateRows:
        """List, union-list or broadcast state; the namespace is the subtask that had it."""
        operator = self._operator(uid)
        schema = self._schema(operator, name, self.operator_state_names(uid), "operator state", keyed=False)
        return self._rows(operator, partial(_rows_without_key, name=name), schema)

    def read_window_state(self, uid: str) -> StateRows:
        """What the windows of an operator hold: the namespace is the window, the value what is in it.

        That is the list of the elements, or the accumulator of a reduce or aggregate function. Sliding windows share
        what they have in common: for them a window may also be such a part, shorter than the windows.
        """
        operator = self._operator(uid)
        if not has_windows(operator.kind):
            raise ConfigurationError(
                f"the operator {operator.name!r} (uid {uid}) has no windows, it is of the kind {operator.kind}"
            )
        return StateRows(self.savepoint, operator, _window_rows, expires=False, maps=False)

    def read_timers(self, uid: str) -> list[TimerRow]:
        """The timers that had not fired, of all subtasks."""
        self._operator(uid)
        return sorted(
            (
                TimerRow(key, namespace, time, domain)
                for snapshot in snapshots_of(self.savepoint, uid).values()
                for domain, timers in vars(snapshot.timers or TimerChanges()).items()
                for time, (key, namespace) in timers
            ),
            key=lambda timer: timer.time,
        )

    # -- what it is made of ------------------------------------------------------------------------------------

    def _rows(self, operator: SavedOperator, read: Any, schema: StateSchema) -> StateRows:
        return StateRows(self.savepoint, operator, read, expires=schema.ttl is not None, maps=schema.holds_maps())

    def _operator(self, uid: str) -> SavedOperator:
        operator = self.savepoint.operator(uid)
        if operator is None:
            known = ", ".join(operator.uid for operator in self.savepoint.operators)
            raise ConfigurationError(f"the savepoint has no operator with the uid {uid!r}; it has {known}")
        return operator

    def _schemas(self, uid: str, keyed: bool = True) -> dict[str, StateSchema]:
        schemas = ((state.name, StateSchema.from_json(state.schema)) for state in self._operator(uid).states)
        return {name: schema for name, schema in schemas if (schema.kind not in OPERATOR_KINDS) == keyed}

    def _schema(self, operator: SavedOperator, name: str, known: list[str], what: str, keyed: bool) -> StateSchema:
        if name not in known:
            raise ConfigurationError(
                f"the operator {operator.name!r} (uid {operator.uid}) has no {what} {name!r}; "
                + (f"it has {', '.join(known)}" if known else "it has none")
            )
        return self._schemas(operator.uid, keyed)[name]

    def _summary(self, operator: SavedOperator) -> OperatorSummary:
        counts: dict[tuple[str, str, str], list[int]] = {
            (state.name, schema.kind, schema.type_text()): [0, 0]
            for state in operator.states
            for schema in (StateSchema.from_json(state.schema),)
        }

        def add(name: str, kind: str, type_text: str, entries: int, content: Any) -> None:
            count = counts.setdefault((name, kind, type_text), [0, 0])
            count[0] += entries
            count[1] += len(dumps(content))

        for piece in tables_of(self.savepoint, operator.uid):
            entries = sum(1 for _ in _table_rows(operator, piece.table, piece.schema, piece.entries))
            add(piece.table, piece.schema.kind, piece.schema.type_text(), entries, piece.entries)
        for snapshot in snapshots_of(self.savepoint, operator.uid).values():
            for name, (schema, delta) in (snapshot.operator_state or {}).items():
                add(name, schema.kind, schema.type_text(), sum(len(value) for _, value in delta.values()), delta)
            for domain, timers in vars(snapshot.timers or TimerChanges()).items():
                if timers:
                    add(f"({domain}-time timers)", "timers", "", len(timers), timers)
        states = tuple(StateSummary(*about, *count) for about, count in counts.items())
        return OperatorSummary(
            operator.uid, operator.name, operator.kind, operator.parallelism, operator.max_parallelism, states
        )


# Functions of the module, and not methods: to_spark() sends them to the executors.


def _keyed_rows(savepoint: Savepoint, operator: SavedOperator, name: str) -> Iterator[StateRow]:
    for piece in tables_of(savepoint, operator.uid):
        if piece.table == name:
            yield from _table_rows(operator, name, piece.schema, piece.entries)


def _rows_without_key(savepoint: Savepoint, operator: SavedOperator, name: str) -> Iterator[StateRow]:
    for subtask, snapshot in snapshots_of(savepoint, operator.uid).items():
        if name in (snapshot.operator_state or {}):
            schema, entries = snapshot.operator_state[name]  # type: ignore[index]
            for entry in entries.values():
                yield StateRow(None, subtask, content_of_entry(schema, entry))


def _table_rows(
    operator: SavedOperator, table: str, schema: StateSchema, entries: dict[Any, Any]
) -> Iterator[StateRow]:
    return rows_of_table(layout_of(operator.kind, table), has_windows(operator.kind), schema, entries)


def _window_rows(savepoint: Savepoint, operator: SavedOperator) -> Iterator[StateRow]:
    merged = _windows_of_contents(savepoint, operator)
    for piece in tables_of(savepoint, operator.uid):
        if piece.table in CONTENTS:
            for row in _table_rows(operator, piece.table, piece.schema, piece.entries):
                window = merged.get((row.key, token_of(row.namespace)), row.namespace)
                yield row._replace(namespace=window, value=_contents_of(piece.table, row.value))


def _windows_of_contents(savepoint: Savepoint, operator: SavedOperator) -> dict[tuple[Any, Any], Any]:
    """Windows that have been merged hold their contents in the place of one that was there before them."""
    return {
        (row.key, contents): window_of(window)
        for row in _keyed_rows(savepoint, operator, WINDOW_SETS)
        for window, contents in row.value.items()
    }


def _contents_of(table: str, value: Any) -> Any:
    """Without what only the engine needs."""
    if table == SLICES:
        return value[0]
    return [element for element, _ in value] if table == TIMED_ELEMENTS else value
