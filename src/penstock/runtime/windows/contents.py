"""What a window of the general index holds between its first element and its end, per slot (key, window)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

from penstock.functions.state_descriptors import ListStateDescriptor, ValueStateDescriptor
from penstock.functions.window_evictors import Evictor, TimestampedValue
from penstock.runtime.batch import MIN_TIMESTAMP
from penstock.runtime.state.backend import KeyedStateBackend
from penstock.runtime.state.table import ABSENT, DELETED, ListTable, ValueTable
from penstock.runtime.windows.folding import Folding
from penstock.runtime.windows.saved_contents import ACCUMULATORS, ELEMENTS, TIMED_ELEMENTS, Slot
from penstock.runtime.windows.saved_values import saved_as

Evaluate = Callable[[Iterable[Any]], None]


class Contents(Protocol):
    """How the general index sees contents."""

    def add(self, slot: Slot, value: Any, timestamp: int) -> None: ...

    def evaluate(self, slot: Slot, window: Any, evaluate: Evaluate) -> None:
        """Hands the contents to the window function, if there are any."""

    def clear(self, slot: Slot) -> None: ...

    def merge(self, target: Slot, sources: Sequence[Slot]) -> None: ...

    def slots(self) -> Iterable[Slot]: ...

    def get(self, slot: Slot) -> Any: ...

    def put(self, slot: Slot, content: Any) -> None: ...


class ElementContents:
    """All elements in order of arrival."""

    name = ELEMENTS

    def __init__(self, backend: KeyedStateBackend) -> None:
        self._table: ListTable = backend.table(self.name, ListStateDescriptor)

    def add(self, slot: Slot, value: Any, timestamp: int) -> None:
        self._table.extend(slot, (value,))

    def evaluate(self, slot: Slot, window: Any, evaluate: Evaluate) -> None:
        elements = self._table.get(slot)
        if elements is not None:
            # A copy: a generator of the user may still run when the next element comes.
            evaluate(elements.copy())

    def clear(self, slot: Slot) -> None:
        self._table.remove(slot)

    def merge(self, target: Slot, sources: Sequence[Slot]) -> None:
        for source in sources:
            elements = self._table.get(source)
            if elements is not None:
                self._table.extend(target, elements)
                self._table.remove(source)

    def slots(self) -> Iterable[Slot]:
        return self._table.keys()

    def get(self, slot: Slot) -> Any:
        return ABSENT

    def put(self, slot: Slot, content: Any) -> None:
        self._table.replace(slot, content)


class EvictedContents(ElementContents):
    """All elements with their timestamps; an evictor drops some whenever the window is evaluated.

    A reduce or aggregate function is applied to what the evictor left: it cannot be applied earlier.
    """

    name = TIMED_ELEMENTS

    def __init__(
        self,
        backend: KeyedStateBackend,
        evictor: Evictor[Any, Any],
        context: Evictor.EvictorContext,
        folding: Folding | None,
    ) -> None:
        super().__init__(backend)
        self._evictor = evictor
        self._context = context
        self._folding = folding

    def add(self, slot: Slot, value: Any, timestamp: int) -> None:
        self._table.extend(slot, ((value, timestamp),))

    def evaluate(self, slot: Slot, window: Any, evaluate: Evaluate) -> None:
        stored = self._table.get(slot)
        if stored is None:
            return
        elements = [
            TimestampedValue(value, None if timestamp == MIN_TIMESTAMP else timestamp) for value, timestamp in stored
        ]
        size = len(elements)
        self._evictor.evict_before(elements, size, window, self._context)
        self._hand_over([element.value for element in elements], evaluate)
        self._evictor.evict_after(elements, len(elements), window, self._context)
        if len(elements) != size:
            self._table.replace(
                slot, [(e.value, MIN_TIMESTAMP if e.timestamp is None else e.timestamp) for e in elements]
            )

    def _hand_over(self, values: list[Any], evaluate: Evaluate) -> None:
        folding = self._folding
        if folding is None:
            evaluate(values)
        elif values:
            evaluate((folding.result(folding.of_elements(values)),))


class FoldedContents:
    """One accumulator instead of the elements."""

    def __init__(self, backend: KeyedStateBackend, folding: Folding) -> None:
        self._table: ValueTable = backend.table(
            ACCUMULATORS,
            ValueStateDescriptor,
            saved_as(ACCUMULATORS, lambda piece: {slot: folding.saved(held)[0] for slot, held in piece.items()}),
        )
        self._folding = folding

    def add(self, slot: Slot, value: Any, timestamp: int) -> None:
        accumulator = self.get(slot)
        self._table.changes[slot] = (
            self._folding.first(value) if accumulator is ABSENT else self._folding.add(value, accumulator)
        )

    def get(self, slot: Slot) -> Any:
        accumulator = self._table.changes.get(slot, ABSENT)
        if accumulator is ABSENT:
            return self._table.base.get(slot, ABSENT)
        return ABSENT if accumulator is DELETED else accumulator

    def evaluate(self, slot: Slot, window: Any, evaluate: Evaluate) -> None:
        accumulator = self.get(slot)
        if accumulator is not ABSENT:
            evaluate((self._folding.result(accumulator),))

    def clear(self, slot: Slot) -> None:
        self._table.remove(slot)

    def merge(self, target: Slot, sources: Sequence[Slot]) -> None:
        merged = self.get(target)
        for source in sources:
            accumulator = self.get(source)
            if accumulator is not ABSENT:
                merged = accumulator if merged is ABSENT else self._folding.merge(merged, accumulator)
                self._table.remove(source)
        if merged is not ABSENT:
            self._table.put(target, merged)

    def slots(self) -> Iterable[Slot]:
        return self._table.keys()

    def put(self, slot: Slot, content: Any) -> None:
        self._table.put(slot, content)
