"""The five kinds of keyed state, for the key that a scope holds at the moment."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from penstock.functions.state_interfaces import AggregatingState, ListState, MapState, ReducingState, ValueState
from penstock.runtime.state.table import ABSENT, DELETED, ListTable, MapTable, ValueTable


class KeyScope:
    """Holds the key that state calls refer to; the operator sets it before it calls user code.

    Windows use a scope of their own whose key is (key, window).
    """

    __slots__ = ("key",)

    def __init__(self) -> None:
        self.key: Any = None


class HeapValueState(ValueState[Any]):
    """A value per key in memory."""

    __slots__ = ("_scope", "_table")
    __penstock_transient__ = True

    def __init__(self, scope: KeyScope, table: ValueTable) -> None:
        self._scope = scope
        self._table = table

    def value(self) -> Any:
        table, key = self._table, self._scope.key
        value = table.changes.get(key, ABSENT)
        if value is ABSENT:
            return table.base.get(key)
        return None if value is DELETED else value

    def update(self, value: Any) -> None:
        if value is None:
            self._table.remove(self._scope.key)
        else:
            self._table.changes[self._scope.key] = value

    def clear(self) -> None:
        self._table.remove(self._scope.key)


class HeapListState(ListState[Any]):
    """A list per key in memory."""

    __penstock_transient__ = True

    def __init__(self, scope: KeyScope, table: ListTable) -> None:
        self._scope = scope
        self._table = table

    def get(self) -> Iterable[Any]:
        # A copy: programs clear or extend the state while they iterate over what they got.
        return list(self._table.get(self._scope.key) or ())

    def add(self, value: Any) -> None:
        self._table.extend(self._scope.key, (value,))

    def add_all(self, values: list[Any]) -> None:
        self._table.extend(self._scope.key, values)

    def update(self, values: list[Any]) -> None:
        self._table.replace(self._scope.key, values)

    def clear(self) -> None:
        self._table.remove(self._scope.key)


class HeapMapState(MapState[Any, Any]):
    """A map per key in memory."""

    __penstock_transient__ = True

    def __init__(self, scope: KeyScope, table: MapTable) -> None:
        self._scope = scope
        self._table = table

    def get(self, key: Any) -> Any:
        entries = self._table.get(self._scope.key)
        return None if entries is None else entries.get(key)

    def put(self, key: Any, value: Any) -> None:
        self._table.put(self._scope.key, key, value)

    def put_all(self, dict_value: dict[Any, Any]) -> None:
        for key, value in pairs_of(dict_value):
            self._table.put(self._scope.key, key, value)

    def remove(self, key: Any) -> None:
        self._table.remove_entry(self._scope.key, key)

    def contains(self, key: Any) -> bool:
        return key in self._entries()

    def items(self) -> Iterable[tuple[Any, Any]]:
        return list(self._entries().items())

    def keys(self) -> Iterable[Any]:
        return list(self._entries())

    def values(self) -> Iterable[Any]:
        return list(self._entries().values())

    def is_empty(self) -> bool:
        return not self._entries()

    def clear(self) -> None:
        self._table.remove(self._scope.key)

    def _entries(self) -> dict[Any, Any]:
        return self._table.get(self._scope.key) or {}


def pairs_of(entries: Any) -> Iterable[tuple[Any, Any]]:
    """PyFlink's put_all() takes a dictionary, and pairs as well."""
    return entries.items() if hasattr(entries, "items") else entries  # type: ignore[no-any-return]


class HeapReducingState(ReducingState[Any]):
    """A value per key to which every added one is reduced."""

    __penstock_transient__ = True

    def __init__(self, scope: KeyScope, table: ValueTable, reduce_function: Any) -> None:
        self._scope = scope
        self._table = table
        self._reduce = reduce_function.reduce

    def get(self) -> Any:
        return self._table.get(self._scope.key)

    def add(self, value: Any) -> None:
        key = self._scope.key
        current = self._table.get(key)
        self._table.put(key, value if current is None else self._reduce(current, value))

    def clear(self) -> None:
        self._table.remove(self._scope.key)


class HeapAggregatingState(AggregatingState[Any, Any]):
    """An accumulator per key."""

    __penstock_transient__ = True

    def __init__(self, scope: KeyScope, table: ValueTable, aggregate_function: Any) -> None:
        self._scope = scope
        self._table = table
        self._function = aggregate_function

    def get(self) -> Any:
        accumulator = self._table.get(self._scope.key)
        return None if accumulator is None else self._function.get_result(accumulator)

    def add(self, value: Any) -> None:
        key = self._scope.key
        accumulator = self._table.get(key)
        if accumulator is None:
            accumulator = self._function.create_accumulator()
        self._table.put(key, self._function.add(value, accumulator))

    def clear(self) -> None:
        self._table.remove(self._scope.key)
