"""Makes savepoints: from another one, or from nothing but data."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from penstock.common.errors import ConfigurationError, NotSupportedError
from penstock.runtime.batch import MIN_TIMESTAMP
from penstock.runtime.keys import key_group_of, owner_of_key_group
from penstock.runtime.operator_content import holds_plain_keyed_state
from penstock.runtime.savepoint import Label, SavedOperator, Savepoint, open_savepoint, write_metadata, write_part
from penstock.runtime.state_schema import KEYED_KINDS, MAP, StateSchema
from penstock.runtime.type_description import UNTYPED, as_text

_DEFAULT_MAX_PARALLELISM = 128
Place = tuple[int, int]  # level, subtask
Tables = dict[str, tuple[StateSchema, dict[Any, Any]]]


class SavepointWriter:
    """Changes are collected and written with :meth:`write`; the savepoint that one starts from stays as it is."""

    def __init__(self, savepoint: Savepoint | None = None) -> None:
        self._base = savepoint
        self._operators: dict[str, SavedOperator] = {}
        self._parts: dict[Place, dict[str, tuple[Any, Tables]]] = {}  # by uid: state, tables
        if savepoint is not None:
            self._operators = {operator.uid: operator for operator in savepoint.operators}
            for part in savepoint.parts:
                self._parts[part.level, part.subtask] = {}
            for uid in self._operators:
                levels = {part.level for part in savepoint.parts if uid in part.operators}
                for subtask, state in savepoint.states_of(uid):
                    self._parts[min(levels), subtask][uid] = (state, {})
                for piece in savepoint.tables_of(uid):
                    tables = self._parts[min(levels), piece.subtask][uid][1]
                    tables.setdefault(piece.table, (piece.schema, {}))[1].update(piece.entries)

    @staticmethod
    def from_savepoint(path: str) -> SavepointWriter:
        """Starts from a savepoint, which is checked completely first."""
        return SavepointWriter(open_savepoint(path))

    @staticmethod
    def new() -> SavepointWriter:
        """Starts from nothing: operators without state here begin as they do in a new job."""
        return SavepointWriter()

    def remove_operator(self, uid: str) -> SavepointWriter:
        """Takes all state of an operator out; a source begins anew."""
        self._known(uid)
        del self._operators[uid]
        for states in self._parts.values():
            states.pop(uid, None)
        return self

    def with_keyed_state(
        self,
        uid: str,
        kind: str,
        name: str,
        entries: Mapping[Any, Any],
        parallelism: int = 1,
        max_parallelism: int = _DEFAULT_MAX_PARALLELISM,
        operator_kind: str = "keyed_process",
    ) -> SavepointWriter:
        """Gives an operator a keyed state, in place of all it had under this name; its other states stay.

        `kind` is value, list, map, reducing or aggregating, and the values are what such a state holds: a list, a
        dictionary, an accumulator. An operator that the savepoint does not have is added, as one of `operator_kind`
        (keyed_process for ``process()``, keyed_map for ``map()``, and so on); for others the last three arguments mean
        nothing.
        """
        if kind not in KEYED_KINDS:
            raise ConfigurationError(f"a state is one of {', '.join(KEYED_KINDS)}; got {kind!r}")
        operator = self._operators.get(uid)
        if operator is None:
            operator = self._add(SavedOperator(uid, uid, operator_kind, parallelism, max_parallelism))
        if not holds_plain_keyed_state(operator.kind):
            raise NotSupportedError(
                f"the operator {operator.name!r} (uid {uid}) is a {operator.kind}: only the state of keyed functions "
                "can be written from outside, windows have a layout of their own"
            )
        shares = self._shares(operator, kind, entries)
        for (_, subtask), states in self._parts.items():
            if uid in states:
                states[uid][1][name] = (_schema(kind, name), shares.get(subtask, {}))
        return self

    def write(self, path: str) -> str:
        """Writes the savepoint into a directory that does not exist yet, or is empty; gives its path."""
        if os.path.isdir(path) and os.listdir(path):
            raise ConfigurationError(f"{path!r} is not empty: give a directory of its own for the savepoint")
        os.makedirs(path, exist_ok=True)
        parts = tuple(
            write_part(path, level, subtask, _pieces(states))
            for (level, subtask), states in sorted(self._parts.items())
        )
        base = self._base or Savepoint(path, uuid.uuid4().hex, "written by hand", 0, {}, {}, (), ())
        savepoint = replace(
            base,
            path=path,
            positions={uid: value for uid, value in base.positions.items() if uid in self._operators},
            source_states={uid: value for uid, value in base.source_states.items() if uid in self._operators},
            operators=tuple(self._operators.values()),
            parts=parts,
        )
        write_metadata(savepoint)
        return path

    def _known(self, uid: str) -> None:
        if uid not in self._operators:
            known = ", ".join(self._operators) or "none"
            raise ConfigurationError(f"there is no operator with the uid {uid!r}; there are {known}")

    def _add(self, operator: SavedOperator) -> SavedOperator:
        level = 1 + max((level for level, _ in self._parts), default=-1)
        for subtask in range(operator.parallelism):
            nothing: Any = ((MIN_TIMESTAMP, {}, None), None, ({}, {}))
            self._parts[level, subtask] = {operator.uid: ((MIN_TIMESTAMP, nothing), {})}
        self._operators[operator.uid] = operator
        return operator

    def _shares(self, operator: SavedOperator, kind: str, entries: Mapping[Any, Any]) -> dict[int, dict[Any, Any]]:
        """The entries by the subtask that owns them, as the tables of the runtime write them."""
        shares: dict[int, dict[Any, Any]] = {}
        for key, value in entries.items():
            group = key_group_of(key, operator.max_parallelism)
            owner = owner_of_key_group(group, operator.parallelism, operator.max_parallelism)
            match kind:
                case "list":
                    value = (True, list(value))
                case "map":
                    value = (True, dict(value))
            shares.setdefault(owner, {})[key] = value
        return shares


def _pieces(states: dict[str, tuple[Any, Tables]]) -> Iterator[tuple[Label, Any]]:
    for uid, (state, tables) in states.items():
        yield Label(uid), state
        for name, table in tables.items():
            yield Label(uid, name), table


def _schema(kind: str, name: str) -> StateSchema:
    if kind == MAP:
        return StateSchema(kind, as_text({"type": "MAP", "key": UNTYPED, "value": UNTYPED}))
    return StateSchema(kind)
