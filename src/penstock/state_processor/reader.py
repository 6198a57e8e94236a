"""Looks into a savepoint."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from penstock.common.errors import ConfigurationError, JobExecutionError
from penstock.runtime.operator_content import OperatorContent, content_of, layout_of
from penstock.runtime.pickling import dumps
from penstock.runtime.savepoint import SavedOperator, Savepoint, open_savepoint
from penstock.state_processor.rows import StateRow, StateRows, rows_of


@dataclass(frozen=True)
class StateSummary:
    """One state of an operator; `kind` is value, list, map, ..., or timers."""

    name: str
    kind: str
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

    Reading runs the pickles in it: load only savepoints from people whom you would let run code. Values of a state with
    time to live come with the moment that their life is counted from: ``(value, milliseconds)``.
    """

    def __init__(self, savepoint: Savepoint) -> None:
        self.savepoint = savepoint

    @staticmethod
    def load(path: str) -> SavepointReader:
        """Raises JobExecutionError when the savepoint is damaged, or is none."""
        return SavepointReader(open_savepoint(path))

    def operators(self) -> list[OperatorSummary]:
        """All operators, with the states that they had."""
        return [self._summary(operator) for operator in self.savepoint.operators]

    def keyed_state_names(self, uid: str) -> list[str]:
        """State by key."""
        return list(dict.fromkeys(name for _, content in self._contents(self._operator(uid)) for name in content.keyed))

    def operator_state_names(self, uid: str) -> list[str]:
        """List, union-list and broadcast state."""
        contents = self._contents(self._operator(uid))
        return list(dict.fromkeys(name for _, content in contents for name in content.without_key))

    def read_keyed_state(self, uid: str, name: str) -> StateRows:
        """The entries of a keyed state of all subtasks together."""
        operator = self._operator(uid)
        rows: list[StateRow] = []
        for _, content in self._contents(operator):
            if name in content.keyed:
                rows += rows_of(*content.keyed[name], layout_of(operator.kind, name))
        self._check_known(operator, name, self.keyed_state_names(uid), "keyed state")
        return StateRows(rows)

    def read_operator_state(self, uid: str, name: str) -> StateRows:
        """List, union-list or broadcast state; the namespace is the subtask that had it."""
        operator = self._operator(uid)
        rows: list[StateRow] = []
        for subtask, content in self._contents(operator):
            if name in content.without_key:
                _, delta = content.without_key[name]
                rows += [StateRow(None, subtask, value) for _, value in delta.values()]
        self._check_known(operator, name, self.operator_state_names(uid), "operator state")
        return StateRows(rows)

    def read_timers(self, uid: str) -> list[TimerRow]:
        """The timers that had not fired, of all subtasks."""
        return sorted(
            (
                TimerRow(key, namespace, time, domain)
                for _, content in self._contents(self._operator(uid))
                for domain, timers in content.timers.items()
                for time, (key, namespace) in timers
            ),
            key=lambda timer: timer.time,
        )

    # -- what it is made of ------------------------------------------------------------------------------------

    def _operator(self, uid: str) -> SavedOperator:
        operator = self.savepoint.operator(uid)
        if operator is None:
            known = ", ".join(operator.uid for operator in self.savepoint.operators)
            raise ConfigurationError(f"the savepoint has no operator with the uid {uid!r}; it has {known}")
        return operator

    def _contents(self, operator: SavedOperator) -> Iterator[tuple[int, OperatorContent]]:
        try:
            states = self.savepoint.states_of(operator.uid)
            pieces = list(self.savepoint.tables_of(operator.uid))
        except (ImportError, AttributeError) as error:
            raise JobExecutionError(
                f"the state of {operator.name!r} (uid {operator.uid}) has objects of a class that is not here: {error}."
                " Put the program's modules on the path (PYTHONPATH)."
            ) from error
        for subtask, (_, state) in states:
            content = content_of(operator.kind, state)
            for piece in pieces:
                if piece.subtask == subtask:
                    content.keyed.setdefault(piece.table, (piece.schema, {}))[1].update(piece.entries)
            yield subtask, content

    def _check_known(self, operator: SavedOperator, name: str, known: list[str], what: str) -> None:
        if name not in known:
            raise ConfigurationError(
                f"the operator {operator.name!r} (uid {operator.uid}) has no {what} {name!r}; "
                + (f"it has {', '.join(known)}" if known else "it has none")
            )

    def _summary(self, operator: SavedOperator) -> OperatorSummary:
        counts: dict[tuple[str, str], list[int]] = {}

        def add(name: str, kind: str, entries: int, content: Any) -> None:
            count = counts.setdefault((name, kind), [0, 0])
            count[0] += entries
            count[1] += len(dumps(content))

        for _, content in self._contents(operator):
            for name, (schema, delta) in content.keyed.items():
                entries = sum(1 for _ in rows_of(schema, delta, layout_of(operator.kind, name)))
                add(name, schema.kind, entries, delta)
            for name, (schema, delta) in content.without_key.items():
                add(name, schema.kind, sum(len(value) for _, value in delta.values()), delta)
            for domain, timers in content.timers.items():
                if timers:
                    add(f"({domain}-time timers)", "timers", len(timers), timers)
        states = tuple(StateSummary(name, kind, *count) for (name, kind), count in counts.items())
        return OperatorSummary(
            operator.uid, operator.name, operator.kind, operator.parallelism, operator.max_parallelism, states
        )
