"""Makes savepoints: from another one, or from nothing but data."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from penstock.common.errors import ConfigurationError, NotSupportedError
from penstock.functions.state_descriptors import ListStateDescriptor, MapStateDescriptor, StateDescriptor
from penstock.runtime.clock import Clock, system_clock
from penstock.runtime.coercion import coercer
from penstock.runtime.operator_content import holds_function, holds_plain_keyed_state
from penstock.runtime.operator_memory import OperatorSnapshot
from penstock.runtime.operators.registry import OPERATORS
from penstock.runtime.saved_parts import Label, snapshots_of, tables_of, write_part
from penstock.runtime.savepoint import (
    SavedOperator,
    SavedState,
    Savepoint,
    SavepointPart,
    open_savepoint,
    write_metadata,
)
from penstock.runtime.state_schema import (
    BROADCAST,
    OPERATOR_KINDS,
    OPERATOR_LIST,
    UNION_LIST,
    DeclaredState,
    StateSchema,
)
from penstock.state_processor.bootstrap import Selector, Selectors, SparkEntries, contents, is_spark_frame, pieces_of
from penstock.state_processor.changes import Added, OperatorChanges, Transform, Transformed, dropped

DEFAULT_MAX_PARALLELISM = 128
EVENT, PROCESSING = "event", "processing"
Pieces = Iterator[tuple[Label, Any]]


class SavepointWriter:
    """Changes are collected and made by :meth:`write`; the savepoint that one starts from stays as it is::

        SavepointWriter.from_savepoint(path).transform_keyed_state(
            "counting", "visits", lambda user, visits: visits * 2
        ).write(new_path)

    What is not changed goes from file to file piece by piece, so that it may be larger than memory.
    """

    def __init__(self, savepoint: Savepoint | None = None, clock: Clock = system_clock) -> None:
        self._base = savepoint
        self._clock = clock
        self._operators = {} if savepoint is None else {operator.uid: operator for operator in savepoint.operators}
        self._uids = {uid: uid for uid in self._operators}  # of the savepoint -> as they are now
        self._changes: dict[str, OperatorChanges] = {}

    @staticmethod
    def from_savepoint(path: str) -> SavepointWriter:
        """Starts from a savepoint, which is checked completely first."""
        return SavepointWriter(open_savepoint(path))

    @staticmethod
    def new() -> SavepointWriter:
        """Starts from nothing: operators without state here begin as they do in a new job."""
        return SavepointWriter()

    # -- operators ---------------------------------------------------------------------------------------------

    def add_operator(
        self, uid: str, kind: str, parallelism: int = 1, max_parallelism: int = DEFAULT_MAX_PARALLELISM
    ) -> SavepointWriter:
        """An operator that the savepoint does not have. Its kind is what the program makes of it: keyed_process for
        ``process()`` after ``key_by()``, keyed_map for ``map()`` there, reduce for ``reduce()``, map for ``map()``
        without keys, and so on; ``penstock state list`` shows the kinds of a savepoint.
        """
        if uid in self._operators:
            raise ConfigurationError(f"there is an operator with the uid {uid!r} already")
        if kind not in OPERATORS:
            raise ConfigurationError(f"there is no kind of operator called {kind!r}; there are {', '.join(OPERATORS)}")
        _require_function(kind)
        self._operators[uid] = SavedOperator(uid, uid, kind, parallelism, max_parallelism)
        return self

    def remove_operator(self, uid: str) -> SavepointWriter:
        """Takes all state of an operator out; a source begins anew."""
        self._operator(uid)
        del self._operators[uid]
        self._changes.pop(uid, None)
        self._uids = {old: new for old, new in self._uids.items() if new != uid}
        return self

    def change_uid(self, uid: str, new_uid: str) -> SavepointWriter:
        """Gives the state of an operator to the one that has another uid in the program."""
        operator = self._operator(uid)
        if new_uid in self._operators:
            raise ConfigurationError(f"there is an operator with the uid {new_uid!r} already")
        self._operators = {
            new_uid if known == uid else known: replace(operator, uid=new_uid) if known == uid else value
            for known, value in self._operators.items()
        }
        self._uids = {old: new_uid if new == uid else new for old, new in self._uids.items()}
        if uid in self._changes:
            self._changes[new_uid] = self._changes.pop(uid)
        return self

    # -- keyed state -------------------------------------------------------------------------------------------

    def with_keyed_state(
        self,
        uid: str,
        descriptor: StateDescriptor,
        data: Any,
        *,
        key: Selector = None,
        value: Selector = None,
        map_key: Selector = None,
    ) -> SavepointWriter:
        """Gives an operator a keyed state, in place of all it had under this name; its other states stay.

        The descriptor is the one of the program. `data` is a mapping from keys to what the state holds (a value, a
        list, a dictionary, an accumulator), or records: a DataFrame of pandas or Spark, a table of Arrow, or any
        iterable. Of records, `key`, `value` and (for map state) `map_key` say where they are: the name of a field,
        several names for a tuple, or a function of the record. Records of one key are put together as the state
        would do it: the last value counts, lists and maps grow, reduce and aggregate functions are called. Without
        `value`, a state of rows takes the fields of its type from the record.

        The executors write what comes from a Spark DataFrame, and must all see the directory of the savepoint.
        """
        operator = self._keyed_operator(uid)
        selectors = Selectors(key, value, map_key)
        name, schema = descriptor.get_name(), DeclaredState.keyed(descriptor).schema
        added: Added
        if is_spark_frame(data):
            selectors.check(descriptor)
            selectors.columns()
            added = SparkEntries(data, descriptor, selectors)
        else:
            added = (descriptor, contents(descriptor, data, selectors))
        changes = self._changes_of(uid)
        changes.tables[name] = dropped
        changes.added[name] = added
        self._operators[uid] = _with_state(operator, name, schema)
        return self

    def remove_keyed_state(self, uid: str, name: str) -> SavepointWriter:
        """Takes one state of an operator out."""
        operator, _ = self._saved_keyed_state(uid, name)
        changes = self._changes_of(uid)
        changes.tables[name] = dropped
        changes.added.pop(name, None)
        self._operators[uid] = _without_state(operator, name, keyed=True)
        return self

    def transform_keyed_state(
        self, uid: str, name: str, function: Transform, descriptor: StateDescriptor | None = None
    ) -> SavepointWriter:
        """Replaces what each key has in a state by ``function(key, content)``; None takes the key out.

        With a descriptor the state gets its type, kind and name, also where Penstock would not convert it itself.
        A remaining time to live stays.
        """
        operator, schema = self._saved_keyed_state(uid, name)
        changes = self._changes_of(uid)
        if name in changes.tables:
            raise ConfigurationError(f"the state {name!r} of the operator {uid!r} has been changed here already")
        new_name = name if descriptor is None else descriptor.get_name()
        new_schema = schema if descriptor is None else DeclaredState.keyed(descriptor).schema
        coerce = None if descriptor is None else coercer(descriptor.type_info)
        changes.tables[name] = Transformed(new_name, new_schema, function, coerce, self._clock())
        self._operators[uid] = _with_state(_without_state(operator, name, keyed=True), new_name, new_schema)
        return self

    def with_timers(self, uid: str, timers: Iterable[tuple[Any, int]], domain: str = EVENT) -> SavepointWriter:
        """Gives a keyed function these timers, (key, milliseconds), in place of those of the domain that it had.

        The domain is event or processing.
        """
        if domain not in (EVENT, PROCESSING):
            raise ConfigurationError(f"timers are of the domain event or processing; got {domain!r}")
        self._keyed_operator(uid)
        self._changes_of(uid).timers[domain] = {(time, (key, None)): True for key, time in timers}
        return self

    # -- state without keys ------------------------------------------------------------------------------------

    def with_list_state(self, uid: str, descriptor: ListStateDescriptor, items: Iterable[Any]) -> SavepointWriter:
        """Operator list state, dealt out to the subtasks."""
        parallelism = self._operator(uid).parallelism
        values = _coerced(descriptor, list(items))
        shares = [{None: (True, values[subtask::parallelism])} for subtask in range(parallelism)]
        return self._with_operator_state(uid, OPERATOR_LIST, descriptor, shares)

    def with_union_list_state(self, uid: str, descriptor: ListStateDescriptor, items: Iterable[Any]) -> SavepointWriter:
        """Union-list state: every subtask of the job will see all items."""
        nothing: dict[Any, Any] = {}
        shares = [nothing] * self._operator(uid).parallelism
        shares[0] = {None: (True, _coerced(descriptor, list(items)))}
        return self._with_operator_state(uid, UNION_LIST, descriptor, shares)

    def with_broadcast_state(
        self, uid: str, descriptor: MapStateDescriptor, entries: Mapping[Any, Any]
    ) -> SavepointWriter:
        """Broadcast state, the same for every subtask."""
        shares = [{None: (True, _coerced(descriptor, dict(entries)))}] * self._operator(uid).parallelism
        return self._with_operator_state(uid, BROADCAST, descriptor, shares)

    def remove_operator_state(self, uid: str, name: str) -> SavepointWriter:
        """Takes one list, union-list or broadcast state of an operator out."""
        operator = self._operator(uid)
        known = [state.name for state in operator.states if state.schema["kind"] in OPERATOR_KINDS]
        if name not in known:
            raise _unknown_state(operator, name, known, "operator state")
        self._changes_of(uid).without_key[name] = None
        self._operators[uid] = _without_state(operator, name, keyed=False)
        return self

    def _with_operator_state(
        self, uid: str, kind: str, descriptor: StateDescriptor, shares: list[dict[Any, Any]]
    ) -> SavepointWriter:
        operator, name = self._operator(uid), descriptor.get_name()
        _require_function(operator.kind)
        schema = DeclaredState.of_operator(kind, descriptor).schema
        self._changes_of(uid).without_key[name] = (schema, shares)
        self._operators[uid] = _with_state(operator, name, schema)
        return self

    # -- writing -----------------------------------------------------------------------------------------------

    def write(self, path: str) -> str:
        """Writes the savepoint into a directory that does not exist yet, or is empty; gives its path."""
        if os.path.isdir(path) and os.listdir(path):
            raise ConfigurationError(f"{path!r} is not empty: give a directory of its own for the savepoint")
        os.makedirs(path, exist_ok=True)
        base = self._base or Savepoint(path, uuid.uuid4().hex, "written by hand", 0, {}, {}, (), ())
        savepoint = Savepoint(
            path=path,
            job_id=base.job_id,
            job_name=base.job_name,
            epoch=base.epoch,
            positions=self._still_there(base.positions),
            source_states=self._still_there(base.source_states),
            operators=tuple(self._operators.values()),
            parts=(*self._rewritten_parts(path), *self._added_parts(path)),
        )
        write_metadata(savepoint)
        return path

    def _still_there(self, by_uid: dict[str, Any]) -> dict[str, Any]:
        return {self._uids[uid]: value for uid, value in by_uid.items() if uid in self._uids}

    def _rewritten_parts(self, path: str) -> Iterator[SavepointPart]:
        for part in () if self._base is None else self._base.parts:
            yield write_part(path, part.level, part.subtask, self._rewritten(part))

    def _rewritten(self, part: SavepointPart) -> Pieces:
        assert self._base is not None
        one = replace(self._base, parts=(part,))
        for old_uid in part.operators:
            uid = self._uids.get(old_uid)
            if uid is None:
                continue
            changes = self._changes_of(uid)
            for subtask, snapshot in snapshots_of(one, old_uid).items():
                yield Label(uid), changes.snapshot(snapshot, subtask)
            for piece in tables_of(one, old_uid):
                for name, schema, entries in changes.table(piece.table, piece.schema, piece.entries):
                    yield Label(uid, name), (schema, entries)

    def _added_parts(self, path: str) -> Iterator[SavepointPart]:
        """Keyed state finds its subtask when a job starts, so that new state may be in any part."""
        level = 1 + max((part.level for part in self._base.parts), default=-1) if self._base is not None else 0
        for uid, operator in self._operators.items():
            changes = self._changes_of(uid)
            new = uid not in self._uids.values()
            for subtask in range(operator.parallelism if new else 0):
                snapshot = changes.snapshot(OperatorSnapshot(), subtask)
                yield write_part(path, level, subtask, [(Label(uid), snapshot)])
            level += new
            for added in changes.added.values():
                if isinstance(added, SparkEntries):
                    yield from added.write(path, level, uid, self._clock())
                else:
                    descriptor, by_key = added
                    yield write_part(path, level, 0, pieces_of(uid, descriptor, by_key.items(), self._clock()))
                level += 1

    # -- what it knows -----------------------------------------------------------------------------------------

    def _changes_of(self, uid: str) -> OperatorChanges:
        return self._changes.setdefault(uid, OperatorChanges())

    def _operator(self, uid: str) -> SavedOperator:
        if uid not in self._operators:
            known = ", ".join(self._operators) or "none"
            raise ConfigurationError(
                f"there is no operator with the uid {uid!r}; there are {known}. add_operator({uid!r}, kind) adds one."
            )
        return self._operators[uid]

    def _keyed_operator(self, uid: str) -> SavedOperator:
        operator = self._operator(uid)
        if not holds_plain_keyed_state(operator.kind):
            raise NotSupportedError(
                f"the operator {operator.name!r} (uid {uid}) is a {operator.kind}: only the state of keyed functions "
                "can be written from outside, windows have a layout of their own"
            )
        return operator

    def _saved_keyed_state(self, uid: str, name: str) -> tuple[SavedOperator, StateSchema]:
        operator = self._keyed_operator(uid)
        schemas = {
            state.name: StateSchema.from_json(state.schema)
            for state in operator.states
            if state.schema["kind"] not in OPERATOR_KINDS
        }
        if name not in schemas:
            raise _unknown_state(operator, name, list(schemas), "keyed state")
        return operator, schemas[name]


def _require_function(kind: str) -> None:
    if not holds_function(kind):
        raise NotSupportedError(f"an operator of the kind {kind} has no state that could be written from outside")


def _coerced(descriptor: StateDescriptor, content: Any) -> Any:
    coerce = coercer(descriptor.type_info)
    return content if coerce is None else coerce(content)


def _with_state(operator: SavedOperator, name: str, schema: StateSchema) -> SavedOperator:
    others = _without_state(operator, name, keyed=schema.kind not in OPERATOR_KINDS)
    return replace(others, states=(*others.states, SavedState(name, schema.to_json())))


def _without_state(operator: SavedOperator, name: str, keyed: bool) -> SavedOperator:
    return replace(
        operator,
        states=tuple(
            state
            for state in operator.states
            if state.name != name or (state.schema["kind"] not in OPERATOR_KINDS) != keyed
        ),
    )


def _unknown_state(operator: SavedOperator, name: str, known: list[str], what: str) -> ConfigurationError:
    return ConfigurationError(
        f"the operator {operator.name!r} (uid {operator.uid}) has no {what} {name!r}; "
        + (f"it has {', '.join(known)}" if known else "it has none")
    )
