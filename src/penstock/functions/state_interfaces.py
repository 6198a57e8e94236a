"""The kinds of state that a function can hold, as the user sees them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from penstock.common.errors import NotSupportedError

if TYPE_CHECKING:
    from penstock.functions.state_descriptors import ListStateDescriptor, MapStateDescriptor

__all__ = [
    "AggregatingState",
    "AppendingState",
    "BroadcastState",
    "ListState",
    "MapState",
    "MergingState",
    "OperatorStateStore",
    "ReadOnlyBroadcastState",
    "ReducingState",
    "State",
    "ValueState",
]

T = TypeVar("T")
K = TypeVar("K")
V = TypeVar("V")
IN = TypeVar("IN")
OUT = TypeVar("OUT")


class OperatorStateStore(ABC):
    """Hands out state that belongs to an operator rather than to a key."""

    @abstractmethod
    def get_broadcast_state(self, state_descriptor: MapStateDescriptor) -> BroadcastState[Any, Any]:
        """The broadcast state of this name."""

    def get_list_state(self, state_descriptor: ListStateDescriptor) -> ListState[Any]:
        """A list whose items are dealt out anew when the parallelism changes (beyond PyFlink)."""
        raise NotSupportedError(f"{type(self).__name__} has no list state")

    def get_union_list_state(self, state_descriptor: ListStateDescriptor) -> ListState[Any]:
        """A list of which every subtask gets all items when the job starts again (beyond PyFlink)."""
        raise NotSupportedError(f"{type(self).__name__} has no union list state")


class State(ABC):
    """Base of all state. Keyed state always shows and changes what belongs to the current key."""

    @abstractmethod
    def clear(self) -> None:
        """Forget the value under the current key."""


class ValueState(State, Generic[T]):
    """One value per key."""

    @abstractmethod
    def value(self) -> T:
        """The current value, None when there is none."""

    @abstractmethod
    def update(self, value: T) -> None:
        """Set the value; None clears it."""


class AppendingState(State, Generic[IN, OUT]):
    """State to which values are added and from which something of them can be read."""

    @abstractmethod
    def get(self) -> OUT:
        """What the values added so far amount to, None when there are none."""

    @abstractmethod
    def add(self, value: IN) -> None:
        """Add one value."""


class MergingState(AppendingState[IN, OUT]):
    """Appending state of which two can be merged into one, as when session windows meet."""


class ReducingState(MergingState[T, T]):
    """Keeps the reduction of all added values by a ReduceFunction."""


class AggregatingState(MergingState[IN, OUT]):
    """Keeps the aggregation of all added values by an AggregateFunction."""


class ListState(MergingState[T, Iterable[T]]):
    """Keeps all added values in order. Reading gives an empty iterable when there are none."""

    @abstractmethod
    def update(self, values: list[T]) -> None:
        """Replace the list; an empty one clears the state."""

    @abstractmethod
    def add_all(self, values: list[T]) -> None:
        """Add all values at the end."""

    def __iter__(self) -> Iterator[T]:
        return iter(self.get())


class MapState(State, Generic[K, V]):
    """One map per key; also usable like a dictionary: ``state[k] = v``, ``k in state``, ``del state[k]``."""

    @abstractmethod
    def get(self, key: K) -> V:
        """The value of an entry, None when there is no such entry."""

    @abstractmethod
    def put(self, key: K, value: V) -> None:
        """Set one entry."""

    @abstractmethod
    def put_all(self, dict_value: dict[K, V]) -> None:
        """Set all entries of a dictionary."""

    @abstractmethod
    def remove(self, key: K) -> None:
        """Delete one entry if it is there."""

    @abstractmethod
    def contains(self, key: K) -> bool:
        """Whether there is an entry with this key."""

    @abstractmethod
    def items(self) -> Iterable[tuple[K, V]]:
        """All entries."""

    @abstractmethod
    def keys(self) -> Iterable[K]:
        """The keys of all entries."""

    @abstractmethod
    def values(self) -> Iterable[V]:
        """The values of all entries."""

    @abstractmethod
    def is_empty(self) -> bool:
        """Whether there are no entries."""

    def __getitem__(self, key: K) -> V:
        return self.get(key)

    def __setitem__(self, key: K, value: V) -> None:
        self.put(key, value)

    def __delitem__(self, key: K) -> None:
        self.remove(key)

    def __contains__(self, key: K) -> bool:
        return self.contains(key)

    def __iter__(self) -> Iterator[K]:
        return iter(self.keys())


class ReadOnlyBroadcastState(State, Generic[K, V]):
    """A map that is the same in all subtasks, as the side that is not broadcast sees it."""

    @abstractmethod
    def get(self, key: K) -> V:
        """The value of an entry, None when there is no such entry."""

    @abstractmethod
    def contains(self, key: K) -> bool:
        """Whether there is an entry with this key."""

    @abstractmethod
    def items(self) -> Iterable[tuple[K, V]]:
        """All entries."""

    @abstractmethod
    def keys(self) -> Iterable[K]:
        """The keys of all entries."""

    @abstractmethod
    def values(self) -> Iterable[V]:
        """The values of all entries."""

    @abstractmethod
    def is_empty(self) -> bool:
        """Whether there are no entries."""

    def __getitem__(self, key: K) -> V:
        return self.get(key)

    def __contains__(self, key: K) -> bool:
        return self.contains(key)

    def __iter__(self) -> Iterator[K]:
        return iter(self.keys())


class BroadcastState(ReadOnlyBroadcastState[K, V]):
    """A map that is the same in all subtasks, because all see the same broadcast records in the same way.

    It lives in memory, once per subtask.
    """

    @abstractmethod
    def put(self, key: K, value: V) -> None:
        """Set one entry."""

    @abstractmethod
    def put_all(self, dict_value: dict[K, V]) -> None:
        """Set all entries of a dictionary."""

    @abstractmethod
    def remove(self, key: K) -> None:
        """Delete one entry if it is there."""

    def __setitem__(self, key: K, value: V) -> None:
        self.put(key, value)

    def __delitem__(self, key: K) -> None:
        self.remove(key)
