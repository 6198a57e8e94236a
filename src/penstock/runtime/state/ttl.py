"""State that forgets: the same kinds, with the moment of the last access beside every value.

Values, list elements and map entries expire one by one, as in Flink.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from penstock.functions.state_interfaces import AggregatingState, ListState, MapState, ReducingState, ValueState
from penstock.functions.state_ttl import StateTtlConfig
from penstock.runtime.clock import Clock
from penstock.runtime.state.keyed import KeyScope, pairs_of
from penstock.runtime.state.table import ListTable, MapTable, Table, ValueTable

_SCANNED_PER_EPOCH = 10_000

Stamped = tuple[Any, int]


class TtlPolicy:
    """When a stamped value is expired, and when a read makes it younger."""

    def __init__(self, config: StateTtlConfig, clock: Clock) -> None:
        self._ttl = config.get_ttl().to_milliseconds()
        self._clock = clock
        self.refresh_on_read = config.get_update_type() == StateTtlConfig.UpdateType.OnReadAndWrite
        self.hide_expired = config.get_state_visibility() == StateTtlConfig.StateVisibility.NeverReturnExpired

    def stamp(self, value: Any) -> Stamped:
        return value, self._clock()

    def expired(self, stamped: Stamped) -> bool:
        return stamped[1] + self._ttl <= self._clock()

    def visible(self, stamped: Stamped) -> bool:
        return not (self.hide_expired and self.expired(stamped))


class _TtlSingle:
    """What the kinds with one stored value per key share: reading drops what is expired."""

    __penstock_transient__ = True

    def __init__(self, scope: KeyScope, table: ValueTable, policy: TtlPolicy) -> None:
        self._scope = scope
        self._table = table
        self._policy = policy

    def _read(self) -> Any:
        key = self._scope.key
        stamped = self._table.get(key)
        if stamped is None:
            return None
        if self._policy.expired(stamped):
            self._table.remove(key)
            return None if self._policy.hide_expired else stamped[0]
        if self._policy.refresh_on_read:
            self._table.put(key, self._policy.stamp(stamped[0]))
        return stamped[0]

    def _write(self, value: Any) -> None:
        self._table.put(self._scope.key, self._policy.stamp(value))

    def clear(self) -> None:
        self._table.remove(self._scope.key)


class TtlValueState(_TtlSingle, ValueState[Any]):
    def value(self) -> Any:
        return self._read()

    def update(self, value: Any) -> None:
        if value is None:
            self.clear()
        else:
            self._write(value)


class TtlReducingState(_TtlSingle, ReducingState[Any]):
    def __init__(self, scope: KeyScope, table: ValueTable, policy: TtlPolicy, reduce_function: Any) -> None:
        super().__init__(scope, table, policy)
        self._reduce = reduce_function.reduce

    def get(self) -> Any:
        return self._read()

    def add(self, value: Any) -> None:
        current = self._read()
        self._write(value if current is None else self._reduce(current, value))


class TtlAggregatingState(_TtlSingle, AggregatingState[Any, Any]):
    def __init__(self, scope: KeyScope, table: ValueTable, policy: TtlPolicy, function: Any) -> None:
        super().__init__(scope, table, policy)
        self._function = function

    def get(self) -> Any:
        accumulator = self._read()
        return None if accumulator is None else self._function.get_result(accumulator)

    def add(self, value: Any) -> None:
        accumulator = self._read()
        if accumulator is None:
            accumulator = self._function.create_accumulator()
        self._write(self._function.add(value, accumulator))


class TtlListState(ListState[Any]):
    __penstock_transient__ = True

    def __init__(self, scope: KeyScope, table: ListTable, policy: TtlPolicy) -> None:
        self._scope = scope
        self._table = table
        self._policy = policy

    def get(self) -> Iterable[Any]:
        key, policy = self._scope.key, self._policy
        stored = self._table.get(key) or []
        alive = [stamped for stamped in stored if not policy.expired(stamped)]
        visible = alive if policy.hide_expired else list(stored)
        if policy.refresh_on_read:
            self._table.replace(key, [policy.stamp(value) for value, _ in alive])
        elif len(alive) < len(stored):
            self._table.replace(key, alive)
        return [value for value, _ in visible]

    def add(self, value: Any) -> None:
        self._table.extend(self._scope.key, (self._policy.stamp(value),))

    def add_all(self, values: list[Any]) -> None:
        self._table.extend(self._scope.key, map(self._policy.stamp, values))

    def update(self, values: list[Any]) -> None:
        self._table.replace(self._scope.key, map(self._policy.stamp, values))

    def clear(self) -> None:
        self._table.remove(self._scope.key)


class TtlMapState(MapState[Any, Any]):
    __penstock_transient__ = True

    def __init__(self, scope: KeyScope, table: MapTable, policy: TtlPolicy) -> None:
        self._scope = scope
        self._table = table
        self._policy = policy

    def get(self, key: Any) -> Any:
        stamped = (self._table.get(self._scope.key) or {}).get(key)
        return None if stamped is None else self._touch(key, stamped)

    def put(self, key: Any, value: Any) -> None:
        self._table.put(self._scope.key, key, self._policy.stamp(value))

    def put_all(self, dict_value: dict[Any, Any]) -> None:
        for key, value in pairs_of(dict_value):
            self.put(key, value)

    def remove(self, key: Any) -> None:
        self._table.remove_entry(self._scope.key, key)

    def contains(self, key: Any) -> bool:
        stamped = (self._table.get(self._scope.key) or {}).get(key)
        return stamped is not None and self._policy.visible(stamped)

    def items(self) -> Iterable[tuple[Any, Any]]:
        stored = list((self._table.get(self._scope.key) or {}).items())
        visible = [(key, stamped) for key, stamped in stored if self._policy.visible(stamped)]
        result = [(key, stamped[0]) for key, stamped in visible]
        for key, stamped in stored:
            self._touch(key, stamped)
        return result

    def keys(self) -> Iterable[Any]:
        return [key for key, _ in self.items()]

    def values(self) -> Iterable[Any]:
        return [value for _, value in self.items()]

    def is_empty(self) -> bool:
        return not self.items()

    def clear(self) -> None:
        self._table.remove(self._scope.key)

    def _touch(self, key: Any, stamped: Stamped) -> Any:
        if self._policy.expired(stamped):
            self._table.remove_entry(self._scope.key, key)
            return None if self._policy.hide_expired else stamped[0]
        if self._policy.refresh_on_read:
            self._table.put(self._scope.key, key, self._policy.stamp(stamped[0]))
        return stamped[0]


class ExpirySweep:
    """Removes expired values that nobody reads, a bounded number in each epoch."""

    def __init__(self, table: Table, policy: TtlPolicy) -> None:
        self._table = table
        self._policy = policy
        self._pending: list[Any] = []

    def sweep(self) -> None:
        if not self._pending:
            self._pending = list(self._table.keys())
        batch, self._pending = self._pending[:_SCANNED_PER_EPOCH], self._pending[_SCANNED_PER_EPOCH:]
        for key in batch:
            self._sweep_key(key)

    def _sweep_key(self, key: Any) -> None:
        table, expired = self._table, self._policy.expired
        if isinstance(table, ListTable):
            stored = table.get(key) or []
            if any(map(expired, stored)):
                table.replace(key, [stamped for stamped in stored if not expired(stamped)])
        elif isinstance(table, MapTable):
            for user_key in [k for k, stamped in (table.get(key) or {}).items() if expired(stamped)]:
                table.remove_entry(key, user_key)
        elif isinstance(table, ValueTable):
            stamped = table.get(key)
            if stamped is not None and expired(stamped):
                table.remove(key)
