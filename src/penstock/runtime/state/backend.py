"""All keyed state of one operator subtask: hands out state objects and collects what changed."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from penstock.common.errors import ProgramError
from penstock.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    StateDescriptor,
    ValueStateDescriptor,
)
from penstock.runtime.clock import Clock
from penstock.runtime.state import keyed, ttl
from penstock.runtime.state.keyed import KeyScope
from penstock.runtime.state.table import ListTable, MapTable, Table, ValueTable
from penstock.runtime.state_registry import StateRegistry
from penstock.runtime.state_schema import (
    AGGREGATING,
    KEYED_KINDS,
    LIST,
    MAP,
    REDUCING,
    VALUE,
    DeclaredState,
    StateSchema,
    kind_of,
)

_ENTRIES_PER_PIECE = 10_000

_TABLES: dict[str, type[Any]] = {
    VALUE: ValueTable,
    LIST: ListTable,
    MAP: MapTable,
    REDUCING: ValueTable,
    AGGREGATING: ValueTable,
}


class KeyedStateBackend:
    """Tables by state name; `scope.key` is the current key."""

    def __init__(self, clock: Clock, states: StateRegistry | None = None) -> None:
        self.scope = KeyScope()
        self._clock = clock
        self._states = states or StateRegistry("an operator", clock)
        self._tables: dict[str, Table] = {}
        self._kinds: dict[str, str] = {}
        self._sweeps: dict[str, ttl.ExpirySweep] = {}

    def state(self, descriptor: StateDescriptor, scope: KeyScope | None = None) -> Any:
        """The state object for a descriptor, bound to the current key of a scope."""
        name = descriptor.get_name()
        table = self.table_of(descriptor)
        bound = scope or self.scope
        ttl_config = getattr(descriptor, "_ttl_config", None)
        if ttl_config is not None and ttl_config.is_enabled():
            policy = ttl.TtlPolicy(ttl_config, self._clock)
            if ttl_config.get_cleanup_strategies().is_cleanup_in_background():
                self._sweeps[name] = ttl.ExpirySweep(table, policy)
            return _with_ttl(descriptor, bound, table, policy)
        return _plain(descriptor, bound, table)

    def table(self, name: str, descriptor_class: type[StateDescriptor]) -> Any:
        """A table that an operator keeps for itself, made when it is first asked for."""
        kind = kind_of(descriptor_class)
        table = self._made(name, kind)
        if not self._states.is_declared(name):
            self._states.declare(name, DeclaredState.internal(kind), table)
        return table

    def table_of(self, descriptor: StateDescriptor) -> Any:
        """The table behind a state of user code."""
        name, kind = descriptor.get_name(), kind_of(type(descriptor))
        table = self._made(name, kind)
        if not self._states.is_declared(name):
            self._states.declare(name, DeclaredState.keyed(descriptor), table)
        elif self._kinds[name] != kind:
            used, wanted = KEYED_KINDS[self._kinds[name]].__name__, type(descriptor).__name__
            raise ProgramError(
                f"the state name {name!r} is used for a {used} and for a {wanted}; "
                "give each state of an operator a name of its own"
            )
        return table

    def _made(self, name: str, kind: str) -> Any:
        table = self._tables.get(name)
        if table is None:
            table = self._tables[name] = _TABLES[kind]()
            self._kinds[name] = kind
        return table

    def keys_of(self, descriptor: StateDescriptor) -> Iterator[Any]:
        return self.table_of(descriptor).keys()  # type: ignore[no-any-return]

    def take_delta(self) -> dict[str, Any] | None:
        for sweep in self._sweeps.values():
            sweep.sweep()
        deltas: dict[str, Any] = {}
        for name, table in self._tables.items():
            delta = table.take_delta()
            if delta is not None:
                deltas[name] = (self._states.schema(name), delta)
        return deltas or None

    def full_delta(self) -> dict[str, Any]:
        return {name: (self._states.schema(name), table.full_delta()) for name, table in self._tables.items()}

    def pieces(self) -> Iterator[tuple[str, StateSchema, dict[Any, Any]]]:
        """All tables in pieces, each a delta that adds some entries: (state name, schema, entries)."""
        for name, table in self._tables.items():
            entries = iter(table.full_delta().items())
            while piece := dict(islice(entries, _ENTRIES_PER_PIECE)):
                yield name, self._states.schema(name), piece

    def apply_delta(self, deltas: dict[str, Any]) -> None:
        for name, (schema, delta) in deltas.items():
            self._states.load(name, schema, delta, self._made(name, schema.kind))


def _plain(descriptor: StateDescriptor, scope: KeyScope, table: Any) -> Any:
    match descriptor:
        case ValueStateDescriptor():
            return keyed.HeapValueState(scope, table)
        case ListStateDescriptor():
            return keyed.HeapListState(scope, table)
        case MapStateDescriptor():
            return keyed.HeapMapState(scope, table)
        case ReducingStateDescriptor():
            return keyed.HeapReducingState(scope, table, descriptor.get_reduce_function())
        case AggregatingStateDescriptor():
            return keyed.HeapAggregatingState(scope, table, descriptor.get_agg_function())
    raise ProgramError(f"{type(descriptor).__name__} is not a descriptor of keyed state")


def _with_ttl(descriptor: StateDescriptor, scope: KeyScope, table: Any, policy: ttl.TtlPolicy) -> Any:
    match descriptor:
        case ValueStateDescriptor():
            return ttl.TtlValueState(scope, table, policy)
        case ListStateDescriptor():
            return ttl.TtlListState(scope, table, policy)
        case MapStateDescriptor():
            return ttl.TtlMapState(scope, table, policy)
        case ReducingStateDescriptor():
            return ttl.TtlReducingState(scope, table, policy, descriptor.get_reduce_function())
        case AggregatingStateDescriptor():
            return ttl.TtlAggregatingState(scope, table, policy, descriptor.get_agg_function())
    raise ProgramError(f"{type(descriptor).__name__} is not a descriptor of keyed state")
