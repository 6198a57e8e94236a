"""State of an operator subtask that belongs to no key: lists, union lists and broadcast maps."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from penstock.common.errors import ProgramError
from penstock.functions.checkpointed import FunctionInitializationContext, FunctionSnapshotContext
from penstock.functions.state_descriptors import ListStateDescriptor, MapStateDescriptor, StateDescriptor
from penstock.functions.state_interfaces import ListState, OperatorStateStore
from penstock.runtime.clock import Clock, system_clock
from penstock.runtime.state.broadcast import WritableBroadcastState
from penstock.runtime.state.keyed import HeapListState, HeapMapState, KeyScope
from penstock.runtime.state.table import ListTable, MapTable
from penstock.runtime.state_registry import StateRegistry
from penstock.runtime.state_schema import BROADCAST, OPERATOR_LIST, UNION_LIST, DeclaredState, StateSchema


class OperatorStates(OperatorStateStore):
    """The states by name; each table has one entry, because there is no key."""

    __penstock_transient__ = True

    def __init__(self, states: StateRegistry | None = None) -> None:
        self._states = states or StateRegistry("a source function", system_clock)
        self._tables: dict[str, ListTable | MapTable] = {}
        self._kinds: dict[str, str] = {}
        self._scope = KeyScope()

    def get_list_state(self, state_descriptor: ListStateDescriptor) -> ListState[Any]:
        return HeapListState(self._scope, self.table_of(OPERATOR_LIST, state_descriptor))

    def get_union_list_state(self, state_descriptor: ListStateDescriptor) -> ListState[Any]:
        return HeapListState(self._scope, self.table_of(UNION_LIST, state_descriptor))

    def get_broadcast_state(self, state_descriptor: MapStateDescriptor) -> WritableBroadcastState:
        return WritableBroadcastState(HeapMapState(self._scope, self.table_of(BROADCAST, state_descriptor)))

    def table_of(self, kind: str, descriptor: StateDescriptor) -> Any:
        name = descriptor.get_name()
        table = self._made(name, kind)
        if not self._states.is_declared(name):
            self._states.declare(name, DeclaredState.of_operator(kind, descriptor), table)
        elif self._kinds[name] != kind:
            raise ProgramError(
                f"the operator state {name!r} is used as {self._kinds[name]} and as {kind}; use two names"
            )
        return table

    def _made(self, name: str, kind: str) -> Any:
        table = self._tables.get(name)
        if table is None:
            table = self._tables[name] = MapTable() if kind == BROADCAST else ListTable()
            self._kinds[name] = kind
        return table

    def union_lists(self) -> dict[str, tuple[StateSchema, list[Any]]]:
        """By name, for the other subtasks: when one of them is opened again it must see the lists of all."""
        return {
            name: (self._states.schema(name), list(table.get(None) or ()))
            for name, table in self._tables.items()
            if isinstance(table, ListTable) and self._kinds[name] == UNION_LIST
        }

    def see_union_lists(self, of_all: Iterable[dict[str, tuple[StateSchema, list[Any]]]]) -> None:
        """Before open(), in place of what this subtask alone had."""
        together: dict[str, tuple[StateSchema, list[Any]]] = {}
        for lists in of_all:
            for name, (schema, items) in lists.items():
                together.setdefault(name, (schema, []))[1].extend(items)
        self.apply_delta({name: (schema, {None: (True, items)}) for name, (schema, items) in together.items()})

    def take_delta(self) -> dict[str, Any] | None:
        deltas = {name: (self._states.schema(name), table.take_delta()) for name, table in self._tables.items()}
        return {name: delta for name, delta in deltas.items() if delta[1] is not None} or None

    def full_delta(self) -> dict[str, Any] | None:
        return {name: (self._states.schema(name), table.full_delta()) for name, table in self._tables.items()} or None

    def apply_delta(self, deltas: dict[str, Any]) -> None:
        for name, (schema, delta) in deltas.items():
            self._states.load(name, schema, delta, self._made(name, schema.kind))

    def restore(self, saved: list[tuple[int, Any]], subtask: int, parallelism: int, old_parallelism: int) -> None:
        """Takes this subtask's share of what the old subtasks had, as Flink deals it out."""
        if old_parallelism == parallelism:
            for old_subtask, deltas in saved:
                if old_subtask == subtask and deltas is not None:
                    self.apply_delta({name: delta for name, delta in deltas.items() if delta[0].kind != UNION_LIST})
        schemas = {name: delta[0] for _, deltas in saved for name, delta in (deltas or {}).items()}
        for name, schema in schemas.items():
            contents = [deltas[name][1] for _, deltas in saved if deltas and name in deltas]
            if schema.kind == BROADCAST:
                self.apply_delta({name: (schema, contents[0])})  # every subtask had the same
                continue
            items = [item for delta in contents for _, values in delta.values() for item in values]
            if schema.kind == UNION_LIST:
                self.apply_delta({name: (schema, {None: (True, items)})})
            elif old_parallelism != parallelism:
                self.apply_delta({name: (schema, {None: (True, items[subtask::parallelism])})})


class InitializationContext(FunctionInitializationContext):
    __penstock_transient__ = True

    def __init__(self, states: OperatorStates, restored: bool) -> None:
        self._states = states
        self._restored = restored

    def is_restored(self) -> bool:
        return self._restored

    def get_operator_state_store(self) -> OperatorStates:
        return self._states


class SnapshotContext(FunctionSnapshotContext):
    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def get_checkpoint_timestamp(self) -> int:
        return self._clock()
