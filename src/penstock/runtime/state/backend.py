"""All keyed state of one operator subtask: hands out state objects and collects what changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from penstock.common.errors import ProgramError
from penstock.functions.state_descriptors import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    StateDescriptor,
    ValueStateDescriptor,
)
from penstock.runtime.clock import Clock
from penstock.runtime.key_layout import KeyLayout
from penstock.runtime.state import keyed, ttl
from penstock.runtime.state.disk_tables import DiskTables
from penstock.runtime.state.keyed import KeyScope
from penstock.runtime.state.table import ENTRIES_PER_PIECE, ListTable, MapTable, Table, ValueTable
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

_TABLES: dict[str, type[Any]] = {
    VALUE: ValueTable,
    LIST: ListTable,
    MAP: MapTable,
    REDUCING: ValueTable,
    AGGREGATING: ValueTable,
}


class KeyedStateBackend:
    """Tables by state name; `scope.key` is the current key."""

    def __init__(self, clock: Clock, states: StateRegistry | None = None, disk: DiskTables | None = None) -> None:
        self.scope = KeyScope()
        self.layout_of: Callable[[str], KeyLayout] = lambda _name: KeyLayout.KEY
        self.on_disk = disk is not None
        self._disk = disk
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

    def table(
        self,
        name: str,
        descriptor_class: type[StateDescriptor],
        make: Callable[[DiskTables | None], Any] | None = None,
    ) -> Any:
        """A table that an operator keeps for itself, made when it is first asked for.

        One of another shape than that of the descriptor gives its `pieces()` in the form that shape has.
        """
        kind = kind_of(descriptor_class)
        if make is not None and name not in self._tables:
            self._tables[name], self._kinds[name] = make(self._disk), kind
        table = self._made(name, kind)
        if not self._states.is_declared(name):
            self._states.declare(name, DeclaredState.internal(kind), table)
        return table

    def schema_of(self, name: str) -> StateSchema:
        return self._states.schema(name)

    def tables(self) -> list[tuple[str, Table]]:
        """By name, in the order in which they were made."""
        return list(self._tables.items())

    def tables_like(self, prefix: str) -> list[Table]:
        """The tables whose names begin so, also those that only a savepoint knew."""
        return [table for name, table in self._tables.items() if name.startswith(prefix)]

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
            shape, disk = _TABLES[kind], self._disk
            table = shape() if disk is None else disk.make(shape, name, self.layout_of(name))
            self._tables[name] = table
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
        """All tables; of those on disk only what they are, their entries are saved in pages of the store."""
        return {
            name: (self._states.schema(name), {} if self._is_in_pages(table) else table.full_delta())
            for name, table in self._tables.items()
        }

    def _is_in_pages(self, table: Table) -> bool:
        return self.on_disk and not getattr(table, "full_delta_beside_pages", False)

    def pieces(self) -> Iterator[tuple[str, StateSchema, dict[Any, Any]]]:
        """All tables in pieces, each a delta that adds some entries: (state name, schema, entries)."""
        for name, table in self._tables.items():
            for piece in table.pieces(ENTRIES_PER_PIECE):
                yield name, self._states.schema(name), piece

    def apply_full(self, tables: dict[str, Any]) -> None:
        """The counterpart of full_delta(): of tables on disk the pages are there already."""
        self.apply_delta(tables)
        if self.on_disk:
            for name, (schema, _) in tables.items():
                table = self._tables[name]
                if hasattr(table, "discover"):
                    table.discover()
                self._states.loaded(name, schema, table)

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
