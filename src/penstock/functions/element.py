"""Functions that see one record (or two values) at a time and nothing else."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from typing import Any

from penstock.functions.base import Function

__all__ = [
    "AggregateFunction",
    "CoFlatMapFunction",
    "CoMapFunction",
    "FilterFunction",
    "FlatMapFunction",
    "KeySelector",
    "MapFunction",
    "NullByteKeySelector",
    "Partitioner",
    "ReduceFunction",
]


class MapFunction(Function):
    """Turns every record into exactly one record: ``ds.map(MyMapFunction())``."""

    @abstractmethod
    def map(self, value: Any) -> Any:
        """Return the record that takes the place of ``value``."""


class CoMapFunction(Function):
    """A map over two connected streams that shares its state between them."""

    @abstractmethod
    def map1(self, value: Any) -> Any:
        """Called for each record of the first stream; None emits nothing."""

    @abstractmethod
    def map2(self, value: Any) -> Any:
        """Called for each record of the second stream; None emits nothing."""


class FlatMapFunction(Function):
    """Turns every record into zero, one or more records: ``ds.flat_map(MyFlatMapFunction())``."""

    @abstractmethod
    def flat_map(self, value: Any) -> Iterable[Any]:
        """Yield (or return an iterable of) the records that take the place of ``value``."""


class CoFlatMapFunction(Function):
    """A flat map over two connected streams that shares its state between them."""

    @abstractmethod
    def flat_map1(self, value: Any) -> Iterable[Any] | None:
        """Called for each record of the first stream; None emits nothing."""

    @abstractmethod
    def flat_map2(self, value: Any) -> Iterable[Any] | None:
        """Called for each record of the second stream; None emits nothing."""


class ReduceFunction(Function):
    """Combines two values into one of the same type, again and again until one is left."""

    @abstractmethod
    def reduce(self, value1: Any, value2: Any) -> Any:
        """Return the combination; ``value1`` is what has been reduced so far."""


class AggregateFunction(Function):
    """An aggregation whose input, intermediate accumulator and result may be of different types.

    The function itself keeps nothing: one instance serves all keys and windows, each with an accumulator.
    """

    @abstractmethod
    def create_accumulator(self) -> Any:
        """Return the accumulator of an aggregation that has seen no value."""

    @abstractmethod
    def add(self, value: Any, accumulator: Any) -> Any:
        """Return the accumulator with ``value`` added; it may be the given one, changed in place."""

    @abstractmethod
    def get_result(self, accumulator: Any) -> Any:
        """Return the result that an accumulator stands for."""

    @abstractmethod
    def merge(self, acc_a: Any, acc_b: Any) -> Any:
        """Return one accumulator for both; needed where windows merge (sessions)."""


class KeySelector(Function):
    """Extracts a record's key: ``ds.key_by(MyKeySelector())``. The same record must give the same key."""

    @abstractmethod
    def get_key(self, value: Any) -> Any:
        """Return the key of ``value``."""


class NullByteKeySelector(KeySelector):
    """Gives all records the same key, so that keyed operators can serve streams without a key."""

    def get_key(self, value: Any) -> int:
        return 0


class FilterFunction(Function):
    """Decides for each record whether it stays in the stream: ``ds.filter(MyFilterFunction())``."""

    @abstractmethod
    def filter(self, value: Any) -> bool:
        """True keeps the record. It must not be changed here."""


class Partitioner(Function):
    """Chooses the downstream subtask for a key: ``ds.partition_custom(MyPartitioner(), key_selector)``."""

    @abstractmethod
    def partition(self, key: Any, num_partitions: int) -> int:
        """Return a number from 0 to ``num_partitions - 1``."""
