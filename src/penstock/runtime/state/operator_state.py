"""State of an operator subtask that belongs to no key: lists, union lists and broadcast maps."""

from __future__ import annotations

from typing import Any

from penstock.common.errors import ProgramError
from penstock.datastream.checkpointed_function import FunctionInitializationContext, FunctionSnapshotContext
from penstock.datastream.state import (
    BroadcastState,
    ListState,
    ListStateDescriptor,
    MapStateDescriptor,
    OperatorStateStore,
)
from penstock.runtime.clock import Clock
from penstock.runtime.state.broadcast import WritableBroadcastState
from penstock.runtime.state.keyed import HeapListState, HeapMapState, KeyScope
from penstock.runtime.state.table import ListTable, MapTable

_SPLIT, _UNION, _BROADCAST = "list", "union-list", "broadcast"


class OperatorStates(OperatorStateStore):
    """The states by name; each table has one entry, because there is no key."""

    __penstock_transient__ = True

    def __init__(self) -> None:
        self._tables: dict[str, tuple[str, ListTable | MapTable]] = {}
        self._scope = KeyScope()

    def get_list_state(self, state_descriptor: ListStateDescriptor) -> ListState[Any]:
        return HeapListState(self._scope, self._table(state_descriptor.get_name(), _SPLIT))

    def get_union_list_state(self, state_descriptor: ListStateDescriptor) -> ListState[Any]:
        return HeapListState(self._scope, self._table(state_descriptor.get_name(), _UNION))

    def get_broadcast_state(self, state_descriptor: MapStateDescriptor) -> BroadcastState[Any, Any]:
        table = self._table(state_descriptor.get_name(), _BROADCAST)
        return WritableBroadcastState(HeapMapState(self._scope, table))

    def _table(self, name: str, mode: str) -> Any:
        known = self._tables.get(name)
        if known is None:
            known = self._tables[name] = (mode, MapTable() if mode == _BROADCAST else ListTable())
        if known[0] != mode:
            raise ProgramError(f"the operator state {name!r} is used as {known[0]} and as {mode}; use two names")
        return known[1]

    def take_delta(self) -> dict[str, Any] | None:
        deltas = {name: (mode, table.take_delta()) for name, (mode, table) in self._tables.items()}
        return {name: delta for name, delta in deltas.items() if delta[1] is not None} or None

    def full_delta(self) -> dict[str, Any] | None:
        return {name: (mode, table.full_delta()) for name, (mode, table) in self._tables.items()} or None

    def apply_delta(self, deltas: dict[str, Any]) -> None:
        for name, (mode, delta) in deltas.items():
            self._table(name, mode).apply_delta(delta)

    def restore(self, saved: list[tuple[int, Any]], subtask: int, parallelism: int, old_parallelism: int) -> None:
        """Takes this subtask's share of what the old subtasks had, as Flink deals it out."""
        if old_parallelism == parallelism:
            for old_subtask, deltas in saved:
                if old_subtask == subtask and deltas is not None:
                    self.apply_delta({name: delta for name, delta in deltas.items() if delta[0] != _UNION})
        names = {name: delta[0] for _, deltas in saved for name, delta in (deltas or {}).items()}
        for name, mode in names.items():
            contents = [deltas[name][1] for _, deltas in saved if deltas and name in deltas]
            if mode == _BROADCAST:
                self._table(name, mode).apply_delta(contents[0])  # every subtask had the same
                continue
            items = [item for delta in contents for _, values in delta.values() for item in values]
            if mode == _UNION:
                self._table(name, mode).replace(None, items)
            elif old_parallelism != parallelism:
                self._table(name, mode).replace(None, items[subtask::parallelism])


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
